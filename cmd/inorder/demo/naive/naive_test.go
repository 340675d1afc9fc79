package naive

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"inorder/cmd/inorder/demo/producer"
)

func plan(workers int, dies bool) Plan {
	return Plan{Workers: workers, Doom: func(rng *rand.Rand) int {
		if dies && rng.IntN(20) == 0 {
			return 1 + rng.IntN(6)
		}
		return 0
	}}
}

// A seed fixes how the naive ways end, so that the report's comparison can be repeated.
func TestSeedFixesTheEnd(t *testing.T) {
	day := producer.Generate(2, 500)
	if a, b := Run(day, plan(12, true)), Run(day, plan(12, true)); !reflect.DeepEqual(a, b) {
		t.Errorf("two runs differ:\n%+v\n%+v", a, b)
	}
}

// Where nothing is lost, shuffled, copied or crashed over and one worker is alone, every way is right: it is the disorder
// that they get wrong, not the arithmetic.
func TestInOrderAllAreRight(t *testing.T) {
	day := producer.Generate(3, 800)
	var inOrder []*producer.Arrival
	for _, e := range day.Events {
		inOrder = append(inOrder, &producer.Arrival{At: e.At, Message: &producer.Message{ID: e.ID, Event: e}})
	}
	day.Arrivals = inOrder
	for _, r := range Run(day, plan(1, false)) {
		if r.WrongEntities != 0 || r.WrongNotices != 0 || r.DeadLetter != 0 {
			t.Errorf("%s: %d entities and %d notices wrong, for example %s", r.Name, r.WrongEntities, r.WrongNotices, r.Example)
		}
	}
}

// On a real day each way is wrong somewhere, and costs what its pattern says: one write for each message; a read for
// each and at most one write; two writes for the key and one for the state.
func TestDisorderIsTooMuchForThem(t *testing.T) {
	day := producer.Generate(1, 2000)
	messages := len(day.Arrivals) - day.Poison
	results := Run(day, plan(12, false))
	for _, r := range results {
		if r.WrongEntities == 0 || r.WrongNotices == 0 || r.Example == "" {
			t.Errorf("%s got everything right, which no one should expect of it", r.Name)
		}
		if r.Requests != r.WriteUnits+r.ReadUnits {
			t.Errorf("%s: %d requests, %d units", r.Name, r.Requests, r.WriteUnits+r.ReadUnits)
		}
	}
	if got := results[0]; got.WriteUnits != messages || got.ReadUnits != 0 {
		t.Errorf("last write wins: %d writes, %d reads for %d messages", got.WriteUnits, got.ReadUnits, messages)
	}
	if got := results[1]; got.ReadUnits != messages || got.WriteUnits >= messages {
		t.Errorf("read, compare, write: %d writes, %d reads for %d messages", got.WriteUnits, got.ReadUnits, messages)
	}
	if got := results[2]; got.WriteUnits < 3*(len(day.Events)-day.Lost)+day.Copies {
		t.Errorf("idempotency keys: %d writes for %d events, %d of them lost, and %d copies", got.WriteUnits, len(day.Events), day.Lost, day.Copies)
	}
}

// The count of one unit for a write rests on small items.
func TestItemsAreSmall(t *testing.T) {
	for _, m := range producer.Generate(1, 2000).Meant {
		if b, _ := json.Marshal(m.State); len(b) > 900 {
			t.Errorf("%s %s has %d bytes", m.Stream, m.Entity, len(b))
		}
	}
}
