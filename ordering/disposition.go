package ordering

import "inorder/events"

// Disposition is what became of one message. The list is closed: a new one does not lint until every switch decides.
type Disposition uint8

// The dispositions. The zero value is Deferred: what nobody decided comes back.
const (
	Deferred    Disposition = iota // not now: throttled, beyond the window, out of time, any error that is not understood
	Applied                        // it changed the entity, or the cursor passed it
	Coalesced                      // state: a newer event for the same attributes came in the same batch
	Stale                          // the entity already has newer
	Duplicate                      // the same event again
	Parked                         // logged durably, waiting for a predecessor or blocked by its own projection error
	Conflict                       // another event already holds this position
	Quarantined                    // it can never succeed
)

const dispositionCount = int(Quarantined) + 1

// dispositions is the only place that maps an ending to its name, its counter and the answer to SQS. Only Deferred is
// not acked; Copied ones are acked after a copy lies in quarantine.
var dispositions = [dispositionCount]struct {
	name   string
	metric string
	ack    bool
	copied bool
}{
	Deferred:    {"deferred", "events_deferred_total", false, false},
	Applied:     {"applied", "events_applied_total", true, false},
	Coalesced:   {"coalesced", "events_coalesced_total", true, false},
	Stale:       {"stale", "events_stale_total", true, false},
	Duplicate:   {"duplicate", "events_duplicate_total", true, false},
	Parked:      {"parked", "events_parked_total", true, false},
	Conflict:    {"conflict", "events_conflict_total", true, true},
	Quarantined: {"quarantined", "events_quarantined_total", true, true},
}

// Dispositions lists all of them, for reports.
func Dispositions() []Disposition {
	all := make([]Disposition, dispositionCount)
	for i := range all {
		all[i] = Disposition(i)
	}
	return all
}

func (d Disposition) String() string { return dispositions[d].name }

// Metric is the counter that this disposition raises.
func (d Disposition) Metric() string { return dispositions[d].metric }

// Ack reports whether SQS may delete the message.
func (d Disposition) Ack() bool { return dispositions[d].ack }

// Copied reports whether a copy must lie in quarantine before the ack.
func (d Disposition) Copied() bool { return dispositions[d].copied }

// Outcome is how one delivery ended, and what its log line says about it.
type Outcome struct {
	Disposition Disposition
	Reason      events.Reason // of a conflict, a quarantined or a blocked one
	Detail      string
	Stored      string // the order key that the entity held when this was decided, as far as it is known
	Err         error  // why a deferred one was deferred
}
