package ddb

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/events"
)

// item is one item of a table, in the SDK's form.
type item = map[string]types.AttributeValue

// encodeValue writes one value of a state. A number goes as its text: DynamoDB keeps 38 digits exactly, drops zeros
// that say nothing and refuses what it cannot keep.
func encodeValue(v any) (types.AttributeValue, error) {
	switch v := v.(type) {
	case nil:
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}, nil
	case string:
		return text(v), nil
	case events.Number:
		return &types.AttributeValueMemberN{Value: string(v)}, nil
	case []any:
		return encodeList(v)
	case map[string]any:
		fields, err := encodeState(v)
		return &types.AttributeValueMemberM{Value: fields}, err
	default:
		return nil, fmt.Errorf("a value of type %T is not JSON", v)
	}
}

func encodeList(list []any) (types.AttributeValue, error) {
	out := make([]types.AttributeValue, len(list))
	for i, v := range list {
		element, err := encodeValue(v)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		out[i] = element
	}
	return &types.AttributeValueMemberL{Value: out}, nil
}

func encodeState(state map[string]any) (item, error) {
	out := make(item, len(state))
	for name, v := range state {
		field, err := encodeValue(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = field
	}
	return out, nil
}

// decodeValue is the reverse of encodeValue. Sets and binaries are not JSON: someone else wrote them.
func decodeValue(v types.AttributeValue) (any, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberNULL:
		return nil, nil
	case *types.AttributeValueMemberBOOL:
		return v.Value, nil
	case *types.AttributeValueMemberS:
		return v.Value, nil
	case *types.AttributeValueMemberN:
		return events.Number(v.Value), nil
	case *types.AttributeValueMemberL:
		return decodeList(v.Value)
	case *types.AttributeValueMemberM:
		return decodeState(v.Value)
	default:
		return nil, fmt.Errorf("%T is not JSON", v)
	}
}

func decodeList(list []types.AttributeValue) ([]any, error) {
	out := make([]any, len(list))
	for i, element := range list {
		v, err := decodeValue(element)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		out[i] = v
	}
	return out, nil
}

func decodeState(fields item) (map[string]any, error) {
	out := make(map[string]any, len(fields))
	for name, field := range fields {
		v, err := decodeValue(field)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func integer(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func integers(numbers []int64) types.AttributeValue {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = strconv.FormatInt(n, 10)
	}
	return &types.AttributeValueMemberNS{Value: out}
}

func instant(t time.Time) types.AttributeValue { return text(events.FormatInstant(t)) }

// itemWriter sets what is not the zero value of its type and leaves all else absent: an item holds what there is to say.
type itemWriter item

func (it itemWriter) text(name, v string) {
	if v != "" {
		it[name] = text(v)
	}
}

func (it itemWriter) integer(name string, v int64) {
	if v != 0 {
		it[name] = integer(v)
	}
}

func (it itemWriter) instant(name string, v time.Time) {
	if !v.IsZero() {
		it[name] = instant(v)
	}
}

// epoch writes an instant in whole epoch seconds, which is what DynamoDB's TTL reads.
func (it itemWriter) epoch(name string, v time.Time) {
	if !v.IsZero() {
		it[name] = integer(v.Unix())
	}
}

// itemReader reads an item's attributes and keeps the first fault. An attribute that is absent has its zero value.
type itemReader struct {
	item item
	err  error
}

// fail keeps why an attribute cannot be read: an error, or a value of a type that does not belong there.
func (r *itemReader) fail(name string, why any) {
	if r.err != nil {
		return
	}
	if err, ok := why.(error); ok {
		r.err = fmt.Errorf("attribute %s cannot be read: %w", name, err)
	} else {
		r.err = fmt.Errorf("attribute %s cannot be read: it is a %T", name, why)
	}
}

func (r *itemReader) text(name string) string {
	switch v := r.item[name].(type) {
	case nil:
	case *types.AttributeValueMemberS:
		return v.Value
	default:
		r.fail(name, v)
	}
	return ""
}

func (r *itemReader) integer(name string) int64 {
	switch v := r.item[name].(type) {
	case nil:
	case *types.AttributeValueMemberN:
		return r.parse(name, v.Value)
	default:
		r.fail(name, v)
	}
	return 0
}

func (r *itemReader) integers(name string) []int64 {
	switch v := r.item[name].(type) {
	case nil:
	case *types.AttributeValueMemberNS:
		out := make([]int64, len(v.Value))
		for i, s := range v.Value {
			out[i] = r.parse(name, s)
		}
		return out
	default:
		r.fail(name, v)
	}
	return nil
}

func (r *itemReader) parse(name, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		r.fail(name, err)
	}
	return n
}

func (r *itemReader) instant(name string) time.Time {
	s := r.text(name)
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		r.fail(name, err)
	}
	return t
}

func (r *itemReader) epoch(name string) time.Time {
	if r.item[name] == nil {
		return time.Time{}
	}
	return time.Unix(r.integer(name), 0).UTC()
}
