// Package stack is the operator's connection to a deployment: which tables and queues it is made of, and clients to
// speak to them.
//
// A command embeds [Flags], and connects with what it cannot do without:
//
//	c, streams, err := cmd.Open(ctx, stack.EntitiesTable, stack.ItemsTable)
//	if err != nil {
//		return stack.ExitCode(err), err
//	}
//
// One that is about one entity embeds [Entity], too, and calls its Find.
//
// Names come from one place and are never mixed, so that a variable that was forgotten in the shell does not send half
// of a command to another deployment:
//
//   - with --stack NAME from the outputs of that CloudFormation stack, and from nowhere else;
//   - without it from the environment, by the variables that the functions have.
//
// The outputs are called like the variables, in CamelCase:
//
//	EntitiesTable       ENTITIES_TABLE
//	ItemsTable          ITEMS_TABLE
//	EventsQueueUrl      EVENTS_QUEUE_URL
//	DlqUrl              DLQ_URL
//	QuarantineQueueUrl  QUARANTINE_QUEUE_URL
//	RepublishQueueUrl   REPUBLISH_QUEUE_URL
//	EffectsQueueUrl     EFFECTS_QUEUE_URL
//	ConsumerLogGroup    CONSUMER_LOG_GROUP
//	GapDeadline         GAP_DEADLINE
//	ParkTtl             PARK_TTL
//	Effects             EFFECTS
//
// --endpoint URL is one address for every service, as LocalStack has. Requests for a queue go there too, whatever host
// its URL names: version 2 of the AWS SDK for Go sends the URL as a parameter and never takes it for an address.
//
// Every client is bounded by [TryTimeout] for one try of a request. A context with Ctrl-C in it ends all of them.
package stack
