package explore

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/dustin/go-humanize"
)

var (
	states        = flag.Int("states", 500, "how many states of each situation to visit at most; 0: all")
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
	chosen := slices.DeleteFunc(slices.Clone(situations), func(s Situation) bool { return *situation != "" && s.Name != *situation })
	if len(chosen) == 0 {
		t.Fatalf("no situation is called %q", *situation)
	}
	results := make([]Result, len(chosen))
	t.Run("situation", func(t *testing.T) {
		for i, s := range chosen {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				results[i] = exploreOne(t, s)
			})
		}
	})
	if t.Failed() {
		return
	}
	total, complete := Result{}, 0
	for _, r := range results {
		total.States, total.Ends = total.States+r.States, total.Ends+r.Ends
		if r.All {
			complete++
		}
	}
	t.Logf("proof: %s states, %s ends in %d situations, %d of them to the last state", humanize.Comma(int64(total.States)), humanize.Comma(int64(total.Ends)), len(results), complete)
}

func exploreOne(t *testing.T, s Situation) Result {
	if !*mishaps {
		s.Mishaps = 0
	}
	r := Explore(s, *states)
	if r.Fault != nil {
		t.Fatalf("%s%s, after %d states:\n%s", faultMark, r.Fault.What, r.States, strings.Join(r.Fault.Transcript, "\n"))
	}
	far := "the nearest"
	if r.All {
		far = "all"
	}
	t.Logf("proof: %s: %s states (%s), %s ends, no fault", s.Name, humanize.Comma(int64(r.States)), far, humanize.Comma(int64(r.Ends)))
	return r
}
