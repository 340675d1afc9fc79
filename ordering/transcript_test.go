package ordering_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

// TestTranscripts replays testdata/transcripts/*: a stream, and then batches of events, one per line; the output is what became of
// each, what it cost, and what the store holds then. If a change alters a transcript on purpose, run with -rewrite and
// read the difference before you commit it.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		play := &transcript{now: begin}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "stream":
				play.stream(d.Input)
				return ""
			case "max-item":
				size, err := strconv.Atoi(d.CmdArgs[0].Key)
				if err != nil {
					t.Fatal(err)
				}
				play.store.MaxItem = size
				return ""
			case "effects":
				play.loop.EffectsMode = map[string]ordering.EffectsMode{"on": ordering.EffectsOn, "off": ordering.EffectsOff, "hold": ordering.EffectsHold}[d.CmdArgs[0].Key]
				return ""
			case "deliver":
				return play.deliver(t, d.Input, d.HasArg("cold"))
			case "advance":
				by, err := time.ParseDuration(d.CmdArgs[0].Key)
				if err != nil {
					t.Fatal(err)
				}
				play.now = play.now.Add(by)
				return ""
			default:
				t.Fatalf("unknown command %s", d.Cmd)
				return ""
			}
		})
	})
}

// tally is a projection in Go: it counts, tells of every second event twice, and has its ways to fail.
func tally(state map[string]any, e *events.Event) (map[string]any, []any, error) {
	switch e.Data["do"] {
	case "fail":
		return nil, nil, errors.New("told to fail")
	case "panic":
		panic("told to panic")
	case "count in Go's way":
		return map[string]any{"count": len(state)}, nil, nil
	case "tell what cannot be told":
		return state, []any{"unsendable"}, nil
	}
	count, _ := state["count"].(string)
	next := map[string]any{"count": count + "I"}
	if len(count)%2 == 0 {
		return next, nil, nil
	}
	return next, []any{"first of " + e.ID, "second of " + e.ID}, nil
}

type transcript struct {
	history
	now     time.Time
	store   *memory.Store
	loop    *ordering.Loop
	effects []string
	copies  []string
	tokens  int
}

func (p *transcript) stream(text string) {
	p.history = newHistory("transcript", text)
	p.store = &memory.Store{}
	p.loop = &ordering.Loop{
		Store: p.store, Quarantine: p, Effects: p, Streams: p.config, Cache: ordering.NewCache(10),
		Now:         func() time.Time { return p.now },
		NewToken:    func() string { p.tokens++; return fmt.Sprint(p.tokens) },
		Projections: map[string]ordering.Projector{"tally": tally},
	}
}

func (p *transcript) deliver(t *testing.T, input string, cold bool) string {
	if cold {
		p.loop.Cache = ordering.NewCache(10)
	}
	p.effects, p.copies = nil, nil
	var batch []ordering.Delivery
	var out strings.Builder
	for line := range strings.Lines(input) {
		p.messages = append(p.messages, &events.Message{ID: fmt.Sprint("m", len(p.messages)+1), Body: strings.TrimSpace(line), ReceivedAt: p.now})
		m := p.messages[len(p.messages)-1]
		decoded := p.config.Decode(*m, p.now)[0]
		if decoded.Event == nil {
			t.Fatalf("%s: %+v", line, decoded.Refusal)
		}
		batch = append(batch, ordering.Delivery{Event: decoded.Event, Message: m})
	}
	before := p.store.Writes()
	report := p.loop.Apply(context.Background(), p.key, batch)
	for i, o := range report.Outcomes {
		fmt.Fprintf(&out, "%s %s", batch[i].Message.ID, o.Disposition)
		if o.Reason != "" {
			fmt.Fprintf(&out, " (%s)", o.Reason)
		}
		out.WriteString("\n")
	}
	for _, c := range p.copies {
		fmt.Fprintf(&out, "copy to quarantine: %s\n", c)
	}
	for _, e := range p.effects {
		fmt.Fprintf(&out, "effect: %s\n", e)
	}
	fmt.Fprintf(&out, "writes: %d\n", p.store.Writes()-before)
	out.WriteString(p.entity())
	return out.String()
}

func (p *transcript) entity() string {
	e := p.store.All()[p.key]
	if e == nil {
		return "nothing stored\n"
	}
	var out strings.Builder
	if e.Absent() {
		out.WriteString("absent")
	} else {
		fmt.Fprintf(&out, "state:")
		for _, name := range slices.Sorted(maps.Keys(e.State)) {
			fmt.Fprintf(&out, " %s=%v", name, e.State[name])
		}
	}
	if e.Clock != "" {
		fmt.Fprintf(&out, "; clock %s", e.Clock)
	}
	if e.Applied > 0 || e.MaxSeen > 0 {
		fmt.Fprintf(&out, "; cursor %d.%d", e.Gen, e.Applied)
	}
	for name, set := range map[string]ordering.Numbers{"waiting": e.Waiting, "ahead": e.Ahead} {
		if len(set) > 0 {
			fmt.Fprintf(&out, "; %s %v", name, set)
		}
	}
	if e.Blocked != 0 {
		fmt.Fprintf(&out, "; blocked at %d", e.Blocked)
	}
	if e.Gap != nil {
		fmt.Fprintf(&out, "; gap since %s", e.Gap.Since.Format(time.TimeOnly))
	}
	return out.String() + "\n"
}

// Copy implements ordering.Quarantine.
func (p *transcript) Copy(_ context.Context, c ordering.Copy) error {
	p.copies = append(p.copies, fmt.Sprintf("%s (%s)", c.Delivery.Message.ID, c.Outcome.Reason))
	return nil
}

// Send implements ordering.EffectSender.
func (p *transcript) Send(_ context.Context, _ ordering.Key, effects []ordering.Effect) (int, error) {
	for _, e := range effects {
		p.effects = append(p.effects, fmt.Sprintf("%d.%d.%d %s %v", e.Generation, e.Seq, e.Index, e.EventID, e.Data))
	}
	return len(effects), nil
}

// Sendable implements ordering.EffectSender.
func (p *transcript) Sendable(e ordering.Effect) error {
	if text, _ := e.Data.(string); text == "unsendable" {
		return errors.New("nobody takes it")
	}
	return nil
}
