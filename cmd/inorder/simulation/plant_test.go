package simulation

import (
	"context"
	"slices"
	"strings"
	"testing"

	"inorder/events"
	"inorder/ordering"
)

// careless is a store whose compare-and-set compares nothing.
type careless struct{ ordering.Upkeep }

func (s careless) Swap(ctx context.Context, key ordering.Key, _, next *ordering.Entity, markers []ordering.Marker) error {
	now, err := s.Entity(ctx, key)
	if err != nil {
		return err
	}
	return s.Upkeep.Swap(ctx, key, now, next, markers)
}

// leaky is a store that loses log rows.
type leaky struct{ ordering.Upkeep }

func (s leaky) PutRow(ctx context.Context, key ordering.Key, row ordering.Row) error {
	if row.Seq == 3 {
		return nil
	}
	return s.Upkeep.PutRow(ctx, key, row)
}

// forgetful is a store that keeps no markers.
type forgetful struct{ ordering.Upkeep }

func (s forgetful) AddMarked(ctx context.Context, key ordering.Key, amounts map[string]events.Number, last ordering.Last, _ []ordering.Marker) error {
	return s.Upkeep.AddMarked(ctx, key, amounts, last, nil)
}

// A fault is found, and of the life that shows it only a few elements are left: none of them can be spared, and they say
// the same each time that they are played.
func TestAFaultIsFoundAndMadeSmall(t *testing.T) {
	g := newGround(t)
	for _, planted := range []struct {
		name     string
		plant    func(ordering.Upkeep) ordering.Upkeep
		property string
		most     int // elements
	}{
		{"the condition is left out", func(s ordering.Upkeep) ordering.Upkeep { return careless{s} }, "", 30},
		{"log rows are lost", func(s ordering.Upkeep) ordering.Upkeep { return leaky{s} }, "", 24},
		{"markers are left out", func(s ordering.Upkeep) ordering.Upkeep { return forgetful{s} }, "DeltaSum", 8},
	} {
		if *seeds < inEarnest && planted.most > 8 {
			continue // the small one shows that it works
		}
		t.Run(planted.name, func(t *testing.T) {
			g.plant = planted.plant
			s, faults := g.find(t)
			if len(faults) == 0 {
				t.Fatal("nothing was found")
			}
			rest, still := g.smallest(t, s, faults)
			t.Logf("%d of %d elements: %s\n%s", len(rest), len(newLife(s, nil).elements), strings.Join(still, "\n"), command(s, rest))
			if len(rest) > planted.most || !strings.HasPrefix(still[0], planted.property) {
				t.Errorf("%d elements are left, %d would be few: %v", len(rest), planted.most, still)
			}
			g.checkSmallest(t, s, rest, propertyOf(faults[0]))
		})
	}
}

// find plays lives in memory until one fails.
func (g *ground) find(t *testing.T) (s uint64, faults []string) {
	for s = 1; s < 400 && len(faults) == 0; s++ {
		if s%engineEvery != 0 {
			if _, faults = g.play(t, s, nil); len(faults) > 0 {
				return s, faults
			}
		}
	}
	return s, nil
}

func (g *ground) checkSmallest(t *testing.T, s uint64, rest []string, property string) {
	shows := func(only []string) bool {
		_, faults := g.play(t, s, only)
		return slices.ContainsFunc(faults, func(f string) bool { return propertyOf(f) == property })
	}
	for range 3 {
		if !shows(rest) {
			t.Error("played again, nothing is wrong")
		}
	}
	for i, name := range rest {
		if shows(append(append([]string{}, rest[:i]...), rest[i+1:]...)) {
			t.Errorf("%s could be left out", name)
		}
	}
}
