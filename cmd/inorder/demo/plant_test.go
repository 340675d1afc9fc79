package demo

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// roundTrip is a function that is an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// fields is a request or a part of one.
type fields = map[string]any

// rewriting hands every request's body to a function and sends on what is left of it; what the function swallows is
// answered as if it had been done.
func rewriting(change func(operation string, in fields) (swallow bool)) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			var in fields
			d := json.NewDecoder(bytes.NewReader(body))
			d.UseNumber()
			if err := d.Decode(&in); err != nil {
				return nil, err
			}
			if change(operation, in) {
				return done(r), nil
			}
			if body, err = json.Marshal(in); err != nil {
				return nil, err
			}
			setBody(r, body)
			return next.RoundTrip(r)
		})
	}
}

func done(r *http.Request) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(strings.NewReader("{}")),
	}
}

// withoutConditions leaves the condition out of every write to the entities table.
func withoutConditions(operation string, in fields) bool {
	if operation == "TransactWriteItems" {
		for _, action := range in["TransactItems"].([]any) {
			for _, write := range action.(fields) {
				leaveConditionOut(write.(fields))
			}
		}
		return false
	}
	leaveConditionOut(in)
	return false
}

func leaveConditionOut(write fields) {
	table, _ := write["TableName"].(string)
	if _, conditional := write["ConditionExpression"]; !conditional || !strings.HasSuffix(table, "-entities") {
		return
	}
	delete(write, "ConditionExpression")
	delete(write, "ReturnValuesOnConditionCheckFailure")
	update, _ := write["UpdateExpression"].(string)
	for _, name := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
		keepUsed(write, name, update)
	}
}

// keepUsed drops the placeholders that no expression names any more, for DynamoDB refuses them.
func keepUsed(write fields, name, expression string) {
	placeholders, _ := write[name].(fields)
	used := map[string]bool{}
	for _, word := range strings.FieldsFunc(expression, func(r rune) bool { return strings.ContainsRune(" ,()=+-", r) }) {
		used[word] = true
	}
	for p := range placeholders {
		if !used[p] {
			delete(placeholders, p)
		}
	}
	if len(placeholders) == 0 {
		delete(write, name)
	}
}

// withoutRows swallows the writes of log rows.
func withoutRows(operation string, in fields) bool {
	table, _ := in["TableName"].(string)
	if operation != "PutItem" || !strings.HasSuffix(table, "-items") {
		return false
	}
	key, _ := in["Item"].(fields)["_sk"].(fields)["S"].(string)
	return strings.HasPrefix(key, "step/")
}
