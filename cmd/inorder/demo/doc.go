// Package demo is `inorder demo`: it plays a day of shuffled, duplicated, lost and poisoned events to twelve workers that
// die now and then, and shows that the right state came out, how long what was lost was missing, what it took, and what
// simpler consumers make of the same day.
//
// The command is [Command]; cmd/inorder adds it to its grammar and calls Run(ctx, stdout, stderr), which returns the exit
// status: 0 everything is right, 1 something is not, which the report says. An error says that there is no result.
//
// Time is the queue's: it jumps to whatever happens next, and producer, consumers, sweeper and relay all go by it. So the
// deadlines and delays are those of a deployment, and a day takes seconds. What is computed takes at most a minute of it.
//
// Where things are: producer says what happens and what it means, queue is SQS, naive are the simpler consumers, report
// shows the end. Here is the run between them: wire (the network, which counts), life (how long an invocation has),
// worker, shop (the producer's outbox and its relay), stream (of the outbox's table), letters (the republish queue), post
// (what they send), sweeps (the sweeper's schedule), history (what was answered), verdict, copies and losses (is it
// right?), story (which entities are shown), and the command around it.
package demo
