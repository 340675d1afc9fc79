package explore

import (
	"flag"
	"strings"
	"testing"
)

var (
	states        = flag.Int("states", 1000, "how many states of each situation to visit at most; 0: all")
	situation     = flag.String("situation", "", "visit only this one")
	mishaps       = flag.Bool("mishaps", true, "let invocations die and requests fail")
	plantedStates = flag.Int("planted-states", 20000, "how many states of a situation to visit for a planted bug")
)

// faultMark begins what is told of a fault.
const faultMark = "fault: "

// TestExploration guards every guarantee of the step and the delta protocol, in every state that the situations can reach:
// each event once, in order and with its effect; nothing acknowledged that is lost; nothing that waits for nothing; nothing
// open that the sweeper does not see; no number that waits without its row; no cursor that goes back.
func TestExploration(t *testing.T) {
	known := false
	for _, s := range situations {
		if *situation != "" && s.Name != *situation {
			continue
		}
		known = true
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if !*mishaps {
				s.Mishaps = 0
			}
			r := Explore(s, *states)
			if r.Fault != nil {
				t.Fatalf("%s%s, after %d states:\n%s", faultMark, r.Fault.What, r.States, strings.Join(r.Fault.Transcript, "\n"))
			}
			t.Logf("proof: %s: %d states, %d ends, all: %t", s.Name, r.States, r.Ends, r.All)
		})
	}
	if !known {
		t.Fatalf("no situation is called %q", *situation)
	}
}
