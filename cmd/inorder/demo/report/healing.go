package report

import (
	"fmt"
	"slices"
	"time"
)

// How a lost event is made good.
const (
	SentAgain = "sent again"
	Outdated  = "outdated" // a newer state came, so that nobody needs it
)

// Healing is what became of the events that were lost on their way.
type Healing struct {
	Losses    []Loss `json:"losses"`
	StayWrong int    `json:"stay_wrong"` // entities that would have ended wrong had nobody asked

	Requests           int `json:"requests"`  // of sweepers, for what was missing
	Late               int `json:"only_late"` // events that were asked for and came by themselves, too
	Marks              int `json:"marks"`
	Sweeps             int `json:"sweeps"`
	SweepCrashes       int `json:"sweep_crashes"`
	RelayCrashes       int `json:"relay_crashes"`
	SweepRequests      int `json:"sweep_requests"` // to the database
	RelayRequests      int `json:"relay_requests"`
	GapDeadlineSeconds int `json:"gap_deadline_seconds"`
	MarkDelaySeconds   int `json:"mark_delay_seconds"`

	Unhealed []Level `json:"unhealed"` // how many events would have been parked had nobody asked
}

// Loss is one event whose message never arrived. The times are zero where nothing of that kind happened.
type Loss struct {
	Stream   string    `json:"stream"`
	Entity   string    `json:"entity"`
	Number   int       `json:"number"`
	Times    int       `json:"times"` // how many of its messages were lost
	LostAt   time.Time `json:"lost_at"`
	SeenAt   time.Time `json:"seen_at,omitzero"` // when the consumer was first shown that it exists
	ByMark   bool      `json:"by_mark,omitempty"`
	AskedAt  time.Time `json:"asked_at,omitzero"`
	Asked    int       `json:"asked"`
	HealedAt time.Time `json:"healed_at,omitzero"`
	Healed   string    `json:"healed,omitempty"` // SentAgain or Outdated; empty: it is still missing
}

// Count is how many losses were made good in one way.
func (h *Healing) Count(how string) int {
	return h.count(func(l Loss) bool { return l.Healed == how })
}

// ByMark is how many were sent again because of a mark: nothing that came later showed that they were missing.
func (h *Healing) ByMark() int {
	return h.count(func(l Loss) bool { return l.Healed == SentAgain && l.ByMark })
}

// LostAgain is how many were lost more than once.
func (h *Healing) LostAgain() int {
	return h.count(func(l Loss) bool { return l.Times > 1 && l.Healed == SentAgain })
}

// StayParked is how many events would still be parked at the end had nobody asked.
func (h *Healing) StayParked() int {
	if len(h.Unhealed) == 0 {
		return 0
	}
	return h.Unhealed[len(h.Unhealed)-1].N
}

func (h *Healing) count(is func(Loss) bool) int {
	n := 0
	for _, l := range h.Losses {
		if is(l) {
			n++
		}
	}
	return n
}

// GapDeadline and MarkDelay are in words.
func (h *Healing) GapDeadline() string { return inMinutes(h.GapDeadlineSeconds) }

// MarkDelay is how long an entity is quiet before its newest number is marked.
func (h *Healing) MarkDelay() string { return inMinutes(h.MarkDelaySeconds) }

func inMinutes(seconds int) string { return fmt.Sprintf("%d minutes", seconds/60) }

// Phase is a part of the way from loss to heal, as a distribution over the events that were sent again.
type Phase struct {
	Name          string
	P50, P99, Max time.Duration
}

// Phases are the parts, and the whole.
func (h *Healing) Phases() []Phase {
	return []Phase{
		h.phase(fmt.Sprintf("until something showed it (MARK_DELAY %d min)", h.MarkDelaySeconds/60), func(l Loss) time.Duration { return l.SeenAt.Sub(l.LostAt) }),
		h.phase(fmt.Sprintf("from then until it was asked for (deadline %d min)", h.GapDeadlineSeconds/60), func(l Loss) time.Duration { return l.AskedAt.Sub(l.SeenAt) }),
		h.phase("from then until it was there", func(l Loss) time.Duration { return l.HealedAt.Sub(l.AskedAt) }),
		h.phase("from loss to heal, in all", func(l Loss) time.Duration { return l.HealedAt.Sub(l.LostAt) }),
	}
}

func (h *Healing) phase(name string, of func(Loss) time.Duration) Phase {
	var all []time.Duration
	for _, l := range h.Losses {
		if l.Healed == SentAgain && l.Asked > 0 {
			all = append(all, max(of(l), 0))
		}
	}
	if len(all) == 0 {
		return Phase{Name: name}
	}
	slices.Sort(all)
	return Phase{Name: name, P50: quantile(all, 50), P99: quantile(all, 99), Max: all[len(all)-1]}
}

// quantile is the smallest value that percent of all do not exceed.
func quantile(sorted []time.Duration, percent int) time.Duration {
	return sorted[(len(sorted)*percent+99)/100-1]
}
