"""Stacks that change as they do on AWS, where LocalStack's CloudFormation and API Gateway would lose something."""

import functools

from localstack.services.apigateway.resource_providers.aws_apigateway_deployment import ApiGatewayDeploymentProvider
from localstack.services.apigateway.resource_providers.aws_apigateway_stage import ApiGatewayStageProvider
from localstack.services.cloudformation.engine.v2 import change_set_model, change_set_model_preproc
from localstack.services.cloudformation.engine.v2.change_set_model_executor import ChangeSetModelExecutor
from localstack.services.cloudformation.resource_provider import OperationStatus, ProgressEvent
from localstack.services.cloudformation.stores import get_cloudformation_store
from localstack.services.cloudformation.v2.provider import CloudformationProviderV2, find_stack_v2


def if_there(visit):
    """A resource or an output that is not there, by its condition, may refer to what is not there, or is empty.

    LocalStack 4.14 knows it of resources.
    """

    def visit_if_there(preproc, *args, **named):  # some callers name the node, by what it is
        [node] = [*args, *named.values()]
        if not change_set_model.is_nothing(node.condition_reference):
            condition = preproc._resolve_resource_condition_reference(node.condition_reference)
            if condition.before is not True and condition.after is not True:
                return change_set_model_preproc.PreprocEntityDelta(
                    before=change_set_model.Nothing, after=change_set_model.Nothing
                )
        return visit(preproc, node)

    return visit_if_there


@functools.wraps(CloudformationProviderV2.update_stack)  # LocalStack finds an operation by what is noted at its function
def update_stack(provider, context, request, update=CloudformationProviderV2.update_stack):
    """UpdateStack with the previous template."""
    if request.get("UsePreviousTemplate"):
        stack = find_stack_v2(get_cloudformation_store(context.account_id, context.region), request.get("StackName"))
        if stack:
            request = request | {"TemplateBody": stack.template_body}
    return update(provider, context, request)


def execute(executor, execute=ChangeSetModelExecutor.execute):
    """What an update did is what the next one is compared with, and one that failed has failed.

    LocalStack compares with the last change set, of which an update keeps none: what goes back to where it was is no change to it.
    """
    result = execute(executor)
    change_set = executor._change_set
    stack = change_set.stack
    kept = get_cloudformation_store(stack.account_id, stack.region_name).change_sets
    if change_set.change_set_id not in kept and change_set.change_set_name == f"cs-{stack.stack_name}-create":
        if result.failure_message:
            raise RuntimeError(result.failure_message)
        kept[change_set.change_set_id] = change_set
        stack.change_set_ids.add(change_set.change_set_id)
        stack.change_set_id, stack.processed_template = change_set.change_set_id, change_set.processed_template
    return result


def update_stage(provider, request):
    """The stage of a REST API goes over to another deployment: SAM makes a new one in every update."""
    stage = request.desired_state
    request.aws_client_factory.apigateway.update_stage(
        restApiId=stage["RestApiId"],
        stageName=stage["StageName"],
        patchOperations=[{"op": "replace", "path": "/deploymentId", "value": stage["DeploymentId"]}],
    )
    return ProgressEvent(status=OperationStatus.SUCCESS, resource_model=stage, custom_context=request.custom_context)


def delete_deployment(provider, request, delete=ApiGatewayDeploymentProvider.delete):
    """LocalStack takes every stage away with a deployment, also one that has gone over to another."""
    api, deployment = request.aws_client_factory.apigateway, request.desired_state
    stages = api.get_stages(restApiId=deployment["RestApiId"])["item"]
    if all(stage["deploymentId"] == deployment["DeploymentId"] for stage in stages):
        return delete(provider, request)
    api.delete_deployment(restApiId=deployment["RestApiId"], deploymentId=deployment["DeploymentId"])
    return ProgressEvent(status=OperationStatus.SUCCESS, resource_model=deployment, custom_context=request.custom_context)


def patch():
    preproc = change_set_model_preproc.ChangeSetModelPreproc
    preproc.visit_node_resource = if_there(preproc.visit_node_resource)
    preproc.visit_node_output = if_there(preproc.visit_node_output)
    CloudformationProviderV2.update_stack = update_stack
    ChangeSetModelExecutor.execute = execute
    ApiGatewayStageProvider.update = update_stage
    ApiGatewayDeploymentProvider.delete = delete_deployment
