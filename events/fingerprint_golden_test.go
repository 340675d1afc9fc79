package events

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Tables hold fingerprints for years. An event must have the one that it had when it came first, or its copy would be
// taken for another event of the same id: a conflict. So how a body is read may change, and this file may not.
func TestBodiesKeepTheFingerprintsThatAreStored(t *testing.T) {
	c := mustParse(t, `
consumer: c
streams:
  - {name: rest, types: ["*"], mode: state, clock: entity, tombstone: ["gone.*"]}
  - {name: meter, types: ["com.example.*"], mode: state, clock: entity}
  - {name: object, types: ["Object*"], mode: state, clock: entity, order: {by: hex}}
`)
	datadriven.Walk(t, "testdata/fingerprints", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var said strings.Builder
			for _, decoded := range c.Decode(Message{Body: d.Input}, decodeNow) {
				if decoded.Event == nil {
					t.Fatalf("%s: %s", d.Pos, decoded.Refusal.Detail)
				}
				fmt.Fprintf(&said, "%s %s\n", decoded.Event.Fingerprint(), decoded.Event.Type)
			}
			return said.String()
		})
	})
}
