package producer

import (
	"encoding/json"
	"fmt"
	"time"
)

var plans = []struct{ name, price string }{{"basic", "9.90"}, {"plus", "19.90"}, {"pro", "49.00"}, {"scale", "199.00"}}

// customer is a subscription as the shop sees it.
type customer struct {
	*page
	plan   int
	status string
}

// tellSubscriptions fills n events with customers who change their minds.
func tellSubscriptions(b *book, n int) {
	for i := 1; n > 0; i++ {
		c := &customer{page: b.entity(Subscription, fmt.Sprintf("sub_%04d", i), ""), status: "active"}
		switch {
		case i == 1 && n >= 3:
			c.staysDowngraded()
		case i == 2 && n >= 3:
			c.comesTooLate()
		default:
			c.changesMind(b.length(7, n))
		}
		n -= c.rank
	}
}

// changed publishes the whole state, as every PlanChanged does.
func (c *customer) changed(by string) *Event {
	c.later()
	return c.record("PlanChanged", map[string]any{
		"subscription_id": c.Entity, "plan": plans[c.plan].name, "status": c.status,
		"price": json.Number(plans[c.plan].price), "changed_by": by,
	})
}

// staysDowngraded is the story that this project is for: the upgrade's message is held up for hours, arrives last, and
// must not give a customer a plan that they do not want to pay.
func (c *customer) staysDowngraded() {
	c.Story = "upgraded, downgraded seconds later, and stayed downgraded; the upgrade's message arrives hours late"
	c.at(midnight.Add(10*time.Hour + 12*time.Minute))
	c.changed("signup")
	c.at(midnight.Add(11 * time.Hour))
	c.plan = 2
	c.changed("customer").held = 4*time.Hour + 7*time.Minute
	c.plan = 0
	c.changed("customer")
}

// comesTooLate deletes a subscription while its last change is still on its way.
func (c *customer) comesTooLate() {
	c.Story = "deleted; a change from before that arrives afterwards and must not bring it back"
	c.at(midnight.Add(9 * time.Hour))
	c.changed("signup")
	c.plan = 1
	c.changed("customer").held = 2*time.Hour + 31*time.Minute
	c.delete()
}

// changesMind is what most customers do. Some leave at the end.
func (c *customer) changesMind(n int) {
	leaves := n > 3 && c.rng.IntN(8) == 0
	if leaves {
		n--
	}
	c.bursts(n, c.change)
	if leaves {
		c.delete()
	}
}

// change draws the next state. In a burst that is often an upgrade and, at once, the downgrade.
func (c *customer) change() {
	switch c.rng.IntN(6) {
	case 0:
		c.status = map[string]string{"active": "paused", "paused": "active", "past_due": "active"}[c.status]
		c.changed("customer")
	case 1:
		c.status = "past_due"
		c.changed("billing")
	default:
		if c.plan == 0 || c.plan < len(plans)-1 && c.rank%2 == 0 {
			c.plan++
		} else {
			c.plan--
		}
		c.changed("customer")
	}
}

func (c *customer) delete() {
	c.later()
	c.record("SubscriptionDeleted", map[string]any{"subscription_id": c.Entity})
}
