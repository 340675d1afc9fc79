package events

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

// units are what a duration is written in. Go's own format has no days, and this one has nothing below nanoseconds.
var units = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "ms": time.Millisecond,
	"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

// ParseDuration reads a duration as streams.yaml and the variables write it: 14d, 47h59m, 1.5h. A day has 24 hours.
func ParseDuration(text string) (time.Duration, error) {
	rest := text
	var total big.Rat
	for rest != "" {
		number := rest[:spanLen(rest, func(c byte) bool { return isDigit(c) || c == '.' })]
		rest = rest[len(number):]
		name := rest[:spanLen(rest, func(c byte) bool { return c >= 'a' && c <= 'z' })]
		rest = rest[len(name):]
		if !isDecimal(number) || units[name] == 0 {
			return 0, fmt.Errorf("%q is not a duration such as 5m, 47h59m or 14d", text)
		}
		var part big.Rat
		part.SetString(number)
		total.Add(&total, part.Mul(&part, new(big.Rat).SetInt64(int64(units[name]))))
	}
	if text == "" {
		return 0, fmt.Errorf("an empty duration")
	}
	whole := new(big.Int).Quo(total.Num(), total.Denom())
	if !whole.IsInt64() {
		return 0, fmt.Errorf("%q is longer than 292 years", text)
	}
	return time.Duration(whole.Int64()), nil
}

func spanLen(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

// isDecimal accepts 14 and 1.5, of a length that no honest duration exceeds.
func isDecimal(s string) bool {
	whole, decimals, dotted := strings.Cut(s, ".")
	plain := func(s string) bool { return s != "" && spanLen(s, isDigit) == len(s) }
	return len(s) <= 40 && plain(whole) && (!dotted || plain(decimals))
}
