package raw

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"
)

// Filler is what filling a table needs of the SDK's client.
type Filler interface {
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

// A BatchWriteItem takes 25 items at most ("BatchWriteItem", Amazon DynamoDB API Reference).
const (
	fillItems  = 25
	fillAtOnce = 4
)

// Fill puts the entities from one number up to another into a table, as the consumer leaves them after their first event.
func Fill(ctx context.Context, api Filler, table string, from, to int, event func(n int) Event, key func(entity string) string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(fillAtOnce)
	for ; from < to; from += fillItems {
		first, last := from, min(from+fillItems, to)
		group.Go(func() error {
			writes := make([]types.WriteRequest, 0, fillItems)
			for n := first; n < last; n++ {
				e := event(n)
				writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: Item(key(e.Entity), e)}})
			}
			out, err := api.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}})
			if err == nil && len(out.UnprocessedItems) > 0 {
				err = fmt.Errorf("%d items of table %s were not put", len(out.UnprocessedItems[table]), table)
			}
			return err
		})
	}
	return group.Wait()
}
