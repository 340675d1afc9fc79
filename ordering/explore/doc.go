// Package explore visits every state that a few messages can reach in the hands of consumers, sweepers and operators that
// run at once: each of their requests in any order, each of them killed before any request, answers lost after a write,
// caches that are old, messages that come again, time that passes. It is the real code that decides, ordering.Loop and
// ordering.Keeper; nothing of it is modelled.
//
// That it takes microseconds and not milliseconds to a state rests on one observation: an invocation is a function of what
// it begins with and of the answers it hears. So each of its histories runs once and is remembered (histories_test.go); and
// what a request does to a store is remembered, too (contents_test.go). A state is then a few small numbers, and a step from
// one to the next is looking up what is known.
//
// What is not the same and makes no difference is left out of a state, so that there are fewer: revisions, of which only
// matters whether the one that somebody holds is still the store's; tokens, which only who wrote them looks at; and which of
// two instances is which.
//
//	go test ./ordering/explore -args -states 100000                           the nearest states of each situation
//	go test ./ordering/explore -args -situation 'step, any batch' -states 0   all states of one
package explore
