package backend

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"inorder/ddb"
	"inorder/events"
	"inorder/functions"
	"inorder/functions/projections"
)

// Parts are those of a consumer on this machine, as they are on Lambda, with this package's queues. Requests to
// the database go through rt; nil: straight to the engine.
func (b *Backend) Parts(streams *events.Config, tables ddb.Tables, rt http.RoundTripper, queues functions.Sender, now func() time.Time) functions.Parts {
	return functions.Parts{
		Streams:       streams,
		Projections:   projections.All(),
		Store:         b.Store(tables, rt),
		SQS:           queues,
		QuarantineURL: QuarantineURL,
		EffectsURL:    EffectsURL,
		Metrics:       io.Discard,
		Now:           now,
		NewToken:      newToken,
	}
}

// SweeperParts are those of a sweeper, and of what an operator does: a consumer's, with more of the same store.
func SweeperParts(p functions.Parts) functions.SweeperParts {
	return functions.SweeperParts{Parts: p, Upkeep: p.Store.(*ddb.Store), RepublishURL: RepublishURL}
}

// Tokens need be unique within the process only, for no table outlives it; so that a run can be repeated, they are
// numbered.
var tokens atomic.Int64

func newToken() string { return fmt.Sprintf("token-%d", tokens.Add(1)) }
