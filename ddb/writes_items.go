package ddb

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ordering"
)

// The legal writes of the items table, and how writes become requests.

// markerPut writes a marker that is not there yet.
func (t Tables) markerPut(m ordering.Marker) *types.Put { return t.newItemPut(encodeMarker(m)) }

// rowPut logs an event where its number is free.
func (t Tables) rowPut(key ordering.Key, row ordering.Row) (*types.Put, error) {
	it, err := encodeRow(EntityPK(key), row)
	if err != nil {
		return nil, err
	}
	return t.newItemPut(it), nil
}

func (t Tables) newItemPut(it item) *types.Put {
	x := newExpression()
	x.require(x.absent(attrPK))
	return put(t.Items, it, x)
}

// rowUpdate moves the expiry of a row that is still the one that was read.
func (t Tables) rowUpdate(key ordering.Key, row ordering.Row, until time.Time) *types.Update {
	x := newExpression()
	x.sameRow(row)
	x.set(attrExpiresAt, integer(until.Unix()))
	return &types.Update{
		TableName:                           &t.Items,
		Key:                                 rowKey(EntityPK(key), row),
		UpdateExpression:                    x.update(),
		ConditionExpression:                 x.condition(),
		ExpressionAttributeNames:            x.names,
		ExpressionAttributeValues:           x.values,
		ReturnValuesOnConditionCheckFailure: returnOld,
	}
}

// rowDelete deletes a row that is still the one that was read.
func (t Tables) rowDelete(key ordering.Key, row ordering.Row) *types.Delete {
	x := newExpression()
	x.sameRow(row)
	return &types.Delete{
		TableName:                           &t.Items,
		Key:                                 rowKey(EntityPK(key), row),
		ConditionExpression:                 x.condition(),
		ExpressionAttributeNames:            x.names,
		ExpressionAttributeValues:           x.values,
		ReturnValuesOnConditionCheckFailure: returnOld,
	}
}

// sameRow requires a row that is there, with the expiry that was read, and the same event's.
func (x *expression) sameRow(row ordering.Row) {
	was := item{}
	w := itemWriter(was)
	w.text(rowVoid, string(row.Void))
	w.text(rowEventID, row.EventID)
	w.text(rowSource, row.Source)
	w.text(rowFingerprint, row.Fingerprint)
	w.epoch(attrExpiresAt, row.ExpiresAt)
	x.require(x.present(attrPK)) // where all else is absent, nothing is the same as nothing
	for _, name := range []string{rowVoid, rowEventID, rowSource, rowFingerprint, attrExpiresAt} {
		if v, ok := was[name]; ok {
			x.require(x.compare(name, "=", v))
		} else {
			x.require(x.absent(name))
		}
	}
}

// auditPut keeps an audit row where its instant is free.
func (t Tables) auditPut(key ordering.Key, a ordering.Audit) *types.Put {
	return t.newItemPut(encodeAudit(EntityPK(key), a))
}

// bookmarkPut moves a bookmark that still is where it was read.
func (t Tables) bookmarkPut(consumer, from, to string) *types.Put {
	x := newExpression()
	x.bookmarkAt(from)
	it := bookmarkKey(consumer)
	it[bookmarkAfter] = text(to)
	return put(t.Items, it, x)
}

// bookmarkDelete takes out a bookmark that still is where it was read.
func (t Tables) bookmarkDelete(consumer, from string) *dynamodb.DeleteItemInput {
	x := newExpression()
	x.bookmarkAt(from)
	return &dynamodb.DeleteItemInput{
		TableName:                 &t.Items,
		Key:                       bookmarkKey(consumer),
		ConditionExpression:       x.condition(),
		ExpressionAttributeNames:  x.names,
		ExpressionAttributeValues: x.values,
	}
}

func (x *expression) bookmarkAt(from string) {
	if from == "" {
		x.require(x.absent(attrPK))
	} else {
		x.require(x.compare(bookmarkAfter, "=", text(from)))
	}
}

func put(table string, it item, x *expression) *types.Put {
	in := &types.Put{
		TableName:                           &table,
		Item:                                it,
		ConditionExpression:                 x.condition(),
		ExpressionAttributeNames:            x.names,
		ReturnValuesOnConditionCheckFailure: returnOld,
	}
	if len(x.values) > 0 {
		in.ExpressionAttributeValues = x.values // an empty map is refused
	}
	return in
}

// transaction is an entity's write together with its markers.
func (t Tables) transaction(write types.TransactWriteItem, markers []ordering.Marker) *dynamodb.TransactWriteItemsInput {
	others := make([]types.TransactWriteItem, len(markers))
	for i, m := range markers {
		others[i].Put = t.markerPut(m)
	}
	return together(write, others...)
}

// together is an entity's write with others of the items table: all or nothing, the entity first. The SDK makes the
// token of a transaction before its first attempt and keeps it for its retries, so a retry after a lost answer does not
// meet its own write.
func together(write types.TransactWriteItem, others ...types.TransactWriteItem) *dynamodb.TransactWriteItemsInput {
	return &dynamodb.TransactWriteItemsInput{TransactItems: append([]types.TransactWriteItem{write}, others...)}
}

func putInput(p *types.Put) *dynamodb.PutItemInput {
	return &dynamodb.PutItemInput{
		TableName:                           p.TableName,
		Item:                                p.Item,
		ConditionExpression:                 p.ConditionExpression,
		ExpressionAttributeNames:            p.ExpressionAttributeNames,
		ExpressionAttributeValues:           p.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: p.ReturnValuesOnConditionCheckFailure,
	}
}

func updateInput(u *types.Update, returned types.ReturnValue) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName:                           u.TableName,
		Key:                                 u.Key,
		UpdateExpression:                    u.UpdateExpression,
		ConditionExpression:                 u.ConditionExpression,
		ExpressionAttributeNames:            u.ExpressionAttributeNames,
		ExpressionAttributeValues:           u.ExpressionAttributeValues,
		ReturnValues:                        returned,
		ReturnValuesOnConditionCheckFailure: u.ReturnValuesOnConditionCheckFailure,
	}
}
