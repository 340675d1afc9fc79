package explore

import "time"

const day = 24 * time.Hour

// situations are what is explored.
var situations = []Situation{
	{
		Name: "step", Stream: "mode: step, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Twice: true}, {Seq: 3}, {Seq: 4}},
		Consumers: 2, AnyBatch: true, Sweepers: 1, Sweeps: 1, Crashes: 1, Faults: 1, Copies: 1, Cursor: 4,
	},
	{
		Name: "step, two crashes and two faults", Stream: "mode: step, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Twice: true}, {Seq: 3}},
		Consumers: 2, Crashes: 2, Faults: 2, Copies: 1, Cursor: 3,
	},
	{
		Name: "step, three at once", Stream: "mode: step, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 3}},
		Consumers: 3, Crashes: 1, Copies: 2, Cursor: 3,
	},
	{
		Name: "step, all logged", Stream: "mode: step, log: all, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 3}},
		Consumers: 2, Crashes: 1, Faults: 1, Copies: 1, Cursor: 3,
	},
	{
		Name: "a number that two events claim", Stream: "mode: step, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 2, Rival: true}, {Seq: 3}},
		Consumers: 2, Crashes: 1, Faults: 1, Cursor: 3, Refused: []int{1, 2},
	},
	{
		Name: "effects from the log", Stream: "mode: step, effects: true, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Twice: true}, {Seq: 3}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Crashes: 1, Faults: 1, Cursor: 3,
	},
	{
		Name: "effects of a projection in Go", Stream: "mode: step, effects: true, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Twice: true}, {Seq: 3}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Crashes: 1, Faults: 1, Cursor: 3,
	},
	{
		Name: "a new life", Stream: "mode: step, effects: true, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 3}, {Gen: 1, Seq: 1}, {Gen: 1, Seq: 2}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Crashes: 1, Faults: 1, Cursor: 2, Refused: []int{1},
	},
	{
		Name: "the window", Stream: "mode: step, window: 2, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 3}, {Seq: 4}},
		Consumers: 2, Crashes: 1, Faults: 1, Copies: 1, Cursor: 4,
	},
	{
		Name: "delta", Stream: "mode: delta, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Twice: true}, {Seq: 3}, {Seq: 4}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Crashes: 1, Faults: 1, Copies: 1, Cursor: 4,
	},
	{
		Name: "delta, a new life", Stream: "mode: delta, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 3}, {Gen: 1, Seq: 1}, {Gen: 1, Seq: 2}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Crashes: 1, Faults: 1, Cursor: 2,
	},
	{
		Name: "delta, the window", Stream: "mode: delta, window: 2, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2}, {Seq: 3}, {Seq: 4}},
		Consumers: 2, Crashes: 1, Faults: 1, Copies: 1, Cursor: 4,
	},
	{
		Name: "two sweepers", Stream: "mode: step, effects: true, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Origin: Lost}, {Seq: 3}},
		Times:     []time.Duration{6 * time.Minute, 12 * time.Minute},
		Consumers: 1, Sweepers: 2, Sweeps: 3, Crashes: 1, Faults: 1, Cursor: 3,
	},
	{
		Name: "what waits too long", Stream: "mode: step, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1, Origin: Later}, {Seq: 2}, {Seq: 3}},
		Times:     []time.Duration{10 * day, 29 * day},
		Consumers: 2, Sweepers: 2, Sweeps: 3, Crashes: 1, Faults: 1, Copies: 1, Redrives: 1, Cursor: 3, Refused: []int{1, 2},
	},
	{
		Name: "an operator skips", Stream: "mode: step, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1, Origin: Later}, {Seq: 2}, {Seq: 3}},
		Skips:     []int64{1, 2},
		Consumers: 2, Orders: 1, Crashes: 1, Faults: 1, Copies: 1, Redrives: 1, Cursor: 3, Refused: []int{0, 1},
	},
	{
		Name: "an operator skips what a delta lacks", Stream: "mode: delta, gap_deadline: 5m, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1, Origin: Later}, {Seq: 2}, {Seq: 3}},
		Skips:     []int64{1, 2},
		Consumers: 2, Orders: 1, Crashes: 1, Faults: 1, Copies: 1, Redrives: 1, Cursor: 3, Refused: []int{0, 1},
	},
	{
		Name: "rows that their TTL deletes", Stream: "mode: step, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1, Origin: Later}, {Seq: 2}, {Seq: 3}},
		Times:     []time.Duration{15 * day},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Copies: 1, Crashes: 1, Faults: 1, Expires: true,
	},
	{
		Name: "numbers that never were", Stream: "mode: step, effects: true, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Origin: Lost, Kind: NeverExisted}, {Seq: 3}, {Seq: 4, Origin: Later, Kind: Mark}, {Seq: 4, Origin: Lost}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 2, Sweepers: 1, Sweeps: 2, Crashes: 1, Faults: 1,
	},
	{
		Name: "numbers that expired", Stream: "mode: step, on_expired: skip, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Origin: Later}, {Seq: 2, Origin: Later, Kind: Expired}, {Seq: 3}},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Crashes: 1, Faults: 1, Copies: 1, Cursor: 3, Refused: []int{1},
	},
	{
		Name: "voids and marks of a delta", Stream: "mode: delta, gap_deadline: 5m, projection: {sum: {n: data.n}}",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Origin: Later, Kind: NeverExisted}, {Seq: 3}, {Seq: 4, Origin: Later, Kind: Mark}, {Seq: 4, Origin: Lost}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Crashes: 1, Faults: 1, Copies: 1,
	},
	{
		Name: "a projection that fails for a while", Stream: "mode: step, effects: true, projection: record",
		Messages:  []Message{{Seq: 1}, {Seq: 2, Fails: 1}, {Seq: 3}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 2, Sweepers: 1, Sweeps: 1, Crashes: 1, Faults: 1, Copies: 1, Cursor: 3, Refused: []int{1},
	},
	{
		Name: "a history that begins anywhere", Stream: "mode: step, start: any, effects: true, gap_deadline: 5m, projection: record",
		Messages:  []Message{{Seq: 4, Origin: Later}, {Seq: 5}, {Seq: 6}, {Seq: 7}},
		Times:     []time.Duration{6 * time.Minute},
		Consumers: 2, Sweepers: 2, Sweeps: 2, Crashes: 1, Faults: 1, Cursor: 7, Baseline: true,
	},
}
