package template

const (
	eventsQueue  = "Resources/EventsQueue/"
	eventsPolicy = "Resources/EventsQueuePolicy/Properties/PolicyDocument/Statement/"
)

var mutationsOfQueues = []mutation{
	{"queues", "kept for four days", "Resources/QuarantineQueue/Properties/MessageRetentionPeriod", 345600, "the retention of QuarantineQueue is 345600"},
	{"queues", "kept for the default", "Resources/EffectsDlq/Properties/MessageRetentionPeriod", nil, "the retention of EffectsDlq"},
	{"queues", "short messages", "Resources/EventsDlq/Properties/MaximumMessageSize", 262144, "the longest message of EventsDlq"},
	{"queues", "not encrypted", "Resources/RepublishQueue/Properties/SqsManagedSseEnabled", false, "the encryption of RepublishQueue"},
	{"queues", "without the key", eventsQueue + "Properties/KmsMasterKeyId", nil, "the key of EventsQueue"},
	{"queues", "taken without TLS", "Resources/RelayFailuresQueuePolicy", nil, "being refused without TLS of RelayFailuresQueue"},
	{"queues", "the statement is gone", eventsPolicy + "TlsOnly", nil, "being refused without TLS of EventsQueue"},
	{"queues", "the statement is about another queue", "Resources/EventsDlqPolicy/Properties/PolicyDocument/Statement/TlsOnly/Resource", itsARN("EventsQueue"), "being refused without TLS of EventsDlq"},
	{"queues", "the statement is another queue's", "Resources/EffectsDlqPolicy/Properties/Queues", []any{ref("EffectsQueue")}, "being refused without TLS of EffectsDlq"},
	{"queues", "the statement says the reverse", "Resources/EffectsQueuePolicy/Properties/PolicyDocument/Statement/TlsOnly/Condition/Bool/aws:SecureTransport", "true", "being refused without TLS of EffectsQueue"},
	{"queues", "the statement forbids one action", "Resources/QuarantineQueuePolicy/Properties/PolicyDocument/Statement/TlsOnly/Action", "sqs:SendMessage", "being refused without TLS of QuarantineQueue"},
	{"queues", "gone with the stack", eventsQueue + "DeletionPolicy", nil, "DeletionPolicy of EventsQueue"},
	{"queues", "gone when replaced", "Resources/RepublishDlq/UpdateReplacePolicy", "Delete", "UpdateReplacePolicy of RepublishDlq"},
	{"queues", "a FIFO queue's name", eventsQueue + "Properties/QueueName", sub("${Name}-events"), "a FIFO queue's of EventsQueue"},
	{"queues", "always a standard queue", eventsQueue + "Properties/FifoQueue", nil, "the events queue is a FIFO queue"},

	{"senders", "anybody's topic", eventsPolicy + "1/Fn::If/1/Condition", nil, "who may send"},
	{"senders", "another parameter's", eventsPolicy + "3/Fn::If/1/Condition/ArnEquals/aws:SourceArn", ref("SenderTopicArn"), "who may send"},
	{"senders", "anybody's bucket of that name", eventsPolicy + "2/Fn::If/1/Condition/StringEquals", nil, "who may send"},
	{"senders", "everybody", eventsPolicy + "4/Fn::If/1/Principal", "*", "EventsQueuePolicy lets somebody in"},
	{"senders", "to do anything", eventsPolicy + "4/Fn::If/1/Action", "sqs:*", "EventsQueuePolicy lets somebody in"},
	{"senders", "always", eventsPolicy + "1/Fn::If/2", map[string]any{"Effect": "Allow", "Principal": map[string]any{"Service": "sns.amazonaws.com"}, "Action": "sqs:SendMessage", "Resource": itsARN("EventsQueue")}, "who may send"},
	{"senders", "to another queue", "Resources/QuarantineQueuePolicy/Properties/PolicyDocument/Statement/TlsOnly/Effect", "Allow", "QuarantineQueuePolicy lets somebody in"},

	{"visibility", "one too short", eventsQueue + "Properties/VisibilityTimeout", sub("${Timeout}"), "with a timeout of 30 s, EventsQueue hides a message for 30 s, want 240 s"},
	{"visibility", "a short timeout", "Parameters/Timeout/AllowedValues/0", 14, "with a timeout of 14 s, EventsQueue hides a message for 140 s, want 144 s"},
	{"visibility", "a long one", "Parameters/Timeout/AllowedValues/0", 5000, "EventsQueue hides a message for 50000 s"},
	{"visibility", "a longer window", "Parameters/BatchWindowSeconds/MaxValue", 300, "with a timeout of 15 s, EventsQueue"},
	{"visibility", "the default", "Resources/RepublishQueue/Properties/VisibilityTimeout", nil, "RepublishQueue hides a message for 0 s"},
	{"visibility", "a longer timeout", global + "Timeout", 900, "with a timeout of 15 s, EventsQueue hides a message for 150 s"},

	{"tries", "as many as SQS knows", "Parameters/ReceiveCount/MaxValue", 1000, "with a timeout of 300 s, 1000 tries of a message of EventsQueue take 3000000 s"},
	{"tries", "the same of effects", "Parameters/EffectsReceiveCount/MaxValue", 1000, "1000 tries of a message of EffectsQueue"},

	{"redrive", "another dead-letter queue", eventsQueue + "Properties/RedrivePolicy/deadLetterTargetArn", itsARN("QuarantineQueue"), "who may use QuarantineQueue is"},
	{"redrive", "none", eventsQueue + "Properties/RedrivePolicy", nil, "EventsQueue is taken by a function and has no dead-letter queue"},
	{"redrive", "one that there is not", eventsQueue + "Properties/RedrivePolicy/deadLetterTargetArn", sub("arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:elsewhere"), "elsewhere, which is not in the stack"},
	{"redrive", "the source's name", "Resources/RepublishDlq/Properties/RedriveAllowPolicy/sourceQueueArns/0", sub("arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${Name}-requests"), "who may use RepublishDlq is"},
	{"redrive", "the queue renamed and its DLQ not told", "Resources/EffectsQueue/Properties/QueueName", sub("${Name}-outcomes.fifo"), "who may use EffectsDlq is"},
	{"redrive", "for everybody", "Resources/EventsDlq/Properties/RedriveAllowPolicy/redrivePermission", "allowAll", "who may use EventsDlq is [allowAll"},
	{"redrive", "quarantine for everybody", "Resources/QuarantineQueue/Properties/RedriveAllowPolicy", nil, "who may use QuarantineQueue is <nil>"},
	{"redrive", "a standard queue for a FIFO one's", "Resources/EffectsDlq/Properties/FifoQueue", nil, "EffectsDlq is a FIFO queue like EffectsQueue is false"},
	{"redrive", "tried so often whatever was asked for", "Resources/RepublishQueue/Properties/RedrivePolicy/maxReceiveCount", 3, "how often a message of RepublishQueue is tried"},
	{"redrive", "effects always have one", "Conditions/EffectsMayFail", map[string]any{"Fn::Equals": texts("a", "a")}, "the effects queue has a dead-letter queue is true"},
}
