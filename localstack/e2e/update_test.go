package e2e

import (
	"context"
	"maps"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// change updates the stack with one parameter changed, where it has another value, and returns when that is done.
func (s *stack) change(t *testing.T, parameter, value string) {
	t.Helper()
	api := cloudformation.NewFromConfig(here.cloud.Config())
	ctx := context.WithoutCancel(t.Context()) // a test that has failed must leave the stack to the others
	parameters, before := s.parameters(t, ctx, api, parameter, value)
	if before == value {
		return
	}
	_, err := api.UpdateStack(ctx, &cloudformation.UpdateStackInput{
		StackName: &s.name, UsePreviousTemplate: aws.Bool(true), Parameters: parameters,
		Capabilities: []types.Capability{types.CapabilityCapabilityIam, types.CapabilityCapabilityAutoExpand},
	})
	if err != nil {
		t.Fatalf("set %s to %s: %v", parameter, value, err)
	}
	if err := poll(ctx, readyTimeout, func() string { return s.notUpdated(ctx, api) }); err != nil {
		t.Fatalf("set %s to %s: %v", parameter, value, err)
	}
	if outputs, err := here.cloud.Outputs(ctx, s.name); err != nil || !maps.Equal(outputs, s.outputs) {
		t.Fatalf("after an update of %s the outputs are %v, %v", parameter, outputs, err)
	}
}

// parameters are all of the stack's, with one changed: one that is not named goes back to its default.
func (s *stack) parameters(t *testing.T, ctx context.Context, api *cloudformation.Client, changed, value string) (all []types.Parameter, before string) {
	t.Helper()
	out, err := api.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &s.name})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range out.Stacks[0].Parameters {
		if aws.ToString(p.ParameterKey) == changed {
			all, before = append(all, types.Parameter{ParameterKey: p.ParameterKey, ParameterValue: &value}), aws.ToString(p.ParameterValue)
			continue
		}
		all = append(all, types.Parameter{ParameterKey: p.ParameterKey, UsePreviousValue: aws.Bool(true)})
	}
	return all, before
}

func (s *stack) notUpdated(ctx context.Context, api *cloudformation.Client) string {
	out, err := api.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &s.name})
	if err != nil {
		return err.Error()
	}
	if status := out.Stacks[0].StackStatus; status != types.StackStatusUpdateComplete {
		return "UPDATE_COMPLETE; it is " + string(status)
	}
	return ""
}
