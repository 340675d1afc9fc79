package ddb_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/ordering"
)

// The names and shapes here are what other people's scripts rely on, so they are compared as text and not by the
// package's own constants.
func TestItemsAsOthersSeeThem(t *testing.T) {
	engine := startEngine(t, local.Dynoxide)
	s := newStore(t, engine, ddb.ClientOptions{})
	client := engine.Client()

	key := ordering.Key{Consumer: "billing-view", Stream: "ledger", ID: "a/1"}
	next := &ordering.Entity{
		Exists: true, Rev: 1, State: map[string]any{"balance": "x"},
		Last: ordering.Last{EventID: "e7", ReceivedAt: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))},
		Cursor: ordering.Cursor{
			Applied: 7, MaxSeen: 12, Waiting: ordering.Numbers{9}, Dispatched: &ordering.Position{Seq: 7},
			Skipped: []ordering.Range{{First: 2, Last: 2}, {First: 4, Last: 5}}, Gap: &ordering.Gap{Since: time.Unix(0, 0)},
			Park: ordering.Park{Since: time.Unix(1, 2), Look: time.Unix(3, 0)},
		},
	}
	if err := s.Swap(t.Context(), key, &ordering.Entity{}, next, nil); err != nil {
		t.Fatal(err)
	}
	pk := map[string]types.AttributeValue{"_pk": &types.AttributeValueMemberS{Value: "billing-view/ledger/a%2F1"}}
	got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("entities"), Key: pk})
	if err != nil {
		t.Fatal(err)
	}
	sees(t, got.Item, map[string]string{
		"_pk": "billing-view/ledger/a%2F1", "balance": "x", "_event_id": "e7",
		"_received_at": "2026-01-02T02:04:05.000000006Z", "_rev": "1", "_gen": "0", "_applied": "7", "_max_seen": "12",
		"_waiting": "\x01\x01", "_dispatched": "0000000000.0000000000000000007", "_skipped": "2,4-5",
		"_gap_since": "1970-01-01T00:00:00.000000000Z", "_gap_shard": "0",
		"_park_since": "1970-01-01T00:00:01.000000002Z", "_park_look": "1970-01-01T00:00:03.000000000Z",
	})

	row := ordering.Row{Gen: 3, Seq: 9, EventID: "e9", ExpiresAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	row.Message.Body = "{}"
	if err := s.PutRow(t.Context(), key, row); err != nil {
		t.Fatal(err)
	}
	marker := ordering.Marker{Consumer: "c", Source: "crm", EventID: "e/1", Fingerprint: "f", ExpiresAt: row.ExpiresAt}
	if err := s.PutMarker(t.Context(), marker); err != nil {
		t.Fatal(err)
	}
	all, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("items")})
	if err != nil || len(all.Items) != 2 {
		t.Fatalf("%d items, %v", len(all.Items), err)
	}
	expires := strconv.FormatInt(row.ExpiresAt.Unix(), 10)
	for _, it := range all.Items {
		if it["_sk"].(*types.AttributeValueMemberS).Value == "seen" {
			sees(t, it, map[string]string{
				"_pk": "c/%/crm/e%2F1", "_sk": "seen", "source": "crm", "event_id": "e/1", "fingerprint": "f", "expires_at": expires,
			})
			continue
		}
		sees(t, it, map[string]string{
			"_pk": "billing-view/ledger/a%2F1", "_sk": "step/0000000003/0000000000000000009", "event_id": "e9", "body": "{}",
			"expires_at": expires,
		})
	}
}

// So are the marks of a state entity, which has no _applied, and what the sweeper and the operator leave.
func TestUpkeepAsOthersSeeIt(t *testing.T) {
	engine := startEngine(t, local.Dynoxide)
	s := newStore(t, engine, ddb.ClientOptions{})
	key := ordering.Key{Consumer: "billing/view", Stream: "profile", ID: "a"}
	next := &ordering.Entity{Exists: true, Rev: 1, StateMarks: ordering.StateMarks{Marks: map[string]string{
		"": "0000000000.0000000000000000007", "crm": "0000000002.0000000000000000009",
	}}}
	audit := ordering.Audit{
		At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), By: "ann", Reason: "lost for good", Gen: 2, Through: 9,
		Applied: []ordering.Range{{First: 7, Last: 7}}, Lost: []ordering.Range{{First: 4, Last: 6}, {First: 8, Last: 8}},
		Passed: []ordering.Range{{First: 9, Last: 9}},
	}
	if err := s.SwapAudited(t.Context(), key, &ordering.Entity{}, next, audit); err != nil {
		t.Fatal(err)
	}
	if err := s.MoveBookmark(t.Context(), "billing/view", "", "3"); err != nil {
		t.Fatal(err)
	}
	entities, err := engine.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("entities")})
	if err != nil || len(entities.Items) != 1 {
		t.Fatalf("%d entities, %v", len(entities.Items), err)
	}
	sees(t, entities.Items[0], map[string]string{
		"_pk": "billing%2Fview/profile/a", "_rev": "1", "_gen": "0", "_max_seen": "7",
		"_mark.crm": "0000000002.0000000000000000009",
	})
	items, err := engine.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("items")})
	if err != nil || len(items.Items) != 2 {
		t.Fatalf("%d items, %v", len(items.Items), err)
	}
	for _, it := range items.Items {
		if plain(it["_sk"]) == "sweep" {
			sees(t, it, map[string]string{"_pk": "billing%2Fview", "_sk": "sweep", "after": "3"})
			continue
		}
		sees(t, it, map[string]string{
			"_pk": "billing%2Fview/profile/a", "_sk": "audit/2026-01-02T03:04:05.000000006Z", "by": "ann",
			"reason": "lost for good", "generation": "2", "through": "9", "applied": "7", "lost": "4-6,8", "passed": "9",
		})
	}
}

// sees compares a whole item with its values as text.
func sees(t *testing.T, got map[string]types.AttributeValue, want map[string]string) {
	t.Helper()
	for name, v := range got {
		if text := plain(v); text != want[name] {
			t.Errorf("%s is %q, want %q", name, text, want[name])
		}
	}
	for name := range want {
		if got[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
}

func plain(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return string(v.Value)
	default:
		return "?"
	}
}

// The index of gaps holds exactly the entities that have one, each in one of 16 shards.
func TestGapsIndexIsSparse(t *testing.T) {
	engine := startEngine(t, local.Dynoxide)
	s := newStore(t, engine, ddb.ClientOptions{})
	for i := range 40 {
		key := ordering.Key{Consumer: "c", Stream: "s", ID: strconv.Itoa(i)}
		next := &ordering.Entity{Exists: true, Rev: 1}
		if i%2 == 0 {
			next.Gap = &ordering.Gap{Since: time.Unix(int64(i), 0)}
		}
		if err := s.Swap(t.Context(), key, &ordering.Entity{}, next, nil); err != nil {
			t.Fatal(err)
		}
	}
	found, shards := 0, 0
	for shard := range ddb.GapShards {
		out, err := engine.Client().Query(t.Context(), &dynamodb.QueryInput{
			TableName: aws.String("entities"), IndexName: aws.String(ddb.GapsIndex),
			KeyConditionExpression:   aws.String("#s = :s"),
			ExpressionAttributeNames: map[string]string{"#s": "_gap_shard"},
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":s": &types.AttributeValueMemberN{Value: strconv.Itoa(shard)},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range out.Items {
			if len(it) != 3 {
				t.Errorf("an entry with more than its keys: %v", it)
			}
		}
		found += len(out.Items)
		if len(out.Items) > 0 {
			shards++
		}
	}
	if found != 20 || shards < 8 {
		t.Errorf("%d entries in %d shards, want 20 in most", found, shards)
	}
}
