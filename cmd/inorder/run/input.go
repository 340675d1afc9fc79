package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/backend"
)

// standardInput is how it is called in arguments and reports.
const standardInput = "-"

// message is one message to consume, and what became of it.
type message struct {
	place  string // file and line; what a message without an id of its own is called
	record awsevents.SQSMessage

	receives int
	endings  []ending // of its last delivery; one per event
	acked    bool
}

// readAll reads the messages of all files, in their order.
func readAll(paths []string, stdin io.Reader, now time.Time) ([]*message, error) {
	if len(paths) == 0 {
		paths = []string{standardInput}
	}
	var all []*message
	for _, path := range paths {
		name, content, err := read(path, stdin)
		if err != nil {
			return nil, err
		}
		all = append(all, split(name, content, now)...)
	}
	return all, nil
}

func read(path string, stdin io.Reader) (name string, content []byte, err error) {
	if path == standardInput {
		content, err = io.ReadAll(stdin)
		return "stdin", content, err
	}
	content, err = os.ReadFile(path)
	return path, content, err
}

// split takes a file apart. One that is a single JSON text over several lines is taken as a whole, for so are events
// kept for tests; in any other each line is a message, broken ones too, and what stands on it arrives byte for byte.
func split(name string, content []byte, now time.Time) []*message {
	if whole := bytes.TrimSpace(content); bytes.IndexByte(whole, '\n') >= 0 && json.Valid(whole) {
		return messages(name, name, whole, now)
	}
	var all []*message
	number := 0
	for line := range bytes.Lines(content) {
		number++
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		place := fmt.Sprintf("%s:%d", name, number)
		all = append(all, messages(place, place, line, now)...)
	}
	return all
}

// messages makes messages of one text: the records in it, or itself.
func messages(place, id string, text []byte, now time.Time) []*message {
	found, ok := records(text)
	if !ok {
		found = []awsevents.SQSMessage{bare(id, text, now)}
	}
	all := make([]*message, len(found))
	for i, r := range found {
		if r.MessageId == "" {
			r.MessageId = fmt.Sprintf("%s#%d", id, i)
		}
		if r.EventSourceARN == "" {
			r.EventSourceARN = backend.QueueARN(backend.SourceURL)
		}
		if r.Attributes == nil {
			r.Attributes = map[string]string{}
		}
		r.EventSource = "aws:sqs"
		all[i] = &message{place: place, record: r}
	}
	return all
}
