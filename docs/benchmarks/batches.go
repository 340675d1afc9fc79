package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	awsevents "github.com/aws/aws-lambda-go/events"
)

// eventsARN is the standard queue that all messages came over.
const eventsARN = "arn:aws:sqs:eu-west-1:123456789012:events"

// place is an event of an entity: all that is different between two events of a run.
type place struct {
	entity string
	seq    int
}

// record is the message of an event, as SQS hands it to a function: a body of some 230 bytes. The one body serves all modes.
func record(p place) awsevents.SQSMessage {
	id := fmt.Sprintf("%s:%d", p.entity, p.seq)
	return awsevents.SQSMessage{
		MessageId: id,
		Body: fmt.Sprintf(`{"event_id":"%s","type":"PlanChanged","entity_id":"%s","seq":%d,"published_at":"2026-03-01T11:59:58.120Z",`+
			`"data":{"plan":"team-annual","currency":"EUR","seats":%d,"amount":%d}}`, id, p.entity, p.seq, p.seq%40, p.seq%100),
		Attributes:     map[string]string{"ApproximateReceiveCount": "1", "SentTimestamp": "1772366398200"},
		EventSource:    "aws:sqs",
		EventSourceARN: eventsARN,
	}
}

// batched cuts events into batches in their order.
func batched(places []place, size int) (batches []awsevents.SQSEvent) {
	for part := range slices.Chunk(places, size) {
		records := make([]awsevents.SQSMessage, len(part))
		for i, p := range part {
			records[i] = record(p)
		}
		batches = append(batches, awsevents.SQSEvent{Records: records})
	}
	return batches
}

// unique are n events, each the first of its entity.
func unique(prefix string, n int) []place {
	places := make([]place, n)
	for i := range places {
		places[i] = place{fmt.Sprintf("%s-%d", prefix, i), 1}
	}
	return places
}

// bursts are n events, `each` of an entity one after the other and in order.
func bursts(prefix string, n, each int) []place {
	places := make([]place, n)
	for i := range places {
		places[i] = place{fmt.Sprintf("%s-%d", prefix, i/each), i%each + 1}
	}
	return places
}

// reordered is the history of some entities, round robin, in which a share of the events comes so many numbers of its
// entity late: right behind the one that should have come `distance` after it. The same seed gives the same order.
func reordered(rng *rand.Rand, prefix string, entities, each int, share float64, distance int) []place {
	type late struct {
		place
		at int // twice its position, and one more where it is late: it comes behind the one at that position
	}
	all := make([]late, 0, entities*each)
	for seq := 1; seq <= each; seq++ {
		for e := range entities {
			l := late{place{fmt.Sprintf("%s-%d", prefix, e), seq}, 2 * seq}
			if rng.Float64() < share {
				l.at = 2*(seq+distance) + 1
			}
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(a, b late) int { return a.at - b.at })
	places := make([]place, len(all))
	for i, l := range all {
		places[i] = l.place
	}
	return places
}
