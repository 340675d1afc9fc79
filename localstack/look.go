package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"inorder/events"
	"inorder/localstack/cloud"
)

// maxLooks is how many commands are worth printing.
const maxLooks = 8

// look says where to look for messages that were sent, by what events/streams.yaml makes of them.
func look(sent []message, on string, now time.Time, out io.Writer) error {
	_, streams, err := readStreams()
	if err != nil {
		return fmt.Errorf("it is sent, and where to look for it is not known: %w", err)
	}
	var commands []string
	for _, m := range sent {
		for _, d := range streams.Decode(m.received(), now) {
			if command := lookAt(d, on); !slices.Contains(commands, command) {
				commands = append(commands, command)
			}
		}
	}
	if left := len(commands) - maxLooks; left > 0 {
		commands = append(commands[:maxLooks], fmt.Sprintf("(and %d more)", left))
	}
	if len(commands) > 0 {
		fmt.Fprintf(out, "\nwhat became of it:\n  %s\n", strings.Join(commands, "\n  "))
	}
	return nil
}

// lookAt is the command that shows the entity of an event, or what lies in quarantine.
func lookAt(d events.Decoded, on string) string {
	if d.Event == nil {
		return "go run ./cmd/inorder redrive " + on
	}
	command := fmt.Sprintf("go run ./cmd/inorder inspect %s %s", d.Event.Stream.Name, quoted(d.Event.EntityID))
	if d.Event.Stream.PerSource {
		command += " --source " + quoted(d.Event.Source)
	}
	return command + " " + on
}

var plain = regexp.MustCompile(`^[\w./:@%+,=-]+$`)

// quoted is a word as a shell takes it for one.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// received is the message as the consumer will get it.
func (m message) received() events.Message {
	attributes := map[string]events.Attribute{}
	for name, a := range m.MessageAttributes {
		attribute := events.Attribute{Type: a.DataType, Binary: a.BinaryValue}
		if a.StringValue != nil {
			attribute.Text = *a.StringValue
		}
		attributes[name] = attribute
	}
	return events.Message{Body: m.Body, Attributes: attributes}
}

// on are the flags by which inorder finds the stack.
func on(stack string, c *cloud.Cloud) string {
	return fmt.Sprintf("--stack %s --endpoint %s --region %s", stack, c.Address, cloud.Region)
}
