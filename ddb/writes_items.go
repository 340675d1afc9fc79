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
	was := item{}
	w := itemWriter(was)
	w.text(rowVoid, string(row.Void))
	w.text(rowEventID, row.EventID)
	w.text(rowSource, row.Source)
	w.text(rowFingerprint, row.Fingerprint)
	w.epoch(attrExpiresAt, row.ExpiresAt)
	x.require(x.present(attrPK)) // or it would make a row of nothing
	for _, name := range []string{rowVoid, rowEventID, rowSource, rowFingerprint, attrExpiresAt} {
		if v, ok := was[name]; ok {
			x.require(x.compare(name, "=", v))
		} else {
			x.require(x.absent(name))
		}
	}
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

// transaction is an entity's write together with its markers: all or nothing, the entity first. The SDK makes the token
// of a transaction before its first attempt and keeps it for its retries, so a retry after a lost answer does not meet
// its own write.
func (t Tables) transaction(write types.TransactWriteItem, markers []ordering.Marker) *dynamodb.TransactWriteItemsInput {
	actions := []types.TransactWriteItem{write}
	for _, m := range markers {
		actions = append(actions, types.TransactWriteItem{Put: t.markerPut(m)})
	}
	return &dynamodb.TransactWriteItemsInput{TransactItems: actions}
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
