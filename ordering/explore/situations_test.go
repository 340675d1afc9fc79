package explore

import (
	"slices"
	"time"

	"inorder/events"
	"inorder/ordering"
)

const day = 24 * time.Hour

// situations are what is explored.
var situations = slices.Concat(steps, effects, deltas, gaps, operators, crossings)

// steps are about what runs in order.
var steps = []Situation{
	{
		Name: "step", Stream: "mode: step, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 3}},
		Consumers: 2, Mishaps: 1, Copies: 1, Cursor: 3,
	},
	{
		Name: "step, any batch", Stream: "mode: step, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Twice: true}, {Seq: 3}},
		Consumers: 2, AnyBatch: true, Mishaps: 1, Cursor: 3,
	},
	{
		Name: "step, three at once", Stream: "mode: step, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 3}},
		Consumers: 3, Copies: 2, Cursor: 3,
	},
	{
		Name: "step, two mishaps", Stream: "mode: step, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 3}},
		Consumers: 2, Mishaps: 2, Cursor: 3,
	},
	{
		Name: "step, four and a sweeper", Stream: "mode: step, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 3}, {Seq: 4}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1, Cursor: 4,
	},
	{
		Name: "step, all logged", Stream: "mode: step, log: all, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 3}},
		Consumers: 2, Mishaps: 1, Copies: 1, Cursor: 3,
	},
	{
		Name: "a number that two events claim", Stream: "mode: step, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 2, Rival: true}, {Seq: 3}},
		Consumers: 2, Mishaps: 1, Cursor: 3, Refused: []int{1, 2},
	},
	{
		Name: "the window", Stream: "mode: step, window: 2, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 3}, {Seq: 4}},
		Consumers: 2, Mishaps: 1, Cursor: 4,
	},
}

// effects are about what is sent for it.
var effects = []Situation{
	{
		Name: "effects from the log", Stream: "mode: step, effects: true, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Twice: true}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1, Cursor: 2,
	},
	{
		Name: "effects of three", Stream: "mode: step, effects: true, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 3}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1, Cursor: 3,
	},
	{
		Name: "effects of a projection in Go", Stream: "mode: step, effects: true, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Twice: true}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1, Cursor: 2,
	},
	{
		Name: "a new life", Stream: "mode: step, effects: true, projection: record",
		Messages:  []Message{{Seq: 1, Origin: Earlier}, {Seq: 3, Origin: Earlier}, {Gen: 1, Seq: 1}, {Gen: 1, Seq: 2}},
		Before:    [][]int{{1}, {0}},
		Consumers: 2, Mishaps: 1, Redrives: 1, Cursor: 2, Refused: []int{1},
	},
	{
		Name: "a new life, and a sweeper", Stream: "mode: step, effects: true, projection: record",
		Messages:  []Message{{Seq: 1, Origin: Earlier}, {Seq: 3, Origin: Earlier}, {Gen: 1, Seq: 1}, {Gen: 1, Seq: 2}},
		Before:    [][]int{{1}, {0}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1, Copies: 1, Redrives: 1, Cursor: 2, Refused: []int{1},
	},
	{
		Name: "a new life, while the old one goes on", Stream: "mode: step, effects: true, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 3}, {Gen: 1, Seq: 1}, {Gen: 1, Seq: 2}},
		Consumers: 2, Mishaps: 1, Cursor: 2, Refused: []int{1},
	},
	{
		Name: "three lives", Stream: "mode: step, effects: true, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Gen: 1, Seq: 1}, {Gen: 2, Seq: 1}},
		Consumers: 3, Mishaps: 1, Cursor: 1,
	},
	{
		Name: "a projection that fails for a while", Stream: "mode: step, effects: true, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Fails: 1}, {Seq: 3}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1, Cursor: 3, Refused: []int{1},
	},
}

// deltas are about what is counted in any order.
var deltas = []Situation{
	{
		Name: "delta", Stream: "mode: delta, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Twice: true}, {Seq: 3}},
		Consumers: 2, AnyBatch: true, Mishaps: 1, Copies: 1, Cursor: 3,
	},
	{
		Name: "delta, four and a sweeper", Stream: "mode: delta, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Twice: true}, {Seq: 3}, {Seq: 4}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1, Copies: 1, Cursor: 4,
	},
	{
		Name: "delta, a new life", Stream: "mode: delta, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 3}, {Gen: 1, Seq: 1}, {Gen: 1, Seq: 2}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 2, Cursor: 2,
	},
	{
		Name: "delta, the window", Stream: "mode: delta, window: 2, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 3}, {Seq: 4}},
		Consumers: 2, Mishaps: 1, Cursor: 4,
	},
	{
		Name: "delta, a gap", Stream: "mode: delta, gap_deadline: 5m, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 3, Origin: Lost}, {Seq: 4}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 2, Sweepers: 1, Sweeps: 2, Mishaps: 1, Cursor: 4,
	},
	{
		Name: "delta, catching up", Stream: "mode: delta, gap_deadline: 5m, projection: {sum: {n: data.n}}",
		Begin:     manyAhead(),
		Messages:  []Message{{Seq: 1}, {Seq: 65}, {Seq: 66}, {Seq: 68}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1,
	},
	{
		Name: "voids and marks of a delta", Stream: "mode: delta, gap_deadline: 5m, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Origin: Later, Kind: NeverExisted}, {Seq: 3}, {Seq: 4, Origin: Later, Kind: Mark}, {Seq: 4, Origin: Lost}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1,
	},
}

// manyAhead is an entity for which the database has counted so much that whoever adds number one moves the cursor.
func manyAhead() *ordering.Entity {
	e := &ordering.Entity{Exists: true, State: map[string]any{"n": events.Number("0")}}
	for n := int64(2); n <= 64; n++ {
		e.Ahead = append(e.Ahead, n)
	}
	e.Shown = []ordering.Witness{{Seq: 64, At: begin}}
	e.Gap = &ordering.Gap{Since: begin}
	return e
}

// gaps are about what is missing, and what waits for it.
var gaps = []Situation{
	{
		Name: "two sweepers", Stream: "mode: step, effects: true, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Origin: Lost}, {Seq: 3}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 1, Sweepers: 2, Sweeps: 3, Mishaps: 1, Cursor: 3,
	},
	{
		Name: "two gaps", Stream: "mode: step, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Origin: Lost}, {Seq: 3}, {Seq: 4, Origin: Lost}, {Seq: 5}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1, Cursor: 5,
	},
	{
		Name: "two gaps of a delta", Stream: "mode: delta, gap_deadline: 5m, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Origin: Lost}, {Seq: 3}, {Seq: 4, Origin: Lost}, {Seq: 5, Origin: Lost}, {Seq: 6}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1, Cursor: 6,
	},
	{
		Name: "two sweepers and two consumers", Stream: "mode: step, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Origin: Lost}, {Seq: 3, Origin: Earlier}},
		Before:    [][]int{{2}},
		Times:     []time.Duration{6 * time.Minute, 20 * time.Minute},
		Clock:     1,
		Consumers: 2, Sweepers: 2, Sweeps: 2, Mishaps: 1, Copies: 1, Cursor: 3,
	},
	{
		Name: "what waits too long", Stream: "mode: step, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1, Origin: Later}, {Seq: 2, Origin: Earlier}, {Seq: 3, Origin: Earlier}},
		Before:    [][]int{{1, 2}},
		Times:     []time.Duration{29 * day},
		Clock:     1,
		Consumers: 1, Sweepers: 2, Sweeps: 2, Mishaps: 1, Copies: 1, Redrives: 1, Cursor: 3, Refused: []int{1, 2},
	},
	{
		Name: "what waits too long, and comes again", Stream: "mode: step, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1, Origin: Later}, {Seq: 2, Origin: Earlier}},
		Before:    [][]int{{1}},
		Times:     []time.Duration{29 * day},
		Clock:     1,
		Consumers: 2, Sweepers: 2, Sweeps: 2, Mishaps: 1, Copies: 1, Redrives: 1, Cursor: 2, Refused: []int{1},
	},
	{
		Name: "what waits too long, and is redriven at once", Stream: "mode: step, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1, Origin: Later}, {Seq: 2, Origin: Earlier}},
		Before:    [][]int{{1}},
		Swept:     []int{1, 2},
		Times:     []time.Duration{13 * day, 22 * day, 28*day + day/2},
		Clock:     3,
		Consumers: 2, Sweepers: 1, Sweeps: 2, Mishaps: 1, Redrives: 2, Cursor: 2, Refused: []int{1},
	},
	{
		Name: "rows that their TTL deletes", Stream: "mode: step, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1, Origin: Later}, {Seq: 2, Origin: Earlier}, {Seq: 3, Origin: Earlier}},
		Before:    [][]int{{1, 2}},
		Times:     []time.Duration{15 * day},
		Clock:     1,
		Consumers: 2, Sweepers: 1, Sweeps: 1, Copies: 1, Mishaps: 1, Expires: true,
	},
	{
		Name: "numbers that never were", Stream: "mode: step, effects: true, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Origin: Later, Kind: NeverExisted}, {Seq: 2, Origin: Later}, {Seq: 3}},
		Consumers: 2, Mishaps: 1, Cursor: 3,
	},
	{
		Name: "a mark of the newest number", Stream: "mode: step, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Origin: Lost, Kind: NeverExisted}, {Seq: 3, Origin: Later, Kind: Mark}, {Seq: 3, Origin: Lost}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 2, Sweepers: 1, Sweeps: 2, Mishaps: 1,
	},
	{
		Name: "numbers that expired", Stream: "mode: step, on_expired: skip, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Origin: Later}, {Seq: 2, Origin: Later, Kind: Expired}, {Seq: 3}},
		Consumers: 2, Mishaps: 1, Cursor: 3, Refused: []int{1},
	},
	{
		Name: "a history that begins anywhere", Stream: "mode: step, start: any, effects: true, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 4, Origin: Later}, {Seq: 5}, {Seq: 6, Origin: Earlier}},
		Before:    [][]int{{2}},
		Times:     []time.Duration{6 * time.Minute},
		Clock:     1,
		Consumers: 2, Sweepers: 2, Sweeps: 2, Mishaps: 1, Cursor: 6, Baseline: true,
	},
}

// operators are about what is skipped.
var operators = []Situation{
	{
		Name: "an operator skips", Stream: "mode: step, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1, Origin: Later}, {Seq: 2}, {Seq: 3}},
		Skips:     []int64{1, 2},
		Consumers: 2, Orders: 1, Mishaps: 1, Redrives: 1, Cursor: 3, Refused: []int{0, 1},
	},
	{
		Name: "an operator skips with effects", Stream: "mode: step, effects: true, gap_deadline: 5m, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1, Origin: Later}, {Seq: 2, Origin: Earlier}, {Seq: 3, Origin: Earlier}},
		Before:    [][]int{{1, 2}},
		Skips:     []int64{1, 2},
		Consumers: 2, Orders: 2, Mishaps: 1, Redrives: 1, Cursor: 3, Refused: []int{0},
	},
	{
		Name: "an operator skips what is blocked", Stream: "mode: step, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Fails: 1}, {Seq: 3}},
		Skips:     []int64{2},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 1, Sweepers: 1, Sweeps: 1, Orders: 1, Mishaps: 1, Redrives: 1, Cursor: 3, Refused: []int{0, 1},
	},
	{
		Name: "an operator skips what a delta lacks", Stream: "mode: delta, gap_deadline: 5m, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1, Origin: Later}, {Seq: 2}, {Seq: 3}},
		Skips:     []int64{1, 2},
		Consumers: 2, Orders: 1, Mishaps: 1, Copies: 1, Redrives: 1, Cursor: 3, Refused: []int{0, 1},
	},
}

// crossings are where two of these meet.
var crossings = []Situation{
	{
		Name: "a mark of a new life", Stream: "mode: step, effects: true, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 3, Origin: Earlier}, {Gen: 1, Seq: 2, Kind: Mark}, {Gen: 1, Seq: 1, Origin: Lost}, {Gen: 1, Seq: 2, Origin: Lost}},
		Before:    [][]int{{1}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1, Refused: []int{0, 1},
	},
	{
		Name: "blocked, and a new life", Stream: "mode: step, effects: true, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Fails: 9}, {Seq: 3}, {Gen: 1, Seq: 1}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1, Refused: []int{1, 2},
	},
	{
		Name: "anywhere, and a skip", Stream: "mode: step, start: any, gap_deadline: 5m, projection: record",
		Messages: []Message{{Seq: 4, Origin: Later}, {Seq: 5, Origin: Later}, {Seq: 6, Origin: Earlier}},
		Before:   [][]int{{2}},
		Times:    []time.Duration{6 * time.Minute},
		Clock:    1, Skips: []int64{5}, Orders: 1,
		Consumers: 2, Sweepers: 1, Sweeps: 1, Mishaps: 1, Baseline: true, Refused: []int{0, 1},
	},
	{
		Name: "anywhere, in a window", Stream: "mode: step, start: any, window: 2, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 4}, {Seq: 5}, {Seq: 6}, {Seq: 7}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 2, Sweepers: 1, Sweeps: 2, Mishaps: 1, Baseline: true,
	},
	{
		Name: "delta voids and a skip", Stream: "mode: delta, on_expired: skip, gap_deadline: 5m, projection: {sum: {n: data.n}}",
		Messages: []Message{{Seq: 1, Origin: Later}, {Seq: 1, Origin: Later, Kind: Expired}, {Seq: 2}, {Seq: 3, Origin: Later}, {Seq: 4}},
		Skips:    []int64{1, 3}, Orders: 1,
		Consumers: 2, Mishaps: 1, Refused: []int{0, 3, 2},
	},
	{
		Name: "a skip and a new life", Stream: "mode: step, effects: true, gap_deadline: 5m, projection: record",
		Messages: []Message{{Seq: 1, Origin: Later}, {Seq: 2, Origin: Earlier}, {Gen: 1, Seq: 1}, {Gen: 1, Seq: 3}},
		Before:   [][]int{{1}},
		Skips:    []int64{1, 2}, Orders: 2,
		Consumers: 2, Mishaps: 1, Copies: 1, Refused: []int{0, 1},
	},
	{
		Name: "a skip and what waits too long", Stream: "mode: step, gap_deadline: 5m, projection: record",
		Messages: []Message{{Seq: 1, Origin: Later}, {Seq: 2, Origin: Earlier}, {Seq: 3, Origin: Earlier}},
		Before:   [][]int{{1, 2}},
		Times:    []time.Duration{29 * day}, Clock: 1,
		Skips: []int64{1, 2}, Orders: 1,
		Consumers: 1, Sweepers: 1, Sweeps: 1, Mishaps: 1, Redrives: 2, Copies: 1, Refused: []int{0, 1, 2},
	},
}
