package functions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/logging"

	"inorder/ddb"
	"inorder/ordering"
)

// sendTimeout bounds one try of a SendMessage; the SDK makes three.
const sendTimeout = 2 * time.Second

// StartConsumer reads the settings, connects, and returns the consumer. The error lists everything that is wrong with
// the settings. Metrics and log lines go to out, which on Lambda is standard output.
func StartConsumer(ctx context.Context, getenv func(string) string, out io.Writer, now func() time.Time, projections map[string]ordering.Projector) (*Consumer, error) {
	settings, err := ReadSettings(getenv, slices.Sorted(maps.Keys(projections)))
	if err != nil {
		return nil, err
	}
	cfg, err := loadAWS(ctx)
	if err != nil {
		return nil, err
	}
	parts := settings.parts(settings.store(cfg), newSQS(cfg), out, now, projections)
	logStart(ctx, parts.Log, "consumer", settings.Streams.Consumer)
	return NewConsumer(parts), nil
}

func loadAWS(ctx context.Context) (aws.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.LoggerFunc(sdkLog)))
	if err != nil {
		return cfg, fmt.Errorf("load the AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		return cfg, errors.New("no AWS region: AWS_REGION is not set")
	}
	return cfg, nil
}

func (s *Settings) store(cfg aws.Config) *ddb.Store {
	return &ddb.Store{
		API:    ddb.NewClient(cfg, ddb.ClientOptions{}),
		Tables: ddb.Tables{Entities: s.EntitiesTable, Items: s.ItemsTable},
	}
}

// newSQS bounds every try, as ddb does, so that one lost answer does not use up the time of a whole invocation.
func newSQS(cfg aws.Config) *sqs.Client {
	return sqs.NewFromConfig(cfg, func(o *sqs.Options) {
		o.HTTPClient = ddb.Whole{Client: awshttp.NewBuildableClient().WithTimeout(sendTimeout)}
	})
}

// parts are what the settings decide.
func (s *Settings) parts(store ordering.Store, queues Sender, out io.Writer, now func() time.Time, projections map[string]ordering.Projector) Parts {
	return Parts{
		Streams:       s.Streams,
		Projections:   projections,
		Store:         store,
		SQS:           queues,
		QuarantineURL: s.QuarantineURL,
		EffectsURL:    s.EffectsURL,
		EffectsMode:   s.EffectsMode,
		Metrics:       out,
		Log:           NewLogger(out, s.LogLevel),
		Now:           now,
	}
}

// The pauses between two rounds on an item that others fight over grow from the first to the longest.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = 200 * time.Millisecond
)

// waitShortly passes a random part of a pause, so that those who fight do not meet again, or less where ctx ends.
func waitShortly(ctx context.Context, round int) {
	longest := longestPause
	if round < 6 {
		longest = min(firstPause<<max(round, 0), longestPause)
	}
	timer := time.NewTimer(rand.N(longest))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
