"""LocalStack without Docker: functions run as processes of this machine, and DynamoDB is dynoxide.

    python host.py --folder FOLDER --port PORT --dynoxide path/to/dynoxide

All else (CloudFormation, SQS, event source mappings, rules, logs, S3, IAM) is LocalStack's own. Only `provided.*`
functions can run, for the `bootstrap` in their zip is all that they need. Nothing is kept: what is in FOLDER after the
end is rubbish.

What is changed inside of LocalStack are private parts of the one release that requirements.txt pins, each with its
reason beside it.
"""

import argparse
import functools
import os
import re
import sys
import tempfile
import threading
from pathlib import Path

VERSION = "4.8.1"


def arguments():
    parser = argparse.ArgumentParser(description="LocalStack without Docker")
    parser.add_argument("--folder", type=Path, required=True, help="where it writes; nowhere else")
    parser.add_argument("--port", type=int, required=True, help="on 127.0.0.1")
    parser.add_argument("--dynoxide", type=Path, required=True, help="the program")
    parser.add_argument("--direct", action="store_true", help="functions ask dynoxide itself, and not LocalStack's DynamoDB")
    return parser.parse_args()


def settings(folder, port):
    return {
        "GATEWAY_LISTEN": f"127.0.0.1:{port}",
        "LOCALSTACK_HOST": f"127.0.0.1:{port}",  # the host in queue URLs: the default one needs a DNS server
        "SQS_ENDPOINT_STRATEGY": "path",  # and no subdomains in front of it
        # LocalStack may find itself in a container, a CI's say, and would then own /var/lib, /usr/lib and /etc.
        "OVERRIDE_IN_DOCKER": "0",
        "FILESYSTEM_ROOT": str(folder / "root"),
        "CONFIG_DIR": str(folder / "config"),  # the user's own ~/.localstack is for the user's own LocalStack
        "DNS_ADDRESS": "0",  # no DNS server
        "DISABLE_EVENTS": "1",  # tells nobody that it runs
        "SKIP_SSL_CERT_DOWNLOAD": "1",
        # Else a resource that it does not know is "created", and does nothing.
        "CFN_IGNORE_UNSUPPORTED_RESOURCE_TYPES": "0",
        # The providers that speak to one server for all accounts and regions.
        "PROVIDER_OVERRIDE_DYNAMODB": "v2",
        "PROVIDER_OVERRIDE_DYNAMODBSTREAMS": "v2",
        # AWS polls all the time; the defaults of 1 and 10 s are for laptops with many queues.
        "LAMBDA_EVENT_SOURCE_MAPPING_POLL_INTERVAL_SEC": "0.2",
        "LAMBDA_EVENT_SOURCE_MAPPING_MAX_BACKOFF_ON_EMPTY_POLL_SEC": "1",
        "SQS_DISABLE_CLOUDWATCH_METRICS": "1",  # most of a core under load, for metrics that nobody reads
    }


ARGUMENTS = arguments()
# The configuration is read when the first module of LocalStack is imported, so it comes before all of them.
os.environ.update(settings(ARGUMENTS.folder.absolute(), ARGUMENTS.port))
tempfile.tempdir = str(ARGUMENTS.folder.absolute() / "tmp")
os.makedirs(tempfile.tempdir, exist_ok=True)

from localstack import config, constants  # noqa: E402
from localstack.runtime.main import main  # noqa: E402
from localstack.runtime.server import twisted  # noqa: E402
from localstack.services.dynamodb import utils as dynamodb_utils  # noqa: E402
from localstack.services.dynamodb.server import DynamodbServer  # noqa: E402
from localstack.services.dynamodbstreams.v2.provider import DynamoDBStreamsProvider  # noqa: E402
from localstack.services.lambda_ import provider  # noqa: E402
from localstack.services.lambda_.event_source_mapping.esm_worker import EsmWorker  # noqa: E402
from localstack.services.lambda_.event_source_mapping.pollers import sqs_poller  # noqa: E402
from localstack.services.lambda_.invocation import execution_environment, version_manager  # noqa: E402
from localstack.utils.run import ShellCommandThread  # noqa: E402

import stacks  # noqa: E402
from processes import DIE_WITH_HOST, ProcessExecutor  # noqa: E402

# As many as AWS starts with: "Lambda initially polls 5 batches at a time" for standard queues ("Configuring scaling
# behavior for SQS event source mappings", AWS Lambda Developer Guide).
MOST_POLLERS = 5


def start_dynoxide(server):
    """In place of DynamoDB Local, which is Java and a download.

    It does not start again when it ends: it would be empty. Then all ends, or functions and tests would fail in other words.
    """
    command = [*DIE_WITH_HOST, str(ARGUMENTS.dynoxide.absolute()), "--host", "127.0.0.1", "--port", str(server.port)]
    thread = ShellCommandThread(command, name="dynoxide")
    thread.start()
    if ARGUMENTS.direct:
        ProcessExecutor.more_env = {"AWS_ENDPOINT_URL_DYNAMODB": f"http://127.0.0.1:{server.port}"}
    threading.Thread(target=end_with, args=[thread], daemon=True).start()
    return thread


def end_with(dynoxide):
    dynoxide.join()
    code = dynoxide.process.returncode if dynoxide.process else "unknown"
    print(f"dynoxide, the DynamoDB of this LocalStack, has ended (exit code {code}), and all tables with it", file=sys.stderr, flush=True)
    os._exit(1)


def stream_arn(provider, arn, localise=DynamoDBStreamsProvider.modify_stream_arn_for_ddb_local):
    """LocalStack takes a shard iterator for an ARN, which DynamoDB Local's is; dynoxide's is opaque."""
    return localise(provider, arn) if arn.startswith("arn:") else arn


def of_dynoxide_too(pattern):
    """LocalStack puts the real region into ARNs in which it finds DynamoDB Local's, ddblocal; dynoxide's is dynoxide."""
    return re.compile(pattern.pattern.replace(":ddblocal:", ":(?:ddblocal|dynoxide):"))


class SqsEvent(dict):
    """An SQS record whose body is given back as it was sent.

    LocalStack parses a JSON body, filters, and writes it anew, which loses white space, repeated keys and digits.
    """

    def __setitem__(self, name, value):
        if name == "body":
            self.__dict__.setdefault("sent", self["body"])
            value = self.sent if isinstance(value, str) else value
        super().__setitem__(name, value)


def sqs_events(messages, transform=sqs_poller.transform_into_events):
    return [SqsEvent(event) for event in transform(messages)]


def start_pollers(worker, start=EsmWorker.start):
    """More than one poller for an SQS mapping, so that its batches run side by side, as they do on AWS."""
    start(worker)
    if isinstance(worker.poller, sqs_poller.SqsPoller):
        most = int((worker.esm_config.get("ScalingConfig") or {}).get("MaximumConcurrency", MOST_POLLERS))
        for _ in range(1, min(most, MOST_POLLERS)):
            threading.Thread(target=poll, args=[worker], daemon=True).start()


def poll(worker):
    while not worker._shutdown_event.wait(config.LAMBDA_EVENT_SOURCE_MAPPING_POLL_INTERVAL_SEC):
        try:
            worker.poller.poll_events()
        except Exception:  # the queue is empty, or there is an error that the first poller reports too
            worker._shutdown_event.wait(config.LAMBDA_EVENT_SOURCE_MAPPING_MAX_BACKOFF_ON_EMPTY_POLL_SEC)


def patch():
    # LocalStack binds every IPv4 address of the machine, whatever host GATEWAY_LISTEN names.
    twisted.endpoints.TCP4ServerEndpoint = functools.partial(
        twisted.endpoints.TCP4ServerEndpoint, interface="127.0.0.1"
    )
    for name in ("_ddb_local_arn_pattern", "_ddb_local_exception_arn_pattern"):
        setattr(dynamodb_utils, name, of_dynoxide_too(getattr(dynamodb_utils, name)))
    stacks.patch()
    DynamodbServer.do_start_thread = start_dynoxide
    DynamoDBStreamsProvider.modify_stream_arn_for_ddb_local = stream_arn
    sqs_poller.transform_into_events = sqs_events
    EsmWorker.start = start_pollers
    for module in (provider, execution_environment, version_manager):  # each has imported the function by its name
        module.get_runtime_executor = lambda: ProcessExecutor


if __name__ == "__main__":
    if constants.VERSION != VERSION:
        raise SystemExit(f"this host is made for LocalStack {VERSION}, not {constants.VERSION}: see requirements.txt")
    patch()
    main()
