package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"inorder/ddb"
	"inorder/ddb/local"
)

// What is done here is what DynamoDB's own TTL, or a person who looks at a table, would do. The product has no code
// for it, so it speaks to the engine directly; an engine on this machine takes any signature.

// attribute is an attribute's value as DynamoDB writes it in JSON.
type attribute struct {
	S string `json:"S,omitempty"`
	N string `json:"N,omitempty"`
}

type rawItem map[string]attribute

// call makes one request of DynamoDB's JSON protocol.
func (b *Backend) call(ctx context.Context, operation string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.engine.Endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/eu-west-1/dynamodb/aws4_request, "+
		"SignedHeaders=host;x-amz-date, Signature=0000")
	request.Header.Set("X-Amz-Date", "20260101T000000Z")
	response, err := local.Transport().RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%s: %w", operation, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", operation, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", operation, response.Status, answer)
	}
	return json.Unmarshal(answer, out)
}

// scan reads some attributes of all items of a table.
func (b *Backend) scan(ctx context.Context, table string, attributes ...string) ([]rawItem, error) {
	in := map[string]any{"TableName": table, "ConsistentRead": true}
	names, projection := map[string]string{}, ""
	for i, name := range attributes {
		short := fmt.Sprintf("#a%d", i)
		if i > 0 {
			projection += ", "
		}
		names[short], projection = name, projection+short
	}
	in["ExpressionAttributeNames"], in["ProjectionExpression"] = names, projection
	var all []rawItem
	for {
		var page struct {
			Items            []rawItem
			LastEvaluatedKey rawItem
		}
		if err := b.call(ctx, "Scan", in, &page); err != nil {
			return nil, fmt.Errorf("read table %s: %w", table, err)
		}
		all = append(all, page.Items...)
		if len(page.LastEvaluatedKey) == 0 {
			return all, nil
		}
		in["ExclusiveStartKey"] = page.LastEvaluatedKey
	}
}

// The attributes that the tables' definitions name.
var (
	hashName = ddb.ItemsTable.Key.Hash.Name
	sortName = ddb.ItemsTable.Key.Sort.Name
	ttlName  = ddb.ItemsTable.TTL
)

// EntityKeys lists the keys of all items of the entities table, in no order.
func (b *Backend) EntityKeys(ctx context.Context, tables ddb.Tables) ([]string, error) {
	items, err := b.scan(ctx, tables.Entities, ddb.EntitiesTable.Key.Hash.Name)
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(items))
	for i, it := range items {
		keys[i] = it[ddb.EntitiesTable.Key.Hash.Name].S
	}
	return keys, nil
}

// MarkedKeys lists the keys of the entities that have the attributes of the gaps index, in no order, from the table
// itself: not every engine's index is to be trusted.
func (b *Backend) MarkedKeys(ctx context.Context, tables ddb.Tables) ([]string, error) {
	mark := ddb.EntitiesTable.Indexes[0].Key.Hash.Name
	items, err := b.scan(ctx, tables.Entities, ddb.EntitiesTable.Key.Hash.Name, mark)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, it := range items {
		if it[mark] != (attribute{}) {
			keys = append(keys, it[ddb.EntitiesTable.Key.Hash.Name].S)
		}
	}
	return keys, nil
}

// Expire deletes the items whose TTL lies before an instant in epoch seconds, as DynamoDB does sooner or later.
func (b *Backend) Expire(ctx context.Context, tables ddb.Tables, now int64) error {
	items, err := b.scan(ctx, tables.Items, hashName, sortName, ttlName)
	if err != nil {
		return err
	}
	for _, it := range items {
		// DynamoDB passes over a TTL that is no number.
		at, err := strconv.ParseFloat(it[ttlName].N, 64)
		if err != nil || at >= float64(now) {
			continue
		}
		in := map[string]any{"TableName": tables.Items, "Key": rawItem{hashName: it[hashName], sortName: it[sortName]}}
		if err := b.call(ctx, "DeleteItem", in, &struct{}{}); err != nil {
			return err
		}
	}
	return nil
}

// EmptyTables deletes all items of both tables, which takes less time than other tables would.
func (b *Backend) EmptyTables(ctx context.Context, tables ddb.Tables) error {
	return errors.Join(b.empty(ctx, tables.Entities, hashName), b.empty(ctx, tables.Items, hashName, sortName))
}

func (b *Backend) empty(ctx context.Context, table string, key ...string) error {
	items, err := b.scan(ctx, table, key...)
	if err != nil {
		return err
	}
	for _, it := range items {
		if err := b.call(ctx, "DeleteItem", map[string]any{"TableName": table, "Key": it}, &struct{}{}); err != nil {
			return err
		}
	}
	return nil
}

// DropTables deletes both tables, so that a long run does not fill the engine.
func (b *Backend) DropTables(ctx context.Context, tables ddb.Tables) error {
	return b.drop(ctx, tables.Entities, tables.Items)
}

// DropOutbox deletes a producer's outbox table.
func (b *Backend) DropOutbox(ctx context.Context, name string) error { return b.drop(ctx, name) }

func (b *Backend) drop(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := b.call(ctx, "DeleteTable", map[string]any{"TableName": name}, &struct{}{}); err != nil {
			return err
		}
	}
	return nil
}
