package ddb_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/events"
	"inorder/ordering"
)

// A scan, whole or in segments, finds every entity of the consumers that it is asked for, once, and no other's.
func TestAScanFindsAllOfAConsumerAndNothingElse(t *testing.T) {
	for _, engine := range []string{local.Dynoxide, local.Minidyn} {
		t.Run(engine, func(t *testing.T) { scanFindsAll(t, local.ForTest(t, engine)) })
	}
}

func scanFindsAll(t *testing.T, engine *local.Engine) {
	tables := ddb.Tables{Entities: "scan-entities", Items: "scan-items"}
	if err := ddb.CreateTables(t.Context(), engine.Client(), tables); err != nil {
		t.Fatal(err)
	}
	store := &ddb.Store{API: engine.Client(), Tables: tables}
	for _, consumer := range []string{"c", "c/d", "c%2Fd", "other"} {
		for i := range 30 {
			e := &ordering.Entity{Exists: true, Rev: 1, State: map[string]any{"n": events.Number(fmt.Sprint(i))}}
			if i < 10 {
				e.MaxSeen, e.Gap = 1, &ordering.Gap{Since: time.Unix(1, 0)}
			}
			key := ordering.Key{Consumer: consumer, Stream: "s", ID: fmt.Sprint(i), PerSource: true}
			if err := store.Swap(t.Context(), key, &ordering.Entity{}, e, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	scan := &ddb.Scan{API: engine.Client(), Table: tables.Entities}
	for _, segments := range []int{1, 3} {
		if segments > 1 && engine.Name == local.Minidyn {
			continue // it does not know segments, and reads everything each time
		}
		found := map[string]int{}
		for n := range segments {
			err := scan.Entities(t.Context(), ddb.Segment{Number: n, Of: segments}, []string{"c", "c/d"}, func(p ddb.Page) error {
				for _, one := range p.Entities {
					if one.Err != nil || string(one.Entity.State["n"].(events.Number)) != one.Key.ID || !one.Key.PerSource {
						t.Errorf("%+v", one)
					}
					found[one.Key.Consumer]++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if want := map[string]int{"c": 30, "c/d": 30}; !maps.Equal(found, want) {
			t.Errorf("%d segments: %v", segments, found)
		}
	}
	sample, err := scan.Sample(t.Context(), "c/d", 1000)
	marked := slices.DeleteFunc(slices.Clone(sample), func(p ddb.Presence) bool { return !p.Marked || p.Key.Consumer != "c/d" })
	if err != nil || len(sample) != 30 || len(marked) != 10 {
		t.Errorf("a sample of %d, %d of them marked: %v", len(sample), len(marked), err)
	}
}
