package ddb

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Meter adds up the capacity that a client's requests consume, indexes included, as the database tells it. What a failed
// request consumed is not told. Its zero value is ready to use, by several clients at once.
type Meter struct {
	mu   sync.Mutex
	used Usage
}

// Usage is consumed capacity, in DynamoDB's units, and what it was consumed for: items put, updated, deleted or checked,
// and keys got and queries.
type Usage struct {
	WriteUnits, ReadUnits float64
	Writes, Reads         int
}

// Used returns what was consumed since the last Reset.
func (m *Meter) Used() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// Reset begins anew and returns what was consumed until now.
func (m *Meter) Reset() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	used := m.used
	m.used = Usage{}
	return used
}

func (m *Meter) register(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("inorderMeter",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			askForCapacity(in.Parameters)
			out, metadata, err := next.HandleInitialize(ctx, in)
			m.count(in.Parameters, out.Result)
			return out, metadata, err
		}), middleware.After)
}

// askForCapacity sets the option on a request's input.
func askForCapacity(input any) {
	const asked = types.ReturnConsumedCapacityIndexes
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = asked
	case *dynamodb.BatchGetItemInput:
		in.ReturnConsumedCapacity = asked
	case *dynamodb.QueryInput:
		in.ReturnConsumedCapacity = asked
	case *dynamodb.PutItemInput:
		in.ReturnConsumedCapacity = asked
	case *dynamodb.UpdateItemInput:
		in.ReturnConsumedCapacity = asked
	case *dynamodb.DeleteItemInput:
		in.ReturnConsumedCapacity = asked
	case *dynamodb.TransactWriteItemsInput:
		in.ReturnConsumedCapacity = asked
	}
}

func (m *Meter) count(input, output any) {
	switch out := output.(type) {
	case *dynamodb.GetItemOutput:
		m.read(1, out.ConsumedCapacity)
	case *dynamodb.BatchGetItemOutput:
		asked := input.(*dynamodb.BatchGetItemInput).RequestItems
		m.read(keysIn(asked)-keysIn(out.UnprocessedKeys), pointers(out.ConsumedCapacity)...)
	case *dynamodb.QueryOutput:
		m.read(1, out.ConsumedCapacity)
	case *dynamodb.PutItemOutput:
		m.wrote(1, out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		m.wrote(1, out.ConsumedCapacity)
	case *dynamodb.DeleteItemOutput:
		m.wrote(1, out.ConsumedCapacity)
	case *dynamodb.TransactWriteItemsOutput:
		actions := input.(*dynamodb.TransactWriteItemsInput).TransactItems
		m.wrote(len(actions), pointers(out.ConsumedCapacity)...)
	}
}

func keysIn(perTable map[string]types.KeysAndAttributes) (n int) {
	for _, asked := range perTable {
		n += len(asked.Keys)
	}
	return n
}

func pointers(list []types.ConsumedCapacity) []*types.ConsumedCapacity {
	out := make([]*types.ConsumedCapacity, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

func (m *Meter) read(keys int, consumed ...*types.ConsumedCapacity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used.Reads += keys
	m.used.ReadUnits += units(consumed)
}

func (m *Meter) wrote(items int, consumed ...*types.ConsumedCapacity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used.Writes += items
	m.used.WriteUnits += units(consumed)
}

// units adds up what an answer told; an engine may tell nothing.
func units(consumed []*types.ConsumedCapacity) (sum float64) {
	for _, c := range consumed {
		if c != nil && c.CapacityUnits != nil {
			sum += *c.CapacityUnits
		}
	}
	return sum
}
