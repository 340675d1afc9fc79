package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

// Deployment is one stack of a build.
type Deployment struct {
	Stack      string            // several stacks may live side by side
	Build      string            // the folder that Build.Run returned
	Parameters map[string]string // of the template
}

// bucket takes the functions' code on its way.
const bucket = "inorder-code"

// deployTimeout bounds one deployment, which takes half a minute, and three times that on a loaded machine. The SAM CLI waits
// for ever for a stack that LocalStack has rolled back at once.
const deployTimeout = 5 * time.Minute

var errDeployTimeout = fmt.Errorf("the SAM CLI did not end within %v", deployTimeout)

// switched says what lies behind an error that speaks of something else; nil where nothing does.
func switched(err error) error {
	if errors.Is(err, errDeployTimeout) || strings.Contains(err.Error(), "No deployed instances of resource") {
		return errors.New("LocalStack cannot change a stack by a parameter that adds resources or takes some away: take another name")
	}
	return nil
}

// Deploy creates the stack, or changes it, and returns its outputs. LocalStack cannot repair a stack whose first
// deployment failed: take another name for the next try.
func (c *Cloud) Deploy(ctx context.Context, d Deployment) (map[string]string, error) {
	root, err := projectRoot()
	if err != nil {
		return nil, err
	}
	if err := c.makeBucket(ctx); err != nil {
		return nil, err
	}
	args := []string{
		"deploy", "--template-file", filepath.Join(d.Build, "template.yaml"), "--stack-name", d.Stack, "--s3-bucket", bucket,
		"--capabilities", "CAPABILITY_IAM",
		"--no-confirm-changeset", "--no-fail-on-empty-changeset", "--no-progressbar",
	}
	if len(d.Parameters) > 0 {
		args = append(args, "--parameter-overrides")
		for _, name := range slices.Sorted(maps.Keys(d.Parameters)) {
			args = append(args, fmt.Sprintf("%s=%s", name, d.Parameters[name]))
		}
	}
	err = c.step("deploying stack "+d.Stack, func() error {
		ctx, cancel := context.WithTimeoutCause(ctx, deployTimeout, errDeployTimeout)
		defer cancel()
		err := c.whileAlive(ctx, func(ctx context.Context) error {
			return sam(ctx, root, c.folder, []string{"AWS_ENDPOINT_URL=" + c.Address}, args...)
		})
		if err != nil && errors.Is(context.Cause(ctx), errDeployTimeout) {
			return errors.Join(errDeployTimeout, err)
		}
		return err
	})
	if gone := (*NotRunningError)(nil); errors.As(err, &gone) {
		return nil, err
	}
	if err != nil {
		return nil, errors.Join(err, switched(err), c.failures(ctx, d.Stack))
	}
	return c.Outputs(ctx, d.Stack)
}

// makeBucket needs no client of S3: LocalStack takes a request without a signature, and a bucket that is there already.
func (c *Cloud) makeBucket(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, c.Address+"/"+bucket, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("make bucket %s: %w", bucket, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("make bucket %s: status %d: %s", bucket, response.StatusCode, text)
	}
	return nil
}

// Outputs are those of a stack.
func (c *Cloud) Outputs(ctx context.Context, stack string) (map[string]string, error) {
	answer, err := c.cloudFormation().DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &stack})
	if err != nil && strings.Contains(err.Error(), "does not exist") { // an error without a code of its own
		return nil, fmt.Errorf("there is no stack %s here: `make cloud-deploy` makes one", stack)
	}
	if err != nil {
		return nil, fmt.Errorf("read the outputs of stack %s: %w", stack, err)
	}
	outputs := map[string]string{}
	for _, one := range answer.Stacks[0].Outputs {
		outputs[aws.ToString(one.OutputKey)] = aws.ToString(one.OutputValue)
	}
	return outputs, nil
}

// failures says which resources LocalStack refused, and why; nil where it does not know.
func (c *Cloud) failures(ctx context.Context, stack string) error {
	answer, err := c.cloudFormation().DescribeStackEvents(ctx, &cloudformation.DescribeStackEventsInput{StackName: &stack})
	if err != nil {
		return nil //nolint:nilerr // there may be no stack at all; what sam said is told
	}
	var lines []string
	for _, e := range answer.StackEvents {
		if status := string(e.ResourceStatus); strings.HasSuffix(status, "_FAILED") {
			lines = append(lines, fmt.Sprintf("%s %s: %s", status, aws.ToString(e.LogicalResourceId), aws.ToString(e.ResourceStatusReason)))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("stack %s:\n%s\nLocalStack cannot repair a stack whose first deployment failed: take another name",
		stack, indent(strings.Join(lines, "\n")))
}

func (c *Cloud) cloudFormation() *cloudformation.Client {
	return cloudformation.NewFromConfig(c.Config())
}

// Parameters of template.yaml that a deployment to a Cloud needs; others may be added. The names of all that is deployed
// begin with the stack's, so that several stacks can live side by side.
func Parameters(stack string) map[string]string {
	return map[string]string{
		"Name":               stack,
		"Architecture":       Architecture(),
		"DeletionProtection": "false", // so that a stack can be deleted
		"Dashboard":          "no",    // LocalStack refuses dashboards
	}
}
