package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"inorder/localstack/cloud"
)

const (
	gapDeadline = 5 * time.Second
	markDelay   = 10 * time.Second

	// A message that comes back does so after this time, in place of the minutes that the template sets: what a test
	// waits for. It is several times what an invocation takes: one that is too slow uses up tries.
	visibility = 15 * time.Second
)

// stack is a deployment, as those see it who use it.
type stack struct {
	name    string
	outputs map[string]string

	sqs    *sqs.Client
	lambda *lambda.Client
	logs   *cloudwatchlogs.Client
	items  *itemReader

	effects *receiver    // of the effects queue
	sent    atomic.Int64 // messages that the tests sent to the events queue
	poison  register     // what must be in quarantine in the end
}

// deploy deploys a stack and returns when it works.
func (w *world) deploy(ctx context.Context, name, build string, parameters map[string]string) (*stack, error) {
	all := cloud.Parameters(name)
	maps.Copy(all, parameters)
	outputs, err := w.cloud.Deploy(ctx, cloud.Deployment{Stack: name, Build: build, Parameters: all})
	if err != nil {
		return nil, err
	}
	config := w.cloud.Config()
	s := &stack{
		name: name, outputs: outputs,
		sqs: sqs.NewFromConfig(config), lambda: lambda.NewFromConfig(config), logs: cloudwatchlogs.NewFromConfig(config),
		items: newItemReader(config),
	}
	s.effects = receive(s.sqs, s.url(effectsQueue))
	for _, queue := range []string{eventsQueue, republishQueue} {
		if err := s.comeBackSoon(ctx, queue); err != nil {
			return nil, err
		}
	}
	return s, s.await(ctx)
}

func (s *stack) comeBackSoon(ctx context.Context, queue string) error {
	_, err := s.sqs.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{
		QueueUrl: aws.String(s.url(queue)),
		Attributes: map[string]string{
			string(types.QueueAttributeNameVisibilityTimeout): strconv.Itoa(int(visibility.Seconds())),
		},
	})
	if err != nil {
		return fmt.Errorf("set the visibility timeout of %s: %w", queue, err)
	}
	return nil
}

// await sends one event over each way into the stack, and returns when both are applied: a stack whose deployment is
// complete need not have mappings that poll yet.
func (s *stack) await(ctx context.Context) error {
	if err := s.trySend(ctx, message{body: `{"event_id":"canary:1","type":"PlanChanged","seq":1,"data":{"subscription_id":"canary"}}`, group: "canary"}); err != nil {
		return fmt.Errorf("send the canary: %w", err)
	}
	if _, err := s.write(ctx, "ledger", "canary", "EntryPosted", map[string]any{"account": "canary", "amount": 1}); err != nil {
		return fmt.Errorf("write the canary: %w", err)
	}
	return poll(ctx, readyTimeout, func() string {
		return s.missing(ctx, expectations{
			{"subscription", "canary"}: {state: `{"subscription_id":"canary"}`},
			{"ledger", "canary"}:       {state: `{"balance":1}`, applied: 1},
		})
	})
}

const readyTimeout = 5 * time.Minute

// until polls until nothing is missing, and ends the test where that takes too long, with what it lacks and what could
// tell why.
func (s *stack) until(t testing.TB, within time.Duration, what string, missing func() string) {
	t.Helper()
	if err := poll(t.Context(), within, missing); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, s.condition(context.WithoutCancel(t.Context())))
	}
}

const pollEvery = 300 * time.Millisecond

func poll(ctx context.Context, within time.Duration, missing func() string) error {
	deadline := time.Now().Add(within)
	for {
		lacks := missing()
		switch {
		case lacks == "":
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%w; it lacked %s", ctx.Err(), lacks)
		case time.Now().After(deadline):
			return fmt.Errorf("after %v it lacks %s", within, lacks)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollEvery):
		}
	}
}

// condition is what one looks at first: how many messages wait where, and what the functions said last.
func (s *stack) condition(ctx context.Context) string {
	var out strings.Builder
	fmt.Fprintf(&out, "stack %s at %s\n", s.name, time.Now().UTC().Format(time.TimeOnly))
	for _, queue := range allQueues {
		if s.outputs[queue] == "" {
			continue
		}
		fmt.Fprintf(&out, "  %-20s %v\n", queue, s.depths(ctx, s.url(queue)))
	}
	for _, function := range functionNames {
		fmt.Fprintf(&out, "  the last lines of %s:\n", function)
		lines, err := s.lines(ctx, function)
		if err != nil {
			fmt.Fprintln(&out, "   ", err)
		}
		lines = slices.DeleteFunc(lines, func(l line) bool { return l.Message == "" })
		for _, line := range lines[max(0, len(lines)-lastLines):] {
			fmt.Fprintf(&out, "    %.300s\n", line.text)
		}
	}
	return out.String()
}

const lastLines = 5
