package events

import (
	"errors"
	"io"
	"strings"
)

// maxDepth is how many objects and arrays may stand inside each other. jsontext has a limit of its own (10,000), far more
// than any honest event needs, and every level costs stack wherever the value is walked later.
const maxDepth = 1000

const byteOrderMark = "\uFEFF"

// readJSON reads one JSON text strictly (RFC 7493: valid UTF-8, no repeated names, one value). One leading byte order mark
// is forgiven, as RFC 8259 section 8.1 allows.
func readJSON(text string) (Value, *Refusal) {
	r := jsonReaders.Get().(*jsonReader)
	defer r.release()

	r.reset(strings.TrimPrefix(text, byteOrderMark))
	err := r.value(0, span{})
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return Value{}, refuseJSON(err)
	}
	return r.build(), nil
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
