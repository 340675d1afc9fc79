package ddb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ddb"
	"inorder/ordering"
)

// How a producer posts an entry: the event and its own item become durable together, with the next number of the account.
func postEntry(ctx context.Context, cfg aws.Config, account, entry string, amount int64) (int64, error) {
	outbox := &ddb.Outbox{API: ddb.NewClient(cfg, ddb.ClientOptions{}), Table: "outbox", Now: time.Now}
	at, err := outbox.Write(ctx, ddb.OutboxWrite{
		Key: ddb.OutboxKey{Stream: "ledger", EntityID: account, Source: "shop"},
		Draft: func(at ordering.Position) (ddb.OutboxDraft, error) {
			body, err := ddb.OutboxEvent{
				EventID: entry, Type: "EntryPosted", EntityID: account, Source: "shop", PublishedAt: time.Now(),
				Data: map[string]any{"account": account, "amount": amount},
			}.Body(at)
			return ddb.OutboxDraft{Event: body, Items: []types.TransactWriteItem{once(entry)}}, err
		},
	})
	if _, ok := errors.AsType[*ddb.CallerConditionError](err); ok {
		return 0, fmt.Errorf("entry %s is posted already: %w", entry, err)
	}
	return at.Seq, err
}

// once is the producer's own row of the entry, which must not be there yet.
func once(entry string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName:           aws.String("business"),
		Item:                map[string]types.AttributeValue{"_pk": &types.AttributeValueMemberS{Value: entry}},
		ConditionExpression: aws.String("attribute_not_exists(#pk)"), ExpressionAttributeNames: map[string]string{"#pk": "_pk"},
	}}
}

// The example of docs/outbox.md is this one, and does what the page says: posted twice, it is there once.
func TestOutboxExample(t *testing.T) {
	engine := startEngine(t, "dynoxide")
	newOutbox(t, engine, ddb.ClientOptions{})
	if seq, err := postEntry(t.Context(), engine.Config(), "a", "e1", 5); seq != 1 || err != nil {
		t.Errorf("number %d, %v", seq, err)
	}
	if _, err := postEntry(t.Context(), engine.Config(), "a", "e1", 5); err == nil || !strings.Contains(err.Error(), "posted already") {
		t.Errorf("posted twice: %v", err)
	}
	page, err := os.ReadFile("../docs/outbox.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("outbox_example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	if shown == "" || !strings.Contains(string(source), shown) {
		t.Errorf("the page shows another example:\n%s", shown)
	}
}
