package ddb

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"inorder/ordering"
)

// maxMarkedPages bounds one reading of a shard. A page holds 1 MB ("Query", Amazon DynamoDB API Reference), which is
// four hundred of the longest keys and ten thousand usual ones: more in all than a sweep has time to look at. The oldest
// come first, so what lies behind is not forgotten, but waits.
const maxMarkedPages = 100

// Shards is the number of partitions of the gaps index.
func (s *Store) Shards() int { return GapShards }

// Marked hands over the entities of one shard of the gaps index, by one query, or by two where it begins in the middle.
// There is no consistent read of it: "Read consistency", Amazon DynamoDB Developer Guide.
func (s *Store) Marked(ctx context.Context, shard int, from time.Time, visit func(page []ordering.Marked) (more bool)) error {
	queries := []*dynamodb.QueryInput{s.Tables.gapsQuery(shard, "", time.Time{})}
	if !from.IsZero() {
		queries = []*dynamodb.QueryInput{s.Tables.gapsQuery(shard, ">=", from), s.Tables.gapsQuery(shard, "<", from)}
	}
	more := true
	for _, query := range queries {
		if !more {
			break
		}
		err := s.pages(ctx, query, maxMarkedPages, func(items []item) (bool, error) {
			page := make([]ordering.Marked, len(items))
			for i, it := range items {
				page[i] = decodeMarked(it)
			}
			more = visit(page)
			return more, nil
		})
		if err != nil {
			return fmt.Errorf("read shard %d of the gaps: %w", shard, err)
		}
	}
	return nil
}

// gapsQuery asks for the part of a shard that compares with an instant, or without an operator for all of it.
func (t Tables) gapsQuery(shard int, operator string, since time.Time) *dynamodb.QueryInput {
	x, index := newExpression(), GapsIndex
	x.require(x.compare(attrGapShard, "=", integer(int64(shard))))
	if operator != "" {
		x.require(x.compare(attrGapSince, operator, instant(since)))
	}
	return &dynamodb.QueryInput{
		TableName:                 &t.Entities,
		IndexName:                 &index,
		KeyConditionExpression:    x.condition(),
		ExpressionAttributeNames:  x.names,
		ExpressionAttributeValues: x.values,
	}
}

// decodeMarked reads what it can: an entry that nobody understands must be seen, and must not hide those behind it.
func decodeMarked(it item) ordering.Marked {
	r := &itemReader{item: it}
	m := ordering.Marked{PK: r.text(attrPK), Since: r.instant(attrGapSince)}
	if r.err != nil {
		m.Since = time.Time{}
	}
	if key, err := ParseEntityPK(m.PK); err == nil {
		m.Key = key
	}
	return m
}
