package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
)

const (
	consumerFunction = "consumer"
	sweeperFunction  = "sweeper"
	relayFunction    = "relay"
)

var functionNames = []string{consumerFunction, sweeperFunction, relayFunction}

// line is one line that a function wrote.
type line struct {
	at   time.Time
	text string

	// Of a log line; Message is empty in a line of metrics.
	Time         time.Time
	Level        string
	Message      string `json:"msg"`
	Version      string
	MessageID    string `json:"message_id"`
	EventID      string `json:"event_id"`
	Stream       string
	EntityID     string `json:"entity_id"`
	Disposition  string
	Reason       string
	ReceiveCount int     `json:"receive_count"`
	AgeSeconds   float64 `json:"age_seconds"`
	Attempt      int
	Requested    bool
	Missing      json.RawMessage
}

// The limit of what is read of one function: many times what these tests log.
const mostPages = 1000

// lines reads all that a function has logged so far, oldest first. Lambda's own notes are left out.
func (s *stack) lines(ctx context.Context, function string) ([]line, error) {
	in := &cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String(s.logGroup(function))}
	var all []line
	for range mostPages {
		out, err := s.logs.FilterLogEvents(ctx, in)
		if err != nil {
			return all, fmt.Errorf("read the log of %s: %w", function, err)
		}
		for _, e := range out.Events {
			all = append(all, linesOf(time.UnixMilli(aws.ToInt64(e.Timestamp)), aws.ToString(e.Message))...)
		}
		if in.NextToken = out.NextToken; in.NextToken == nil {
			slices.SortStableFunc(all, func(a, b line) int { return a.at.Compare(b.at) })
			return all, nil
		}
	}
	return all, fmt.Errorf("the log of %s has more than %d pages", function, mostPages)
}

func (s *stack) logGroup(function string) string {
	if function == consumerFunction {
		return s.outputs["ConsumerLogGroup"]
	}
	return "/aws/lambda/" + s.name + "-" + function
}

// linesOf takes a log event apart, which may hold several lines.
func linesOf(at time.Time, event string) (all []line) {
	for text := range strings.Lines(event) {
		one := line{at: at, text: strings.TrimSpace(text)}
		if !strings.HasPrefix(one.text, "{") {
			continue
		}
		_ = json.Unmarshal([]byte(one.text), &one) // what is no log line has no Message
		if !one.Time.IsZero() {
			one.at = one.Time
		}
		all = append(all, one)
	}
	return all
}

// about returns the lines of a function that fulfil a condition.
func (s *stack) about(ctx context.Context, function string, is func(line) bool) ([]line, error) {
	all, err := s.lines(ctx, function)
	return slices.DeleteFunc(all, func(l line) bool { return !is(l) }), err
}
