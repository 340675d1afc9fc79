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
	if commands := inspections(streams, sent, on, now); len(commands) > 0 {
		fmt.Fprintf(out, "\nwhat became of it:\n  %s\n", strings.Join(commands, "\n  "))
	}
	if len(sent) > 0 {
		fmt.Fprintf(out, "what could never succeed, and why:\n  go run ./cmd/inorder redrive %s\n", on)
	}
	return nil
}

// inspections are the commands that show the entities of messages, each once.
func inspections(streams *events.Config, sent []message, on string, now time.Time) []string {
	var commands []string
	for _, m := range sent {
		for _, d := range streams.Decode(m.received(), now) {
			if d.Event == nil {
				continue
			}
			if command := inspect(d.Event, on); !slices.Contains(commands, command) {
				commands = append(commands, command)
			}
		}
	}
	if left := len(commands) - maxLooks; left > 0 {
		commands = append(commands[:maxLooks], fmt.Sprintf("(and %d more)", left))
	}
	return commands
}

// inspect is the command that shows the entity of an event.
func inspect(e *events.Event, on string) string {
	command := fmt.Sprintf("go run ./cmd/inorder inspect %s %s", e.Stream.Name, quoted(e.EntityID))
	if e.Stream.PerSource {
		command += " --source " + quoted(e.Source)
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
