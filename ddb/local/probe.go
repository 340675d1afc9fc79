package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Keys of the probe's table: shaped like the project's own.
const (
	pk        = "_pk"
	sk        = "_sk"
	shard     = "_gap_shard"
	since     = "_gap_since"
	gapsIndex = "gaps"
)

// AWS takes some seconds to make a table, engines a millisecond.
const (
	tableTimeout = time.Minute
	tablePoll    = 500 * time.Millisecond
)

// A check returns nil when the engine does what AWS does, and otherwise what it does instead.
type check struct {
	name   Name
	says   string // what holds when the check passes
	verify func(context.Context, bench) error
}

// checks lists every Name once; a test compares. The last ones may leave what a weaker engine then stumbles over in any
// query of the table.
var checks = []check{
	{OneWinner, "one of several parallel conditional puts wins", oneWinner},
	{OldItemPut, "a PutItem whose condition fails returns the item", oldItemPut},
	{OldItemUpdate, "an UpdateItem whose condition fails returns the item", oldItemUpdate},
	{AllNew, "ALL_NEW returns the whole item after the update", allNew},
	{ContainsMissing, "contains of a missing attribute is false and no error", containsMissing},
	{ByteOrder, "strings compare by their bytes", byteOrder},
	{DottedNames, "a name with a dot is one attribute", dottedNames},
	{BinaryValues, "binary values come back byte for byte", binaryValues},
	{OldItemTransact, "a failed condition in a transaction returns the item", oldItemTransact},
	{CancellationOrder, "cancellation reasons stand at the positions of their items", cancellationOrder},
	{TransactDelete, "a transaction deletes on conditions, all or nothing", transactDelete},
	{TransactTwice, "a transaction with one item twice is refused", transactTwice},
	{TransactToken, "a repeated ClientRequestToken changes nothing", transactToken},
	{ExactAdd, "0.1 + 0.2 is 0.3", exactAdd},
	{ExactIntegers, "2^53 + 1 is exact", exactIntegers},
	{ExactSets, "number sets are exact", exactSets},
	{Exponents, "a number may have an exponent", exponents},
	{NumberRange, "more than 38 digits are refused", numberRange},
	{ItemLimit, "items end at 400 KB", itemLimit},
	{OperatorLimit, "expressions end at 300 operators", operatorLimit},
	{ExpressionLimit, "expressions end at 4 KB", expressionLimit},
	{BatchLimit, "batches of keys end at 100, each once", batchLimit},
	{EmptyKeys, "empty keys are refused", emptyKeys},
	{SortKeyBetween, "a query takes a range of sort keys", sortKeyBetween},
	{QueryPages, "a query goes on where its page ended", queryPages},
	{BatchGet, "a batch of keys reads what is there", batchGet},
	{SparseIndex, "an index holds only the items that have its keys", sparseIndex},
	{ConsumedCapacity, "consumed capacity is reported", consumedCapacity},
	{SetUpdates, "ADD and DELETE work on sets", setUpdates},
	{EmptyValues, "empty strings and binaries are values", emptyValues},
	{EmptyNames, "empty attribute names are refused", emptyNames},
}

// Probe finds out what of the behaviours that the project relies on this engine has, in a table of its own that it
// removes. The error says that it could not find out, not that something is lacking.
func (e *Engine) Probe(ctx context.Context) (Findings, error) {
	findings, err := Probe(ctx, e.Client())
	findings.Engine = e.Name
	return findings, err
}

// Probe is [Engine.Probe] for any other endpoint.
func Probe(ctx context.Context, db *dynamodb.Client) (Findings, error) {
	b := bench{db: db, table: "inorder-probe-" + rand.Text()}
	if err := b.create(ctx); err != nil {
		return Findings{}, fmt.Errorf("probe: create the table: %w", err)
	}
	var findings Findings
	for _, c := range checks {
		err := c.verify(ctx, b.on(c.name))
		if ctx.Err() != nil {
			return Findings{}, fmt.Errorf("probe %s: %w", c.name, ctx.Err())
		}
		findings.All = append(findings.All, c.found(err))
	}
	if _, err := db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &b.table}); err != nil {
		return Findings{}, fmt.Errorf("probe: remove the table: %w", err)
	}
	return findings, nil
}

func (c check) found(err error) Finding {
	if err == nil {
		return Finding{Name: c.name, OK: true, Says: c.says}
	}
	return Finding{Name: c.name, Says: plain(err)}
}

// plain keeps of an SDK error what the engine said.
func plain(err error) string {
	if said := smithy.APIError(nil); errors.As(err, &said) {
		return fmt.Sprintf("it answers %s: %s", said.ErrorCode(), said.ErrorMessage())
	}
	return err.Error()
}

func (b bench) create(ctx context.Context) error {
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: aws.String(name), KeyType: kind}
	}
	var attributes []types.AttributeDefinition
	for _, name := range []string{pk, sk, shard, since} {
		attributes = append(attributes, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	_, err := b.db.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            &b.table,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: attributes,
		KeySchema:            []types.KeySchemaElement{key(pk, types.KeyTypeHash), key(sk, types.KeyTypeRange)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String(gapsIndex),
			KeySchema:  []types.KeySchemaElement{key(shard, types.KeyTypeHash), key(since, types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	})
	if err != nil {
		return err
	}
	return b.await(ctx)
}

// await polls until the table can be written. The SDK's own waiter would wait for ACTIVE for ever on minidyn, which
// gives its tables no status.
func (b bench) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tableTimeout)
	defer cancel()
	for {
		out, err := b.db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &b.table})
		if err != nil {
			return err
		}
		if out.Table.TableStatus != types.TableStatusCreating {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(tablePoll):
		}
	}
}
