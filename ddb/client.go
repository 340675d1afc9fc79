package ddb

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// What a client spends on one request unless told otherwise: at most three tries of two seconds and half a second of
// pauses. A function has 30 seconds and several requests to make, and whatever does not work out comes back by SQS, so
// there is nothing to gain by insisting. The SDK's own pause after a throttled try is a second at least.
const (
	defaultAttempts   = 3
	defaultMaxPause   = 250 * time.Millisecond
	defaultTryTimeout = 2 * time.Second
	firstPause        = 25 * time.Millisecond
)

// idleConnections is how many connections stay open. Entities of a batch are written in parallel, and the SDK's own
// ten would open and close one for most of them.
const idleConnections = 64

// ClientOptions change what NewClient makes. The zero value is what a function on AWS uses.
type ClientOptions struct {
	Endpoint   string            // of a local engine
	Transport  http.RoundTripper // sends requests instead of the configuration's HTTP client
	Attempts   int               // tries of one request, the first included
	MaxPause   time.Duration     // the longest pause between two tries; tests take a nanosecond
	TryTimeout time.Duration     // of one try
	Meter      *Meter            // adds up consumed capacity
}

// NewClient returns a client that gives up early. When it does, or its context ends, the outcome of the write is
// unknown. A try after one without an answer may meet the write of that one: a conditional write then loses to itself,
// which the caller recognises by its token or its last message; a transaction succeeds again.
func NewClient(cfg aws.Config, o ClientOptions) *dynamodb.Client {
	retryer := newRetryer(o)
	return dynamodb.NewFromConfig(cfg, func(d *dynamodb.Options) {
		d.Retryer = retryer
		d.HTTPClient = Whole{httpClient(cfg.HTTPClient, o)}
		if o.Endpoint != "" {
			d.BaseEndpoint = &o.Endpoint
		}
		d.APIOptions = append(d.APIOptions, watchTries)
		if o.Meter != nil {
			d.APIOptions = append(d.APIOptions, o.Meter.register)
		}
	})
}

func newRetryer(o ClientOptions) aws.Retryer {
	longest := orDefault(o.MaxPause, defaultMaxPause)
	return retry.NewStandard(func(s *retry.StandardOptions) {
		s.MaxAttempts = orDefault(o.Attempts, defaultAttempts)
		s.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
			return pause(attempt, longest), nil
		})
	})
}

// pause is how long to wait after a try, of which the first is 0.
func pause(attempt int, longest time.Duration) time.Duration {
	return rand.N(min(firstPause<<attempt, longest)) + 1
}

// httpClient bounds every try, so that one lost answer does not use up the time of a whole invocation.
func httpClient(configured aws.HTTPClient, o ClientOptions) aws.HTTPClient {
	timeout := orDefault(o.TryTimeout, defaultTryTimeout)
	if o.Transport != nil {
		return &http.Client{Transport: o.Transport, Timeout: timeout}
	}
	switch c := configured.(type) {
	case *http.Client:
		bounded := *c
		bounded.Timeout = timeout
		return &bounded
	case *awshttp.BuildableClient:
		return buildable(c, timeout)
	case nil:
		return buildable(awshttp.NewBuildableClient(), timeout)
	default:
		return c
	}
}

// buildable is what config.LoadDefaultConfig sets, too. Whoever asked for more connections keeps them.
func buildable(c *awshttp.BuildableClient, timeout time.Duration) aws.HTTPClient {
	return c.WithTimeout(timeout).WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = max(t.MaxIdleConnsPerHost, idleConnections)
	})
}

func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}
