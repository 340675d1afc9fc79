package e2e

import (
	"context"
	"crypto/md5" // it is what SQS tells of a body
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// seen is a message that lies in a queue and stays there.
type seen struct {
	id, text   string // text may lack white space at its ends: see is
	sum        string // MD5 of the body
	attributes map[string]string
}

// is tells whether the message has just this body.
func (m seen) is(body string) bool {
	sum := md5.Sum([]byte(body))
	return m.sum == hex.EncodeToString(sum[:])
}

// look lists what lies in a queue without receiving it ("Querying SQS messages", LocalStack's documentation): a receiver
// would hide messages from the operator's commands.
func (s *stack) look(ctx context.Context, queue string) ([]seen, error) {
	from := here.cloud.Address + "/_aws/sqs/messages?ShowInvisible=true&ShowDelayed=true&QueueUrl=" + url.QueryEscape(s.url(queue))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("look into %s: %w", queue, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("look into %s: %w", queue, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("look into %s: status %d: %s", queue, response.StatusCode, text)
	}
	return readSeen(text)
}

func readSeen(text []byte) ([]seen, error) {
	type raw struct {
		MessageID        string `json:"MessageId"`
		MD5OfBody, Body  string
		MessageAttribute json.RawMessage
	}
	var answer struct {
		ReceiveMessageResponse struct {
			ReceiveMessageResult *struct{ Message json.RawMessage }
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("read %s: %w", text, err)
	}
	result := answer.ReceiveMessageResponse.ReceiveMessageResult
	if result == nil {
		return nil, nil
	}
	messages, err := oneOrMany[raw](result.Message)
	if err != nil {
		return nil, err
	}
	all := make([]seen, 0, len(messages))
	for _, m := range messages {
		attributes, err := oneOrMany[rawAttribute](m.MessageAttribute)
		if err != nil {
			return nil, err
		}
		one := seen{id: m.MessageID, text: m.Body, sum: m.MD5OfBody, attributes: map[string]string{}}
		for _, a := range attributes {
			one.attributes[a.Name] = a.Value.StringValue
		}
		all = append(all, one)
	}
	return all, nil
}

type rawAttribute struct {
	Name  string
	Value struct{ StringValue string }
}

// oneOrMany reads a list that is no list where it has one element: the answer was XML once.
func oneOrMany[T any](text json.RawMessage) (all []T, err error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	if text[0] == '[' {
		err = json.Unmarshal(text, &all)
		return all, err
	}
	var one T
	err = json.Unmarshal(text, &one)
	return []T{one}, err
}

// register is what must be in quarantine when all is over.
type register struct {
	mu  sync.Mutex
	all []poison
}

// poison is a message that can never succeed.
type poison struct {
	message
	reason string
}

func (r *register) add(all ...poison) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, all...)
}

func (r *register) list() []poison {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// mark is the attribute that quarantine adds.
type mark struct {
	Reason    string `json:"reason"`
	MessageID string `json:"message_id"`
	Queue     string `json:"queue"`
}

func (m seen) mark() (out mark) {
	_ = json.Unmarshal([]byte(m.attributes["inorder"]), &out) // no mark is a mark without a reason
	return out
}

// holds tells what a list of messages lacks, and, with only, what it has beyond that. A function that is killed between a
// copy and its answer leaves a second copy of the same delivery.
func holds(all []seen, want []poison, only bool) string {
	var lacks []string
	rest := slices.Clone(all)
	for _, p := range want {
		i := slices.IndexFunc(rest, func(m seen) bool { return m.is(p.body) })
		switch {
		case i < 0:
			lacks = append(lacks, fmt.Sprintf("%s: %.120s", p.reason, p.body))
			continue
		case rest[i].mark().Reason != p.reason:
			lacks = append(lacks, fmt.Sprintf("%s, and not %s: %.120s", p.reason, rest[i].mark().Reason, p.body))
		}
		for name, value := range p.attributes {
			if got := rest[i].attributes[name]; got != value {
				lacks = append(lacks, fmt.Sprintf("attribute %s %q, and not %q: %.120s", name, value, got, p.body))
			}
		}
		if n := len(rest[i].attributes); n != len(p.attributes)+1 {
			lacks = append(lacks, fmt.Sprintf("%d attributes and its mark, and not %d: %.120s", len(p.attributes), n, p.body))
		}
		delivery := rest[i].mark().MessageID
		rest = slices.DeleteFunc(rest, func(m seen) bool { return m.mark().MessageID == delivery && m.is(p.body) })
	}
	if only {
		for _, m := range rest {
			lacks = append(lacks, fmt.Sprintf("nothing of what it has: %s %.120s", m.mark().Reason, m.text))
		}
	}
	return strings.Join(lacks, "\n  ")
}

// quarantined tells which messages are not in quarantine, or not as they must be.
func (s *stack) quarantined(t testing.TB, want []poison) string {
	t.Helper()
	all, err := s.look(t.Context(), quarantineQueue)
	if err != nil {
		return err.Error()
	}
	return holds(all, want, false)
}
