package backend

import "encoding/json"

// Cost is what a request of DynamoDB costs: items put, updated, deleted or checked, whether or not their conditions hold,
// and keys got and queries.
func Cost(operation string, body []byte) (writes, reads int64) {
	switch operation {
	case "PutItem", "UpdateItem", "DeleteItem":
		return 1, 0
	case "GetItem", "Query", "Scan":
		return 0, 1
	case "TransactWriteItems":
		return ItemsIn(body).Actions(), 0
	case "BatchWriteItem":
		return ItemsIn(body).Requests(), 0
	case "TransactGetItems":
		return 0, ItemsIn(body).Actions()
	case "BatchGetItem":
		return 0, ItemsIn(body).Requests()
	}
	return 0, 0
}

// ManyItems is what the requests that concern several items have in common.
type ManyItems struct {
	TransactItems []json.RawMessage
	RequestItems  map[string]json.RawMessage
}

// ItemsIn reads the body of a request.
func ItemsIn(body []byte) (m ManyItems) {
	_ = json.Unmarshal(body, &m) // the SDK wrote it
	return m
}

// Actions counts those of a transaction.
func (m ManyItems) Actions() int64 { return int64(len(m.TransactItems)) }

// Requests counts what stands per table: a list of writes, or the keys of a batch of reads.
func (m ManyItems) Requests() (n int64) {
	for _, perTable := range m.RequestItems {
		var writes []json.RawMessage
		var reads struct{ Keys []json.RawMessage }
		if json.Unmarshal(perTable, &writes) == nil {
			n += int64(len(writes))
		} else if json.Unmarshal(perTable, &reads) == nil {
			n += int64(len(reads.Keys))
		}
	}
	return n
}
