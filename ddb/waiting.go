package ddb

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"inorder/ordering"
)

// maxItemBytes is DynamoDB's limit for one item: "Constraints in Amazon DynamoDB", item size.
const maxItemBytes = 400 << 10

var errBadBitmap = errors.New("the bitmap of waiting numbers is damaged")

// encodeWaiting writes numbers above the cursor as a bitmap: a uvarint, how far the lowest of them lies above
// cursor+1, then one bit for each number from that one on, lowest bit first. In a window of 1000 that is at most 125
// bytes and one or two; before a baseline, when numbers may begin anywhere, at most ten more. None are nothing.
func encodeWaiting(cursor int64, numbers ordering.Numbers) ([]byte, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	lowest := numbers[0]
	span := numbers.Max() - lowest // of two numbers from 1 on: no overflow
	if lowest <= cursor || span/8 > maxItemBytes {
		return nil, ordering.ErrTooLarge
	}
	out := binary.AppendUvarint(nil, uint64(lowest-cursor-1))
	bitmap := make([]byte, span/8+1)
	for _, n := range numbers {
		bitmap[(n-lowest)/8] |= 1 << ((n - lowest) % 8)
	}
	return append(out, bitmap...), nil
}

func decodeWaiting(cursor int64, b []byte) (ordering.Numbers, error) {
	if len(b) == 0 {
		return nil, nil
	}
	offset, n := binary.Uvarint(b)
	if n <= 0 || offset >= uint64(math.MaxInt64-cursor) {
		return nil, errBadBitmap
	}
	lowest := cursor + 1 + int64(offset)
	var numbers ordering.Numbers
	for i, bitmap := range b[n:] {
		for ; bitmap != 0; bitmap &= bitmap - 1 {
			number := lowest + int64(i)*8 + int64(bits.TrailingZeros8(bitmap))
			if number < lowest { // beyond the largest one
				return nil, errBadBitmap
			}
			numbers = append(numbers, number)
		}
	}
	return numbers, nil
}
