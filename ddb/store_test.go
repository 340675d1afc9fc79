package ddb_test

import (
	"context"
	"crypto/rand"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ddb"
	"inorder/ddb/local"
	"inorder/ordering"
	"inorder/ordering/storetest"
)

// engineNeeds names what of an engine each test of the suite needs beyond what every engine has: a finding of the probe
// or of quirks below. Nothing of it may be lacking on dynoxide.
var engineNeeds = map[string][]local.Name{
	"MergeCreates":                     {besideParent},
	"MergeRespectsTheFloor":            {besideParent},
	"MergeRespectsAWholeClock":         {besideParent},
	"MergeOfSourcesKeepsTombs":         {removes},
	"MergeTakesMaxParts":               {besideParent},
	"MergeForgetsTheOldLastEvent":      {removes},
	"AddCreatesAndAdds":                {removes},
	"CatchUpMakesAttemptsStartAgain":   {removes},
	"AddIsExact":                       {local.ExactAdd, local.ExactIntegers, local.ExactSets, local.Exponents},
	"AddOutOfRangeWritesNothing":       {local.NumberRange},
	"AddMarkedOutOfRangeWritesNothing": {local.NumberRange},
	"CatchUpPassesNumbers":             {local.SetUpdates},
	"DropRowsGoWithTheSwap":            {local.TransactDelete},
	"DropRowsLosesToARow":              {local.TransactDelete},
	"DropRowsLosesToTheEntityFirst":    {local.TransactDelete},
	"DropRowsTakesMaxDropRows":         {local.TransactDelete},
	"EntitiesComeBackAsTheyWent":       {emptyNested},
	"EntitiesComeInTheOrderOfKeys":     {local.BatchGet},
	"MarkedAreThoseWithAGap":           {local.SparseIndex},
	"MarkedComeOldestFirst":            {local.SparseIndex},
	"MarkedGoRound":                    {local.SparseIndex},
	"MarkedLeaveWithoutAGap":           {local.SparseIndex},
	"ParallelAddsAllCount":             {local.ContainsMissing, isolated},
	"ParallelAuditsHaveOneWinner":      {isolated},
	"ParallelDropsHaveOneWinner":       {local.TransactDelete, isolated},
	"ParallelMarkersHaveOneWinner":     {isolated},
	"ParallelRowsHaveOneWinner":        {isolated},
	"ParallelSwapsHaveOneWinner":       {isolated},
	"TooLargeWritesNothing":            {local.ItemLimit},
	"TooLargeByMergeWritesNothing":     {local.ItemLimit},
	"TooLargeRow":                      {local.ItemLimit},
	"TooLargeWithMarkersWritesNothing": {local.ItemLimit},
}

// What minidyn or moto lacks beyond what the probe looks for.
const (
	removes      local.Name = "REMOVE removes an attribute"
	besideParent local.Name = "an attribute a.b can stand beside an attribute a"
	emptyNested  local.Name = "empty lists and maps come back as such"
	isolated     local.Name = "requests in parallel do not see each other's half"
)

// quirks adds what this engine does of these to what the probe found.
func quirks(t *testing.T, store *ddb.Store) []local.Finding {
	t.Helper()
	client := store.API.(*dynamodb.Client)
	key := map[string]types.AttributeValue{"_pk": &types.AttributeValueMemberS{Value: "quirks"}}
	item := maps.Clone(key)
	item["a"] = &types.AttributeValueMemberS{Value: "x"}
	item["list"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &store.Tables.Entities, Item: item}); err != nil {
		t.Fatal(err)
	}
	update := func(expression, name string, values map[string]types.AttributeValue) map[string]types.AttributeValue {
		out, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: &store.Tables.Entities, Key: key, UpdateExpression: &expression,
			ExpressionAttributeNames: map[string]string{"#n": name}, ExpressionAttributeValues: values,
			ReturnValues: types.ReturnValueAllNew,
		})
		if err != nil {
			return nil
		}
		return out.Attributes
	}
	beside := update("SET #n = :v", "a.b", map[string]types.AttributeValue{":v": item["a"]})
	removed := update("REMOVE #n", "a", nil)
	list, isList := removed["list"].(*types.AttributeValueMemberL)
	return []local.Finding{
		{Name: besideParent, OK: beside["a.b"] != nil && beside["a"] != nil, Says: "it does not"},
		{Name: removes, OK: len(removed) > 0 && removed["a"] == nil, Says: "it does not"},
		{Name: emptyNested, OK: isList && len(list.Value) == 0, Says: "they do not"},
	}
}

func TestStoreOnDynoxide(t *testing.T) { testStore(t, local.Dynoxide) }

func TestStoreOnMinidyn(t *testing.T) { testStore(t, local.Minidyn) }

func TestStoreOnMoto(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it answers slowly, and one request after the other")
	}
	testStore(t, local.Moto)
}

// An engine that runs somewhere, LocalStack's or AWS's own for one: INORDER_ENGINE=http://127.0.0.1:4566.
func TestStoreOnTheOneThatRuns(t *testing.T) {
	named := os.Getenv(local.EngineVariable)
	if !strings.HasPrefix(named, "http://") {
		t.Skip("INORDER_ENGINE holds no URL")
	}
	testStore(t, named)
}

func testStore(t *testing.T, name string) {
	engine := local.ForTest(t, name)
	found, err := engine.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	store := newStore(t, engine, ddb.ClientOptions{})
	found.All = append(found.All, quirks(t, store)...)
	// Nothing shows it each time: of eight transactions at once on one marker now and then two succeed there.
	found.All = append(found.All, local.Finding{Name: isolated, OK: name != local.Moto, Says: "moto does not keep them apart"})
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
	storetest.Run(t, func(*testing.T) ordering.Upkeep { return store }, storetest.Options{Lacks: lacks})
	for _, test := range slices.Sorted(maps.Keys(lacks)) {
		t.Logf("%s %s: skipped %s: %s", engine.Name, engine.Version, test, lacks[test])
	}
	t.Logf("proof: %s %s: %d store tests run, %d skipped by name", engine.Name, engine.Version, len(storetest.Names())-len(lacks), len(lacks))
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

// patience is how long a try on an engine may take: a busy machine is no lost answer, after which a try more would be made.
const patience = time.Minute

// newStore returns a store on tables of its own.
func newStore(t *testing.T, engine *local.Engine, o ddb.ClientOptions) *ddb.Store {
	t.Helper()
	o.TryTimeout = patience
	client := ddb.NewClient(engine.Config(), o)
	tables := ddb.Tables{Entities: "entities", Items: "items"}
	if engine.Name == engine.Endpoint { // its tables outlive the test
		tables = ddb.Tables{Entities: "entities-" + rand.Text(), Items: "items-" + rand.Text()}
	}
	if err := ddb.CreateTables(context.WithoutCancel(t.Context()), client, tables); err != nil {
		t.Fatal(err)
	}
	return &ddb.Store{API: client, Tables: tables}
}
