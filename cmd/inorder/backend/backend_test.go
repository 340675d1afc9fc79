package backend

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/ordering"
)

func TestAChoiceThatCannotBeFollowedSaysWhatToDo(t *testing.T) {
	for _, row := range []struct {
		choice Choice
		want   string
	}{
		{Choice{}, ""},
		{Choice{Engine: local.Minidyn}, ""},
		{Choice{Endpoint: "http://127.0.0.1:8000"}, ""},
		{Choice{Engine: "postgres"}, "there are dynoxide and minidyn"},
		{Choice{Engine: local.Minidyn, Endpoint: "http://127.0.0.1:8000"}, "exclude each other"},
		{Choice{Endpoint: "127.0.0.1:8000"}, "begins with http://"},
		{Choice{Endpoint: "http://"}, "begins with http://"},
	} {
		err := row.choice.Validate()
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v, want %q", row.choice, err, row.want)
		}
	}
}

// A machine without dynoxide is told so, once, and gets minidyn.
func TestTheWeakerEngineIsNotTakenInSilence(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(local.EngineVariable, "")
	t.Setenv(local.BinaryVariable, "")
	t.Chdir(t.TempDir())
	var notes bytes.Buffer
	b, err := Open(t.Context(), Choice{}, &notes)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	if b.Name() != local.Minidyn || !strings.Contains(notes.String(), "dynoxide") || strings.Count(notes.String(), "\n") != 1 {
		t.Errorf("%s: %q", b.Name(), notes.String())
	}
}

// What TTL and a look at the tables need works on every engine, and on one at an address.
func TestTablesAreSeenAndExpireOnEveryEngine(t *testing.T) {
	for _, name := range []string{local.Dynoxide, local.Minidyn} {
		engine := local.ForTest(t, name)
		for _, choice := range []Choice{{Engine: name}, {Endpoint: engine.Endpoint}} {
			t.Run(name+choice.Endpoint, func(t *testing.T) { seeAndExpire(t, choice) })
		}
	}
}

func seeAndExpire(t *testing.T, choice Choice) {
	ctx := t.Context()
	b, err := Open(ctx, choice, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	tables, err := b.CreateTables(ctx, "see")
	if err != nil {
		t.Fatal(err)
	}
	store := b.Store(tables, nil)
	const many = 30
	for n := range many {
		id := strconv.Itoa(n)
		key := ordering.Key{Consumer: "c", Stream: "s", ID: id}
		next := &ordering.Entity{Exists: true, State: map[string]any{"pad": strings.Repeat("x", 60_000)}}
		next.Clock, next.Token = "1", id
		err := store.PutNewer(ctx, key, next, nil)                                                            // more than a page of a scan
		if lost, ok := errors.AsType[*ordering.LostError](err); err != nil && (!ok || lost.Now.Token != id) { // or its answer was
			t.Fatal(err)
		}
		row := ordering.Row{Seq: 1, EventID: id, Message: events.Message{Body: "{}"}, ExpiresAt: time.Unix(int64(1000+n), 0)}
		if err := store.PutRow(ctx, key, row); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := b.EntityKeys(ctx, tables)
	if slices.Sort(keys); err != nil || len(keys) != many || keys[0] != "c/s/0" {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	if err := b.Expire(ctx, tables, 1010); err != nil {
		t.Fatal(err)
	}
	left := 0
	for n := range many {
		rows, err := store.Rows(ctx, ordering.Key{Consumer: "c", Stream: "s", ID: strconv.Itoa(n)}, 0, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		left += len(rows)
	}
	if left != many-10 {
		t.Errorf("%d rows are left; what expires now has a moment to live", left)
	}
	if err := b.DropTables(ctx, tables); err != nil {
		t.Fatal(err)
	}
	if _, err := b.EntityKeys(ctx, tables); err == nil {
		t.Error("the tables are still there")
	}
}

// The demo and `inorder run` consume with what a function on Lambda has: nothing of it is chosen here.
func TestAConsumerIsThatOfLambda(t *testing.T) {
	b := &Backend{engine: &local.Engine{Endpoint: "http://127.0.0.1:1"}}
	p := b.Parts(&events.Config{}, ddb.Tables{}, nil, nil, time.Now)
	if p.Parallel != 0 || p.RowsAtOnce != 0 || p.Wait != nil || p.Observe != nil {
		t.Errorf("%+v", p)
	}
}
