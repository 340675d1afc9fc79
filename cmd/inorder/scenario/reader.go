package scenario

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"inorder/events"
)

const defaultMaxReceive = 5

// A reader makes a script of a document that fits the schema, and checks what the schema cannot say.
type reader struct {
	script script
	sent   map[string]bool
	relays bool // the relay may have sent something by now
	faults []fault
}

func (r *reader) fault(line int, format string, args ...any) {
	r.faults = append(r.faults, fault{line, fmt.Sprintf(format, args...)})
}

func (r *reader) read(root *value, projections []string) {
	r.script.streams = r.streams(root.get("streams"), projections)
	r.script.fifo = isTrue(root.get("fifo"))
	if most := root.get("max_receive"); most != nil {
		r.script.maxReceive = whole(most)
	}
	for i, v := range root.get("steps").items {
		verb, body := v.keys[0], v.items[0]
		s := step{number: i + 1, line: verb.line, verb: verb.name}
		s.action = r.action(verb.name, verb.line, body)
		r.script.steps = append(r.script.steps, s)
	}
}

// streams hands the inline streams to the parser of streams.yaml, every line at its place.
func (r *reader) streams(v *value, projections []string) *events.Config {
	w := &lineWriter{}
	v.lines(w)
	config, err := events.ParseStreams([]byte(w.String()+"\n"), events.Options{Projections: projections})
	if faults := events.Faults(nil); errors.As(err, &faults) {
		for _, f := range faults {
			r.fault(f.Line, "streams: %s", f.Text)
		}
		return nil
	}
	if err != nil {
		r.fault(v.line, "streams: %s", err)
		return nil
	}
	return config
}

func (r *reader) action(verb string, line int, v *value) action {
	switch verb {
	case "send":
		return r.send(v)
	case "deliver":
		if v.kind == textKind {
			return deliverAll{}
		}
		return deliver{r.ids(v)}
	case "redeliver":
		return deliver{r.ids(v)}
	case "concurrent":
		c := concurrent{}
		for _, batch := range v.items {
			c.batches = append(c.batches, r.ids(batch))
		}
		return c
	case "crash":
		return crash{r.ids(v.get("deliver")), whole(v.get("after_requests"))}
	case "fault":
		return r.faultOf(v)
	case "clock":
		return r.clock(v)
	case "advance":
		return advance{r.duration(v)}
	case "sweep":
		return sweepOf(v)
	case "expire":
		return expire{}
	case "outbox":
		return r.outbox(v)
	case "relay":
		r.relays = true
		return relay{mark: isTrue(v.get("mark"))}
	case "skip":
		return skip{r.name(v, "id"), int64(whole(v.get("through"))), v.get("reason").text}
	case "redrive":
		return redrive{from: v.text}
	case "reset":
		return reset{}
	case "expect":
		return r.expect(v)
	}
	r.fault(line, "unknown step %s", verb)
	return nil
}

func (r *reader) send(v *value) action {
	s := send{id: v.get("id").text, body: r.body(v)}
	if r.sent[s.id] {
		r.fault(v.line, "message %q is sent twice", s.id)
	}
	r.sent[s.id] = true
	if group := v.get("group"); group != nil {
		s.group = group.text
	}
	if attributes := v.get("attributes"); attributes != nil {
		s.attributes = make(map[string]events.Attribute, len(attributes.keys))
		for i, k := range attributes.keys {
			s.attributes[k.name] = events.Attribute{Type: "String", Text: attributes.items[i].text}
		}
	}
	return s
}

// maxBodyBytes is well above what SQS carries; it keeps aliases from multiplying without end.
const maxBodyBytes = 8 << 20

func (r *reader) body(v *value) string {
	if encoded := v.get("body_base64"); encoded != nil {
		raw, err := base64.StdEncoding.DecodeString(encoded.text)
		if err != nil {
			r.fault(encoded.line, "body_base64: %s", err)
		}
		return string(raw)
	}
	body := v.get("body")
	switch {
	case body.kind == textKind:
		return body.text
	case body.bytes(maxBodyBytes) > maxBodyBytes:
		r.fault(body.line, "body: longer than %d bytes", maxBodyBytes)
		return ""
	}
	return string(body.json(nil))
}

func (r *reader) ids(v *value) []string {
	ids := make([]string, len(v.items))
	for i, item := range v.items {
		ids[i] = item.text
		r.known(item.line, item.text)
	}
	return ids
}

func (r *reader) known(line int, id string) {
	mayBe := r.relays && strings.HasPrefix(id, relayed)
	if !r.sent[id] && !mayBe {
		r.fault(line, "message %q has not been sent", id)
	}
}

func (r *reader) clock(v *value) action {
	at, err := time.Parse(time.RFC3339Nano, v.text)
	if err != nil {
		r.fault(v.line, "clock: %s is no instant", v.text)
	}
	return setClock{at.UTC()}
}

func (r *reader) duration(v *value) time.Duration {
	d, err := events.ParseDuration(v.text)
	if err != nil {
		r.fault(v.line, "%s", err)
	}
	return d
}

func (r *reader) faultOf(v *value) action {
	f := setFault{rule{op: v.get("op").text, failure: v.get("error").text, nth: 1, times: 1}}
	if nth := v.get("nth"); nth != nil {
		f.rule.nth = whole(nth)
	}
	if when := v.get("when"); when != nil {
		f.rule.after = when.text == "after"
	}
	if times := v.get("times"); times != nil {
		f.rule.times = math.MaxInt
		if times.kind == numberKind {
			f.rule.times = whole(times)
		}
	}
	return f
}

func sweepOf(v *value) action {
	a := sweep{times: 1, atOnce: isTrue(v.get("concurrent"))}
	if times := v.get("times"); times != nil {
		a.times = whole(times)
	}
	return a
}

func isTrue(v *value) bool { return v != nil && v.text == "true" }

// whole is a number that the schema calls an integer; what no int holds is as good as the greatest.
func whole(v *value) int {
	n, ok := new(big.Rat).SetString(v.text)
	if !ok || !n.IsInt() || !n.Num().IsInt64() {
		return math.MaxInt
	}
	return int(n.Num().Int64())
}
