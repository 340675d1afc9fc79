package backend

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"inorder/events"
)

// held is a message that somebody received.
type held struct {
	handle   string    // of the last receive
	until    time.Time // from then on it is visible again
	receives int
}

// The bounds of a receive: "ReceiveMessage", Amazon SQS API Reference.
const (
	maxReceived       = 10
	maxVisibility     = 43_200 // seconds
	defaultVisibility = 30     // seconds
)

type receiveMessage struct {
	QueueUrl            string
	MaxNumberOfMessages int
	VisibilityTimeout   *int
}

// receive hands out what is visible, the oldest first, and hides it for a while. A FIFO queue hands out nothing of a group
// of which something is hidden ("FIFO queue delivery logic", Amazon SQS Developer Guide). It never waits.
func (q *Queues) receive(request *http.Request, body []byte) *http.Response {
	var in receiveMessage
	if err := json.Unmarshal(body, &in); err != nil {
		return Answer(request, http.StatusBadRequest, "com.amazonaws.sqs#InvalidAddress", err.Error())
	}
	seconds := defaultVisibility
	if in.VisibilityTimeout != nil {
		seconds = *in.VisibilityTimeout
	}
	if in.MaxNumberOfMessages = max(1, in.MaxNumberOfMessages); in.MaxNumberOfMessages > maxReceived || seconds < 0 || seconds > maxVisibility {
		return Answer(request, http.StatusBadRequest, "com.amazonaws.sqs#InvalidParameterValue", "out of range")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.Now()
	messages := []map[string]any{}
	for _, m := range q.visible(in.QueueUrl, now) {
		if len(messages) == in.MaxNumberOfMessages {
			break
		}
		messages = append(messages, q.hand(m, now.Add(time.Duration(seconds)*time.Second)))
	}
	return answer(request, http.StatusOK, map[string]any{"Messages": messages})
}

// visible are the messages of a queue that nobody holds.
func (q *Queues) visible(url string, now time.Time) []events.Message {
	var free []events.Message
	blocked := map[string]bool{}
	for _, m := range q.sent[url] {
		hidden := q.held[m.ID].until.After(now)
		if hidden && strings.HasSuffix(url, ".fifo") {
			blocked[m.GroupID] = true
		}
		if !hidden && !blocked[m.GroupID] {
			free = append(free, m)
		}
	}
	return free
}

func (q *Queues) hand(m events.Message, until time.Time) map[string]any {
	h := q.held[m.ID]
	h.until, h.receives = until, h.receives+1
	h.handle = fmt.Sprintf("%s/%d", m.ID, h.receives)
	if q.held == nil {
		q.held = map[string]held{}
	}
	q.held[m.ID] = h
	attributes := map[string]any{}
	for name, a := range m.Attributes {
		value := map[string]any{"DataType": a.Type}
		if a.Binary != nil {
			value["BinaryValue"] = a.Binary
		} else {
			value["StringValue"] = a.Text
		}
		attributes[name] = value
	}
	system := map[string]string{
		"ApproximateReceiveCount": strconv.Itoa(h.receives), "SentTimestamp": strconv.FormatInt(m.SentAt.UnixMilli(), 10),
	}
	if m.GroupID != "" {
		system["MessageGroupId"] = m.GroupID
	}
	return map[string]any{
		"MessageId": m.ID, "ReceiptHandle": h.handle, "Body": m.Body, "MD5OfBody": sumOf(m.Body),
		"Attributes": system, "MessageAttributes": attributes,
	}
}

type handleInput struct {
	QueueUrl          string
	ReceiptHandle     string
	VisibilityTimeout int
}

// deleteMessage takes a message out, by the handle of any receive.
func (q *Queues) deleteMessage(request *http.Request, body []byte) *http.Response {
	return q.byHandle(request, body, func(in handleInput, id string) {
		q.sent[in.QueueUrl] = slices.DeleteFunc(q.sent[in.QueueUrl], func(m events.Message) bool { return m.ID == id })
		delete(q.held, id)
	})
}

func (q *Queues) changeVisibility(request *http.Request, body []byte) *http.Response {
	return q.byHandle(request, body, func(in handleInput, id string) { q.hide(id, in.VisibilityTimeout) })
}

func (q *Queues) hide(id string, seconds int) {
	if h, is := q.held[id]; is {
		h.until = q.Now().Add(time.Duration(seconds) * time.Second)
		q.held[id] = h
	}
}

func (q *Queues) byHandle(request *http.Request, body []byte, do func(in handleInput, id string)) *http.Response {
	var in handleInput
	err := json.Unmarshal(body, &in)
	id, _, isHandle := strings.Cut(in.ReceiptHandle, "/")
	if err != nil || !isHandle {
		return Answer(request, http.StatusBadRequest, "com.amazonaws.sqs#ReceiptHandleIsInvalid", in.ReceiptHandle)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	do(in, id)
	return answer(request, http.StatusOK, map[string]any{})
}

// changeVisibilityBatch does it for ten at most.
func (q *Queues) changeVisibilityBatch(request *http.Request, body []byte) *http.Response {
	var in struct {
		Entries []struct {
			ID string `json:"Id"`
			handleInput
		}
	}
	if err := json.Unmarshal(body, &in); err != nil || len(in.Entries) == 0 || len(in.Entries) > maxBatchEntries {
		return Answer(request, http.StatusBadRequest, "com.amazonaws.sqs#TooManyEntriesInBatchRequest", "1 to 10 entries")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	successful := []map[string]string{}
	for _, entry := range in.Entries {
		id, _, _ := strings.Cut(entry.ReceiptHandle, "/")
		q.hide(id, entry.VisibilityTimeout)
		successful = append(successful, map[string]string{"Id": entry.ID})
	}
	return answer(request, http.StatusOK, map[string]any{"Successful": successful, "Failed": []any{}})
}

// Receives is how often a message was received.
func (q *Queues) Receives(id string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held[id].receives
}

// Visible is how many messages of a queue somebody could receive now.
func (q *Queues) Visible(url string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.visible(url, q.Now()))
}
