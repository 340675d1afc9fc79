package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"inorder/localstack/cloud"
)

const projectRoot = "../.."

// buildAll builds the functions and the command.
func buildAll(ctx context.Context) (functions string, err error) {
	if here.inorder, err = filepath.Abs(filepath.Join(projectRoot, "bin", "inorder-e2e")); err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, "go", "build", "-o", here.inorder, "./cmd/inorder")
	command.Dir = projectRoot
	if said, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build inorder: %w\n%s", err, said)
	}
	return buildFunctions(ctx, firstVersion)
}

const (
	firstVersion  = "first"
	secondVersion = "second"
)

// buildFunctions builds them with another version each time. The SAM CLI keeps notes beside a build, so these are not
// beside that of somebody who deploys meanwhile.
func buildFunctions(ctx context.Context, version string) (string, error) {
	folder, err := filepath.Abs(filepath.Join(projectRoot, ".aws-sam", "e2e", version))
	if err != nil {
		return "", err
	}
	return cloud.Build{Folder: folder, Version: version, Progress: os.Stderr}.Run(ctx)
}

// standardParameters make gaps close within a minute, and let topics and buckets in.
func standardParameters() map[string]string {
	return map[string]string{
		"GapDeadline": gapDeadline.String(), "MarkDelay": markDelay.String(), "LogLevel": "debug",
		"WebhookApi": "rest", "SenderTopicArn": senderTopicARN, "SenderBucketArn": "arn:aws:s3:::" + senderBucket,
	}
}

// deployFIFO deploys the second stack meanwhile: a deployment mostly waits.
func (w *world) deployFIFO(build string) func() (*stack, error) {
	done := make(chan struct{})
	var s *stack
	var err error
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		s, err = w.deploy(ctx, fifoStack, build, map[string]string{
			"QueueType": "fifo", "LogLevel": "debug", "MarkDelay": markDelay.String(), "ReceiveCount": fmt.Sprint(fifoReceiveCount),
		})
	}()
	return func() (*stack, error) {
		<-done
		return s, err
	}
}
