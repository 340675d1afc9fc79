package ddb

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Tables are the names of the two tables.
type Tables struct{ Entities, Items string }

// Table is one table's definition: what tests and the template are compared with.
type Table struct {
	Key     Schema
	TTL     string // the attribute, epoch seconds; empty where nothing expires
	Indexes []Index
	Stream  types.StreamViewType // what the table's stream tells of each change; empty: it has none
}

// Schema is the key of a table or an index. A table that has no sort key has an empty one.
type Schema struct{ Hash, Sort Attribute }

// Attribute is a key attribute with its type.
type Attribute struct {
	Name string
	Type types.ScalarAttributeType
}

// Index is one global secondary index.
type Index struct {
	Name       string
	Key        Schema
	Projection types.ProjectionType
}

// The consumer's two tables and the producer's one. All are billed on demand.
var (
	EntitiesTable = Table{
		Key: Schema{Hash: Attribute{attrPK, types.ScalarAttributeTypeS}},
		Indexes: []Index{{
			Name: GapsIndex,
			Key: Schema{
				Hash: Attribute{attrGapShard, types.ScalarAttributeTypeN},
				Sort: Attribute{attrGapSince, types.ScalarAttributeTypeS},
			},
			Projection: types.ProjectionTypeKeysOnly,
		}},
	}
	ItemsTable = Table{
		Key: Schema{
			Hash: Attribute{attrPK, types.ScalarAttributeTypeS},
			Sort: Attribute{attrSK, types.ScalarAttributeTypeS},
		},
		TTL: attrExpiresAt,
	}
	OutboxTable = Table{
		Key: Schema{
			Hash: Attribute{attrPK, types.ScalarAttributeTypeS},
			Sort: Attribute{attrSK, types.ScalarAttributeTypeS},
		},
		TTL:    attrExpiresAt,
		Stream: types.StreamViewTypeNewImage,
	}
)

// GapsIndex holds the entities that the sweeper must look at, and no others: it is sparse.
const GapsIndex = "gaps"

// GapShards is the number of partitions that the gaps index is spread over.
const GapShards = 16

// gapShard is an entity's partition in the gaps index. It follows from the key, so that every write finds the same.
func gapShard(pk string) int64 {
	h := fnv.New32a()
	h.Write([]byte(pk))
	return int64(h.Sum32() % GapShards)
}

// Admin is what creating tables needs of the SDK's client.
type Admin interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
	dynamodb.DescribeTableAPIClient
}

// creationWait bounds the wait for a table of a local engine; on AWS the template creates them.
const creationWait = time.Minute

// CreateTables creates both tables on a local engine. A table that exists already is left as it is.
func CreateTables(ctx context.Context, client Admin, names Tables) error {
	if err := createTable(ctx, client, names.Entities, EntitiesTable); err != nil {
		return err
	}
	return createTable(ctx, client, names.Items, ItemsTable)
}

// CreateOutbox creates a producer's outbox table on a local engine. One that exists already is left as it is.
func CreateOutbox(ctx context.Context, client Admin, name string) error {
	return createTable(ctx, client, name, OutboxTable)
}

func createTable(ctx context.Context, client Admin, name string, table Table) error {
	out, err := client.CreateTable(ctx, table.input(name))
	if exists := (*types.ResourceInUseException)(nil); errors.As(err, &exists) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	if d := out.TableDescription; d != nil && d.TableStatus == types.TableStatusCreating {
		waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
			o.MinDelay, o.MaxDelay = 20*time.Millisecond, time.Second
		})
		if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, creationWait); err != nil {
			return fmt.Errorf("wait for table %s: %w", name, err)
		}
	}
	if table.TTL == "" {
		return nil
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: &table.TTL, Enabled: aws.Bool(true),
		},
	})
	if err != nil && !unknownOperation(err) {
		return fmt.Errorf("set the TTL of table %s: %w", name, err)
	}
	return nil
}

func (t Table) input(name string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName:   &name,
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   t.Key.elements(),
	}
	in.AttributeDefinitions = t.Key.definitions()
	if t.Stream != "" {
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: t.Stream}
	}
	for _, index := range t.Indexes {
		in.AttributeDefinitions = append(in.AttributeDefinitions, index.Key.definitions()...)
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName:  &index.Name,
			KeySchema:  index.Key.elements(),
			Projection: &types.Projection{ProjectionType: index.Projection},
		})
	}
	return in
}

func (s Schema) elements() []types.KeySchemaElement {
	elements := []types.KeySchemaElement{{AttributeName: &s.Hash.Name, KeyType: types.KeyTypeHash}}
	if s.Sort.Name != "" {
		elements = append(elements, types.KeySchemaElement{AttributeName: &s.Sort.Name, KeyType: types.KeyTypeRange})
	}
	return elements
}

func (s Schema) definitions() []types.AttributeDefinition {
	definitions := []types.AttributeDefinition{{AttributeName: &s.Hash.Name, AttributeType: s.Hash.Type}}
	if s.Sort.Name != "" {
		definitions = append(definitions, types.AttributeDefinition{AttributeName: &s.Sort.Name, AttributeType: s.Sort.Type})
	}
	return definitions
}

// unknownOperation reports that an emulator does not have the operation at all: it says so, or in words that are not
// even DynamoDB's protocol.
func unknownOperation(err error) bool {
	if garbled := (*smithy.DeserializationError)(nil); errors.As(err, &garbled) {
		return true
	}
	api := smithy.APIError(nil)
	return errors.As(err, &api) && api.ErrorCode() == "UnknownOperationException"
}
