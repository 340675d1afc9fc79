package events

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonReader is a jsontext decoder with what it can use again for the next text. It notes where in the text each value
// stands, which takes no pointers and so nothing of the garbage collector, and builds all values at once in the end.
type jsonReader struct {
	text  string
	buf   bytes.Buffer // a copy of text, which the decoder reads
	dec   jsontext.Decoder
	nodes []node // each value is followed by what is inside it
	plain []byte // texts that were written with escapes, without them
}

// node is where a value stands.
type node struct {
	name, text span
	form       form
	inner      int32 // of an object or an array: its members
	inside     int32 // and how many nodes they take, those inside them included
}

// span is a part of the text, or of plain.
type span struct {
	from, to int32
	isPlain  bool
}

var jsonReaders = sync.Pool{New: func() any { return new(jsonReader) }}

// What a pooled reader keeps is bounded, because a warm function lives for hours.
const (
	maxKeptBuffer = 64 << 10
	maxKeptNodes  = 2 << 10
)

func (r *jsonReader) reset(text string) {
	r.text = text
	r.buf.Reset()
	r.buf.WriteString(text)
	r.dec.Reset(&r.buf)
	r.nodes, r.plain = r.nodes[:0], r.plain[:0]
}

func (r *jsonReader) release() {
	r.text = ""
	if r.buf.Cap() <= maxKeptBuffer && cap(r.plain) <= maxKeptBuffer && cap(r.nodes) <= maxKeptNodes {
		jsonReaders.Put(r)
	}
}

// end accepts white space and nothing else after the value.
func (r *jsonReader) end() error {
	_, err := r.dec.ReadToken()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return fmt.Errorf("a second value after offset %d", r.dec.InputOffset())
	}
	return err
}

func (r *jsonReader) value(depth int, name span) error {
	kind := r.dec.PeekKind()
	if kind == jsontext.KindBeginObject {
		return r.object(depth+1, name)
	}
	if kind == jsontext.KindBeginArray {
		return r.array(depth+1, name)
	}
	raw, err := r.dec.ReadValue() // of an object or an array it would read the whole, without our limit
	if err != nil {
		return err
	}
	n := node{name: name, form: form(kind)}
	switch n.form {
	case formText:
		n.text, err = r.unquote(raw)
	case formNumber:
		n.text = r.last(raw, 0)
	case formNone, formNull, formTrue, formFalse, formArray, formObject: // there is no text, or no value that ends here
	}
	r.nodes = append(r.nodes, n)
	return err
}

func (r *jsonReader) object(depth int, name span) error {
	at, err := r.begin(depth, node{name: name, form: formObject})
	if err != nil {
		return err
	}
	members := int32(0)
	for ; r.dec.PeekKind() == jsontext.KindString; members++ {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		name, err := r.unquote(raw)
		if err != nil {
			return err
		}
		if err := r.value(depth, name); err != nil {
			return err
		}
	}
	return r.finish(at, members) // or whatever stands in place of a name
}

func (r *jsonReader) array(depth int, name span) error {
	at, err := r.begin(depth, node{name: name, form: formArray})
	if err != nil {
		return err
	}
	elements := int32(0)
	for ; r.dec.PeekKind() != jsontext.KindEndArray; elements++ {
		if err := r.value(depth, span{}); err != nil {
			return err
		}
	}
	return r.finish(at, elements)
}

func (r *jsonReader) begin(depth int, n node) (at int, err error) {
	if depth > maxDepth {
		return 0, errTooDeep
	}
	if _, err = r.dec.ReadToken(); err == nil {
		r.nodes = append(r.nodes, n)
	}
	return len(r.nodes) - 1, err
}

func (r *jsonReader) finish(at int, members int32) error {
	n := &r.nodes[at]
	n.inner, n.inside = members, int32(len(r.nodes)-1-at)
	_, err := r.dec.ReadToken()
	return err
}

// unquote finds a string. Without escapes it is a part of the text and is not copied: it keeps the text from being freed,
// which is as good as its data anyway.
func (r *jsonReader) unquote(raw jsontext.Value) (span, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return r.last(raw, 1), nil
	}
	from := len(r.plain)
	var err error
	r.plain, err = jsontext.AppendUnquote(r.plain, raw)
	return span{int32(from), int32(len(r.plain)), true}, err
}

// last is the part of the text that raw was read from, without so many bytes at both ends.
func (r *jsonReader) last(raw jsontext.Value, quotes int) span {
	end := int(r.dec.InputOffset())
	return span{from: int32(end - len(raw) + quotes), to: int32(end - quotes)}
}

func (r *jsonReader) build() Value {
	v, _ := r.buildAt(0, make([]Member, len(r.nodes)-1))
	return v
}

// buildAt makes the value of a node, with what is inside it at the beginning of room.
func (r *jsonReader) buildAt(i int, room []Member) (v Value, left []Member) {
	n := &r.nodes[i]
	if n.form != formObject && n.form != formArray {
		return Value{form: n.form, text: r.cut(n.text)}, room
	}
	inner, room := room[:n.inner:n.inner], room[n.inner:]
	for k := range inner {
		i++
		inner[k].Name = r.cut(r.nodes[i].name)
		inner[k].Value, room = r.buildAt(i, room)
		i += int(r.nodes[i].inside)
	}
	if n.form == formObject {
		Object(inner).arrange()
	}
	return Value{form: n.form, inner: inner}, room
}

func (r *jsonReader) cut(s span) string {
	if s.isPlain {
		return string(r.plain[s.from:s.to])
	}
	return r.text[s.from:s.to]
}
