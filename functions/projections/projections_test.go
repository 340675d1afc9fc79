package projections_test

import (
	"errors"
	"maps"
	"testing"

	"inorder/events"
	"inorder/functions/projections"
	"inorder/ordering"
)

// A worked example: an order moves through its stages, and only the step to "paid" tells anyone. What built-in rules
// cannot do here is to look at the state: an order that is cancelled takes no payment.
func orderStage(state map[string]any, e *events.Event) (next map[string]any, effects []any, err error) {
	stage, ok := e.Data()["stage"].(string)
	if !ok {
		return nil, nil, errors.New("stage is missing or no string") // blocks the order until someone looks
	}
	if state["stage"] == "cancelled" {
		return state, nil, nil // nothing follows a cancellation
	}
	next = maps.Clone(state)
	if next == nil {
		next = map[string]any{}
	}
	next["stage"] = stage
	if stage == "paid" {
		effects = append(effects, map[string]any{"order": e.EntityID, "amount": e.Data()["amount"]})
	}
	return next, effects, nil
}

func init() { projections.Register("order-stage", orderStage) }

// A projection needs no table and no queue to be tested.
func TestOrderStage(t *testing.T) {
	var state map[string]any
	var sent []any
	for _, data := range []map[string]any{
		{"stage": "placed"},
		{"stage": "paid", "amount": events.Number("19.90")},
		{"stage": "cancelled"},
		{"stage": "paid", "amount": events.Number("19.90")},
	} {
		next, effects, err := projections.All()["order-stage"](state, &events.Event{EntityID: "o1", Content: events.ObjectOf(data)})
		if err != nil {
			t.Fatal(err)
		}
		state, sent = next, append(sent, effects...)
	}
	if state["stage"] != "cancelled" || len(sent) != 1 {
		t.Errorf("state %v, effects %v", state, sent)
	}
	if _, _, err := orderStage(state, &events.Event{}); err == nil {
		t.Error("an event without a stage was taken")
	}
}

func TestRegisterRefusesMistakes(t *testing.T) {
	refused := func(name string, p ordering.Projector) (refused bool) {
		defer func() { refused = recover() != nil }()
		projections.Register(name, p)
		return false
	}
	if !refused("order-stage", orderStage) || !refused(" ", orderStage) || !refused("none", nil) {
		t.Error("a name taken, a blank name or no function was registered")
	}
	projections.All()["changed"] = orderStage
	if _, ok := projections.All()["changed"]; ok {
		t.Error("All hands out the registry itself")
	}
}
