package explore

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// maxSlots is how many may work at once: consumers, then sweepers, then the operator.
const maxSlots = 4

// maxMessages is how many messages a situation may have: their counts are four bits each, their sets sixteen.
const maxMessages = 16

// state is all that the future depends on.
type state struct {
	content uint32 // of the store
	slots   [maxSlots]slot
	owner   int8  // whose token stands in the store, -1: nobody's who still works
	token   uint8 // which of his

	queue   counts // messages that wait
	acked   set    // messages of which one was acknowledged
	refused set    // messages of which a copy lies in quarantine
	asked   set    // messages that the relay is asked for
	later   set    // messages that may still come
	expired set    // messages whose rows were deleted by their TTL
	effects uint32 // that were received

	clock                                     uint8
	mishaps, copies, sweeps, orders, redrives uint8
}

// slot is one who works, or an instance that waits for work.
type slot struct {
	history uint32 // of who works: all he knows; 0: nobody does
	// current is the revision by which he knows what is in the store, 0 where he does not know what is there now.
	current int32
	cache   uint32 // of an idle instance: the entity that it saw last, 0: none
	fresh   bool   // the cached entity is what is in the store
	fought  bool   // the cache remembers a lost compare-and-set
}

func (s *slot) idle() bool { return s.history == 0 }

// isQuiet reports whether nobody works and no message waits.
func (s *state) isQuiet() bool {
	for i := range s.slots {
		if !s.slots[i].idle() {
			return false
		}
	}
	return s.queue == 0
}

// key is the digest of a state.
func (s *state) key() key {
	b := make([]byte, 0, 128)
	b = binary.LittleEndian.AppendUint32(b, s.content)
	for i := range s.slots {
		w := &s.slots[i]
		b = binary.LittleEndian.AppendUint32(b, w.history)
		b = binary.LittleEndian.AppendUint32(b, uint32(w.current)) //nolint:gosec // only told apart
		b = binary.LittleEndian.AppendUint32(b, w.cache)
		b = append(b, bit(w.fresh)|bit(w.fought)<<1)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(s.queue))
	for _, m := range [...]set{s.acked, s.refused, s.asked, s.later, s.expired} {
		b = binary.LittleEndian.AppendUint16(b, uint16(m))
	}
	b = binary.LittleEndian.AppendUint32(b, s.effects)
	b = append(b, byte(s.owner), s.token, s.clock, s.mishaps, s.copies, s.sweeps, s.orders, s.redrives) //nolint:gosec // only told apart
	sum := sha256.Sum256(b)
	return key{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])}
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// sort makes states one that differ only in which of two instances is which, and returns who went where.
func (s *state) sort(consumers, sweepers int) (moved [maxSlots]int) {
	for i := range moved {
		moved[i] = i
	}
	slices.SortStableFunc(moved[:consumers], s.compare)
	slices.SortStableFunc(moved[consumers:consumers+sweepers], s.compare)
	before, owner := s.slots, s.owner
	for to, from := range moved {
		s.slots[to] = before[from]
		if int(owner) == from {
			s.owner = int8(to) //nolint:gosec // below maxSlots
		}
	}
	return moved
}

func (s *state) compare(i, j int) int {
	a, b := &s.slots[i], &s.slots[j]
	return cmp.Or(
		cmp.Compare(a.history, b.history), cmp.Compare(a.cache, b.cache), cmp.Compare(a.current, b.current),
		cmp.Compare(bit(a.fresh), bit(b.fresh)), cmp.Compare(bit(a.fought), bit(b.fought)),
		cmp.Compare(bit(int(s.owner) == i), bit(int(s.owner) == j)),
	)
}

// set is a set of messages.
type set uint16

func (s set) has(m int) bool  { return s>>m&1 == 1 }
func (s *set) put(m int)      { *s |= 1 << m }
func (s *set) take(m int)     { *s &^= 1 << m }
func (s set) minus(o set) set { return s &^ o }

// counts says how often each message is there.
type counts uint64

func (c counts) of(m int) int   { return int(c >> (4 * m) & 15) }
func (c *counts) add(o counts)  { *c += o }
func (c *counts) take(o counts) { *c -= o }

func once(m int) counts { return 1 << (4 * m) }
