// Package functions is what the Lambda functions and the terminal share: the handler of an SQS batch, quarantine,
// effects, metrics, log lines and the settings from the environment.
//
// What the handler guarantees, cited by number in its tests:
//
//  1. One message cannot hurt another: a parse error, a panic or a throttled entity affects its own message only.
//  2. A message is acked only after what its dispositions promise is durable, the quarantine copy included.
//  3. An error that is not understood is `deferred`, never acked and never quarantined.
//  4. The answer's list is never null, and holds only ids that were received, each once.
//  5. On a FIFO source nothing of a message group is attempted after its first failure; other groups go on.
//  6. events_consumed_total is the sum of the eight dispositions, per invocation.
//  7. Metrics are flushed before the handler returns, also after a panic and after running out of time.
package functions
