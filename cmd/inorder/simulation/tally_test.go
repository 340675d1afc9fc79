package simulation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"inorder/ddb/local"
	"inorder/events"
	"inorder/ordering"
)

// A tally counts what lives consist of, by name, so that nobody need believe that anything happened in them.
type tally map[string]int

func (t tally) add(o tally) {
	for name, n := range o {
		t[name] += n
	}
}

// The names that are used in several places.
const (
	seedsPlayed = "seeds"
	onDynoxide  = "on " + local.Dynoxide
	onMini      = "on " + local.Minidyn
	requests    = "requests"
	crashes     = "crashes"
	messages    = "messages"
	copies      = "copies"
	lost        = "lost"
)

// must are what has to happen somewhere in some hundred lives, or they prove less than they say.
func must() (names []string) {
	for k := throttled; k < mishapKinds; k++ {
		names = append(names, "mishap: "+k.String())
	}
	for k := range actKinds {
		names = append(names, "act: "+k.String())
	}
	for _, d := range ordering.Dispositions() {
		names = append(names, "disposition: "+d.String())
	}
	for _, reason := range []events.Reason{
		events.ProjectionError, events.ParkExpired, events.OldGeneration, events.Conflict, events.Skipped, events.NotJSON, events.NoRoute, events.BadOrderKey,
	} {
		names = append(names, "quarantine: "+string(reason))
	}
	for _, who := range []string{consumerName, sweeperName, relayName, producerName, operatorName} {
		names = append(names, who, who+" died")
	}
	return append(names, onDynoxide, onMini, requests, crashes, messages, copies, lost, "out of time", "dead letters", "overlapping receives", "escalations",
		"void: "+string(events.Expired), "void: "+string(events.NeverExisted), "marks", "TTL runs", "effects", "entities without effects", "costs compared", "redrives")
}

// tame lists what never happened and should have.
func (t tally) tame() []string {
	return slices.DeleteFunc(must(), func(name string) bool { return t[name] > 0 })
}

// sum adds up what begins with a prefix.
func (t tally) sum(prefix string) (n int) {
	for name, of := range t {
		if strings.HasPrefix(name, prefix) {
			n += of
		}
	}
	return n
}

// String is one line.
func (t tally) String() string {
	n := func(name string) string { return humanize.Comma(int64(t[name])) }
	return fmt.Sprintf("%s seeds (%s of them on dynoxide, %s on minidyn): %s messages, %s of them copies, %s lost; %s invocations of consumers, %s of sweepers, "+
		"%s of relays, %s of producers, %s of operators; %s requests, %s mishaps, %s crashes",
		n(seedsPlayed), n(onDynoxide), n(onMini), n(messages), n(copies), n(lost),
		n(consumerName), n(sweeperName), n(relayName), n(producerName), n(operatorName),
		n(requests), humanize.Comma(int64(t.sum("mishap: "))), n(crashes))
}
