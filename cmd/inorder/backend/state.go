package backend

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"inorder/events"
)

// StateJSON is an entity's state as JSON: every digit of its numbers, names in order.
func StateJSON(state map[string]any) []byte {
	if state == nil {
		return []byte("{}")
	}
	return appendJSON(nil, state)
}

func appendJSON(out []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, v)
	case events.Number:
		return append(out, v...)
	case string:
		return appendText(out, v)
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendJSON(out, item)
		}
		return append(out, ']')
	case map[string]any:
		out = append(out, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendText(out, name), ':')
			out = appendJSON(out, v[name])
		}
		return append(out, '}')
	}
	other, err := json.Marshal(v) // nothing else is in a state
	if err != nil {
		return append(out, "null"...)
	}
	return append(out, other...)
}

func appendText(out []byte, s string) []byte {
	quoted, _ := jsontext.AppendQuote(out, s) // its only error is of invalid UTF-8, which it replaces
	return quoted
}
