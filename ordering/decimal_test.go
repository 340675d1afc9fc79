package ordering

import (
	"strings"
	"testing"
	"time"

	"inorder/events"
)

// A number of any length is judged in no time, or one message takes the time of its whole batch. What is idle in it, zeros in front
// and at the end of a fraction, makes it no other number.
func TestALongNumberTakesNoTime(t *testing.T) {
	const n = 99_000 // the library refuses by itself from 100,000 on
	zeros := strings.Repeat("0", n)
	for _, tt := range []struct {
		name, text, want string
	}{
		{"zeros behind", "1" + zeros, ""},
		{"zeros behind, and an exponent that takes them back", "1" + zeros + "e-99000", ""},
		{"zeros of a fraction", "-1.50" + zeros, "-1.5"},
		{"zeros of a fraction, and an exponent", "1.50" + zeros + "E2", "150"},
		{"zeros in front", "000" + zeros + "7", "7"},
		{"zeros in front of a small one", "0." + zeros + "1", ""},
		{"nothing but zeros", "-0." + zeros, "0"},
		{"digits", strings.Repeat("7", n), ""},
		{"digits of a fraction", "0." + strings.Repeat("7", n), ""},
		{"an exponent", "1e" + strings.Repeat("9", n), ""},
		{"the smallest and longest that fits", "0." + strings.Repeat("0", 129) + "1", "1E-130"},
		{"the largest that fits", strings.Repeat("9", 38) + strings.Repeat("0", 88), "9.9999999999999999999999999999999999999E+125"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, value := range []any{tt.text, events.Number(strings.TrimLeft(tt.text, "0"))} {
				if number, isNumber := value.(events.Number); isNumber && strings.HasPrefix(string(number), ".") {
					continue
				}
				began := time.Now()
				d, err := parseAmount(value)
				if took := time.Since(began); took > 500*time.Millisecond {
					t.Errorf("takes %v", took)
				}
				switch {
				case tt.want == "" && err == nil:
					t.Errorf("%T is taken as %s", value, numberOf(d))
				case tt.want != "" && (err != nil || string(numberOf(d)) != tt.want):
					t.Errorf("%T: %v, %v, want %s", value, d, err, tt.want)
				}
			}
		})
	}
}
