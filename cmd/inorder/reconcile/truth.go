package reconcile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"inorder/cmd/inorder/stack"
	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// truth is what a file says.
type truth struct {
	inOrder []ordering.Key
	of      map[string]side // by key
	streams map[string]bool // those that occur in it
}

// entry is one entity of the file.
type entry struct {
	Stream   string         `json:"stream"`
	EntityID jsontext.Value `json:"entity_id"` // a string, or an integer, which counts as its digits
	Source   *string        `json:"source"`
	State    jsontext.Value `json:"state"` // null: the entity must not be; left out: whatever it is
	Applied  *int64         `json:"applied"`
}

// readTruth reads JSON lines, or a list. Every fault names its line.
func readTruth(path string, streams *events.Config) (*truth, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, stack.Usagef("--truth: %v", err)
	}
	t := &truth{of: map[string]side{}, streams: map[string]bool{}}
	d := jsontext.NewDecoder(bytes.NewReader(text)) // strict: valid UTF-8, no repeated names
	isList := d.PeekKind() == jsontext.KindBeginArray
	if isList {
		_, _ = d.ReadToken()
	}
	for {
		kind := d.PeekKind()
		if kind == jsontext.KindEndArray && isList {
			if _, err := d.ReadToken(); err != nil {
				return nil, faultAt(path, text, d, err)
			}
			if d.PeekKind() != jsontext.KindInvalid { // nothing, or nothing that could follow
				return nil, faultAt(path, text, d, errors.New("nothing may follow the list"))
			}
		}
		value, err := d.ReadValue()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err == nil {
			err = t.add(value, streams)
		}
		if err != nil {
			return nil, faultAt(path, text, d, err)
		}
	}
}

func faultAt(path string, text []byte, d *jsontext.Decoder, err error) error {
	offset := d.InputOffset()
	if wrong := (*jsontext.SyntacticError)(nil); errors.As(err, &wrong) {
		offset = max(offset, wrong.ByteOffset) // what was read before it ends earlier
	}
	offset = min(offset, int64(len(text)))
	return stack.Usagef("%s, line %d: %v", path, 1+bytes.Count(text[:offset], []byte("\n")), err)
}

func (t *truth) add(value jsontext.Value, streams *events.Config) error {
	var e entry
	if err := jsonv2.Unmarshal(value, &e, jsonv2.RejectUnknownMembers(true)); err != nil {
		return err
	}
	stream := streams.Stream(e.Stream)
	if stream == nil {
		return fmt.Errorf("streams.yaml has no stream %q", e.Stream)
	}
	key, err := e.key(streams.Consumer, stream)
	if err != nil {
		return err
	}
	pk := ddb.EntityPK(key)
	if _, twice := t.of[pk]; twice {
		return fmt.Errorf("%q of stream %s stands here twice", key.ID, key.Stream)
	}
	s, err := e.side(stream)
	if err != nil {
		return err
	}
	t.of[pk], t.streams[stream.Name] = s, true
	t.inOrder = append(t.inOrder, key)
	return nil
}

func (e entry) key(consumer string, stream *events.Stream) (ordering.Key, error) {
	key := ordering.Key{Consumer: consumer, Stream: stream.Name, PerSource: stream.PerSource}
	if kind := e.EntityID.Kind(); kind == jsontext.KindString {
		if err := jsonv2.Unmarshal(e.EntityID, &key.ID); err != nil {
			return key, err
		}
	} else if kind == jsontext.KindNumber && !bytes.ContainsAny(e.EntityID, ".eE") {
		key.ID = string(e.EntityID)
	}
	switch {
	case key.ID == "":
		return key, errors.New("entity_id must be a string that is not empty, or an integer")
	case stream.PerSource && e.Source == nil:
		return key, fmt.Errorf("in stream %s each source has a history of its own: source is missing", stream.Name)
	case !stream.PerSource && e.Source != nil:
		return key, fmt.Errorf("in stream %s all sources share one history: leave source out", stream.Name)
	case e.Source != nil:
		key.Source = *e.Source
	}
	return key, ddb.CheckKey(key)
}

func (e entry) side(stream *events.Stream) (side, error) {
	if e.Applied != nil && stream.Order.By != events.BySeq {
		return side{}, fmt.Errorf("stream %s has no numbers that applied could be", stream.Name)
	}
	s := side{exists: true, applied: e.Applied}
	switch {
	case len(e.State) == 0 && e.Applied == nil:
		return s, errors.New("neither state nor applied: there is nothing to compare")
	case len(e.State) == 0:
		s.anyState = true
	case e.State.Kind() == jsontext.KindNull:
		return side{}, nil
	case e.State.Kind() != jsontext.KindBeginObject:
		return s, errors.New("state must be an object, or null where the entity must not be")
	default:
		d := json.NewDecoder(bytes.NewReader(e.State))
		d.UseNumber()
		if err := d.Decode(&s.state); err != nil {
			return s, err
		}
		s.state = exact(s.state).(map[string]any)
	}
	return s, nil
}

// exact makes the numbers of a decoded value what a state has: their text.
func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		return events.Number(v)
	case []any:
		for i, item := range v {
			v[i] = exact(item)
		}
	case map[string]any:
		for name, item := range v {
			v[name] = exact(item)
		}
	}
	return v
}
