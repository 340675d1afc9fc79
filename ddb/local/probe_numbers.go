package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The first integer that a float64 does not hold, and its neighbours.
const (
	belowFloats  = "9007199254740992" // 2^53
	beyondFloats = "9007199254740993"
	aboveFloats  = "9007199254740994"
)

func exactAdd(ctx context.Context, b bench) error {
	return b.adds(ctx, "0.1", "0.2", "0.3")
}

func exactIntegers(ctx context.Context, b bench) error {
	if err := b.adds(ctx, belowFloats, "1", beyondFloats); err != nil {
		return err
	}
	same, err := b.holds(ctx, "#a = :n", item{":n": number(belowFloats)})
	if err != nil {
		return err
	}
	if same {
		return fmt.Errorf("%s equals %s in a condition", beyondFloats, belowFloats)
	}
	return b.adds(ctx, beyondFloats, "1", aboveFloats)
}

func exponents(ctx context.Context, b bench) error { return b.adds(ctx, "1e2", "1E+1", "110") }

func (b bench) adds(ctx context.Context, to, amount, sum string) error {
	if err := b.put(ctx, b.with(item{"a": number(to)})); err != nil {
		return err
	}
	if err := b.update(ctx, "ADD #a :n", item{":n": number(amount)}); err != nil {
		return err
	}
	got, err := b.get(ctx)
	if err != nil {
		return err
	}
	if n := digits(got["a"]); n != sum {
		return fmt.Errorf("%s + %s is %s", to, amount, n)
	}
	return nil
}

func exactSets(ctx context.Context, b bench) error {
	if err := b.put(ctx, b.with(item{"a": set(belowFloats)})); err != nil {
		return err
	}
	if has, err := b.holds(ctx, "contains(#a, :n)", item{":n": number(beyondFloats)}); err != nil || has {
		return instead(fmt.Sprintf("a set that holds %s contains %s, too", belowFloats, beyondFloats), err)
	}
	if err := b.update(ctx, "ADD #a :s", item{":s": set(beyondFloats)}); err != nil {
		return err
	}
	got, err := b.get(ctx)
	if err != nil {
		return err
	}
	if want := []string{belowFloats, beyondFloats}; !slices.Equal(members(got["a"]), want) {
		return fmt.Errorf("%s and %s as a set are %v", belowFloats, beyondFloats, members(got["a"]))
	}
	return nil
}

func numberRange(ctx context.Context, b bench) error {
	widest := strings.Repeat("9", 38)
	if err := refused("a number of 39 digits", b.put(ctx, b.with(item{"a": number(widest + "9")}))); err != nil {
		return err
	}
	if err := b.put(ctx, b.with(item{"a": number(widest)})); err != nil {
		return instead("a number of 38 digits is refused", err)
	}
	if err := refused("a sum of 39 digits", b.update(ctx, "ADD #a :n", item{":n": number("0.1")})); err != nil {
		return err
	}
	got, err := b.get(ctx)
	if err != nil {
		return err
	}
	if digits(got["a"]) != widest {
		return errors.New("a refused ADD changes the item")
	}
	return nil
}
