package ordering

import (
	"errors"
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
	d := new(apd.Decimal)
	switch v := value.(type) {
	case events.Number:
		return d, setNumber(d, v)
	case string:
		return d, setText(d, v)
	default:
		return nil, errNotANumber
	}
}

// setAmount is parseAmount for what an event says.
func setAmount(d *apd.Decimal, v events.Value) error {
	if n, ok := v.Number(); ok {
		return setNumber(d, n)
	}
	if text, ok := v.Text(); ok {
		return setText(d, text)
	}
	return errNotANumber
}

func setNumber(d *apd.Decimal, n events.Number) error {
	if err := setDecimal(d, string(n)); err != nil {
		return errNumberRange // an exponent that even the library refuses
	}
	return fits(d)
}

func setText(d *apd.Decimal, text string) error {
	if setShort(d, text) {
		return nil
	}
	if !decimalText.MatchString(text) {
		return errNotANumber
	}
	err := setDecimal(d, text)
	switch {
	case errors.Is(err, errNumberRange):
		return err
	case err != nil:
		return errNotANumber
	}
	return fits(d)
}

func setDecimal(d *apd.Decimal, text string) error {
	if setShort(d, text) {
		return nil
	}
	if text = withoutIdleZeros(text); len(text) > maxNumberText {
		return errNumberRange
	}
	_, _, err := d.SetString(text)
	return err
}

// shortDigits is how many digits an int64 always holds.
const shortDigits = 18

// setShort reads what nearly all amounts are: some digits, maybe a minus and a point between them. It reports whether the text
// is such an amount. The library reads it just so, in five times as long.
func setShort(d *apd.Decimal, text string) bool {
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, hasPoint := strings.Cut(digits, ".")
	if whole == "" || hasPoint && fraction == "" || len(whole)+len(fraction) > shortDigits {
		return false
	}
	n, ok := int64(0), true
	for _, part := range [...]string{whole, fraction} {
		for i := range len(part) {
			ok = ok && '0' <= part[i] && part[i] <= '9'
			n = 10*n + int64(part[i]-'0')
		}
	}
	if negative {
		n = -n
	}
	if ok {
		d.SetFinite(n, -int32(len(fraction)))
	}
	return ok
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
	digits := d.NumDigits()
	first := int64(d.Exponent) + digits - 1
	if first > numberMaxExponent || first < numberMinExponent {
		return errNumberRange
	}
	if digits <= numberDigits {
		return nil
	}
	var reduced apd.Decimal // zeros at the end do not count
	reduced.Reduce(d)
	if reduced.NumDigits() > numberDigits {
		return errNumberRange
	}
	return nil
}

// holds reports whether the table can hold a number.
func holds(n events.Number) bool {
	if len(n) <= numberDigits && !strings.ContainsAny(string(n), "eE") {
		return true
	}
	var d apd.Decimal
	return setNumber(&d, n) == nil
}

// add sets a sum to a + b exactly, or returns errNumberRange where it does not fit.
func add(sum, a, b *apd.Decimal) error {
	if _, err := apd.BaseContext.Add(sum, a, b); err != nil {
		return errNumberRange
	}
	return fits(sum)
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
