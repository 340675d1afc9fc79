package stack

import (
	"fmt"

	"inorder/cmd/inorder/terminal"
	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// Entity is how a command names the one entity that it is about.
type Entity struct {
	Stream string  `arg:"" name:"stream" help:"A stream of streams.yaml."`
	Entity string  `arg:"" name:"entity" help:"The entity's id, byte for byte."`
	Source *string `help:"Whose history, where each source has its own." placeholder:"NAME"`
}

// In finds the stream, and makes the entity's key.
func (e *Entity) In(streams *events.Config) (*events.Stream, ordering.Key, error) {
	stream := streams.Stream(e.Stream)
	if stream == nil {
		return nil, ordering.Key{}, Usagef("streams.yaml has no stream %s", terminal.Escape(e.Stream))
	}
	key := ordering.Key{Consumer: streams.Consumer, Stream: stream.Name, ID: e.Entity, PerSource: stream.PerSource}
	switch {
	case stream.PerSource && e.Source == nil:
		return nil, key, Usagef("in stream %s each source has a history of its own: say whose with --source", stream.Name)
	case !stream.PerSource && e.Source != nil:
		return nil, key, Usagef("in stream %s all sources share one history: leave --source out", stream.Name)
	case e.Source != nil:
		key.Source = *e.Source
	}
	if err := ddb.CheckKey(key); err != nil {
		return nil, key, Usagef("no such entity can be: %v", err)
	}
	return stream, key, nil
}

// NameOf is an entity as a sentence names it.
func NameOf(key ordering.Key) string {
	of := ""
	if key.PerSource {
		of = fmt.Sprintf(" of source %s", terminal.Escape(key.Source))
	}
	return fmt.Sprintf("%s of stream %s%s", terminal.Escape(key.ID), terminal.Escape(key.Stream), of)
}

// NeverSeen is the error about an entity that is not in the table.
func NeverSeen(key ordering.Key) error {
	return fmt.Errorf("%s has never seen %s: ids are byte for byte, and case counts; what can never succeed is in quarantine (inorder redrive shows it)", terminal.Escape(key.Consumer), NameOf(key))
}
