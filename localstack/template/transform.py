"""Makes CloudFormation of SAM: {"template": ..., "parameters": ...} a line in, a template a line out, or {"error": why}.

SAM's own library does it, the one that transforms a template on AWS. It asks AWS for nothing here: the one thing that it
would ask for is the list of managed policies, of which the template names none.
"""

import json
import logging
import os
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "eu-west-1")
logging.disable(logging.WARNING)

from samtranslator.public.exceptions import InvalidDocumentException  # noqa: E402
from samtranslator.translator.transform import transform  # noqa: E402


class NoManagedPolicies:
    def load(self):
        return {}


def package(template):
    """Names a code archive for each function, as `sam package` does: SAM takes nothing else."""
    properties = [r.setdefault("Properties", {}) for r in template["Resources"].values() if r["Type"] == "AWS::Serverless::Function"]
    for one in [*properties, template.get("Globals", {}).get("Function", {})]:
        if "CodeUri" in one:
            one["CodeUri"] = "s3://bucket/key"


def answer(line):
    asked = json.loads(line)
    package(asked["template"])
    try:
        return transform(asked["template"], asked["parameters"], NoManagedPolicies(), passthrough_metadata=True)
    except InvalidDocumentException as e:
        return {"error": "; ".join(cause.message for cause in e.causes)}


for line in sys.stdin:
    print(json.dumps(answer(line)), flush=True)
