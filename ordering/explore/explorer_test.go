package explore

import (
	"fmt"
	"time"

	"inorder/ordering"
)

// Situation is a producer's story, and who handles it.
type Situation struct {
	Name     string
	Stream   string           // the rest of its entry in streams.yaml: mode and options
	Begin    *ordering.Entity // what there is at first; nil: nothing
	Messages []Message
	Before   [][]int // batches that were handled before, one after the other, by somebody else whom nothing disturbed
	Swept    []int   // at which of Times a sweeper ran before, and nothing disturbed it; the first is 1
	Clock    int     // how much of Times is over when it begins

	Consumers int             // at once
	Sweepers  int             // at once; with the consumers and an operator at most 4
	AnyBatch  bool            // batches are any of what waits, instead of one message or all
	Skips     []int64         // through which number an operator may skip, in generation 0; each order is given once at most
	Times     []time.Duration // after the beginning; time passes only while nobody works. Without any it stands still
	Expires   bool            // rows that are past their TTL may be deleted

	// How much may happen.
	Mishaps  int // invocations that die, answers that are lost, requests that fail before, or that the SDK makes twice
	Copies   int // messages that come once more: while they are handled, which is a visibility timeout, or after
	Sweeps   int // runs of a sweeper
	Orders   int // of the operator
	Redrives int // of what is in quarantine

	// What is right.
	Cursor   int64  // where it must end, 0: wherever nothing is missing
	Refused  []int  // the messages that may come to quarantine
	Baseline bool   // it may begin with any number
	Why      string // what it is about
}

// Origin is how a message comes into the queue.
type Origin uint8

// The origins.
const (
	Sent    Origin = iota // it is there from the beginning
	Lost                  // it was lost, and comes when the relay is asked for it
	Later                 // it comes at any time
	Earlier               // it came before
)

// Kind is what a message says.
type Kind uint8

// The kinds.
const (
	Fact         Kind = iota
	NeverExisted      // a void of its number
	Expired           // a void of its number, which was meant and is lost
	Mark              // numbers up to here exist
)

// Message is one of a situation. Messages of one body are one Message that comes several times.
type Message struct {
	Gen, Seq int64
	Kind     Kind
	Origin   Origin
	Rival    bool // another event of a number that has one
	Fails    int  // the projection refuses it until so many instants of Times have come
	Twice    bool // it is sent twice
}

// name is how transcripts and effects call it.
func (m Message) name() string {
	kind := [...]string{"", "never existed ", "expired ", "mark "}[m.Kind]
	rival := ""
	if m.Rival {
		rival = "b"
	}
	return fmt.Sprintf("%s%d.%d%s", kind, m.Gen, m.Seq, rival)
}

// Result is what came of an exploration.
type Result struct {
	States int
	Ends   int  // states in which nobody works and no message waits
	All    bool // there are no other states
	Fault  *Fault
}

// Fault is a state that must not be, with the shortest way to it.
type Fault struct {
	What       string
	Transcript []string
}

// Explore visits the states of a situation, the nearest first, and at most so many of them; 0: all. It ends at the first
// fault, to which there is then no shorter way.
func Explore(s Situation, most int) Result {
	x := newExplorer(s)
	return x.explore(most)
}

// explorer is one exploration.
type explorer struct {
	*model
	seen    *seen
	parents []step // of each state, in the order in which they were found
	ends    int
}

// step is how a state was reached first.
type step struct {
	from uint32
	choice
}

func newExplorer(s Situation) *explorer {
	return &explorer{model: newModel(s), seen: newSeen()}
}

func (x *explorer) explore(most int) Result {
	first := x.begin()
	x.seen.add(first.key())
	x.parents = append(x.parents, step{})
	level, from := []state{first}, 0
	for len(level) > 0 {
		var next []state
		for i := range level {
			at := uint32(from + i) //nolint:gosec // as many states would not fit into memory
			if fault := x.check(&level[i]); fault != "" {
				return x.result(false, &Fault{fault, x.transcript(at)})
			}
			if fault := x.follow(&level[i], at, &next); fault != nil {
				return x.result(false, fault)
			}
			if most > 0 && len(x.parents) >= most {
				return x.result(false, nil)
			}
		}
		from += len(level)
		level = next
	}
	return x.result(true, nil)
}

func (x *explorer) result(all bool, fault *Fault) Result {
	return Result{States: len(x.parents), Ends: x.ends, All: all, Fault: fault}
}

// follow makes each choice that a state leaves, and keeps what is new.
func (x *explorer) follow(s *state, at uint32, next *[]state) *Fault {
	for _, c := range x.choices(s) {
		after := *s
		if fault := x.happen(&after, c); fault != "" {
			return &Fault{fault, x.transcript(at, c)}
		}
		after.sort(x.Consumers, x.Sweepers)
		if x.seen.add(after.key()) {
			x.parents = append(x.parents, step{at, c})
			*next = append(*next, after)
		}
	}
	return nil
}

// check looks at a state by itself, and where it is an end at what a sweep makes of it.
func (x *explorer) check(s *state) string {
	if fault := x.broken(s); fault != "" {
		return fault
	}
	if s.isQuiet() {
		x.ends++
		return x.ended(s)
	}
	return ""
}
