// Package simulation lets everything happen to the whole product at once: its tests play lives, in which consumers, a
// sweeper, a relay, a producer and an operator, all of them the real code, work side by side while requests get lost, are
// throttled, or take effect after nobody waits for them any more, invocations die between two requests, clocks jump and
// messages are lost, copied and delivered late.
//
// One seed decides all of a life: what the producer says, who is next with which request, and what goes wrong. After each
// life the ten properties of the design are checked against what the producer meant, which nothing of the code under
// test has a say in. A seed that fails is made smaller until nothing can be left out, and prints its command:
//
//	go test ./cmd/inorder/simulation -args -seeds 2000     lives with the seeds 1 to 2000
//	go test ./cmd/inorder/simulation -args -seed 17 -trace one of them, and what happens in it
//	... -seed 17 -only e1,e1.m2,f4                         of that life these elements only
package simulation
