package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb" //nolint:depguard // what is in the table must not be told by the code that is tested
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"inorder/cmd/inorder/soak"
	"inorder/localstack/cloud"
)

const (
	name     = "inorder-soak"
	consumer = "consumer"
	sweeper  = "sweeper"
	relay    = "relay"

	eventsQueue     = "EventsQueueUrl"
	dlqQueue        = "DlqUrl"
	quarantineQueue = "QuarantineQueueUrl"
	republishQueue  = "RepublishQueueUrl"
	effectsQueue    = "EffectsQueueUrl"

	deployTimeout = 15 * time.Minute
)

// visibility is how long a message that a killed function had is away: in place of minutes, so that it comes back within the soak.
// It is many times what an invocation takes.
const visibility = 10 * time.Second

// parameters of the template: a batch is what the soak is about, gaps close within the soak, and a message may be with a function
// that is killed many times.
func parameters() map[string]string {
	all := cloud.Parameters(name)
	maps.Copy(all, map[string]string{
		"Consumer": soak.Consumer, "LogLevel": "debug", "GapDeadline": "15s", "MarkDelay": "0", "Timeout": "15",
		"BatchSize": "100", "BatchWindowSeconds": "1", "ReceiveCount": "50",
	})
	return all
}

// stack is the deployment, and all that is known of what goes on.
type stack struct {
	t        *testing.T
	cloud    *cloud.Cloud
	outputs  map[string]string
	sqs      *sqs.Client
	lambda   *lambda.Client
	logs     *cloudwatchlogs.Client
	table    soak.Table
	producer *soak.Producer
	lines    *soak.Lines
	failed   atomic.Pointer[error] // of what goes on beside the test

	feeding sync.Mutex // rows reach the outbox in their order

	mu       sync.Mutex
	effects  soak.Effects
	taken    map[messageID]bool // by SQS
	done     map[messageID]bool // by a function, as its line says
	cameBack int
	kills    map[string]int
	survivor int // the process of the consumer that is not killed
	memory   soak.Memory
	depths   depth
}

func deploy(t *testing.T, c *cloud.Cloud) *stack {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deployTimeout)
	defer cancel()
	build, err := build(ctx)
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := c.Deploy(ctx, cloud.Deployment{Stack: name, Build: build, Parameters: parameters()})
	if err != nil {
		t.Fatal(err)
	}
	config := c.Config()
	s := &stack{
		t: t, cloud: c, outputs: outputs, sqs: sqs.NewFromConfig(config), lambda: lambda.NewFromConfig(config),
		logs:     cloudwatchlogs.NewFromConfig(config),
		table:    soak.Table{Client: dynamodb.NewFromConfig(config), Entities: outputs["EntitiesTable"], Outbox: outputs["OutboxTable"]},
		producer: soak.NewProducer(soak.Plan{Seed: *seedFlag, Events: *eventsFlag}),
		taken:    map[messageID]bool{}, done: map[messageID]bool{}, kills: map[string]int{},
	}
	s.lines = &soak.Lines{Each: s.read}
	if err := errors.Join(s.comeBackSoon(ctx, eventsQueue), s.comeBackSoon(ctx, republishQueue), s.silenceRelay(ctx)); err != nil {
		t.Fatal(err)
	}
	return s
}

// build is the project's own, with the soak's streams.yaml in place of events/streams.yaml.
func build(ctx context.Context) (string, error) {
	folder, err := filepath.Abs(filepath.Join("..", "..", ".aws-sam", "soak"))
	if err != nil {
		return "", err
	}
	if _, err := (cloud.Build{Folder: folder, Version: "soak", Progress: os.Stderr}).Run(ctx); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*", "streams.yaml"))
	if err != nil || len(files) != len(functions) {
		return "", fmt.Errorf("the build has %d streams.yaml, and there are %d functions: %w", len(files), len(functions), err)
	}
	for _, file := range files {
		if err := os.WriteFile(file, soak.Streams, 0o644); err != nil {
			return "", err
		}
	}
	return folder, nil
}

func (s *stack) comeBackSoon(ctx context.Context, queue string) error {
	_, err := s.sqs.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{
		QueueUrl: aws.String(s.outputs[queue]),
		Attributes: map[string]string{
			string(types.QueueAttributeNameVisibilityTimeout): strconv.Itoa(int(visibility.Seconds())),
		},
	})
	return err
}

// silenceRelay keeps the relay from sending new rows: the soak sends them itself, all but those that are lost. What is asked for
// the relay sends as ever.
func (s *stack) silenceRelay(ctx context.Context) error {
	out, err := s.lambda.ListEventSourceMappings(ctx, &lambda.ListEventSourceMappingsInput{FunctionName: aws.String(name + "-" + relay)})
	if err != nil {
		return err
	}
	silenced := 0
	for _, m := range out.EventSourceMappings {
		if !strings.Contains(aws.ToString(m.EventSourceArn), ":dynamodb:") {
			continue
		}
		silenced++
		_, err = s.lambda.UpdateEventSourceMapping(ctx, &lambda.UpdateEventSourceMappingInput{UUID: m.UUID, Enabled: aws.Bool(false)})
	}
	if silenced != 1 {
		return fmt.Errorf("the relay has %d mappings of a table", silenced)
	}
	return err
}

// depth is how many messages a queue has.
type depth struct{ visible, inFlight, delayed int }

func (d depth) all() int { return d.visible + d.inFlight + d.delayed }

func (d depth) String() string {
	return fmt.Sprintf("%d visible, %d in flight, %d delayed", d.visible, d.inFlight, d.delayed)
}

func (s *stack) depth(queue string) (d depth) {
	out, err := s.sqs.GetQueueAttributes(s.t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: aws.String(s.outputs[queue]), AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		s.giveUp(fmt.Errorf("the depth of %s: %w", queue, err))
		return depth{visible: 1} // not known to be empty
	}
	of := func(name types.QueueAttributeName) int { n, _ := strconv.Atoi(out.Attributes[string(name)]); return n }
	return depth{
		visible:  of(types.QueueAttributeNameApproximateNumberOfMessages),
		inFlight: of(types.QueueAttributeNameApproximateNumberOfMessagesNotVisible),
		delayed:  of(types.QueueAttributeNameApproximateNumberOfMessagesDelayed),
	}
}

// giveUp ends the test soon; the first reason counts.
func (s *stack) giveUp(err error) {
	if s.t.Context().Err() == nil {
		s.failed.CompareAndSwap(nil, &err)
	}
}
