package explore

import (
	"context"
	"fmt"
	"time"

	"inorder/events"
	"inorder/ordering"
	"inorder/ordering/memory"
)

// contents are what a store was seen to hold, each once, and what requests made of it.
type contents struct {
	*model
	all      []content
	byText   map[[2]uint32]uint32
	entities []*ordering.Entity // from 1 on, at theRevision and without a token
	byEntity map[string]uint32
	lists    [][]ordering.Row // of rows; 0 is none
	byList   map[string]uint32
	requests []*request
	byAsked  map[string]uint32
	results  map[asking]done
}

// asking is a request of a content.
type asking struct {
	content, request uint32
	current          bool
}

// content is what a store holds, with what is to be known of it.
type content struct {
	store  *memory.Store
	entity uint32 // of contents.entities
	now    *ordering.Entity
	rows   []ordering.Row

	reached    int64   // up to here all are applied, counted or passed
	heard      int64   // the highest number in the item
	ran        set     // messages that the state shows
	kept       set     // messages whose acknowledgement is justified by what is stored
	waits      set     // messages that are logged and known to wait
	dispatched set     // messages whose effects are said to be sent
	bare       []int64 // numbers that are said to wait and have no row
	fault      string  // what must never be
}

func newContents(m *model) *contents {
	return &contents{
		model: m, byText: map[[2]uint32]uint32{}, byEntity: map[string]uint32{}, byList: map[string]uint32{}, byAsked: map[string]uint32{},
		entities: []*ordering.Entity{nil}, lists: [][]ordering.Row{nil}, results: map[asking]done{}, requests: []*request{nil},
	}
}

// canonical is an entity without what is left out of states.
func canonical(e *ordering.Entity) *ordering.Entity {
	if e == nil {
		return nil
	}
	c := *e
	c.Rev, c.Token = 0, ""
	if c.Exists {
		c.Rev = theRevision
	}
	return &c
}

// numberOf is the place in a list of what has a text; what is new comes to the list's end.
func numberOf[T any](list *[]T, byText map[string]uint32, text string, one T) uint32 {
	if known, ok := byText[text]; ok {
		return known
	}
	*list = append(*list, one)
	byText[text] = uint32(len(*list) - 1) //nolint:gosec // few
	return byText[text]
}

func (c *contents) entityOf(e *ordering.Entity) uint32 {
	e = canonical(e)
	return numberOf(&c.entities, c.byEntity, text(e), e)
}

func (c *contents) rowsOf(rows []ordering.Row) uint32 {
	if len(rows) == 0 {
		return 0
	}
	return numberOf(&c.lists, c.byList, text(rows), rows)
}

// requestOf gives a request its number.
func (c *contents) requestOf(r *request) uint32 {
	return numberOf(&c.requests, c.byAsked, text([]any{
		r.op, r.absent, r.next, r.row, r.rows, r.gen, r.first, r.last, r.heads, r.add, r.at, r.since, r.until, r.audit, r.message, r.reason, r.asksFor,
	}), r)
}

// result is what a request does to a content.
func (c *contents) result(at, request uint32, current bool) done {
	asked := asking{at, request, current}
	if known, ok := c.results[asked]; ok {
		return known
	}
	d := c.carryOut(at, c.requests[request], current)
	c.results[asked] = d
	return d
}

// keep gives what a store holds its number. Its entity is then at theRevision.
func (c *contents) keep(store *memory.Store) uint32 {
	ctx := context.Background()
	e, _ := store.Entity(ctx, c.key)
	if plain := canonical(e); e.Exists && (e.Rev != plain.Rev || e.Token != "") {
		if err := store.Swap(ctx, c.key, e, plain, nil); err != nil {
			panic(err)
		}
		e = plain
	}
	var rows []ordering.Row
	for gen := range int64(3) {
		some, _ := store.Rows(ctx, c.key, gen, 0, 1<<40)
		rows = append(rows, some...)
	}
	at := [2]uint32{c.entityOf(e), c.rowsOf(rows)}
	if known, ok := c.byText[at]; ok {
		return known
	}
	k := content{store: store, entity: at[0], now: c.entities[at[0]], rows: rows}
	c.judge(&k)
	c.all = append(c.all, k)
	c.byText[at] = uint32(len(c.all) - 1) //nolint:gosec // few
	return c.byText[at]
}

// without is the content without one row, as its TTL leaves it.
func (c *contents) without(at uint32, gone ordering.Row) uint32 {
	store := &memory.Store{}
	ctx := context.Background()
	if e := c.all[at].now; e.Exists {
		if err := store.Swap(ctx, c.key, &ordering.Entity{}, e, nil); err != nil {
			panic(err)
		}
	}
	for _, row := range c.all[at].rows {
		if row.Gen == gone.Gen && row.Seq == gone.Seq {
			continue
		}
		if err := store.PutRow(ctx, c.key, row); err != nil {
			panic(err)
		}
	}
	return c.keep(store)
}

// shown is a content as transcripts show it.
func (c *contents) shown(at uint32) string {
	k := &c.all[at]
	if !k.now.Exists && len(k.rows) == 0 {
		return "nothing"
	}
	text := fmt.Sprintf("cursor %d.%d%s", k.now.Gen, k.now.Applied, aside(k.now))
	for i, row := range k.rows {
		if i == 0 {
			text += "; rows"
		}
		void := ""
		if row.Void != "" {
			void = " void"
		}
		text += fmt.Sprintf(" %d.%d%s", row.Gen, row.Seq, void)
	}
	return text
}

// past reports whether a row may be deleted.
func past(row ordering.Row, now time.Time) bool { return row.ExpiresAt.Before(now) }

// holder is the message that a row holds.
func (m *model) holder(row ordering.Row) (message int, ok bool) {
	if row.Void != "" {
		return 0, false
	}
	message, ok = m.byID[row.EventID]
	return message, ok
}

// isFact reports whether a message says something that is to be applied.
func (m *model) isFact(i int) bool { return m.decoded[i].Kind == events.Fact }
