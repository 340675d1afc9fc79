package events

import (
	"testing"
	"time"
)

// The aim is 3 µs and 12 allocations for a small event, decoded and routed.
func BenchmarkDecode(b *testing.B) {
	c := mustParse(b, `
consumer: c
streams:
  - {name: rest, types: ["*"], mode: state, clock: entity}
  - {name: message, types: ["message.*"], mode: state, clock: attribute, entity: data.id, order: {by: time, path: created_at}}
  - {name: subscription, types: [PlanChanged], mode: state, clock: entity, entity: data.subscription_id}
`)
	now := time.Date(2026, 9, 5, 12, 0, 0, 0, time.UTC)
	for name, body := range map[string]string{
		"own":     `{"event_id":"sub_1:8","type":"PlanChanged","entity_id":"sub_1","seq":8,"data":{"subscription_id":"sub_1","plan":"basic"}}`,
		"webhook": `{"id":"evt_09f3d2","type":"message.delivered","created_at":"2026-09-05T10:14:14.470Z","data":{"id":"msg_5177","status":"delivered"}}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			m := Message{Body: body}
			for b.Loop() {
				if d := c.Decode(m, now); d[0].Event == nil {
					b.Fatal(d[0].Refusal)
				}
			}
		})
	}
}

func mustParse(t testing.TB, text string) *Config {
	t.Helper()
	c, err := ParseStreams([]byte(text), Options{Projections: []string{"running_total"}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
