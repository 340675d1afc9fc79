package ddb

import (
	"errors"
	"strconv"
	"strings"

	"inorder/ordering"
)

// encodeRanges writes ranges as people do: "7,9-11".
func encodeRanges(ranges []ordering.Range) string {
	var b strings.Builder
	for i, r := range ranges {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(r.First, 10))
		if r.Last != r.First {
			b.WriteByte('-')
			b.WriteString(strconv.FormatInt(r.Last, 10))
		}
	}
	return b.String()
}

func decodeRanges(s string) ([]ordering.Range, error) {
	if s == "" {
		return nil, nil
	}
	var ranges []ordering.Range
	for part := range strings.SplitSeq(s, ",") {
		first, last, found := strings.Cut(part, "-")
		if !found {
			last = first
		}
		from, err1 := strconv.ParseInt(first, 10, 64)
		to, err2 := strconv.ParseInt(last, 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		ranges = append(ranges, ordering.Range{First: from, Last: to})
	}
	return ranges, nil
}
