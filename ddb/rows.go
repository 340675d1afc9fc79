package ddb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ordering"
)

// maxRowPages bounds one reading of a log. A page holds 1 MB, so at least two rows; that many pages are a window of a
// thousand rows of the largest size, and more than any function has memory for.
const maxRowPages = 500

// PutRow logs an event where its number is free.
func (s *Store) PutRow(ctx context.Context, key ordering.Key, row ordering.Row) error {
	put, err := s.Tables.rowPut(key, row)
	if err == nil {
		_, err = s.API.PutItem(ctx, putInput(put))
		err = s.taken(ctx, key, row, err)
	}
	return failed(fmt.Sprintf("log number %d of", row.Seq), key, err)
}

// ExtendRow moves a row's expiry.
func (s *Store) ExtendRow(ctx context.Context, key ordering.Key, row ordering.Row, until time.Time) error {
	_, err := s.API.UpdateItem(ctx, updateInput(s.Tables.rowUpdate(key, row, until), types.ReturnValueNone))
	return failed(fmt.Sprintf("extend number %d of", row.Seq), key, s.taken(ctx, key, row, err))
}

// taken makes a *TakenError of a failed condition. Where no item came, a read tells whether the row is gone.
func (s *Store) taken(ctx context.Context, key ordering.Key, row ordering.Row, err error) error {
	found, ok := failedItems(err)
	if !ok {
		return described(err)
	}
	it := found[0]
	if len(it) == 0 {
		if it, err = s.get(ctx, s.Tables.Items, rowKey(EntityPK(key), row)); err != nil {
			return err
		}
	}
	there, err := decodeRow(it)
	if err != nil {
		return err
	}
	return &ordering.TakenError{Row: there}
}

// Rows reads rows of the log.
func (s *Store) Rows(ctx context.Context, key ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	if first > last {
		return nil, nil
	}
	rows, err := s.queryRows(ctx, s.Tables.rowsQuery(key, gen, first, last))
	return rows, failed(fmt.Sprintf("read numbers %d to %d of", first, last), key, err)
}

func (t Tables) rowsQuery(key ordering.Key, gen, first, last int64) *dynamodb.QueryInput {
	x := newExpression()
	x.require(x.compare(attrPK, "=", text(EntityPK(key))))
	x.require(x.name(attrSK) + " BETWEEN " + x.value(text(rowSK(gen, first))) + " AND " + x.value(text(rowSK(gen, last))))
	return &dynamodb.QueryInput{
		TableName:                 &t.Items,
		KeyConditionExpression:    x.condition(),
		ExpressionAttributeNames:  x.names,
		ExpressionAttributeValues: x.values,
		ConsistentRead:            aws.Bool(true),
	}
}

func (s *Store) queryRows(ctx context.Context, query *dynamodb.QueryInput) ([]ordering.Row, error) {
	var rows []ordering.Row
	for range maxRowPages {
		out, err := s.API.Query(ctx, query)
		if err != nil {
			return nil, described(err)
		}
		for _, it := range out.Items {
			row, err := decodeRow(it)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		if len(out.LastEvaluatedKey) == 0 {
			return rows, nil
		}
		query.ExclusiveStartKey = out.LastEvaluatedKey
	}
	return nil, errTooManyRows
}

var errTooManyRows = errors.New("the log does not end within the pages of one reading")
