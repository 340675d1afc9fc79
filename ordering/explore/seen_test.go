package explore

// key is a state's digest: long enough that no two states will ever share one.
type key [2]uint64

// seen is a set of keys, by open addressing: 16 bytes for each, at three eighths to three quarters load.
type seen struct {
	slots []key
	count int
}

func newSeen() *seen { return &seen{slots: make([]key, 1<<12)} }

// add reports whether a key is new.
func (s *seen) add(k key) bool {
	if k == (key{}) { // it marks a free slot
		k[0] = 1
	}
	if s.count >= len(s.slots)/4*3 {
		s.grow()
	}
	at := s.find(k)
	if s.slots[at] == k {
		return false
	}
	s.slots[at] = k
	s.count++
	return true
}

// find returns the slot of a key, or the free one where it belongs.
func (s *seen) find(k key) uint64 {
	mask := uint64(len(s.slots) - 1)
	at := k[0] & mask
	for s.slots[at] != k && s.slots[at] != (key{}) {
		at = (at + 1) & mask
	}
	return at
}

func (s *seen) grow() {
	old := s.slots
	s.slots = make([]key, 2*len(old))
	for _, k := range old {
		if k != (key{}) {
			s.slots[s.find(k)] = k
		}
	}
}
