package scenario

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"inorder/ddb/local"
)

// forgetful leaves something out of every request of one operation.
type forgetful struct{ operation string }

func (f forgetful) RoundTrip(request *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(request.Header.Get("X-Amz-Target"), "."+f.operation) {
		return local.Transport().RoundTrip(request)
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	f.without(members)
	if body, err = json.Marshal(members); err != nil {
		return nil, err
	}
	next := request.Clone(request.Context())
	next.Body, next.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return local.Transport().RoundTrip(next)
}

// without takes the condition out, with the names and values that only it uses: engines refuse those that nobody uses.
func (f forgetful) without(members map[string]json.RawMessage) {
	delete(members, "ConditionExpression")
	update := string(members["UpdateExpression"])
	for _, table := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
		var entries map[string]json.RawMessage
		if json.Unmarshal(members[table], &entries) != nil {
			continue
		}
		for name := range entries {
			if !uses(update, name) {
				delete(entries, name)
			}
		}
		delete(members, table)
		if len(entries) > 0 {
			members[table], _ = json.Marshal(entries)
		}
	}
}

func uses(expression, name string) bool {
	for _, word := range strings.FieldsFunc(expression, func(r rune) bool { return strings.ContainsRune(` ,()=<>+-"`, r) }) {
		if word == name {
			return true
		}
	}
	return false
}

// A player that lets everything pass proves nothing: without the conditions of its writes the product is wrong, and
// the scenarios have to say so.
func TestScenariosNoticeAWriteWithoutItsCondition(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder, "seeds", "s*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, local.Dynoxide)
	for operation, atLeast := range map[string]int{"PutItem": 5, "UpdateItem": 1} {
		player := &Player{Backend: b, Parallel: b.Parallel(), Seed: 1, Cold: true, engine: forgetful{operation: operation}}
		failed := 0
		for _, r := range player.Play(t.Context(), files) {
			if !r.OK {
				failed++
			}
		}
		if t.Logf("without the condition of %s %d of %d files fail", operation, failed, len(files)); failed < atLeast {
			t.Errorf("%s without its condition: only %d files fail", operation, failed)
		}
	}
}
