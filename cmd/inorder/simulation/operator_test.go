package simulation

import (
	"context"
	"io"
	"slices"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/redrive"
	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/terminal"
	"inorder/ddb"
	"inorder/events"
	"inorder/functions"
	"inorder/ordering"
)

// perform does what somebody has decided to do now.
func (w *world) perform(a act) {
	w.traced(nil, "act:", a.what)
	w.count["act: "+a.what.String()]++
	switch a.what {
	case write:
		w.produce(a.fact)
	case sweep:
		w.sweep()
	case redriveDLQ:
		w.redrive("dlq", nil)
	case redriveQuarantine:
		reasons := curable
		if w.count["act: "+redriveQuarantine.String()]%2 == 0 {
			reasons = nil // what can never succeed, too, to no avail
		}
		w.redrive("quarantine", reasons)
	case skip:
		for _, e := range w.entities {
			w.skip(e)
		}
	case republish:
		if n := len(w.entities); n > 0 {
			w.republish(w.entities[w.count["act: "+republish.String()]%n])
		}
	case expire:
		w.expire()
	case poisoned:
		n := w.count["act: "+poisoned.String()] - 1
		w.post(backend.SourceURL, events.Message{Body: w.poison[n], Attributes: someAttributes})
		w.collect()
	case actKinds:
	}
}

// redrive is `inorder redrive --yes`.
func (w *world) redrive(from string, reasons []string) {
	variables := map[string]string{
		"EVENTS_QUEUE_URL": backend.SourceURL, "DLQ_URL": backend.SourceURL + "-dlq", "QUARANTINE_QUEUE_URL": backend.QuarantineURL,
	}
	clock := &clock{}
	c := &redrive.Command{
		Flags:  stack.Flags{Region: "eu-west-1", Streams: w.file, Getenv: func(name string) string { return variables[name] }},
		Output: terminal.Output{Now: clock.Now, Width: 80}, From: from, Reason: reasons, Rate: 1e6, Yes: true, API: w.sqs,
	}
	var err error
	w.hire(operatorName, clock, 10*time.Minute, func(t *thread) { _, err = c.Run(t.ctx, io.Discard, io.Discard) }, func(died bool) {
		w.count["redrives"]++
		w.traced(nil, "redriven from", from, died, err)
	})
}

// skip is an operator who passes what nobody can bring: what the producer no longer has, and what no projection takes.
// Nothing else lies below that, or it would be passed, too.
func (w *world) skip(e *entity) {
	for _, key := range e.keys() {
		now := w.look(key)
		through := now.Effective()
		for through < now.Highest() && w.isHopeless(e, key, ordering.Position{Gen: now.Gen, Seq: through + 1}) {
			through++
		}
		if through == now.Effective() || now.NoBaseline(e.about) {
			continue
		}
		i := w.newInstance()
		order := ordering.Skip{Generation: now.Gen, Through: through, Reason: "nobody has it", By: "operator"}
		var err error
		w.hire(operatorName, i.clock, invocationTimeout, func(t *thread) {
			_, err = functions.NewKeeper(w.sweeperParts(i)).Skip(t.ctx, key, e.about, order)
		}, func(bool) {
			w.traced(nil, "skipped", e.id, "through", through, err)
		})
	}
}

func (w *world) isHopeless(e *entity, key ordering.Key, at ordering.Position) bool {
	if e.about.Mode == events.State {
		return false
	}
	return slices.ContainsFunc(e.histories()[key], func(f *fact) bool {
		return f.position() == at && (f.gone || f.kind == broken)
	})
}

// republish is an operator who asks at once.
func (w *world) republish(e *entity) {
	key := e.keys()[0]
	now := w.look(key)
	i := w.newInstance()
	template := events.RepublishRequest{
		Consumer: key.Consumer, Stream: key.Stream, EntityID: key.ID, Source: key.Source, Generation: now.Gen,
		RequestedAt: events.FormatInstant(time.Now()),
	}
	requests := ordering.RequestsFor(template, now, e.about)
	if len(requests) == 0 {
		return
	}
	w.hire(operatorName, i.clock, invocationTimeout, func(t *thread) {
		_ = (&functions.Republish{SQS: w.sqs, URL: backend.RepublishURL}).Request(t.ctx, requests)
	}, func(bool) {})
}

// sweptWithin is less than half of the shortest park_ttl of a life: where a sweep went well that lately, no row is past its
// time that anybody needs. (A sweeper that fails for as long as rows live is beyond what the product promises.)
const sweptWithin = 20 * time.Minute

// expire is DynamoDB's TTL.
func (w *world) expire() {
	now := time.Now()
	if now.Sub(w.sweptAt) > sweptWithin {
		return
	}
	w.count["TTL runs"]++
	if w.memory != nil {
		w.memory.Expire(now)
		return
	}
	w.ferry.over(func() { w.must(w.backend.Expire(context.Background(), w.tables, now.Unix())) })
}

// forget is the TTL of rows that the producer keeps no longer, which is over as soon as they are written.
func (w *world) forget() {
	now := time.Now()
	w.ferry.over(func() {
		w.must(w.backend.Expire(context.Background(), ddb.Tables{Items: w.outboxTable}, now.Add(2*time.Second).Unix()))
	})
}

func (w *world) must(err error) {
	if err != nil {
		panic(err) // the engine itself, with nothing in the way
	}
}

// look is how an entity is, with nothing in the way.
func (w *world) look(key ordering.Key) *ordering.Entity {
	if w.memory != nil {
		e, _ := w.memory.Entity(context.Background(), key)
		return e
	}
	var e *ordering.Entity
	w.ferry.over(func() {
		var err error
		e, err = w.backend.Store(w.tables, nil).Entity(context.Background(), key)
		w.must(err)
	})
	return e
}
