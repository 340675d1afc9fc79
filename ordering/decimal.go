package ordering

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"inorder/events"
)

// The database keeps numbers of up to 38 significant digits, from 1E-130 to 9.99…E+125 in magnitude (Amazon DynamoDB
// Developer Guide, "Supported data types and naming rules in Amazon DynamoDB", Number).
const (
	numberDigits      = 38
	numberMaxExponent = 125
	numberMinExponent = -130
)

var (
	errNotANumber  = errors.New("is not a number")
	errNumberRange = errors.New("is a number that the table cannot hold: more than 38 digits, or too large or too small")
)

// parseAmount reads an exact amount from a JSON number or a decimal string. It is never a float.
func parseAmount(value any) (*apd.Decimal, error) {
	var text string
	switch v := value.(type) {
	case events.Number:
		text = string(v)
	case string:
		if !decimalText.MatchString(v) {
			return nil, errNotANumber
		}
		text = v
	default:
		return nil, errNotANumber
	}
	if text = withoutIdleZeros(text); len(text) > maxNumberText {
		return nil, errNumberRange
	}
	d, _, err := apd.NewFromString(text)
	if err != nil {
		if _, isNumber := value.(events.Number); isNumber {
			return nil, errNumberRange // an exponent that even the library refuses
		}
		return nil, errNotANumber
	}
	return d, fits(d)
}

// maxNumberText is longer than any number that the table can hold: 38 digits, up to 129 zeros on either side of them, a sign, a
// point and an exponent. The library takes time by the square of a number's length: a hundred thousand zeros are several seconds,
// in which nothing else of the batch is done.
const maxNumberText = 400

// withoutIdleZeros takes off, of a text that is longer than it need be, the zeros that say nothing: in front, and behind the point
// at the end.
func withoutIdleZeros(text string) string {
	if len(text) <= maxNumberText {
		return text
	}
	end := len(text)
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		end = e
	}
	mantissa, exponent := text[:end], text[end:]
	digits, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	short := "0" + whole
	if fraction != "" {
		short += "." + fraction
	}
	if negative {
		short = "-" + short
	}
	return short + exponent
}

// decimalText is a decimal string: a JSON number's form, for which leading zeros are no harm. The library reads more:
// NaN, Infinity, a leading plus, a dot at either end.
var decimalText = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// fits reports errNumberRange for what the table would refuse.
func fits(d *apd.Decimal) error {
	if d.IsZero() {
		return nil
	}
	var reduced apd.Decimal
	reduced.Reduce(d)
	digits := reduced.NumDigits()
	first := int64(reduced.Exponent) + digits - 1
	if digits > numberDigits || first > numberMaxExponent || first < numberMinExponent {
		return errNumberRange
	}
	return nil
}

// add returns a + b exactly, or errNumberRange where the sum does not fit.
func add(a, b *apd.Decimal) (*apd.Decimal, error) {
	var sum apd.Decimal
	if _, err := apd.BaseContext.Add(&sum, a, b); err != nil {
		return nil, errNumberRange
	}
	return &sum, fits(&sum)
}

// numberOf writes a decimal as the table would give it back: no trailing zeros, no exponent where it can be read
// without.
func numberOf(d *apd.Decimal) events.Number {
	if d.IsZero() {
		return "0"
	}
	var reduced apd.Decimal
	reduced.Reduce(d)
	if reduced.Exponent > 20 || reduced.Exponent < -numberDigits {
		return events.Number(reduced.Text('E'))
	}
	return events.Number(reduced.Text('f'))
}

// amountsOf reads what an event adds to each attribute. A path that finds nothing adds nothing: a stream may take
// several types, and not each of them moves each sum.
func amountsOf(p events.Projection, e *events.Event) (map[string]*apd.Decimal, error) {
	amounts := make(map[string]*apd.Decimal, len(p.Sum))
	for name, path := range p.Sum {
		value, found := e.Lookup(path)
		if !found {
			continue
		}
		amount, err := parseAmount(value)
		if err != nil {
			return nil, fmt.Errorf("%s %w", path, err)
		}
		amounts[name] = amount
	}
	return amounts, nil
}
