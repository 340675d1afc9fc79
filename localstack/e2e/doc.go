// Package e2e deploys template.yaml with the SAM CLI to a local cloud, and drives it as producers, operators and support
// would: through the real queues, with the built `inorder`, and by what the functions log. It holds tests only.
//
//	make cloud-test
//	INORDER_CLOUD=host go test ./localstack/e2e -v -run TestShuffled -args -seed 7
//
// What they prove, cited by number:
//
//	E1. Whatever is lost on the way, in the middle or at the end, is asked for by the schedule, sent again by the relay and
//	    applied. Nobody calls anything by hand.
//	E2. In any order and any number of copies the entities end as the producer meant; what can never succeed is in
//	    quarantine, byte for byte and with its reason; each step tells the effects queue once, in order.
//	E3. What waits for people can be sent back, and is applied as soon as nothing stands in its way.
//	E4. The operator's commands find the deployment by its stack's name alone, and do what they say.
//	E5. A deployment of other code in the middle of traffic loses nothing, and the log says which code runs.
//	E6. Functions that are killed in the middle lose nothing.
//	E7. Topics, buckets and webhooks reach the queue, and what they send is applied.
//	E8. With a FIFO queue the order of each group is kept, over poison, failures and copies.
//	E9. In the end all queues are empty but quarantine, which holds what was meant to go there; the metric lines add up to
//	    what was sent; no line holds any event's data, and no error that was not meant.
//
// One cloud and one standard stack serve all tests, which run side by side with entities of their own; a second stack
// has the FIFO queue. What an entity must be in the end is told by a model of the producer's list, here, and not by the
// code that is tested; it is read with the SDK, and not by this project's own reader.
package e2e
