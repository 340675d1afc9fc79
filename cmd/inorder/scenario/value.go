package scenario

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// kind is what a value is, in the words of JSON.
type kind uint8

const (
	nullKind kind = iota
	boolKind
	numberKind
	textKind
	listKind
	mapKind
)

// A value is one node of the file, aliases resolved. Nothing changes a value once it is built: what an anchor names is
// shared by all its aliases, and what holds no placeholder by all combinations of the matrix.
type value struct {
	kind   kind
	text   string // a string; of a number, its JSON text with every digit; true, false, null
	source string // a scalar as the file has it, for use inside longer strings
	items  []*value
	keys   []key // of a mapping, in the file's order
	line   int

	size  int  // how many values a list or a mapping comes to, with all below; more than maxValues: too many
	holds bool // a placeholder, here or below
	plain any  // for the schema; built on demand and only where nothing below is a placeholder
}

type key struct {
	name string
	line int
}

func text(s string, line int) *value {
	return &value{kind: textKind, text: s, source: s, line: line, holds: placeholder.MatchString(s)}
}

// closed notes how much is below, and whether anything of it is a placeholder.
func (v *value) closed() *value {
	v.size = 1
	for _, item := range v.items {
		v.size = min(v.size+max(1, item.size), maxValues+1)
		v.holds = v.holds || item.holds
	}
	for _, k := range v.keys {
		v.holds = v.holds || placeholder.MatchString(k.name)
	}
	return v
}

// get returns what a mapping holds under a name, nil where it has nothing or is no mapping.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	for i, k := range v.keys {
		if k.name == name {
			return v.items[i]
		}
	}
	return nil
}

// The scalars of YAML 1.2's core schema.
var (
	integerText = regexp.MustCompile(`^[-+]?[0-9]+$`)
	octalText   = regexp.MustCompile(`^0o[0-7]+$`)
	hexText     = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)
	floatText   = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	notFinite   = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

// resolve reads a plain scalar.
func resolve(plain string) (*value, error) {
	v := text(plain, 0)
	switch {
	case plain == "" || plain == "~" || plain == "null" || plain == "Null" || plain == "NULL":
		v.kind, v.text = nullKind, "null"
	case plain == "true" || plain == "True" || plain == "TRUE":
		v.kind, v.text = boolKind, "true"
	case plain == "false" || plain == "False" || plain == "FALSE":
		v.kind, v.text = boolKind, "false"
	case octalText.MatchString(plain), hexText.MatchString(plain):
		n, _ := new(big.Int).SetString(plain, 0)
		v.kind, v.text = numberKind, n.String()
	case integerText.MatchString(plain), floatText.MatchString(plain):
		v.kind, v.text = numberKind, jsonNumber(plain)
	case notFinite.MatchString(plain):
		return v, fmt.Errorf("%s is no number of JSON", plain)
	}
	return v, nil
}

// jsonNumber writes a YAML number as JSON wants it, without touching a digit that counts.
func jsonNumber(plain string) string {
	sign, digits := "", strings.TrimPrefix(plain, "+")
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "-", rest
	}
	end := strings.IndexAny(digits, ".eE")
	if end < 0 {
		end = len(digits)
	}
	whole, rest := strings.TrimLeft(digits[:end], "0"), digits[end:]
	if whole == "" {
		whole = "0"
	}
	if fraction, found := strings.CutPrefix(rest, "."); found && (fraction == "" || fraction[0] == 'e' || fraction[0] == 'E') {
		rest = fraction
	}
	return sign + whole + rest
}
