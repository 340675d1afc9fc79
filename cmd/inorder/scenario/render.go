package scenario

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// json appends the value as JSON, keys in the file's order, numbers with every digit.
func (v *value) json(out []byte) []byte {
	switch v.kind {
	case textKind:
		quoted, err := jsontext.AppendQuote(out, v.text)
		if err != nil {
			panic(err) // the file was checked to be valid UTF-8
		}
		return quoted
	case listKind:
		out = append(out, '[')
		for i, item := range v.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = item.json(out)
		}
		return append(out, ']')
	case mapKind:
		out = append(out, '{')
		for i, k := range v.keys {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(text(k.name, 0).json(out), ':')
			out = v.items[i].json(out)
		}
		return append(out, '}')
	case nullKind, boolKind, numberKind:
		return append(out, v.text...)
	}
	panic("unknown kind")
}

// bytes is how long the value is as JSON, about; what aliases multiply is found out before it is built.
func (v *value) bytes(limit int) int {
	n := len(v.text) + 2
	for i, item := range v.items {
		if n > limit {
			return n
		}
		if v.kind == mapKind {
			n += len(v.keys[i].name) + 3
		}
		n += item.bytes(limit - n)
	}
	return n
}

// any returns the value as the schema's validator wants it.
func (v *value) any() any {
	if v.plain != nil {
		return v.plain
	}
	out := v.build()
	if !v.holds {
		v.plain = out
	}
	return out
}

func (v *value) build() any {
	switch v.kind {
	case nullKind:
		return nil
	case boolKind:
		return v.text == "true"
	case numberKind:
		return json.Number(v.text)
	case textKind:
		return v.text
	case listKind:
		list := make([]any, len(v.items))
		for i, item := range v.items {
			list[i] = item.any()
		}
		return list
	case mapKind:
		m := make(map[string]any, len(v.keys))
		for i, k := range v.keys {
			m[k.name] = v.items[i].any()
		}
		return m
	}
	panic("unknown kind")
}

// lines renders the value as YAML in flow style with everything on the line that it has in the file, so that what
// another parser says about it names the right lines. Aliases stand where they are used.
func (v *value) lines(w *lineWriter) {
	w.reach(v.line)
	switch v.kind {
	case listKind:
		w.text("[")
		for i, item := range v.items {
			if i > 0 {
				w.text(", ")
			}
			item.lines(w)
		}
		w.text("]")
	case mapKind:
		w.text("{")
		for i, k := range v.keys {
			if i > 0 {
				w.text(", ")
			}
			w.reach(k.line)
			w.text(string(text(k.name, 0).json(nil)) + ": ")
			v.items[i].lines(w)
		}
		w.text("}")
	case nullKind, boolKind, numberKind, textKind:
		w.text(string(v.json(nil)))
	}
}

// lineWriter writes text and knows on which line it is.
type lineWriter struct {
	strings.Builder
	line int // the lines that are full
}

// reach goes down to a line; it never goes up.
func (w *lineWriter) reach(line int) {
	for ; w.line+1 < line; w.line++ {
		w.WriteString("\n ")
	}
}

func (w *lineWriter) text(s string) { w.WriteString(s) }
