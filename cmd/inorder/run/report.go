package run

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/terminal"
	"inorder/ddb"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// Report is what a run shows in the end, and its JSON form.
type Report struct {
	Messages     []Ending       `json:"messages"`     // one per event, in the order of the input
	Entities     []Entity       `json:"entities"`     // those that the messages concerned, in the order in which they came up
	Quarantine   []Refused      `json:"quarantine"`   // copies, in the order of the input
	Deferred     []string       `json:"deferred"`     // messages that came back until the last receive
	Dispositions map[string]int `json:"dispositions"` // of the last delivery of each event
	Effects      int            `json:"effects"`      // messages sent to the effects queue
}

// Ending is what became of one event of a message in its last delivery.
type Ending struct {
	Message     string `json:"message"`
	Place       string `json:"place"`           // file and line
	Event       *int   `json:"event,omitempty"` // which one, where a message holds several
	Disposition string `json:"disposition"`
	Reason      string `json:"reason,omitempty"`
	Detail      string `json:"detail,omitempty"`
	Stream      string `json:"stream,omitempty"`
	EntityID    string `json:"entity_id,omitempty"`
	Source      string `json:"source,omitempty"`
	OrderKey    string `json:"order_key,omitempty"`
	Receives    int    `json:"receives"`
}

// Entity is one entity as it is in the end.
type Entity struct {
	Stream   string         `json:"stream"`
	EntityID string         `json:"entity_id"`
	Source   string         `json:"source,omitempty"` // where each source has its own history
	Absent   bool           `json:"absent,omitempty"` // deleted, or nothing has been applied yet
	Applied  string         `json:"applied,omitempty"`
	State    jsontext.Value `json:"state"`
	Waiting  []int64        `json:"waiting,omitempty"`
	Missing  [][2]int64     `json:"missing,omitempty"`
	Blocked  int64          `json:"blocked,omitempty"` // the number whose projection fails
}

// Refused is one message in quarantine.
type Refused struct {
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Detail  string `json:"detail,omitempty"`
}

func newReport(ctx context.Context, streams *events.Config, store *ddb.Store, queues *backend.Queues, all []*message) (*Report, error) {
	r := &Report{
		Messages: []Ending{}, Entities: []Entity{}, Quarantine: []Refused{}, Deferred: []string{},
		Dispositions: map[string]int{}, Effects: len(queues.Sent(backend.EffectsURL)),
	}
	keys := keyring{consumer: streams.Consumer, known: map[ordering.Key]bool{}}
	for _, m := range all {
		r.add(m)
		keys.add(m)
	}
	r.addCopies(all, queues.Sent(backend.QuarantineURL))
	for _, key := range keys.inOrder {
		e, err := store.Entity(ctx, key)
		if err != nil {
			return nil, err
		}
		r.Entities = append(r.Entities, entity(streams, key, e))
	}
	return r, nil
}

// addCopies lists the copies in the order of the input: entities are worked on side by side, so that the order in which
// copies were made is nobody's.
func (r *Report) addCopies(all []*message, copies []events.Message) {
	place := map[string]int{}
	for i, m := range all {
		if _, known := place[m.record.MessageId]; !known {
			place[m.record.MessageId] = i
		}
	}
	for _, copied := range copies {
		mark, _ := functions.MarkOf(copied)
		r.Quarantine = append(r.Quarantine, Refused{mark.MessageID, string(mark.Reason), mark.Detail})
	}
	slices.SortStableFunc(r.Quarantine, func(a, b Refused) int { return cmp.Compare(place[a.Message], place[b.Message]) })
}

func (r *Report) add(m *message) {
	if !m.acked {
		r.Deferred = append(r.Deferred, m.record.MessageId)
	}
	for i, e := range m.endings {
		one := e.report(m)
		if len(m.endings) > 1 {
			one.Event = &i
		}
		r.Messages = append(r.Messages, one)
		r.Dispositions[one.Disposition]++
	}
}

func (e ending) report(m *message) Ending {
	d, o := e.decoded, e.outcome
	out := Ending{
		Message: m.record.MessageId, Place: m.place, Receives: m.receives,
		Disposition: o.Disposition.String(), Reason: string(o.Reason), Detail: o.Detail,
		EntityID: d.EntityID, Source: d.Source,
	}
	if o.Err != nil {
		out.Detail = cmp.Or(out.Detail, o.Err.Error())
	}
	if d.Stream != nil {
		out.Stream = d.Stream.Name
	}
	if d.Event != nil {
		out.Stream, out.EntityID, out.Source = d.Event.Stream.Name, d.Event.EntityID, d.Event.Source
		out.OrderKey = terminal.OrderKey(d.Event.Stream, d.Event.Clock)
	}
	return out
}
