package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// receiver takes the effects queue as a receiver of effects would, and remembers what came in which order.
type receiver struct {
	mu   sync.Mutex
	came map[string][]int64 // by account
	err  error
}

type effect struct {
	Stream   string `json:"stream"`
	EntityID string `json:"entity_id"`
	Seq      int64  `json:"seq"`
	Index    int    `json:"index"`
	EventID  string `json:"event_id"`
}

func receive(client *sqs.Client, url string) *receiver {
	r := &receiver{came: map[string][]int64{}}
	go func() { // until the queue is gone
		for {
			if err := r.take(context.Background(), client, url); err != nil {
				r.fail(err)
				return
			}
		}
	}()
	return r
}

func (r *receiver) take(ctx context.Context, client *sqs.Client, url string) error {
	out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1})
	if err != nil {
		return err
	}
	for _, m := range out.Messages {
		var e effect
		if err := json.Unmarshal([]byte(aws.ToString(m.Body)), &e); err != nil {
			return fmt.Errorf("the effect %s: %w", aws.ToString(m.Body), err)
		}
		if e.Stream != "ledger" || e.Index != 0 || e.EventID == "" {
			return fmt.Errorf("no effect of the ledger: %s", aws.ToString(m.Body))
		}
		r.mu.Lock()
		r.came[e.EntityID] = append(r.came[e.EntityID], e.Seq)
		r.mu.Unlock()
		if _, err := client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle}); err != nil {
			return err
		}
	}
	return nil
}

func (r *receiver) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// lack tells what came of an account, where that is not just these numbers in this order. Within five minutes the queue
// itself drops copies ("Exactly-once processing in Amazon SQS", Amazon SQS Developer Guide), so each comes once.
func (r *receiver) lack(account string, want []int64) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return fmt.Sprintf("a receiver of effects that works: %v", r.err)
	}
	if got := r.came[account]; !slices.Equal(got, want) {
		return fmt.Sprintf("the effects %v of %s; there are %v", want, account, got)
	}
	return ""
}

// total is how many effects came.
func (r *receiver) total() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, all := range r.came {
		n += len(all)
	}
	return n
}
