package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
	"inorder/ordering"
)

// LogReader is what reading log lines needs of the SDK's client.
type LogReader interface {
	FilterLogEvents(ctx context.Context, in *cloudwatchlogs.FilterLogEventsInput, options ...func(*cloudwatchlogs.Options)) (*cloudwatchlogs.FilterLogEventsOutput, error)
}

// The most that one look at the logs reads. A page may be empty though more follow ("FilterLogEvents", Amazon CloudWatch
// Logs API Reference), so pages have a limit of their own.
const (
	maxLogLines = 500
	maxLogPages = 500
)

// addLines adds what the consumer logged about the entity since some time, the newest lines if they are many.
func (p *Page) addLines(ctx context.Context, client LogReader, group string, stream *events.Stream, key ordering.Key, since time.Time) error {
	in := &cloudwatchlogs.FilterLogEventsInput{
		LogGroupName: &group, FilterPattern: aws.String(pattern(key)), StartTime: aws.Int64(since.UnixMilli()),
		StartFromHead: aws.Bool(false), // the newest first
	}
	for range maxLogPages {
		out, err := client.FilterLogEvents(ctx, in)
		if missing := (*types.ResourceNotFoundException)(nil); errors.As(err, &missing) {
			return stack.Usagef("there is no log group %s: name it with --log-group", group)
		}
		if err != nil {
			return fmt.Errorf("read log group %s: %w", group, err)
		}
		for _, e := range out.Events {
			if p.LogLines == maxLogLines {
				p.LogsCut = true
				p.sort()
				return nil
			}
			if m, ok := momentOf(aws.ToString(e.Message), stream, key, time.UnixMilli(aws.ToInt64(e.Timestamp))); ok {
				p.add(m)
				p.LogLines++
			}
		}
		if aws.ToString(out.NextToken) == "" {
			p.sort()
			return nil
		}
		in.NextToken = out.NextToken
	}
	p.LogsCut = true
	p.sort()
	return nil
}

// plainText is what stands between quotes in a pattern and means itself. A star would be a wildcard, and how a quote is
// escaped is not said: "Using filter patterns to match terms in JSON log events", Amazon CloudWatch Logs User Guide.
var plainText = regexp.MustCompile(`^[A-Za-z0-9_./:@#+=, -]{1,400}$`)

// pattern selects at least the entity's lines; momentOf looks closely. Of ids that a pattern cannot say it selects by
// the stream alone.
func pattern(key ordering.Key) string {
	stream, id := `$.stream = *`, `$.entity_id = *`
	if plainText.MatchString(key.Stream) {
		stream = `$.stream = "` + key.Stream + `"`
	}
	if plainText.MatchString(key.ID) {
		id = `$.entity_id = "` + key.ID + `"`
	}
	return "{ (" + stream + ") && (" + id + ") }"
}

// line is what the functions log, by its names.
type line struct {
	Time         time.Time `json:"time"`
	Message      string    `json:"msg"`
	MessageID    string    `json:"message_id"`
	EventID      string    `json:"event_id"`
	Source       string    `json:"source"`
	Stream       string    `json:"stream"`
	EntityID     string    `json:"entity_id"`
	OrderKey     string    `json:"order_key"`
	Disposition  string    `json:"disposition"`
	Reason       string    `json:"reason"`
	Error        string    `json:"error"`
	ReceiveCount int       `json:"receive_count"`
}

func momentOf(text string, stream *events.Stream, key ordering.Key, at time.Time) (Moment, bool) {
	var l line
	if json.Unmarshal([]byte(text), &l) != nil || l.Stream != key.Stream || l.EntityID != key.ID || key.PerSource && l.Source != key.Source {
		return Moment{}, false
	}
	if !l.Time.IsZero() {
		at = l.Time
	}
	m := Moment{
		At: at, What: cmp.Or(l.Disposition, l.Message), OrderKey: terminal.OrderKey(stream, l.OrderKey), EventID: l.EventID, MessageID: l.MessageID,
		ReceiveCount: l.ReceiveCount, Detail: cmp.Or(l.Reason, l.Error), From: fromLines,
	}
	if l.Reason != "" && l.Error != "" {
		m.Detail = l.Reason + ": " + l.Error
	}
	return m, true
}
