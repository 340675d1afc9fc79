package stack

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go"
)

// outputs reads what a stack says of itself.
func outputs(ctx context.Context, cfg aws.Config, stack string) (map[Resource]string, error) {
	client := cloudformation.NewFromConfig(cfg, func(o *cloudformation.Options) { o.HTTPClient = bounded() })
	out, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &stack})
	if api := smithy.APIError(nil); errors.As(err, &api) && strings.Contains(api.ErrorMessage(), "does not exist") {
		// "DescribeStacks", AWS CloudFormation API Reference: a ValidationError, which has no code of its own for this.
		return nil, Usagef("there is no stack %s in region %s (--region names another one)", stack, cfg.Region)
	}
	if err != nil {
		return nil, fmt.Errorf("read the outputs of stack %s: %w", stack, err)
	}
	values := map[string]string{}
	for _, s := range out.Stacks {
		for _, o := range s.Outputs {
			values[aws.ToString(o.OutputKey)] = strings.TrimSpace(aws.ToString(o.OutputValue))
		}
		if len(s.Outputs) == 0 { // one that is being made, or never came to be, or is gone but for its name
			return nil, Usagef("stack %s has no outputs: it is %s. Without --stack the names of tables and queues are taken from the environment, from %s and so on",
				stack, s.StackStatus, EntitiesTable.Variable())
		}
	}
	names := map[Resource]string{}
	for _, r := range All() {
		names[r] = values[r.Output()]
	}
	return names, nil
}
