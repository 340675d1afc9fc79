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

func encodeState(state map[string]any) (item, error) { return encodeBeside(0, state) }

// encodeBeside is a state in an item that has room for some attributes more.
func encodeBeside(more int, state map[string]any) (item, error) {
	out := make(item, more+len(state))
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
