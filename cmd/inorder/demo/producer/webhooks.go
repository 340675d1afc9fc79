package producer

import (
	"fmt"
	"time"
)

// tellWebhooks fills n events with messages that another company sends for this one: sent, delivered, read.
func tellWebhooks(b *book, n int) {
	times := b.moments(n)
	for i := 1; n > 0; i++ {
		p := b.entity(Webhook, fmt.Sprintf("msg_%05d", i), "")
		p.at(times[b.rng.IntN(len(times))])
		steps := []string{"sent", "delivered", "read", "answered"}[:min(n, 2+b.rng.IntN(3))]
		tells := i == 1 && n >= 3
		if tells {
			steps = []string{"sent", "delivered", "read"}
		}
		if i%23 == 0 && len(steps) > 1 {
			steps = []string{"sent", "failed"}
		}
		for k, status := range steps {
			e := p.webhook(status)
			if tells && k == 0 {
				p.Story = "delivered and read before the webhook about its sending arrives"
				e.held = 47 * time.Minute
			}
		}
		n -= len(steps)
	}
}

// webhook says what changed and nothing else, as webhooks do: the status, and an attribute of this step alone.
func (p *page) webhook(status string) *Event {
	if status == "read" || status == "answered" {
		p.now = p.now.Add(time.Duration(p.rng.IntN(90)) * time.Second)
	}
	p.later()
	data := map[string]any{"id": p.Entity, "status": status, status + "_at": p.now.Format(rfc3339Millis)}
	if status == "sent" {
		data["to"] = fmt.Sprintf("+46700%06d", p.rng.IntN(1e6))
	}
	return p.record("message."+status, data)
}

const rfc3339Millis = "2006-01-02T15:04:05.000Z"
