package ddb

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

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
