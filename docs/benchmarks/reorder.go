package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
)

// reorder measures what disorder costs.
func reorder(ctx context.Context, b *bench) (result, error) {
	r := result{}
	// What share of the events is late, and by how many numbers of its entity.
	shares, distances := sizes(b, 0, 0.01, 0.05, 0.20, 0.50), sizes(b, 1, 10, 100, 1000)
	for _, m := range modes {
		t := table{Title: "Disorder: " + m.name, Head: []string{"late"}}
		for _, d := range distances {
			t.Head = append(t.Head, fmt.Sprintf("%s late, events/s", numbers(d)), "write units per event")
		}
		speed := chart{Name: m.name + ": events/s by share and numbers late", Series: make([]series, len(distances))}
		spent := chart{Name: m.name + ": write units per event", Series: make([]series, len(distances))}
		for _, share := range shares {
			label := strconv.FormatFloat(100*share, 'f', -1, 64) + " %"
			speed.X, spent.X = append(speed.X, label), append(spent.X, label)
			cells := []string{label}
			var rate, units float64
			for i, distance := range distances {
				if share > 0 || i == 0 { // where nothing is late it is late by no distance
					b.say("%s, %s of the events %s late", m.name, label, numbers(distance))
					var err error
					if rate, units, err = b.disorder(ctx, m, share, distance); err != nil {
						return r, err
					}
				}
				cells = append(cells, short(rate), short(units))
				speed.Series[i].Name, spent.Series[i].Name = short(float64(distance)), short(float64(distance))
				speed.Series[i].Values, spent.Series[i].Values = append(speed.Series[i].Values, rate), append(spent.Series[i].Values, units)
			}
			t.Rows = append(t.Rows, cells)
		}
		r.Tables, r.Charts = append(r.Tables, t), append(r.Charts, speed, spent)
	}
	r.Tables[0].Text = "The histories of four entities in batches of ten, one function instance for each. A late event comes right behind the one that should have come so many numbers after it. The median of three rounds."
	return r, nil
}

func numbers(n int) string {
	if n == 1 {
		return "1 number"
	}
	return fmt.Sprintf("%d numbers", n)
}

// disorder measures how fast events go in some disorder, and once more what they cost.
func (b *bench) disorder(ctx context.Context, m mode, share float64, distance int) (rate, units float64, err error) {
	var all []float64
	var cost counted
	each := max(b.n(1500), 20)
	for round := range b.few() + 1 {
		tables, err := b.tables(ctx)
		if err != nil {
			return 0, 0, err
		}
		var c *counter
		if round == b.few() {
			c = &counter{}
		}
		var lanes []handler
		for range atATime {
			lanes = append(lanes, untilDone(b.consumer(m.stream, tables, c)))
		}
		runs := sideBySide{}
		for i, lane := range lanes {
			rng := rand.New(rand.NewPCG(uint64(round), uint64(i)))
			runs.add(lane, batched(reordered(rng, fmt.Sprint("e", i), 1, each, share, distance), 10))
		}
		took, err := timed(ctx, side{m.name, runs.prepare})
		if err != nil {
			return 0, 0, err
		}
		if c == nil {
			all = append(all, float64(atATime*each)/took.Seconds())
		} else {
			cost = c.reset()
		}
	}
	return spreadOf(all).Median, cost.writeUnits / float64(atATime*each), nil
}
