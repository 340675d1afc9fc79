package functions

import (
	"time"

	"inorder/events"
	"inorder/ordering"
)

// The gauges that a sweep sets, all of them each time: one that is only written while something is wrong keeps its last
// bad value, and its alarm never clears.
const (
	GaugeParked        = "events_parked_current"
	GaugeGaps          = "gaps_open_current"
	GaugeBlocked       = "entities_blocked_current"
	GaugeOldestGap     = "oldest_gap_age_seconds"
	GaugeWindowPercent = "park_window_used_percent"
	GaugeAgePercent    = "park_age_used_percent"
)

// openEntities is what the gauges tell of the entities in the index, by their items alone: no rows are counted.
type openEntities struct {
	parked, gaps, blocked     int
	oldestGap                 time.Duration
	windowPercent, agePercent float64
}

// add counts an entity that was read again. Without a stream, one that streams.yaml does not have, nobody can tell what is
// missing and nobody will close it: it counts as an open gap, for else an alarm would clear when its stream is taken out.
func (o *openEntities) add(s *events.Stream, e *ordering.Entity, now time.Time) {
	switch {
	case e.Gap == nil:
	case s == nil:
		o.addGap(e, now)
		o.parked += len(e.Waiting)
	default:
		o.addKnown(s, e, now)
	}
}

func (o *openEntities) addGap(e *ordering.Entity, now time.Time) {
	o.gaps++
	o.oldestGap = max(o.oldestGap, now.Sub(e.GapSince()))
}

func (o *openEntities) addKnown(s *events.Stream, e *ordering.Entity, now time.Time) {
	if len(e.Missing(s)) > 0 || len(e.MissingMarks(s)) > 0 {
		o.addGap(e, now)
	}
	if e.Blocked != 0 {
		o.blocked++
	}
	if s.Window > 0 {
		o.windowPercent = max(o.windowPercent, percent(float64(windowUsed(s, e)), float64(s.Window)))
	}
	if len(e.Waiting) > 0 {
		o.parked += len(e.Waiting)
		since := e.Park.Since
		if since.IsZero() {
			since = e.Gap.Since
		}
		o.agePercent = max(o.agePercent, percent(now.Sub(since).Seconds(), s.MaxParkAge.Seconds()))
	}
}

// windowUsed is how far from the cursor the furthest event lies that is logged or counted, or, before a baseline, from
// the lowest of them.
func windowUsed(s *events.Stream, e *ordering.Entity) int64 {
	from := e.Effective()
	if e.NoBaseline(s) && len(e.Waiting) > 0 {
		from = e.Waiting[0] - 1
	}
	return max(0, max(e.Waiting.Max(), e.Ahead.Max())-from)
}

func percent(part, whole float64) float64 {
	return min(100, max(0, 100*part/whole))
}

func (o *openEntities) set(m *Metrics) {
	m.Gauge(GaugeParked, float64(o.parked))
	m.Gauge(GaugeGaps, float64(o.gaps))
	m.Gauge(GaugeBlocked, float64(o.blocked))
	m.Gauge(GaugeOldestGap, o.oldestGap.Seconds())
	m.Gauge(GaugeWindowPercent, o.windowPercent)
	m.Gauge(GaugeAgePercent, o.agePercent)
}
