package ordering

import (
	"math"
	"slices"
)

// maxNumber is the highest sequence number.
const maxNumber = math.MaxInt64

// Numbers is an ascending set of sequence numbers. Its methods return new sets and leave the old one as it is.
type Numbers []int64

// Has reports whether n is in the set.
func (s Numbers) Has(n int64) bool {
	_, found := slices.BinarySearch(s, n)
	return found
}

// With returns the set with more numbers in it.
func (s Numbers) With(more ...int64) Numbers {
	out := make(Numbers, 0, len(s)+len(more))
	out = append(append(out, s...), more...)
	slices.Sort(out)
	return slices.Compact(out)
}

// Without returns the set without some numbers.
func (s Numbers) Without(gone ...int64) Numbers {
	drop := Numbers{}.With(gone...)
	return slices.DeleteFunc(slices.Clone(s), drop.Has)
}

// Above returns the numbers greater than n.
func (s Numbers) Above(n int64) Numbers {
	i, found := slices.BinarySearch(s, n)
	if found {
		i++
	}
	return slices.Clone(s[i:])
}

// Max returns the highest number, 0 where there is none.
func (s Numbers) Max() int64 {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1]
}

// Through returns the end of the unbroken row of numbers that begins right after n, n where there is none.
func (s Numbers) Through(n int64) int64 {
	i, _ := slices.BinarySearch(s, n+1)
	for ; i < len(s) && s[i] == n+1; i++ {
		n++
	}
	return n
}
