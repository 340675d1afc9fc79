package scenario

import (
	"github.com/cockroachdb/apd/v3"

	"inorder/events"
)

// decimal reads a JSON number exactly.
func decimal(text string) *apd.Decimal {
	d, _, err := apd.NewFromString(text)
	if err != nil {
		return &apd.Decimal{Form: apd.NaN} // beyond what a decimal can be: equal to nothing
	}
	return d
}

// sameNumber compares by value: 0.30 is 0.3.
func sameNumber(a, b string) bool { return compare(decimal(a), decimal(b)) == 0 }

// compare orders two decimals; what is no number is above all.
func compare(a, b *apd.Decimal) int {
	switch {
	case a.Form == apd.NaN && b.Form == apd.NaN:
		return 1
	case a.Form == apd.NaN:
		return 1
	case b.Form == apd.NaN:
		return -1
	}
	return a.Cmp(b)
}

// same compares an attribute with what the file wants it to be.
func same(want *value, got any) bool {
	switch got := got.(type) {
	case nil:
		return want.kind == nullKind
	case bool:
		return want.kind == boolKind && (want.text == "true") == got
	case string:
		return want.kind == textKind && want.text == got
	case events.Number:
		return want.kind == numberKind && sameNumber(want.text, string(got))
	case []any:
		if want.kind != listKind || len(want.items) != len(got) {
			return false
		}
		for i, item := range want.items {
			if !same(item, got[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		if want.kind != mapKind || len(want.keys) != len(got) {
			return false
		}
		for i, k := range want.keys {
			inner, there := got[k.name]
			if !there || !same(want.items[i], inner) {
				return false
			}
		}
		return true
	}
	return false
}
