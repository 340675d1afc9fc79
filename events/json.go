package events

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how many objects and arrays may stand inside each other. jsontext has a limit of its own (10,000), far more
// than any honest event needs, and every level costs stack wherever the value is walked later.
const maxDepth = 1000

const byteOrderMark = "\uFEFF"

// readJSON reads one JSON text strictly (RFC 7493: valid UTF-8, no repeated names, one value) into nil, bool, string,
// Number, []any and map[string]any. One leading byte order mark is forgiven, as RFC 8259 section 8.1 allows.
func readJSON(text string) (any, *Refusal) {
	r := jsonReaders.Get().(*jsonReader)
	defer r.release()

	r.reset(strings.TrimPrefix(text, byteOrderMark))
	v, err := r.value(0)
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return nil, refuseJSON(err)
	}
	return v, nil
}

var errTooDeep = errors.New("too deep")

func refuseJSON(err error) *Refusal {
	if errors.Is(err, errTooDeep) {
		return refuse(TooDeep, "JSON nested deeper than %d levels", maxDepth)
	}
	if errors.Is(err, io.EOF) {
		return refuse(NotJSON, "no JSON text at all")
	}
	// The library names the offending character or member and its place, never a value; a name may be of any length.
	detail := strings.TrimPrefix(err.Error(), "jsontext: ")
	if len(detail) > maxDetail {
		detail = strings.ToValidUTF8(detail[:maxDetail], "") + "…"
	}
	return refuse(NotJSON, "%s", detail)
}

// maxDetail is how many bytes of a parse error a person wants to read.
const maxDetail = 200

// jsonReader is a jsontext decoder with what it can use again for the next text.
type jsonReader struct {
	text  string
	buf   bytes.Buffer // a copy of text, which the decoder reads
	dec   jsontext.Decoder
	names map[string]string // names seen before, as written, so that "event_id" is not made anew for each event
}

var jsonReaders = sync.Pool{New: func() any { return &jsonReader{names: make(map[string]string)} }}

// What a pooled reader keeps is bounded, because a warm function lives for hours and names come from outside.
const (
	maxKeptBuffer = 64 << 10
	maxKeptNames  = 512
	maxKeptName   = 32
)

func (r *jsonReader) reset(text string) {
	r.text = text
	r.buf.Reset()
	r.buf.WriteString(text)
	r.dec.Reset(&r.buf)
}

func (r *jsonReader) release() {
	r.text = ""
	if r.buf.Cap() <= maxKeptBuffer {
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

func (r *jsonReader) value(depth int) (any, error) {
	kind := r.dec.PeekKind()
	if kind == '{' {
		return r.object(depth + 1)
	}
	if kind == '[' {
		return r.array(depth + 1)
	}
	raw, err := r.dec.ReadValue() // of an object or an array it would read the whole, without our limit
	if err != nil {
		return nil, err
	}
	switch raw[0] {
	case 'n':
		return nil, nil
	case 't', 'f':
		return raw[0] == 't', nil
	case '"':
		return r.unquote(raw)
	}
	return Number(r.last(raw, 0)), nil
}

func (r *jsonReader) object(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, err
	}
	members := make(map[string]any)
	for r.dec.PeekKind() == '"' {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return nil, err
		}
		name, err := r.name(raw)
		if err != nil {
			return nil, err
		}
		if members[name], err = r.value(depth); err != nil {
			return nil, err
		}
	}
	_, err := r.dec.ReadToken() // the end, or whatever stands in place of a name
	return members, err
}

func (r *jsonReader) array(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, err
	}
	elements := []any{}
	for r.dec.PeekKind() != ']' {
		v, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		elements = append(elements, v)
	}
	_, err := r.dec.ReadToken()
	return elements, err
}

// unquote reads a string. Without escapes it is a part of the text and is not copied: it keeps the text from being freed,
// which is as good as its data anyway.
func (r *jsonReader) unquote(raw jsontext.Value) (string, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return r.last(raw, 1), nil
	}
	s, err := jsontext.AppendUnquote(nil, raw)
	return string(s), err
}

// last is the part of the text that raw was read from, without so many bytes at both ends.
func (r *jsonReader) last(raw jsontext.Value, quotes int) string {
	end := int(r.dec.InputOffset())
	return r.text[end-len(raw)+quotes : end-quotes]
}

// name reads the name of a member.
func (r *jsonReader) name(raw jsontext.Value) (string, error) {
	if known, ok := r.names[string(raw)]; ok {
		return known, nil
	}
	name, err := r.unquote(raw)
	if err == nil && len(raw) <= maxKeptName && len(r.names) < maxKeptNames {
		name = strings.Clone(name)
		r.names[string(raw)] = name
	}
	return name, err
}
