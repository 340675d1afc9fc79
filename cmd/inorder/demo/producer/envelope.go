package producer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Message is one SQS message.
type Message struct {
	ID     string
	Body   string
	SentAt time.Time
	Event  *Event // nil: it is poison, or a mark
	Reason string // of poison: why it must end in quarantine
	Mark   *Mark  // it only says that numbers exist
}

// Mark is what a producer says of an entity whose newest event might be lost.
type Mark struct {
	Stream, Entity string
	Seq            int64
}

// Source is who sends an event, as its envelope has it.
func (e *Event) Source() string {
	if e.Stream == Seats {
		return "/shop/teams"
	}
	return "shop"
}

// Body puts an event into the envelope that its producer uses. Several are in use in every company.
func (e *Event) Body() string {
	switch e.Stream {
	case Seats:
		return text(e.cloudEvent())
	case Wallet:
		return text(onBus(e))
	case Ledger:
		if e.Seq%3 == 0 {
			return text(notification(e.Type, e.At, e.own()))
		}
		return text(e.own())
	case Webhook:
		return text(e.webhook())
	default:
		return text(e.own())
	}
}

type object map[string]any

// own is the consumer's own shape.
func (e *Event) own() object {
	return object{
		"event_id": e.ID, "type": e.Type, "entity_id": e.Entity, "seq": e.Seq, "source": e.Source(),
		"published_at": e.At.Format(rfc3339Millis), "data": e.Data,
	}
}

func (e *Event) cloudEvent() object {
	return object{
		"specversion": "1.0", "id": e.ID, "type": e.Type, "source": e.Source(), "subject": e.Entity,
		"sequence": fmt.Sprintf("%010d", e.Seq), "time": e.At.Format(rfc3339Millis),
		"datacontenttype": "application/json", "data": e.Data,
	}
}

// webhook is what other companies send: an id, a type, a time and no number.
func (e *Event) webhook() object {
	return object{"id": e.ID, "type": e.Type, "created_at": e.At.Format(rfc3339Millis), "data": e.Data}
}

// notification is how Amazon SNS wraps what it brings.
func notification(subject string, at time.Time, inner object) object {
	return object{
		"Type": "Notification", "MessageId": "sns-" + fmt.Sprint(at.UnixMilli()), "Subject": subject,
		"TopicArn": "arn:aws:sns:eu-north-1:111122223333:shop", "Timestamp": at.Format(rfc3339Millis),
		"Message": text(inner),
	}
}

// onBus is how Amazon EventBridge wraps what it brings.
func onBus(e *Event) object {
	return object{
		"version": "0", "id": "bus-" + e.ID, "detail-type": e.Type, "source": "shop.wallets",
		"account": "111122223333", "region": "eu-north-1", "resources": []string{},
		"time": e.At.Truncate(time.Second).Format(time.RFC3339), "detail": e.own(),
	}
}

func text(o object) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(o); err != nil {
		panic(err) // objects of strings and numbers only
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
