package ddb

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	return s.takenBy(ctx, key, row, found[0])
}

func (s *Store) takenBy(ctx context.Context, key ordering.Key, row ordering.Row, it item) error {
	if len(it) == 0 {
		var err error
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

// RowHeads reads rows of the log without their messages. It reads as much as Rows does and saves the way here.
func (s *Store) RowHeads(ctx context.Context, key ordering.Key, gen, first, last int64) ([]ordering.Row, error) {
	if first > last {
		return nil, nil
	}
	rows, err := s.queryRows(ctx, s.Tables.headsQuery(key, gen, first, last))
	return rows, failed(fmt.Sprintf("read the heads of numbers %d to %d of", first, last), key, err)
}

func (t Tables) rowsQuery(key ordering.Key, gen, first, last int64) *dynamodb.QueryInput {
	return t.itemsQuery(key, newExpression(), rowSK(gen, first), rowSK(gen, last))
}

// headAttributes are a row's, but for the message.
var headAttributes = []string{
	attrPK, attrSK, attrExpiresAt, rowVoid, rowEventID, rowSource, rowFingerprint, rowType, rowReceivedAt, rowRecord,
	rowMessageID,
}

func (t Tables) headsQuery(key ordering.Key, gen, first, last int64) *dynamodb.QueryInput {
	x := newExpression()
	asked := make([]string, len(headAttributes))
	for i, name := range headAttributes {
		asked[i] = x.name(name)
	}
	query := t.itemsQuery(key, x, rowSK(gen, first), rowSK(gen, last))
	query.ProjectionExpression = aws.String(strings.Join(asked, ", "))
	return query
}

// itemsQuery asks for a range of an entity's items, both ends included.
func (t Tables) itemsQuery(key ordering.Key, x *expression, first, last string) *dynamodb.QueryInput {
	x.require(x.compare(attrPK, "=", text(EntityPK(key))))
	x.require(x.name(attrSK) + " BETWEEN " + x.value(text(first)) + " AND " + x.value(text(last)))
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
	err := s.pages(ctx, query, maxRowPages, func(items []item) (bool, error) {
		for _, it := range items {
			row, err := decodeRow(it)
			if err != nil {
				return false, err
			}
			rows = append(rows, row)
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// pages hands over a query's answer page by page, none of them empty, until visit wants no more.
func (s *Store) pages(ctx context.Context, query *dynamodb.QueryInput, most int, visit func(items []item) (more bool, err error)) error {
	for range most {
		out, err := s.API.Query(ctx, query)
		if err != nil {
			return described(err)
		}
		if len(out.Items) > 0 {
			if more, err := visit(out.Items); err != nil || !more {
				return err
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			return nil
		}
		query.ExclusiveStartKey = out.LastEvaluatedKey
	}
	return errTooManyPages
}

var errTooManyPages = errors.New("it does not end within the pages of one reading")
