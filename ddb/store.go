package ddb

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/events"
	"inorder/ordering"
)

// API is what the store needs of the SDK's client.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Store keeps entities, logs and markers in two tables of DynamoDB. It is safe for concurrent use.
type Store struct {
	API    API
	Tables Tables
}

var _ ordering.Upkeep = (*Store)(nil)

// Entity reads an entity.
func (s *Store) Entity(ctx context.Context, key ordering.Key) (*ordering.Entity, error) {
	e, err := s.readEntity(ctx, key)
	return e, failed("read", key, err)
}

// Swap replaces a whole entity.
func (s *Store) Swap(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, markers []ordering.Marker) error {
	put, err := s.Tables.swapPut(key, prev, next)
	if err == nil {
		err = s.put(ctx, key, put, markers)
	}
	return failed("swap", key, err)
}

// PutNewer replaces a whole entity that is older.
func (s *Store) PutNewer(ctx context.Context, key ordering.Key, next *ordering.Entity, markers []ordering.Marker) error {
	put, err := s.Tables.newerPut(key, next)
	if err == nil {
		err = s.put(ctx, key, put, markers)
	}
	return failed("put", key, err)
}

// Merge changes the parts of an entity that are older.
func (s *Store) Merge(ctx context.Context, key ordering.Key, merge ordering.Merge, markers []ordering.Marker) error {
	update, err := s.Tables.mergeUpdate(key, merge)
	if err == nil {
		err = s.update(ctx, key, update, markers)
	}
	return failed("merge into", key, err)
}

// Add lets the database add.
func (s *Store) Add(ctx context.Context, key ordering.Key, add ordering.Addition) (*ordering.Entity, error) {
	update, err := s.Tables.addUpdate(key, add)
	if err != nil {
		return nil, failed("add to", key, err)
	}
	e, err := s.updated(ctx, key, update)
	if lacksContains(err) {
		if update, err = s.Tables.firstAddUpdate(key, add); err == nil {
			e, err = s.updated(ctx, key, update)
		}
	}
	return e, failed("add to", key, err)
}

// CatchUp moves the cursor through what is counted.
func (s *Store) CatchUp(ctx context.Context, key ordering.Key, at *ordering.Entity, through int64, gapSince time.Time, token string) (*ordering.Entity, error) {
	update, err := s.Tables.catchUpUpdate(key, at, through, gapSince, token)
	if err != nil {
		return nil, failed("catch up", key, err)
	}
	e, err := s.updated(ctx, key, update)
	return e, failed("catch up", key, err)
}

// AddMarked lets the database add what no marker knows.
func (s *Store) AddMarked(ctx context.Context, key ordering.Key, amounts map[string]events.Number, last ordering.Last, markers []ordering.Marker) error {
	update, err := s.Tables.markedUpdate(key, amounts, last)
	if err == nil {
		err = s.transact(ctx, key, types.TransactWriteItem{Update: update}, markers)
	}
	return failed("add to", key, err)
}

// PutMarker writes a marker alone.
func (s *Store) PutMarker(ctx context.Context, marker ordering.Marker) error {
	_, err := s.API.PutItem(ctx, putInput(s.Tables.markerPut(marker)))
	found, ok := failedItems(err)
	switch {
	case err == nil:
		return nil
	case ok:
		lost := &ordering.LostError{Seen: make(map[int]ordering.Marker)}
		if err = s.seen(ctx, lost, 0, marker, found[0]); err == nil {
			err = lost
		}
	default:
		err = described(err)
	}
	return fmt.Errorf("put the marker of event %q of %q: %w", marker.EventID, marker.Source, err)
}

func (s *Store) readEntity(ctx context.Context, key ordering.Key) (*ordering.Entity, error) {
	it, err := s.get(ctx, s.Tables.Entities, item{attrPK: text(EntityPK(key))})
	if err != nil {
		return nil, err
	}
	return decodeEntity(it)
}

func (s *Store) get(ctx context.Context, table string, key item) (item, error) {
	out, err := s.API.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &table, Key: key, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, described(err)
	}
	return out.Item, nil
}

// put writes an entity, in a transaction where it has markers.
func (s *Store) put(ctx context.Context, key ordering.Key, put *types.Put, markers []ordering.Marker) error {
	if len(markers) > 0 {
		return s.transact(ctx, key, types.TransactWriteItem{Put: put}, markers)
	}
	_, err := s.API.PutItem(ctx, putInput(put))
	return s.lost(ctx, key, nil, err)
}

func (s *Store) update(ctx context.Context, key ordering.Key, update *types.Update, markers []ordering.Marker) error {
	if len(markers) > 0 {
		return s.transact(ctx, key, types.TransactWriteItem{Update: update}, markers)
	}
	_, err := s.API.UpdateItem(ctx, updateInput(update, types.ReturnValueNone))
	return s.lost(ctx, key, nil, err)
}

// updated writes an entity and returns it as it is then.
func (s *Store) updated(ctx context.Context, key ordering.Key, update *types.Update) (*ordering.Entity, error) {
	out, err := s.API.UpdateItem(ctx, updateInput(update, types.ReturnValueAllNew))
	if err != nil {
		return nil, s.lost(ctx, key, nil, err)
	}
	return decodeEntity(out.Attributes)
}

func (s *Store) transact(ctx context.Context, key ordering.Key, write types.TransactWriteItem, markers []ordering.Marker) error {
	_, err := s.API.TransactWriteItems(ctx, s.Tables.transaction(write, markers))
	return s.lost(ctx, key, markers, err)
}

// failed names the step and the entity of an error.
func failed(step string, key ordering.Key, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", step, EntityPK(key), err)
}
