package ordering

import (
	"fmt"
	"maps"

	"github.com/cockroachdb/apd/v3"

	"inorder/events"
)

// amount is what an event adds to an attribute, or the sum in it.
type amount struct {
	name  string
	value apd.Decimal
}

// appendAmounts reads what an event adds to each attribute. A path that finds nothing adds nothing: a stream may take
// several types, and not each of them moves each sum.
func appendAmounts(amounts []amount, p events.Projection, e *events.Event) ([]amount, error) {
	for _, f := range p.Sum {
		value := e.Find(f.From)
		if !value.Exists() {
			continue
		}
		amounts = append(amounts, amount{name: f.Attribute})
		if err := setAmount(&amounts[len(amounts)-1].value, value); err != nil {
			return nil, fmt.Errorf("%s %w", f.From, err)
		}
	}
	return amounts, nil
}

// tally adds amounts to a state. It works out sums as decimals, and writes them once, in the end.
type tally struct {
	state map[string]any // as it was
	sums  []amount       // the attributes that were added to
	tried []amount       // what try worked out
}

// try works out the sums with some amounts more: all of them, or an error and none. They count once they are taken.
func (t *tally) try(amounts []amount) error {
	t.tried = t.tried[:0]
	for i := range amounts {
		t.tried = append(t.tried, amount{name: amounts[i].name})
		if err := t.plus(&t.tried[i].value, &amounts[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tally) plus(sum *apd.Decimal, more *amount) error {
	if before := t.sum(more.name); before != nil {
		return t.add(sum, before, more)
	}
	held, has := t.state[more.name]
	if !has {
		sum.Set(&more.value)
		return nil
	}
	before, err := parseAmount(held)
	if err != nil {
		return fmt.Errorf("what attribute %s holds %w", more.name, err)
	}
	return t.add(sum, before, more)
}

func (t *tally) add(sum, before *apd.Decimal, more *amount) error {
	if err := add(sum, before, &more.value); err != nil {
		return fmt.Errorf("the sum in attribute %s %w", more.name, err)
	}
	return nil
}

// sum is one of the sums, nil where nothing was added to that attribute.
func (t *tally) sum(name string) *apd.Decimal {
	for i := range t.sums {
		if t.sums[i].name == name {
			return &t.sums[i].value
		}
	}
	return nil
}

// take makes what was tried the sums. The library wants a decimal's value set, and not copied over another.
func (t *tally) take() {
	for i := range t.tried {
		tried := &t.tried[i]
		sum := t.sum(tried.name)
		if sum == nil {
			t.sums = append(t.sums, amount{name: tried.name})
			sum = &t.sums[len(t.sums)-1].value
		}
		sum.Set(&tried.value)
	}
}

// next is the state with the sums.
func (t *tally) next() map[string]any {
	next := maps.Clone(t.state)
	if next == nil {
		next = map[string]any{}
	}
	for i := range t.sums {
		next[t.sums[i].name] = numberOf(&t.sums[i].value)
	}
	return next
}

// numbers are the sums.
func (t *tally) numbers() map[string]events.Number {
	numbers := make(map[string]events.Number, len(t.sums))
	for i := range t.sums {
		numbers[t.sums[i].name] = numberOf(&t.sums[i].value)
	}
	return numbers
}
