// Package projections is where projections written in Go are registered by name. The consumer, the sweeper and the
// terminal import it, so that all of them judge events alike.
//
// To add a projection:
//
//  1. Add a file to this folder with a function of the type ordering.Projector. It gets the entity's state, which is empty
//     before its first event, and one event, and returns the next state and the effects, which go out in that order. It
//     must be pure: no clock, no random source, no network, no variable of the package, and the state it is given stays
//     as it is (maps.Clone makes a copy to change). Numbers in it are events.Number, text with every digit.
//  2. Register it in that file's init: Register("balance", balance).
//  3. Name it in events/streams.yaml, in a step stream: `projection: balance`. A name that nobody registered stops the
//     functions at start.
//  4. Test it. It needs no table and no queue: TestOrderStage in this folder is an example. `inorder run` plays your own
//     messages through it.
//
// An error, or a panic, blocks the entity at that event: the event waits with a copy in quarantine, later ones wait
// behind it, and other entities go on. So an error should say what to look at; refuse nothing that may be right later.
//
// A changed projection concerns later events only: what is stored stays as the older one left it.
package projections

import (
	"fmt"
	"maps"
	"strings"

	"inorder/ordering"
)

var registered = map[string]ordering.Projector{}

// Register makes a projection known by name. It is called by init functions; a name that is blank or taken, or a nil
// projection, is a programming error and panics.
func Register(name string, p ordering.Projector) {
	if strings.TrimSpace(name) == "" || p == nil {
		panic(fmt.Sprintf("projection %q: a name and a function are needed", name))
	}
	if _, taken := registered[name]; taken {
		panic(fmt.Sprintf("projection %q is registered twice", name))
	}
	registered[name] = p
}

// All returns the registered projections by name.
func All() map[string]ordering.Projector { return maps.Clone(registered) }
