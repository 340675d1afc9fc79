package ddb

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"inorder/ordering"
)

// A full window of 1000 costs at most 125 bytes and the two of the offset.
func TestWaitingIsSmall(t *testing.T) {
	var window ordering.Numbers
	for n := int64(2); n <= 1001; n++ {
		window = append(window, n)
	}
	for name, numbers := range map[string]ordering.Numbers{
		"full": window, "ends": {2, 1001}, "last": {1001}, "before a baseline": {5_000_000_000, 5_000_000_999},
	} {
		b, err := encodeWaiting(0, numbers)
		if err != nil || len(b) > 125+5 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	if _, err := encodeWaiting(0, ordering.Numbers{1, math.MaxInt64}); !errors.Is(err, ordering.ErrTooLarge) {
		t.Errorf("numbers that no window holds: %v, want ErrTooLarge", err)
	}
}

func TestWaitingComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cursor := rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "cursor")
		lowest := rapid.Int64Range(cursor+1, math.MaxInt64).Draw(t, "lowest")
		var numbers ordering.Numbers
		for _, n := range rapid.SliceOf(rapid.Int64Range(0, min(5000, math.MaxInt64-lowest))).Draw(t, "numbers") {
			numbers = numbers.With(lowest + n)
		}
		b, err := encodeWaiting(cursor, numbers)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := decodeWaiting(cursor, b); err != nil || !slices.Equal(back, numbers) {
			t.Fatalf("got %v, %v", back, err)
		}
	})
}

// Whatever bytes stand there, reading them does not panic, and what is read lies above the cursor.
func TestDamagedWaiting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cursor := rapid.Int64Range(0, math.MaxInt64).Draw(t, "cursor")
		numbers, err := decodeWaiting(cursor, rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if err == nil && len(numbers) > 0 && numbers[0] <= cursor {
			t.Fatalf("read %v above the cursor %d", numbers, cursor)
		}
	})
}
