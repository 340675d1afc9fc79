package simulation

import (
	"fmt"
	"strconv"
	"strings"

	"inorder/ordering"
)

// A tally counts what lives consist of, so that nobody need believe that anything happened in them.
type tally struct {
	lives, onEngine, requests, crashes, timeouts      int
	messages, copies, lost, buried                    int
	consumers, sweepers, relays, producers, operators int
	escalations, weighed, effects, expired            int
	mishaps                                           [mishapKinds]int
	acts                                              [actKinds]int
	dispositions                                      map[ordering.Disposition]int
}

func newTally() tally { return tally{dispositions: map[ordering.Disposition]int{}} }

func (t *tally) add(o tally) {
	for _, n := range [][2]*int{
		{&t.lives, &o.lives}, {&t.onEngine, &o.onEngine}, {&t.requests, &o.requests}, {&t.crashes, &o.crashes}, {&t.timeouts, &o.timeouts},
		{&t.messages, &o.messages}, {&t.copies, &o.copies}, {&t.lost, &o.lost}, {&t.buried, &o.buried},
		{&t.consumers, &o.consumers}, {&t.sweepers, &o.sweepers}, {&t.relays, &o.relays}, {&t.producers, &o.producers}, {&t.operators, &o.operators},
		{&t.escalations, &o.escalations}, {&t.weighed, &o.weighed}, {&t.effects, &o.effects}, {&t.expired, &o.expired},
	} {
		*n[0] += *n[1]
	}
	for i, n := range o.mishaps {
		t.mishaps[i] += n
	}
	for i, n := range o.acts {
		t.acts[i] += n
	}
	for d, n := range o.dispositions {
		t.dispositions[d] += n
	}
}

// tame lists what never happened and should have.
func (t *tally) tame() (never []string) {
	for k := throttled; k < mishapKinds; k++ {
		if t.mishaps[k] == 0 {
			never = append(never, k.String())
		}
	}
	for k := range actKinds {
		if t.acts[k] == 0 {
			never = append(never, k.String())
		}
	}
	for _, d := range ordering.Dispositions() {
		if t.dispositions[d] == 0 {
			never = append(never, d.String())
		}
	}
	for name, n := range map[string]int{
		"lost": t.lost, "copies": t.copies, "dead letters": t.buried, "escalations": t.escalations, "timeouts": t.timeouts,
		"costs compared": t.weighed, "effects": t.effects, "TTL": t.expired, "producers": t.producers, "lives on an engine": t.onEngine,
	} {
		if n == 0 {
			never = append(never, name)
		}
	}
	return never
}

func (t *tally) String() string {
	faults := 0
	for _, n := range t.mishaps {
		faults += n
	}
	return fmt.Sprintf("%s seeds (%s on an engine): %s messages, %s of them copies and %s lost; %s invocations of consumers, %s of sweepers, "+
		"%s of relays, %s of producers and %s of operators; %s requests, %s mishaps, %s crashes, %s timeouts",
		thousands(t.lives), thousands(t.onEngine), thousands(t.messages), thousands(t.copies), thousands(t.lost),
		thousands(t.consumers), thousands(t.sweepers), thousands(t.relays), thousands(t.producers), thousands(t.operators),
		thousands(t.requests), thousands(faults), thousands(t.crashes), thousands(t.timeouts))
}

func thousands(n int) string {
	digits := strconv.Itoa(n)
	var parts []string
	for len(digits) > 3 {
		parts = append([]string{digits[len(digits)-3:]}, parts...)
		digits = digits[:len(digits)-3]
	}
	return strings.Join(append([]string{digits}, parts...), ",")
}
