package scenario

import (
	"slices"
	"testing"
)

func filled(maxReceive int, ids ...string) *mailbox {
	b := newMailbox(false, maxReceive)
	for _, id := range ids {
		b.send(message{id: id}, epoch)
	}
	return b
}

func (b *mailbox) deliverTo(acked bool, ids ...string) {
	batch := b.picked(ids...)
	b.receive(batch, epoch)
	for _, m := range batch {
		b.settle(m, acked)
	}
}

// picked is what a delivery takes; the tests here name what they have sent.
func (b *mailbox) picked(ids ...string) []*message {
	batch, err := b.pick(ids)
	if err != nil {
		panic(err)
	}
	return batch
}

func waits(t *testing.T, what string, all []*message, want ...string) {
	t.Helper()
	if got := idsOf(all); !slices.Equal(got, want) && len(got)+len(want) > 0 {
		t.Errorf("%s holds %v, want %v", what, got, want)
	}
}

func TestAMessageThatFailsTooOftenGoesToTheDeadLetterQueueAndComesBackNew(t *testing.T) {
	b := filled(2, "a", "b")
	b.deliverTo(false, "a")
	waits(t, "the queue", b.waiting, "a", "b")
	b.deliverTo(false, "a")
	waits(t, "the queue", b.waiting, "b")
	waits(t, "the dead-letter queue", b.dead, "a")
	old := b.dead[0].sqsID
	b.redrive(epoch)
	waits(t, "the queue", b.waiting, "b", "a")
	if again := b.waiting[1]; again.sqsID == old || again.receives != 0 {
		t.Errorf("a redriven message is another one: %+v", again)
	}
}

// An ack is forgotten by nobody but the count of failures: SQS's own count, by which a consumer tells deliveries
// apart, goes on.
func TestAnAckedMessageMayComeAgain(t *testing.T) {
	b := filled(2, "a", "b")
	b.deliverTo(true, "a")
	waits(t, "the queue", b.waiting, "b")
	b.deliverTo(true, "a")
	b.deliverTo(false, "a")
	waits(t, "the queue", b.waiting, "a", "b") // it is older than b
	if m := b.waiting[0]; m.receives != 3 || m.tries != 1 || m.acked {
		t.Errorf("%+v", m)
	}
	b.deliverTo(false, "a")
	waits(t, "the dead-letter queue", b.dead, "a")
}

func TestOfSeveralMessagesWithOneIdTheOldestIsDeliveredAndTwiceMeansBoth(t *testing.T) {
	b := filled(5, "a", "b")
	b.send(message{id: "a", body: "second"}, epoch)
	batch := b.picked("a", "a", "b", "a")
	if batch[0] == batch[1] || batch[0].body != "" || batch[1].body != "second" || batch[3] != batch[0] {
		t.Errorf("%v, %v, %v", batch[0], batch[1], batch[3])
	}
}

func TestARecordIsWhatLambdaGets(t *testing.T) {
	b := newMailbox(true, 5)
	b.send(message{id: "a", body: "text", group: "g"}, epoch)
	r := b.receive(b.picked("a"), epoch).Records[0]
	if r.MessageId == "" || r.Body != "text" || r.EventSourceARN != "arn:aws:sqs:eu-west-1:000000000000:events.fifo" ||
		r.Attributes["MessageGroupId"] != "g" || r.Attributes["ApproximateReceiveCount"] != "1" ||
		r.Attributes["SentTimestamp"] != "1767225600000" {
		t.Errorf("%+v", r)
	}
}
