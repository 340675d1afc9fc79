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
			case "deploy": // another streams.yaml over the same tables, and cold functions
				play.config = newHistory("transcript", d.Input).config
				play.loop.Streams, play.loop.Cache = play.config, ordering.NewCache(10)
				return ""
			case "effects-fail":
				play.down = d.CmdArgs[0].Key == "yes"
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
			case "log-only":
				return play.logOnly(t, d.Input)
			case "sweep":
				return play.sweep(t)
			case "skip":
				return play.skip(t, d)
			case "expire":
				play.store.Expire(play.now)
				return ""
			case "quarantine-fails":
				play.full = d.CmdArgs[0].Key == "yes"
				return ""
			case "requests-fail":
				play.unreachable = d.CmdArgs[0].Key == "yes"
				return ""
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
	switch e.Data()["do"] {
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

	requests    []string
	unreachable bool // the republish queue
	full        bool // quarantine takes no copies
	down        bool // the effects queue
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
	p.tell(&out, report.Counts, before)
	return out.String()
}

// tell what came of it beside the outcomes: what was counted, sent and written, and what the store holds then.
func (p *transcript) tell(out *strings.Builder, counts map[ordering.Count]int, before int) {
	for _, metric := range []string{ordering.MetricEscalated, ordering.MetricHealed, ordering.MetricVoid, ordering.MetricMismatches} {
		if n := counts[ordering.Count{Metric: metric, EventType: "T"}]; n > 0 {
			fmt.Fprintf(out, "%s: %d\n", metric, n)
		}
	}
	for _, r := range p.requests {
		fmt.Fprintf(out, "request: %s\n", r)
	}
	for _, c := range p.copies {
		fmt.Fprintf(out, "copy to quarantine: %s\n", c)
	}
	for _, e := range p.effects {
		fmt.Fprintf(out, "effect: %s\n", e)
	}
	fmt.Fprintf(out, "writes: %d\n", p.store.Writes()-before)
	out.WriteString(p.entity())
	p.requests, p.copies, p.effects = nil, nil, nil
}

// logOnly is an invocation that died between the row and the entity.
func (p *transcript) logOnly(t *testing.T, input string) string {
	m := events.Message{ID: "dead", Body: strings.TrimSpace(input), ReceivedAt: p.now}
	e := p.config.Decode(m, p.now)[0].Event
	row := ordering.Row{
		Gen: e.Generation, Seq: e.Seq, EventID: e.ID, Source: e.Source, Fingerprint: e.Fingerprint(), Type: e.Type,
		ReceivedAt: p.now, Message: m, ExpiresAt: p.now.Add(e.Stream.ParkTTL).Truncate(time.Second),
	}
	if err := p.store.PutRow(t.Context(), p.key, row); err != nil {
		t.Fatal(err)
	}
	return ""
}

func (p *transcript) keeper() *ordering.Keeper {
	return p.keeperOf(p.store)
}

func (p *transcript) keeperOf(store ordering.Upkeep) *ordering.Keeper {
	loop := *p.loop
	loop.Store, loop.Cache = store, nil
	return &ordering.Keeper{Loop: &loop, Upkeep: store, Requests: p}
}

// sweep does what is due about the entity, if it stands in the index at all.
func (p *transcript) sweep(t *testing.T) string {
	e := p.store.All()[p.key]
	if e == nil || e.Gap == nil {
		return "not in the index\n"
	}
	var out strings.Builder
	before := p.store.Writes()
	swept := p.keeper().Sweep(t.Context(), p.key, p.config.Streams[0], e)
	if x := swept.Escalation; x != nil {
		fmt.Fprintf(&out, "escalation: attempt %d, %s old, %d waiting, sent %t\n", x.Attempt, x.Age, x.Waiting, x.Sent)
	}
	if swept.Err != nil {
		fmt.Fprintf(&out, "error: %v\n", swept.Err)
	}
	p.tell(&out, swept.Counts, before)
	return out.String()
}

// skip through=N, with reason=TEXT, generation=G and dry.
func (p *transcript) skip(t *testing.T, d *datadriven.TestData) string {
	var order ordering.Skip
	d.ScanArgs(t, "through", &order.Through)
	d.MaybeScanArgs(t, "reason", &order.Reason)
	d.MaybeScanArgs(t, "generation", &order.Generation)
	order.DryRun = d.HasArg("dry")
	var out strings.Builder
	before := p.store.Writes()
	done, err := p.keeper().Skip(t.Context(), p.key, p.config.Streams[0], order)
	if err != nil {
		fmt.Fprintf(&out, "refused: %v\n", err)
	}
	for _, of := range []struct {
		name   string
		ranges []ordering.Range
	}{{"applied", done.Applied}, {"lost", done.Lost}, {"passed", done.Passed}} {
		if len(of.ranges) > 0 {
			fmt.Fprintf(&out, "%s: %v\n", of.name, of.ranges)
		}
	}
	p.tell(&out, done.Counts, before)
	audits, _ := p.store.Audits(t.Context(), p.key)
	for _, a := range audits {
		fmt.Fprintf(&out, "audit: through %d because %s: applied %v, lost %v, passed %v\n", a.Through, a.Reason, a.Applied, a.Lost, a.Passed)
	}
	return out.String()
}

// Request implements ordering.Requests.
func (p *transcript) Request(_ context.Context, requests []events.RepublishRequest) error {
	if p.unreachable {
		return errors.New("nobody is there")
	}
	for _, r := range requests {
		text := fmt.Sprintf("generation %d, %v, attempt %d", r.Generation, r.Ranges, r.Attempt)
		if r.Source != "" {
			text += ", of " + r.Source
		}
		p.requests = append(p.requests, text)
	}
	return nil
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
	if !e.Park.Look.IsZero() {
		fmt.Fprintf(&out, "; rows need a look at %s", e.Park.Look.Format("02 15:04:05"))
	}
	if len(e.Skipped) > 0 {
		fmt.Fprintf(&out, "; skipped %v", e.Skipped)
	}
	for _, source := range slices.Sorted(maps.Keys(e.Marks)) {
		fmt.Fprintf(&out, "; mark %q %s", source, e.Marks[source])
	}
	if e.Gap != nil {
		fmt.Fprintf(&out, "; gap since %s", e.Gap.Since.Format(time.TimeOnly))
		if e.Gap.Escalations > 0 {
			fmt.Fprintf(&out, ", attempt %d, the next at %s", e.Gap.Escalations, e.Gap.EscalateAt.Format(time.TimeOnly))
		}
	}
	return out.String() + "\n"
}

// Copy implements ordering.Quarantine.
func (p *transcript) Copy(_ context.Context, c ordering.Copy) error {
	if p.full {
		return errors.New("quarantine is full")
	}
	p.copies = append(p.copies, fmt.Sprintf("%s (%s)", c.Delivery.Message.ID, c.Outcome.Reason))
	return nil
}

// Send implements ordering.EffectSender.
func (p *transcript) Send(_ context.Context, _ ordering.Key, effects []ordering.Effect) (int, error) {
	if p.down {
		return 0, errors.New("the effects queue is down")
	}
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
