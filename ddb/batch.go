package ddb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ordering"
)

// maxBatchKeys is how many keys one request takes, of which an answer brings what fits into 16 MB and leaves the rest
// unprocessed: "BatchGetItem", Amazon DynamoDB API Reference.
const maxBatchKeys = 100

// Entities reads many entities.
func (s *Store) Entities(ctx context.Context, keys []ordering.Key) ([]ordering.EntityRead, error) {
	found, err := s.batches(ctx, keysToAsk(keys))
	if err != nil {
		return nil, fmt.Errorf("read %d entities: %w", len(keys), err)
	}
	reads := make([]ordering.EntityRead, len(keys))
	for i, key := range keys {
		e, err := readOf(key, found)
		reads[i] = ordering.EntityRead{Entity: e, Err: failed("read", key, err)}
	}
	return reads, nil
}

// keysToAsk leaves out what would have the whole request refused: a key that stands there twice, or is too long.
func keysToAsk(keys []ordering.Key) []item {
	asked := make(map[string]bool, len(keys))
	var out []item
	for _, key := range keys {
		if pk := EntityPK(key); !asked[pk] && CheckKey(key) == nil {
			asked[pk] = true
			out = append(out, item{attrPK: text(pk)})
		}
	}
	return out
}

func readOf(key ordering.Key, found map[string]item) (*ordering.Entity, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	e, err := decodeEntity(found[EntityPK(key)])
	if err != nil {
		return nil, err
	}
	return e, nil
}

// batches returns the items that are there, by their keys.
func (s *Store) batches(ctx context.Context, keys []item) (map[string]item, error) {
	found := make(map[string]item, len(keys))
	for batch := range slices.Chunk(keys, maxBatchKeys) {
		if err := s.batch(ctx, batch, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// batch asks again for what an answer left out, and gives up as the client does, after as many answers in a row that
// brought nothing. Each other one brings a key at least, so this ends.
func (s *Store) batch(ctx context.Context, keys []item, found map[string]item) error {
	for fruitless := 0; ; {
		out, err := s.API.BatchGetItem(ctx, s.Tables.batchGet(keys))
		if err != nil {
			return described(err)
		}
		for _, it := range out.Responses[s.Tables.Entities] {
			found[(&itemReader{item: it}).text(attrPK)] = it
		}
		left := out.UnprocessedKeys[s.Tables.Entities].Keys
		switch {
		case len(left) == 0:
			return nil
		case len(left) < len(keys):
			fruitless = 0
		case fruitless+1 == defaultAttempts:
			return fmt.Errorf("%w: %d keys were left unprocessed", ordering.ErrThrottled, len(left))
		default:
			fruitless++
		}
		if err := rest(ctx, pause(fruitless, defaultMaxPause)); err != nil {
			return err
		}
		keys = left
	}
}

func (t Tables) batchGet(keys []item) *dynamodb.BatchGetItemInput {
	return &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		t.Entities: {Keys: keys, ConsistentRead: aws.Bool(true)},
	}}
}

// rest waits, unless the context ends before.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
