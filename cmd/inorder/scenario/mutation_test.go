package scenario

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"inorder/cmd/inorder/backend"
	"inorder/ddb/local"
)

// A mutant takes something out of the product's writes on their way to the engine.
type mutant struct {
	what string

	// spoil changes one write, alone or of a transaction: Put, Update, Delete. false leaves it out of its transaction,
	// or answers that all is well where it stands alone.
	spoil func(kind string, write map[string]any) (stays bool)

	scenarios string // a pattern of files that must notice, below the folder; empty: none
	overlaps  string // the same, of scripts that overlap
	atLeast   int    // how many files notice; 0: 1
}

// RoundTrip implements http.RoundTripper.
func (m mutant) RoundTrip(request *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	kind, alone := strings.CutSuffix(operation, "Item")
	if operation != "TransactWriteItems" && (!alone || kind == "Get") {
		return local.Transport().RoundTrip(request)
	}
	var body map[string]any
	decoder := json.NewDecoder(request.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		return nil, err
	}
	if alone && !m.spoil(kind, body) {
		return &http.Response{StatusCode: http.StatusOK, Request: request, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	}
	if !alone {
		m.spoilAll(body)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	next := request.Clone(request.Context())
	next.Body, next.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return local.Transport().RoundTrip(next)
}

func (m mutant) spoilAll(transaction map[string]any) {
	var left []any
	for _, action := range transaction["TransactItems"].([]any) {
		for kind, write := range action.(map[string]any) {
			if m.spoil(kind, write.(map[string]any)) {
				left = append(left, action)
			}
		}
	}
	transaction["TransactItems"] = left
}

// without takes the conditions of one kind of write away, with the names and values that only they use: engines refuse
// those that nobody uses.
func without(kinds string) func(string, map[string]any) bool {
	return func(kind string, write map[string]any) bool {
		if !strings.Contains(kinds, kind) {
			return true
		}
		delete(write, "ConditionExpression")
		update, _ := write["UpdateExpression"].(string)
		for _, table := range []string{"ExpressionAttributeNames", "ExpressionAttributeValues"} {
			entries, _ := write[table].(map[string]any)
			for name := range entries {
				if !uses(update, name) {
					delete(entries, name)
				}
			}
			if len(entries) == 0 {
				delete(write, table)
			}
		}
		return true
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

// forgetting leaves attributes out of every whole item that is put.
func forgetting(attributes ...string) func(string, map[string]any) bool {
	return func(kind string, write map[string]any) bool {
		if item, is := write["Item"].(map[string]any); is && kind == "Put" {
			for _, name := range attributes {
				delete(item, name)
			}
		}
		return true
	}
}

// never leaves out one kind of write to the items table.
func never(kind string) func(string, map[string]any) bool {
	return func(of string, write map[string]any) bool {
		table, _ := write["TableName"].(string)
		return of != kind || !strings.HasSuffix(table, "-items")
	}
}

var mutants = []mutant{
	{what: "no put has its condition", spoil: without("Put"), scenarios: "seeds/s*", atLeast: 5},
	{what: "no update has its condition", spoil: without("Update"), scenarios: "seeds/s*"},
	{what: "no put has its condition, and sweeps overlap", spoil: without("Put"), scenarios: "*/*overlap*", atLeast: 2},
	{what: "neither the entity nor the row that is given up has its condition", spoil: without("Put Delete"), overlaps: "a-row-*"},
	{what: "a row that is given up stays", spoil: never("Delete"), scenarios: "own/a-blocked-event-that-waits-*"},
	{what: "no row is given more time", spoil: never("Update"), scenarios: "*/*park*"},
	{what: "an entity is not in the index", spoil: forgetting("_gap_shard", "_gap_since"), scenarios: "seeds/gap-*", atLeast: 5},
	{what: "the attempt is not on record", spoil: forgetting("_escalations", "_escalate_at"), scenarios: "seeds/gap-*", atLeast: 3},
	{what: "the next attempt has no time", spoil: forgetting("_escalate_at"), scenarios: "seeds/gap-back-off-*"},
	{what: "the number of the attempt is forgotten", spoil: forgetting("_escalations"), scenarios: "seeds/gap-attempts-*"},
	{what: "what was skipped is forgotten", spoil: forgetting("_skipped"), scenarios: "seeds/*skip*", atLeast: 2},
	{what: "what was heard of is forgotten", spoil: forgetting("_max_seen"), scenarios: "seeds/mark-*", atLeast: 2},
	{what: "marks of sources are forgotten", spoil: forgetting("_mark.crm", "_mark.billing"), scenarios: "own/each-source-*"},
	{what: "what waits is forgotten", spoil: forgetting("_waiting"), scenarios: "seeds/gap-*", atLeast: 5},
	{what: "what blocks is forgotten", spoil: forgetting("_blocked"), scenarios: "seeds/step-projection-*"},
	{what: "what was sent is forgotten", spoil: forgetting("_dispatched"), scenarios: "*/effects*"},
	{what: "when the log needs a look is forgotten", spoil: forgetting("_park_look"), scenarios: "own/a-sweep-with-nothing-*"},
	{what: "how old the oldest is, is forgotten", spoil: forgetting("_park_since"), scenarios: "own/what-the-park-*"},
	{what: "the generation is forgotten", spoil: forgetting("_gen"), scenarios: "*/*generation*", atLeast: 3},
}

// A player that lets everything pass proves nothing: with something taken out of its writes the product is wrong, and the
// scenarios have to say so.
func TestScenariosNoticeWhatIsTakenOutOfAWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thing at a time, which the race detector has no need to see")
	}
	b := open(t, local.Dynoxide)
	for _, m := range mutants {
		t.Run(m.what, func(t *testing.T) {
			failed, of := m.noticed(t, b)
			if t.Logf("%d of %d files fail", failed, of); failed < m.enough() {
				t.Errorf("only %d of %d files fail", failed, of)
			}
		})
	}
}

func (m mutant) enough() int { return max(1, m.atLeast) }

// noticed counts the files that fail, and those that were played until there were enough.
func (m mutant) noticed(t *testing.T, b *backend.Backend) (failed, of int) {
	t.Helper()
	player := &Player{Backend: b, Parallel: b.Parallel(), Seed: 1, Cold: true, engine: m, atMost: onceMore}
	if m.scenarios != "" {
		for files := range slices.Chunk(glob(t, filepath.Join(folder, m.scenarios+".yaml")), player.Parallel) {
			if failed >= m.enough() {
				break
			}
			of += len(files)
			for _, r := range player.Play(t.Context(), files) {
				if !r.OK {
					failed++
				}
			}
		}
	}
	if m.overlaps == "" {
		return failed, of
	}
	for _, path := range glob(t, "testdata/overlap/"+m.overlaps+".yaml") {
		of++
		if m.noticedByOverlap(t, player, path) {
			failed++
		}
	}
	return failed, of
}

func (m mutant) noticedByOverlap(t *testing.T, player *Player, path string) bool {
	t.Helper()
	for seed := range uint64(4 * overlaps) {
		for _, s := range overlapping(t, path) {
			if failures, err := player.play(t.Context(), s, seed); err != nil || len(failures) > 0 {
				return true
			}
		}
	}
	return false
}
