package stack

import (
	"context"

	"inorder/cmd/inorder/terminal"
	"inorder/events"
	"inorder/ordering"
)

// Open connects, and reads streams.yaml.
func (f *Flags) Open(ctx context.Context, need ...Resource) (*Connection, *events.Config, error) {
	c, err := f.Connect(ctx, need...)
	if err != nil {
		return nil, nil, err
	}
	streams, err := c.Streams()
	return c, streams, err
}

// Found is the one entity that a command is about, in its deployment. Whether it was ever seen is not known yet.
type Found struct {
	*Connection
	Config *events.Config
	Stream *events.Stream
	Key    ordering.Key
}

// Find opens the deployment, and finds in it what the arguments name.
func (e *Entity) Find(ctx context.Context, f *Flags, need ...Resource) (*Found, error) {
	c, config, err := f.Open(ctx, need...)
	if err != nil {
		return nil, err
	}
	stream, key, err := e.In(config)
	if err != nil {
		return nil, err
	}
	return &Found{c, config, stream, key}, nil
}

// CheckStream refuses a --stream that streams.yaml does not have. Without one all streams are meant.
func CheckStream(streams *events.Config, name string) error {
	if name != "" && streams.Stream(name) == nil {
		return Usagef("--stream %s: streams.yaml has no such stream", terminal.Escape(name))
	}
	return nil
}
