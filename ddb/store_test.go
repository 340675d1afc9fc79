package ddb_test

import (
	"context"
	"slices"
	"testing"

	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/ordering"
	"inorder/ordering/storetest"
)

// engineNeeds names what of an engine each test of the suite needs beyond what every engine has. A test that is not
// here needs nothing special. Nothing of it may be lacking on dynoxide.
var engineNeeds = map[string][]local.Name{
	"AddCreatesAndAdds":                {local.ContainsMissing},
	"AddIsExact":                       {local.ExactAdd, local.ExactIntegers, local.ExactSets},
	"AddRefusesCountedNumbers":         {local.ContainsMissing},
	"AddRefusesTheCursorsNumbers":      {local.ContainsMissing},
	"AddRefusesOtherGenerations":       {local.ContainsMissing},
	"AddTakesMaxAddNumbers":            {local.ContainsMissing},
	"AddSetsTheGapOnce":                {local.ContainsMissing},
	"AddOutOfRangeWritesNothing":       {local.NumberRange},
	"AddMarkedOutOfRangeWritesNothing": {local.NumberRange},
	"CatchUpPassesNumbers":             {local.ContainsMissing},
	"CatchUpIsNotDisturbedByAdd":       {local.ContainsMissing},
	"CatchUpComparesTheCursor":         {local.ContainsMissing},
	"ParallelAddsAllCount":             {local.ContainsMissing},
	"NumbersComeBackExactly":           {local.ExactIntegers},
	"TooLargeWritesNothing":            {local.ItemLimit},
	"TooLargeByMergeWritesNothing":     {local.ItemLimit},
	"TooLargeRow":                      {local.ItemLimit},
	"TooLargeWithMarkersWritesNothing": {local.ItemLimit},
}

func TestStoreOnDynoxide(t *testing.T) { testStore(t, local.Dynoxide) }

func TestStoreOnMinidyn(t *testing.T) { testStore(t, local.Minidyn) }

func testStore(t *testing.T, name string) {
	engine := startEngine(t, name)
	found, err := engine.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lacks := make(map[string]string)
	for test, needs := range engineNeeds {
		if !slices.Contains(storetest.Names(), test) {
			t.Errorf("there is no test %q to skip", test)
		}
		if missing := found.Missing(needs...); missing != "" {
			lacks[test] = missing
		}
	}
	if name == local.Dynoxide && len(lacks) > 0 {
		t.Errorf("nothing may be lacking here: %v", lacks)
	}
	store := newStore(t, engine, ddb.ClientOptions{})
	storetest.Run(t, func(*testing.T) ordering.Store { return store }, storetest.Options{Lacks: lacks})
}

func startEngine(t *testing.T, name string) *local.Engine {
	t.Helper()
	engine, err := local.Start(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}

// newStore returns a store on tables of its own.
func newStore(t *testing.T, engine *local.Engine, o ddb.ClientOptions) *ddb.Store {
	t.Helper()
	client := ddb.NewClient(engine.Config(), o)
	tables := ddb.Tables{Entities: "entities", Items: "items"}
	if err := ddb.CreateTables(context.WithoutCancel(t.Context()), client, tables); err != nil {
		t.Fatal(err)
	}
	return &ddb.Store{API: client, Tables: tables}
}
