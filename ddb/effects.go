package ddb

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"inorder/events"
	"inorder/ordering"
)

// Effects are owed as JSON text, the form that their receivers parse, with every digit of every number.
var (
	writeNumbers = json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, n events.Number) error {
		return enc.WriteValue(jsontext.Value(n))
	}))
	readNumbers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, v *any) error {
		if dec.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		n, err := dec.ReadValue()
		*v = events.Number(n)
		return err
	}))
)

func encodeEffects(effects []ordering.Effect) (string, error) {
	if len(effects) == 0 {
		return "", nil
	}
	b, err := json.Marshal(effects, writeNumbers)
	return string(b), err
}

func decodeEffects(s string) (effects []ordering.Effect, err error) {
	if s == "" {
		return nil, nil
	}
	err = json.Unmarshal([]byte(s), &effects, readNumbers)
	return effects, err
}
