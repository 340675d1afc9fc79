package ddb

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ordering"
)

// DropRows replaces a whole entity and deletes rows of its log.
func (s *Store) DropRows(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, rows []ordering.Row) error {
	put, err := s.Tables.swapPut(key, prev, next)
	if err == nil {
		err = s.drop(ctx, key, put, rows)
	}
	return failed(fmt.Sprintf("drop %d rows of", len(rows)), key, err)
}

func (s *Store) drop(ctx context.Context, key ordering.Key, put *types.Put, rows []ordering.Row) error {
	if len(rows) == 0 {
		return s.put(ctx, key, put, nil) // at half the price
	}
	if len(rows) > ordering.MaxDropRows {
		return fmt.Errorf("%w: at most %d rows", ordering.ErrInvalid, ordering.MaxDropRows)
	}
	deletes := make([]types.TransactWriteItem, len(rows))
	for i, row := range rows {
		deletes[i].Delete = s.Tables.rowDelete(key, row)
	}
	_, err := s.API.TransactWriteItems(ctx, together(types.TransactWriteItem{Put: put}, deletes...))
	found, ok := failedItems(err)
	if !ok {
		return described(err)
	}
	if it, lost := found[0]; lost {
		return s.moved(ctx, key, it)
	}
	for i, row := range rows {
		if it, lost := found[i+1]; lost {
			return fmt.Errorf("number %d: %w", row.Seq, s.takenBy(ctx, key, row, it))
		}
	}
	return described(err) // a condition failed that is none of ours
}
