// Package report shows how a run ended: in a terminal, as JSON, and as one HTML page that needs no network. It computes
// nothing but the shapes of its charts; what it is told is what it shows.
package report

import "time"

// Report is all that is said about a run.
type Report struct {
	Title   string `json:"title"`
	Replay  string `json:"replay"` // the command that plays it again
	Seed    uint64 `json:"seed"`
	Engine  string `json:"engine"`
	Note    string `json:"note,omitempty"` // what one should know about the engine
	Workers int    `json:"workers"`

	Day  Day  `json:"day"`
	Play Play `json:"play"`

	Checks       []Check    `json:"checks"`
	Dispositions []Count    `json:"dispositions"`
	Drained      int        `json:"drained"` // parked events that took effect later
	Distances    []Count    `json:"reorder_distances"`
	Parked       []Level    `json:"parked"`
	Healing      Healing    `json:"healing"`
	Costs        []Cost     `json:"costs"`
	Timelines    []Timeline `json:"timelines"`
}

// Day is what was to be consumed.
type Day struct {
	Events   int `json:"events"`
	Entities int `json:"entities"`
	Lost     int `json:"lost"`   // of them, on their way
	Copies   int `json:"copies"` // arrivals beyond the first of an event
	Poison   int `json:"poison"`
}

// Play is how it went.
type Play struct {
	Deliveries  int     `json:"deliveries"` // handed out to a worker, those that came back counted again
	Invocations int     `json:"invocations"`
	Crashes     int     `json:"crashes"`      // invocations that died
	Lost        int     `json:"lost_answers"` // deliveries whose answer died with its invocation
	Seconds     float64 `json:"seconds"`      // of the consumers alone
}

// Check is one thing that must hold.
type Check struct {
	Name  string   `json:"name"`
	Right bool     `json:"right"`
	Wrong []string `json:"wrong,omitempty"` // what does not, a line each; not necessarily all of it
	More  int      `json:"more,omitempty"`  // how many further lines there would be
}

// Count is a named number with a word on its meaning.
type Count struct {
	Name  string `json:"name"`
	Means string `json:"means,omitempty"`
	N     int    `json:"n"`
}

// Level is how many events were parked at some time.
type Level struct {
	At time.Time `json:"at"`
	N  int       `json:"n"`
}

// Cost is what one way of consuming the day costs and what it gets wrong.
type Cost struct {
	Name          string `json:"name"`
	How           string `json:"how"` // what it does, and where the numbers come from
	Ours          bool   `json:"ours,omitempty"`
	Requests      int    `json:"requests"`
	WriteUnits    Units  `json:"write_units"`
	ReadUnits     Units  `json:"read_units"`
	WrongEntities int    `json:"wrong_entities"`
	WrongNotices  int    `json:"wrong_notices"` // entities whose notices came in a wrong order, twice or not at all
	Example       string `json:"example,omitempty"`
}

// Units are capacity units; below zero the engine did not say.
type Units float64

// Timeline is the history of one entity as its consumer saw it.
type Timeline struct {
	Stream   string    `json:"stream"`
	Entity   string    `json:"entity"`
	Story    string    `json:"story"`
	Line     string    `json:"line"` // what Reached means here
	Arrivals []Arrival `json:"arrivals"`
}

// Arrival is one answered delivery of an event.
type Arrival struct {
	At          time.Time `json:"at"`
	Number      int       `json:"number"` // the event's place in the producer's order
	What        string    `json:"what"`
	Label       string    `json:"label"` // the same in a word
	Disposition string    `json:"disposition"`
	Reached     int       `json:"reached"`           // where the entity stands after it
	Drained     int       `json:"drained,omitempty"` // of a parked one: which arrival, counted from 1, let it take effect
}

// Right tells whether every check holds.
func (r *Report) Right() bool {
	for _, c := range r.Checks {
		if !c.Right {
			return false
		}
	}
	return true
}

// perEvent spreads a number over the events of the day.
func (r *Report) perEvent(n float64) float64 { return n / float64(max(r.Day.Events, 1)) }

// Faults is how many lines there would be about what is wrong.
func (c Check) Faults() int { return len(c.Wrong) + c.More }
