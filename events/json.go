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
	// The library names the offending character or member and its place, never a value.
	return refuse(NotJSON, "%s", strings.TrimPrefix(err.Error(), "jsontext: "))
}

// jsonReader is a jsontext decoder with what it can use again for the next text.
type jsonReader struct {
	buf   bytes.Buffer
	dec   jsontext.Decoder
	names map[string]string // names seen before, so that each event does not allocate "event_id" anew
}

var jsonReaders = sync.Pool{New: func() any { return &jsonReader{names: make(map[string]string)} }}

// What a pooled reader keeps is bounded, because a warm function lives for hours and names come from outside.
const (
	maxKeptBuffer = 64 << 10
	maxKeptNames  = 512
	maxKeptName   = 32
)

func (r *jsonReader) reset(text string) {
	r.buf.Reset()
	r.buf.WriteString(text)
	r.dec.Reset(&r.buf)
}

func (r *jsonReader) release() {
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
	tok, err := r.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	case '0':
		return Number(tok.String()), nil
	}
	if depth == maxDepth {
		return nil, errTooDeep
	}
	if tok.Kind() == '{' {
		return r.object(depth + 1)
	}
	return r.array(depth + 1)
}

func (r *jsonReader) object(depth int) (any, error) {
	members := make(map[string]any)
	for {
		tok, err := r.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		if tok.Kind() == '}' {
			return members, nil
		}
		name := r.name(tok)
		if members[name], err = r.value(depth); err != nil {
			return nil, err
		}
	}
}

func (r *jsonReader) array(depth int) (any, error) {
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

func (r *jsonReader) name(tok jsontext.Token) string {
	if known, ok := r.names[tok.String()]; ok {
		return known
	}
	name := tok.String()
	if len(name) <= maxKeptName && len(r.names) < maxKeptNames {
		r.names[name] = name
	}
	return name
}
