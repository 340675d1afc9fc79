package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Item is an entity as it is stored.
type Item struct {
	State   map[string]string // all attributes but the bookkeeping's
	Applied int64             // the cursor; 0 where it has none
	Open    bool              // the sweeper must look at it
}

// Faults is what is not as it must be: some of it, and how much.
type Faults struct {
	all  []string
	more int
}

const mostFaults = 12

// Add notes one.
func (f *Faults) Add(format string, args ...any) {
	if len(f.all) == mostFaults {
		f.more++
		return
	}
	f.all = append(f.all, fmt.Sprintf(format, args...))
}

// String is empty where there is none.
func (f *Faults) String() string {
	if f.more == 0 {
		return strings.Join(f.all, "\n")
	}
	return fmt.Sprintf("%s\nand %d more", strings.Join(f.all, "\n"), f.more)
}

// Entities is how many entities something was said of.
func (p *Producer) Entities() (n int) {
	for _, all := range p.entities {
		for _, e := range all {
			n += min(1, int(e.seq))
		}
	}
	return n
}

// Judge compares what is stored, by the entities table's keys, with the books. Only what is there and nothing else must be.
func (p *Producer) Judge(stored map[string]Item) *Faults {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, known := &Faults{}, map[string]bool{}
	for _, stream := range slices.Sorted(maps.Keys(p.entities)) {
		for _, e := range p.entities[stream] {
			if e.seq > 0 {
				key := strings.Join([]string{Consumer, stream, e.id}, "/")
				known[key] = true
				e.judge(f, stored[key])
			}
		}
	}
	for key := range stored {
		if !known[key] {
			f.Add("%s is stored, and nobody spoke of it", key)
		}
	}
	return f
}

func (e *entity) judge(f *Faults, got Item) {
	if !maps.Equal(got.State, e.state) {
		f.Add("%s: the state is %v, and %v was meant", e.id, got.State, e.state)
	}
	if e.counts() && got.Applied != e.seq {
		f.Add("%s: the cursor is at %d, and %d events were sent", e.id, got.Applied, e.seq)
	}
	if got.Open {
		f.Add("%s: the sweeper must still look at it", e.id)
	}
}

// counts tells whether it has a cursor.
func (e *entity) counts() bool {
	switch e.kind.stream {
	case "ledger", "journal", "seats", "chain":
		return true
	}
	return false
}

// Effects is what a receiver of effects got. It is not safe for concurrent use.
type Effects struct {
	got    map[string]*numbers // by entity
	faults Faults
}

// Effect is what names one.
type Effect struct {
	Stream   string
	EntityID string `json:"entity_id"`
	Seq      int64
}

// Take notes the next effect that came. An entity's come in order, each once.
func (r *Effects) Take(e Effect) {
	if r.got == nil {
		r.got = map[string]*numbers{}
	}
	t := r.got[e.EntityID]
	if t == nil {
		t = &numbers{}
		r.got[e.EntityID] = t
	}
	if e.Stream != "ledger" || e.Seq <= t.last {
		r.faults.Add("the effect %d of %s %s came after number %d", e.Seq, e.Stream, e.EntityID, t.last)
	}
	t.add(e.Seq)
}

// Count is how many came.
func (r *Effects) Count() (n int64) {
	for _, t := range r.got {
		n += t.count
	}
	return n
}

// JudgeEffects compares what came with what had to.
func (p *Producer) JudgeEffects(r *Effects) *Faults {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := r.faults
	for _, e := range p.entities["ledger"] {
		var got numbers
		if t := r.got[e.id]; t != nil {
			got = *t
		}
		if got != e.effect {
			f.Add("%s: its effects are %+v, and %+v were meant", e.id, got, e.effect)
		}
	}
	return &f
}

// Poison compares what is in quarantine, its reasons by its bodies, with what was meant to go there.
func (f *Faults) Poison(got map[string]string, sent Sent) {
	for body, reason := range sent.Poison {
		if got[body] != reason {
			f.Add("in quarantine because of %q, and not of %q: %.120s", got[body], reason, body)
		}
	}
	for body, reason := range got {
		if sent.Poison[body] == "" {
			f.Add("in quarantine because of %q, and it is not poison: %.120s", reason, body)
		}
	}
}
