package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"inorder/cmd/inorder/backend"
	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// stands describes all that there is, as far as it must not depend on what went wrong on the way, a line each. Copies in
// quarantine may stand there more than once, and a receiver of effects leaves out what it had.
func (w *world) stands() (string, error) {
	var lines []string
	keys, err := w.backend.EntityKeys(w.ctx, w.tables)
	if err != nil {
		return "", err
	}
	slices.Sort(keys)
	for _, pk := range keys {
		of, err := w.entityStands(pk)
		if err != nil {
			return "", err
		}
		lines = append(lines, of...)
	}
	told, err := w.told()
	if err != nil {
		return "", err
	}
	lines = append(lines, told...)
	copies := map[string]bool{}
	for _, m := range w.queues.Sent(backend.QuarantineURL) {
		copies[fmt.Sprintf("in quarantine %s: %s", w.origin(m), reasonOf(m))] = true
	}
	lines = append(lines, slices.Sorted(maps.Keys(copies))...)
	for _, m := range w.mailbox.waiting {
		lines = append(lines, "waits in the queue: "+m.id)
	}
	for _, m := range w.mailbox.dead {
		lines = append(lines, "in the dead-letter queue: "+m.id)
	}
	open, err := w.openRequests()
	lines = append(lines, "asked and not answered: "+listed(open), w.accounts())
	return strings.Join(lines, "\n"), err
}

// accounts adds up the dispositions.
func (w *world) accounts() string {
	sum := decimal("0")
	for _, d := range ordering.Dispositions() {
		value := w.metrics.value(d.Metric())
		if _, err := apd.BaseContext.WithPrecision(50).Add(sum, sum, value); err != nil {
			return err.Error()
		}
	}
	if consumed := w.metrics.value("events_consumed_total"); compare(consumed, sum) != 0 {
		return fmt.Sprintf("%s events consumed, and %s dispositions", consumed, sum)
	}
	return "as many dispositions as events consumed"
}

func (w *world) entityStands(pk string) ([]string, error) {
	key, err := ddb.ParseEntityPK(pk)
	if err != nil {
		return nil, err
	}
	e, err := w.look.Entity(w.ctx, key)
	if err != nil {
		return nil, err
	}
	stream := w.script.streams.Stream(key.Stream)
	lines := []string{pk + ": " + string(backend.StateJSON(e.State))}
	note := func(format string, args ...any) { lines = append(lines, pk+" "+fmt.Sprintf(format, args...)) }
	if stream.Mode == events.State {
		note("clock %s, %v, marks %v, deleted %q", e.Clock, e.Clocks, e.Marks, e.Tombs)
	} else {
		note("at %d.%d, counted above %v, waiting %v", e.Gen, e.Effective(), e.Ahead.Above(e.Effective()), e.Waiting.Above(e.Applied))
		note("blocked %d, owed %d, skipped %v, sent %s", e.Blocked, len(e.Owed), e.Skipped, sentText(e.Dispatched))
	}
	note("marked for the sweeper: %t", e.Gap != nil)
	if stream.Mode != events.Step {
		return lines, nil
	}
	rows, err := w.look.Rows(w.ctx, key, e.Gen, e.Applied+1, math.MaxInt64)
	for _, row := range rows {
		note("logged %d: %s%s", row.Seq, row.EventID, row.Void)
	}
	return lines, err
}

func sentText(p *ordering.Position) string {
	if p == nil {
		return "nothing ever"
	}
	return fmt.Sprintf("to %d.%d", p.Gen, p.Seq)
}

// told are the effects that a receiver takes: each once, under the name that its message gives it, in its entity's order.
func (w *world) told() (lines []string, err error) {
	seen, count := map[string]bool{}, map[string]int{}
	for _, m := range w.queues.Sent(backend.EffectsURL) {
		var e ordering.Effect
		if err := json.Unmarshal([]byte(m.Body), &e); err != nil {
			return nil, err
		}
		entity := fmt.Sprintf("%s %s%s", e.Stream, e.EntityID, e.Source)
		name := fmt.Sprintf("%d.%d.%d", e.Generation, e.Seq, e.Index)
		if seen[entity+" "+name] {
			continue
		}
		seen[entity+" "+name] = true
		count[entity]++
		lines = append(lines, fmt.Sprintf("effect %d of %s is that of %s", count[entity], entity, name))
	}
	slices.Sort(lines)
	return lines, nil
}
