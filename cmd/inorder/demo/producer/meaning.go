package producer

import (
	"encoding/json"
	"maps"
	"math/big"
	"strings"
)

// Apply is what an event means for the state that it meets: in the producer's order, each once, it gives what an
// entity should end with; in any other order it gives what a consumer without any care ends with. A nil state is one
// that does not exist. The state passed in stays as it is.
func (e *Event) Apply(state map[string]any) map[string]any {
	next := maps.Clone(state)
	if next == nil {
		next = map[string]any{}
	}
	switch e.Type {
	case "SubscriptionDeleted":
		return nil
	case "PlanChanged":
		return maps.Clone(e.Data)
	case "EntryPosted":
		next["balance"] = add(next["balance"], e.Data["amount"])
		next["currency"], next["last_entry"] = e.Data["currency"], e.Data["entry"]
	case "WalletMoved":
		next["balance"] = add(next["balance"], e.Data["amount"])
		next["last_reason"] = e.Data["reason"]
	case "SeatsAdded":
		next["seats"] = add(next["seats"], e.Data["delta"])
	case "EntryViewed":
	default: // a webhook: what it says, attribute by attribute
		maps.Copy(next, e.Data)
	}
	return next
}

// add is exact: decimal texts in, decimal text out. A missing sum is zero.
func add(sum, amount any) json.Number {
	total := new(big.Rat).Add(rat(sum), rat(amount))
	text := total.FloatString(2)
	return json.Number(strings.TrimSuffix(strings.TrimRight(text, "0"), "."))
}

func rat(v any) *big.Rat {
	r := new(big.Rat)
	switch v := v.(type) {
	case json.Number:
		r.SetString(string(v))
	case string:
		r.SetString(v)
	}
	return r
}
