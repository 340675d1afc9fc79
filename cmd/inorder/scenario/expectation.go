package scenario

import (
	"github.com/cockroachdb/apd/v3"
)

// An expectation is one `expect`: what the file names is compared, and nothing else.
type expectation struct {
	dispositions []idExpectation
	acked        []string
	queue, dlq   *[]string
	quarantine   *[]refused
	entity       *entityExpectation
	entities     *int
	parked       *parkedExpectation
	republish    *[]wantedRequest
	effects      *[]effectsExpectation
	metrics      []numberExpectation
	requests     []numberExpectation
}

// idExpectation is how each event of a message ended last.
type idExpectation struct {
	id   string
	want []string
}

// refused is a message in quarantine.
type refused struct{ id, reason string }

// entityName names an entity as the file does.
type entityName struct{ stream, id, source string }

type entityExpectation struct {
	name    entityName
	state   *value
	applied *apd.Decimal
	absent  bool
}

type parkedExpectation struct {
	name entityName
	seqs []int64
}

type effectsExpectation struct {
	name entityName
	seqs []int64
}

// numberExpectation is a number, or a range of them.
type numberExpectation struct {
	name   string
	ge, le *apd.Decimal // the same pointer where it is one number; nil: no bound
}

// holds reports whether a value is in the range.
func (n numberExpectation) holds(got *apd.Decimal) bool {
	return (n.ge == nil || compare(got, n.ge) >= 0) && (n.le == nil || compare(got, n.le) <= 0)
}

func (n numberExpectation) String() string {
	switch {
	case n.ge == n.le:
		return n.ge.Text('f')
	case n.le == nil:
		return "at least " + n.ge.Text('f')
	case n.ge == nil:
		return "at most " + n.le.Text('f')
	}
	return "between " + n.ge.Text('f') + " and " + n.le.Text('f')
}

func (r *reader) expect(v *value) action {
	e := &expectation{
		queue:      r.idList(v.get("queue")),
		dlq:        r.idList(v.get("dlq")),
		quarantine: r.quarantine(v.get("quarantine")),
		entity:     r.entity(v.get("entity")),
		parked:     r.parked(v.get("parked")),
		republish:  r.requests(v.get("republish")),
		effects:    r.effects(v.get("effects")),
		metrics:    numbers(v.get("metrics")),
		requests:   numbers(v.get("requests")),
	}
	if acked := r.idList(v.get("acked")); acked != nil {
		e.acked = *acked
	}
	if all := v.get("dispositions"); all != nil {
		for i, k := range all.keys {
			r.known(k.line, k.name)
			e.dispositions = append(e.dispositions, idExpectation{k.name, texts(all.items[i])})
		}
	}
	if n := v.get("entities"); n != nil {
		count := whole(n)
		e.entities = &count
	}
	return e
}

// texts is a list of strings, or one of them alone.
func texts(v *value) []string {
	if v.kind == textKind {
		return []string{v.text}
	}
	all := make([]string, len(v.items))
	for i, item := range v.items {
		all[i] = item.text
	}
	return all
}

func (r *reader) idList(v *value) *[]string {
	if v == nil {
		return nil
	}
	ids := r.ids(v)
	return &ids
}

func (r *reader) quarantine(v *value) *[]refused {
	if v == nil {
		return nil
	}
	all := []refused{}
	for _, item := range v.items {
		id := item.get("id")
		r.known(id.line, id.text)
		all = append(all, refused{id.text, item.get("reason").text})
	}
	return &all
}

// name reads who is meant, the id under its key. The source counts only where each source has its own history.
func (r *reader) name(v *value, idKey string) entityName {
	n := entityName{stream: v.get("stream").text, id: v.get(idKey).text}
	if r.script.streams == nil {
		return n
	}
	stream := r.script.streams.Stream(n.stream)
	if stream == nil {
		r.fault(v.get("stream").line, "no stream is named %q", n.stream)
		return n
	}
	if source := v.get("source"); source != nil && stream.PerSource {
		n.source = source.text
	}
	return n
}

func (r *reader) entity(v *value) *entityExpectation {
	if v == nil {
		return nil
	}
	e := &entityExpectation{name: r.name(v, "id"), state: v.get("state"), absent: v.get("absent") != nil}
	if applied := v.get("applied"); applied != nil {
		e.applied = decimal(applied.text)
	}
	return e
}

func (r *reader) parked(v *value) *parkedExpectation {
	if v == nil {
		return nil
	}
	return &parkedExpectation{r.name(v, "id"), seqs(v.get("seqs"))}
}

func (r *reader) effects(v *value) *[]effectsExpectation {
	if v == nil {
		return nil
	}
	all := []effectsExpectation{}
	for _, item := range v.items {
		all = append(all, effectsExpectation{r.name(item, "entity_id"), seqs(item.get("seqs"))})
	}
	return &all
}

func seqs(v *value) []int64 {
	all := make([]int64, len(v.items))
	for i, item := range v.items {
		all[i] = int64(whole(item))
	}
	return all
}

func numbers(v *value) []numberExpectation {
	if v == nil {
		return nil
	}
	var all []numberExpectation
	for i, k := range v.keys {
		n := numberExpectation{name: k.name}
		if bounds := v.items[i]; bounds.kind == numberKind {
			n.ge = decimal(bounds.text)
			n.le = n.ge
		} else {
			n.ge, n.le = bound(bounds.get("ge")), bound(bounds.get("le"))
		}
		all = append(all, n)
	}
	return all
}

func bound(v *value) *apd.Decimal {
	if v == nil {
		return nil
	}
	return decimal(v.text)
}
