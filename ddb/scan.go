package ddb

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ordering"
)

// ScanAPI is what reading a whole table needs of the SDK's client. No function on Lambda does it.
type ScanAPI interface {
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Scan reads a table of entities from end to end, for people who compare. It reads, and is charged for, every item of
// the table, those of other consumers too: half a read unit per 4 KB ("Read consistency" and "Working with scans",
// Amazon DynamoDB Developer Guide). It is eventually consistent: whoever acts on what it says reads the entity again.
type Scan struct {
	API   ScanAPI
	Table string
}

// Segment is one of several parts of a table that may be read side by side. The zero Segment is all of it.
type Segment struct{ Number, Of int }

// Scanned is one entity of a scan.
type Scanned struct {
	Key    ordering.Key
	Entity *ordering.Entity
	Err    error // what is stored cannot be understood
}

// Page is what one request brought.
type Page struct {
	Entities []Scanned
	Units    float64 // read units that it cost; 0 where the engine does not say
}

// Entities hands over the entities of some consumers, in no order, a page of at most 1 MB at a time, until visit returns
// an error, which is returned. A page may be empty. A key that is no entity's is passed over.
func (s *Scan) Entities(ctx context.Context, segment Segment, consumers []string, visit func(Page) error) error {
	in := s.input(consumers)
	if segment.Of > 1 {
		in.Segment, in.TotalSegments = aws.Int32(int32(segment.Number)), aws.Int32(int32(segment.Of))
	}
	for { // the table is the limit: whoever scans asked for all of it, and ends it by visit or ctx
		out, err := s.API.Scan(ctx, in)
		if err != nil {
			return fmt.Errorf("scan table %s: %w", s.Table, described(err))
		}
		if err := visit(pageOf(out)); err != nil {
			return err
		}
		if len(out.LastEvaluatedKey) == 0 {
			return nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// Presence says of an entity only that it is there.
type Presence struct {
	Key    ordering.Key
	Marked bool // it stands in the gaps index
}

// Sample looks at up to some items of the table and returns those that are a consumer's. Which ones they are follows
// from a hash of their keys, so they stand for all. It reads 1 MB at most.
func (s *Scan) Sample(ctx context.Context, consumer string, items int) ([]Presence, error) {
	in := s.input([]string{consumer})
	x := expression{names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues, byName: map[string]string{attrPK: "#0"}}
	in.Limit, in.ProjectionExpression = aws.Int32(int32(items)), aws.String(x.name(attrPK)+", "+x.name(attrGapShard))
	out, err := s.API.Scan(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("scan a page of table %s: %w", s.Table, described(err))
	}
	var all []Presence
	for _, it := range out.Items {
		if key, err := ParseEntityPK((&itemReader{item: it}).text(attrPK)); err == nil {
			all = append(all, Presence{key, it[attrGapShard] != nil})
		}
	}
	return all, nil
}

func (s *Scan) input(consumers []string) *dynamodb.ScanInput {
	x := newExpression()
	prefixes := make([]string, len(consumers))
	for i, consumer := range consumers {
		prefixes[i] = "begins_with(" + x.name(attrPK) + ", " + x.value(text(joinKey(consumer)+"/")) + ")"
	}
	return &dynamodb.ScanInput{
		TableName:                 &s.Table,
		FilterExpression:          aws.String(strings.Join(prefixes, " OR ")),
		ExpressionAttributeNames:  x.names,
		ExpressionAttributeValues: x.values,
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
	}
}

func pageOf(out *dynamodb.ScanOutput) Page {
	var page Page
	if c := out.ConsumedCapacity; c != nil {
		page.Units = aws.ToFloat64(c.CapacityUnits)
	}
	for _, it := range out.Items {
		key, err := ParseEntityPK((&itemReader{item: it}).text(attrPK))
		if err != nil {
			continue
		}
		e, err := decodeEntity(it)
		if err != nil {
			page.Entities = append(page.Entities, Scanned{Key: key, Err: failed("read", key, err)})
			continue
		}
		page.Entities = append(page.Entities, Scanned{Key: key, Entity: e})
	}
	return page
}
