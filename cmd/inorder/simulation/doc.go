// Package simulation lets everything happen to the whole product at once: its tests play lives, in which consumers, a
// sweeper, a relay, a producer and an operator, all of them the real code, work side by side while requests get lost, are
// throttled, or take effect after nobody waits for them any more, invocations die between two requests, clocks jump and
// messages are lost, copied and delivered late.
//
// One seed decides all of a life: what the producer says, who is next with which request, and what goes wrong. After each
// life the ten properties of the design are checked against what the producer meant, which nothing of the code under
// test has a say in. A seed that fails is made smaller until nothing can be left out, and prints its command:
//
//	go test ./cmd/inorder/simulation -args -seeds 2000      the lives of the seeds 1 to 2000
//	go test ./cmd/inorder/simulation -args -seed 17 -trace  one of them, and what happens in it
//	... -seed 17 -only e1,e1.m2,f4                          of that life these elements only
//
// Seven lives in eight keep their tables in memory; the others on an engine, with the real store and outbox over HTTP.
//
// A life plays in a bubble of testing/synctest, where time is its own: an invocation really runs out of its thirty
// seconds, a client really gives up after two, and ten virtual hours take some milliseconds. And the bubble knows when
// everybody waits: so a scheduler can let one request after the other have its turn, in the order that the seed decides.
//
// Seeds are not drawn through rapid, which makes a failing test smaller by cutting the list of numbers that it drew: every
// number that is left out gives another meaning to all behind it. Here a life is a set of elements with names, which
// mean the same whoever else is there, and those are left out. That takes seconds, and what is left can be named in a
// command.
package simulation
