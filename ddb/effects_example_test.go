package ddb_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ddb/local"
)

// An effect, as far as this receiver cares.
type effect struct {
	Consumer   string `json:"consumer"`
	Stream     string `json:"stream"`
	EntityID   string `json:"entity_id"`
	Source     string `json:"source"`
	Generation int64  `json:"generation"`
	Seq        int64  `json:"seq"`
	Index      int    `json:"index"`
	Data       struct {
		Account string      `json:"account"`
		Amount  json.Number `json:"amount"`
	} `json:"data"`
}

// whose names the history that the effect belongs to. JSON, so that no two lists of names look alike.
func (e effect) whose() string {
	names, _ := json.Marshal([]string{e.Consumer, e.Stream, e.EntityID, e.Source})
	return string(names)
}

// position is where in that history it stands, as a text that sorts.
func (e effect) position() string {
	return fmt.Sprintf("%010d.%019d.%010d", e.Generation, e.Seq, e.Index)
}

// receiver remembers one position for each history, the highest. That is enough, for effects come in order: whatever
// is not higher was here before.
type receiver struct {
	db   *dynamodb.Client
	bank interface {
		Pay(ctx context.Context, idempotencyKey, account, amount string) error
	}
}

// remember moves the position of a history up to an effect. Its condition fails for a copy, and for nothing else.
func (e effect) remember() types.Update {
	return types.Update{
		TableName:           aws.String("received"),
		Key:                 map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: e.whose()}},
		UpdateExpression:    aws.String("SET #at = :at"),
		ConditionExpression: aws.String("attribute_not_exists(#at) OR #at < :at"),
		ExpressionAttributeNames: map[string]string{
			"#at": "position",
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":at": &types.AttributeValueMemberS{Value: e.position()},
		},
	}
}

// book is for what lies in DynamoDB too: the change and the memory of it are one transaction.
func (r *receiver) book(ctx context.Context, e effect) error {
	remember := e.remember()
	_, err := r.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Update: &remember},
		{Update: &types.Update{
			TableName:                 aws.String("accounts"),
			Key:                       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: e.Data.Account}},
			UpdateExpression:          aws.String("ADD balance :amount"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":amount": &types.AttributeValueMemberN{Value: string(e.Data.Amount)}},
		}},
	}})
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok &&
		aws.ToString(canceled.CancellationReasons[0].Code) == "ConditionalCheckFailed" {
		return nil // a copy
	}
	return err
}

// pay is for what lies elsewhere: the key tells the bank of a payment that it has, should we die before we remember
// it, or another receiver be as far as we are. The memory tells of copies that come when the bank has forgotten the key.
func (r *receiver) pay(ctx context.Context, e effect) error {
	if here, err := r.remembers(ctx, e); here || err != nil {
		return err
	}
	key := sha256.Sum256([]byte(e.whose() + e.position()))
	if err := r.bank.Pay(ctx, hex.EncodeToString(key[:]), e.Data.Account, string(e.Data.Amount)); err != nil {
		return err
	}
	remember := e.remember()
	_, err := r.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: remember.TableName, Key: remember.Key, UpdateExpression: remember.UpdateExpression,
		ConditionExpression: remember.ConditionExpression, ExpressionAttributeNames: remember.ExpressionAttributeNames,
		ExpressionAttributeValues: remember.ExpressionAttributeValues,
	})
	if _, isCopy := errors.AsType[*types.ConditionalCheckFailedException](err); isCopy {
		return nil // another receiver was faster
	}
	return err
}

// remembers reads whether an effect was here before.
func (r *receiver) remembers(ctx context.Context, e effect) (bool, error) {
	remember := e.remember()
	out, err := r.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: remember.TableName, Key: remember.Key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return false, err
	}
	at, known := out.Item["position"].(*types.AttributeValueMemberS)
	return known && at.Value >= e.position(), nil
}

// bank is an API with idempotency keys, which it keeps for a while.
type bank struct {
	keys map[string]bool
	paid []string
	hook func() // in the middle of the next payment
	dies bool   // the next payment is made, and the answer lost
}

func (b *bank) Pay(_ context.Context, key, account, amount string) error {
	if hook := b.hook; hook != nil {
		b.hook = nil
		hook()
	}
	if !b.keys[key] {
		b.keys[key] = true
		b.paid = append(b.paid, account+" "+amount)
	}
	if b.dies {
		b.dies = false
		return errBroken
	}
	return nil
}

var errBroken = errors.New("broken")

// flaky loses requests, or their answers.
type flaky struct {
	rng *rand.Rand
	off bool
}

func (f *flaky) RoundTrip(request *http.Request) (*http.Response, error) {
	if f.off || f.rng.IntN(3) > 0 {
		return local.Transport().RoundTrip(request)
	}
	if f.rng.IntN(2) == 0 {
		return nil, errBroken
	}
	response, err := local.Transport().RoundTrip(request)
	if err == nil {
		_ = response.Body.Close()
	}
	return nil, errors.Join(err, errBroken)
}

func newReceiver(t *testing.T, lossy *flaky) (*receiver, *bank) {
	t.Helper()
	engine := startEngine(t, "dynoxide")
	for _, name := range []string{"received", "accounts"} {
		_, err := engine.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: &name, BillingMode: types.BillingModePayPerRequest,
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	api := &bank{keys: map[string]bool{}}
	return &receiver{db: engine.Client(local.Via(lossy), func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 }), bank: api}, api
}

func (r *receiver) balance(t *testing.T, account string) string {
	t.Helper()
	out, err := r.db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("accounts"), Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: account}},
	})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := out.Item["balance"].(*types.AttributeValueMemberN)
	if n == nil {
		return "none"
	}
	return n.Value
}

func effectNo(entity string, generation, seq int64, index int, amount string) effect {
	var e effect
	text := fmt.Sprintf(`{"consumer":"c","stream":"ledger","entity_id":%q,"source":"shop","generation":%d,"seq":%d,"index":%d,`+
		`"event_id":"e","type":"Posted","published_at":"","data":{"account":%q,"amount":%s}}`, entity, generation, seq, index, entity, amount)
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		panic(err)
	}
	return e
}

// The receiver of docs/effects.md: whatever comes twice, minutes or months later, is booked and paid once, over lost
// requests and answers. A copy may bring back a whole run, from any position on, but leaves nothing out.
func TestReceiverExample(t *testing.T) {
	lossy := &flaky{rng: rand.New(rand.NewPCG(1, 1))}
	r, api := newReceiver(t, lossy)
	history := []effect{
		effectNo("a", 0, 1, 0, "1"), effectNo("a", 0, 1, 1, "20"), effectNo("a", 0, 2, 0, "300"),
		effectNo("a", 0, 10, 0, "4000"), effectNo("a", 3, 1, 0, "50000"), effectNo("a", 3, 2, 0, "0.5"),
	}
	var queue []effect
	for i, e := range history {
		if queue = append(queue, e); i%2 == 1 { // sent again, beyond the five minutes of the queue
			queue = append(queue, history[lossy.rng.IntN(i+1):i+1]...)
		}
	}
	queue = append(queue, history...) // and all of it, by a replay into empty tables without EFFECTS=hold
	for _, how := range []struct {
		stream string
		take   func(context.Context, effect) error
	}{{"booked", r.book}, {"paid", r.pay}} {
		for _, e := range queue {
			e.Stream = how.stream // a memory of its own
			api.dies = lossy.rng.IntN(4) == 0
			for tries := 0; how.take(t.Context(), e) != nil; tries++ { // it comes back, and nothing of its group overtakes it
				if tries > 50 {
					t.Fatal("it never ends")
				}
			}
		}
	}
	lossy.off = true
	if got := r.balance(t, "a"); got != "54321.5" {
		t.Errorf("booked %s", got)
	}
	if want := []string{"a 1", "a 20", "a 300", "a 4000", "a 50000", "a 0.5"}; !slices.Equal(api.paid, want) {
		t.Errorf("paid %q", api.paid)
	}
}

// Two receivers have one message, because the first was slower than the queue's visibility timeout: the second takes it
// and the next one, and what the first does then changes nothing, though the bank has forgotten its keys.
func TestTwoReceiversOfOneEffect(t *testing.T) {
	r, api := newReceiver(t, &flaky{off: true})
	one, two := effectNo("a", 0, 1, 0, "1"), effectNo("a", 0, 2, 0, "20")
	take := func(how func(context.Context, effect) error, e effect) {
		if err := how(t.Context(), e); err != nil {
			t.Error(err)
		}
	}
	take(r.book, one)
	take(r.book, two)
	take(r.book, one)
	if got := r.balance(t, "a"); got != "21" {
		t.Errorf("booked %s", got)
	}
	one.Stream, two.Stream = "paid", "paid"
	api.hook = func() {
		take(r.pay, one)
		take(r.pay, two)
	}
	take(r.pay, one)
	clear(api.keys)
	take(r.pay, one)
	take(r.pay, two)
	if want := []string{"a 1", "a 20"}; !slices.Equal(api.paid, want) {
		t.Errorf("paid %q", api.paid)
	}
}

// Histories that differ in one name only do not share a memory, whatever the names contain.
func TestReceiversTellHistoriesApart(t *testing.T) {
	seen := map[string]effect{}
	for _, e := range []effect{
		{Consumer: "c", Stream: "s", EntityID: "a", Source: "x"},
		{Consumer: "c", Stream: "s", EntityID: "a"},
		{Consumer: "c", Stream: "s", EntityID: `a","x`},
		{Consumer: "c", Stream: "s,a"},
		{Consumer: "c,s", EntityID: "a", Source: "x"},
	} {
		if other, taken := seen[e.whose()]; taken {
			t.Errorf("%+v and %+v are %s", e, other, e.whose())
		}
		seen[e.whose()] = e
	}
	if a, b := effectNo("a", 2, 10, 9, "1"), effectNo("a", 2, 10, 10, "1"); a.position() >= b.position() || b.position() >= effectNo("a", 10, 1, 0, "1").position() {
		t.Error("positions do not sort")
	}
}

// The code of docs/effects.md is this file's.
func TestReceiverIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/effects.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("effects_example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	for _, block := range blocks {
		shown, _, _ := strings.Cut(block, "```")
		for part := range strings.SplitSeq(strings.TrimSpace(shown), "\n\n") {
			if !strings.Contains(string(source), part) {
				t.Errorf("the page shows other code:\n%s", part)
			}
		}
	}
	if len(blocks) == 0 {
		t.Error("the page shows no code")
	}
}
