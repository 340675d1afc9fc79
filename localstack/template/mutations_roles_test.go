package template

const (
	consumerRole = "Resources/ConsumerRole/Properties/"
	consumerMay  = consumerRole + "Policies/0/PolicyDocument/Statement/"
	sweeperMay   = "Resources/SweeperRole/Properties/Policies/0/PolicyDocument/Statement/"
	relayMay     = "Resources/RelayRole/Properties/Policies/0/PolicyDocument/Statement/"
	peopleMay    = "/Properties/PolicyDocument/Statement/"
)

var mutationsOfRoles = []mutation{
	{"roles", "a role of SAM's", consumer + "Role", nil, "managed policies of ConsumerFunctionRole is ["},
	{"roles", "another's role", relay + "Role", itsARN("ConsumerRole"), "[ConsumerFunction RelayFunction] share ConsumerRole"},
	{"roles", "a managed policy", consumerRole + "ManagedPolicyArns", texts("arn:aws:iam::aws:policy/AmazonDynamoDBFullAccess"), "managed policies of ConsumerRole"},
	{"roles", "two services", consumerRole + "AssumeRolePolicyDocument/Statement/0/Principal/Service", texts("lambda.amazonaws.com", "ec2.amazonaws.com"), "ConsumerRole trusts"},
	{"roles", "an account", "Resources/WebhookRole/Properties/AssumeRolePolicyDocument/Statement/0/Principal", map[string]any{"AWS": "*"}, "WebhookRole trusts"},
	{"roles", "any action", consumerMay + "Items/Action", "dynamodb:*", "allows dynamodb:*"},
	{"roles", "some actions", consumerMay + "Items/Action/0", "dynamodb:Get*", "allows dynamodb:Get*"},
	{"roles", "any resource", consumerMay + "Send/Resource", "*", "allows [sqs:SendMessage] on *"},
	{"roles", "any of some resources", sweeperMay + "Items/Resource", sub("arn:aws:dynamodb:${AWS::Region}:${AWS::AccountId}:table/*"), "table/*"},
	{"roles", "all but some", relayMay + "Outbox/Action", renamed("NotAction"), "is not of the plain kind"},
	{"roles", "traces and more", relayMay + "Traces/Action/0", "s3:GetObject", "on *"},
	{"roles", "without bounds", "Resources/SweeperRole/Properties/PermissionsBoundary", nil, "the boundary of SweeperRole"},
	{"roles", "people with everything", "Resources/OperatorReadPolicy" + peopleMay + "GapsAndItems/Resource", "*", "OperatorReadPolicy: GapsAndItems allows"},

	{"permissions", "an action less", consumerMay + "Items/Action/2", "dynamodb:GetItem", "the role of the consumer may not dynamodb:PutItem"},
	{"permissions", "an action more", consumerMay + "Entities/Action/2", "dynamodb:DeleteItem", "the role of the consumer may dynamodb:DeleteItem"},
	{"permissions", "the index less", sweeperMay + "Gaps", nil, "may not dynamodb:Query on arn:aws:dynamodb:eu-west-1:123456789012:table/inorder-entities/index/gaps"},
	{"permissions", "the index renamed", sweeperMay + "Gaps/Resource", sub("${EntitiesTable.Arn}/index/gap"), "index/gap, and never does"},
	{"permissions", "another table", relayMay + "Outbox/Resource", itsARN("ItemsTable"), "the role of the relay may not dynamodb:GetItem"},
	{"permissions", "a queue less", sweeperMay + "Send/Resource/1", nil, "may not sqs:SendMessage on arn:aws:sqs:eu-west-1:123456789012:inorder-republish"},
	{"permissions", "a queue more", consumerMay + "Send/Resource/0", itsARN("RepublishQueue"), "inorder-republish, and never does"},
	{"permissions", "messages that cannot be taken", consumerMay + "Events/Action/1", nil, "may not sqs:DeleteMessage"},
	{"permissions", "only the stack's own queue", consumerMay + "Events/Resource", sub("arn:aws:sqs:eu-west-1:123456789012:${Name}-events"), "may not sqs:ReceiveMessage on " + othersQueue},
	{"permissions", "a stream that cannot be read", relayMay + "Rows/Action/1", nil, "may not dynamodb:GetRecords"},
	{"permissions", "nobody told", relayMay + "Send/Resource/2", nil, "inorder-relay-failures, and has to"},
	{"permissions", "no log lines", sweeperMay + "Logs", nil, "may not logs:PutLogEvents"},
	{"permissions", "no traces", sweeperMay + "Traces", nil, "may not xray:PutTraceSegments on *"},
	{"permissions", "no key", relayMay + "7/Fn::If/1", ref("AWS::NoValue"), "may not kms:Decrypt"},
	{"permissions", "webhooks that fill quarantine", "Resources/WebhookRole/Properties/Policies/0/PolicyDocument/Statement/Send/Resource", itsARN("QuarantineQueue"), "the role of the webhooks may sqs:SendMessage"},

	{"people", "an action less", "Resources/OperatorReadPolicy" + peopleMay + "Entities/Action/2", nil, "the operator who reads may not dynamodb:Scan"},
	{"people", "who reads writes", "Resources/OperatorReadPolicy" + peopleMay + "Entities/Action/2", "dynamodb:PutItem", "the operator who reads may dynamodb:PutItem"},
	{"people", "another stack", "Resources/OperatorReadPolicy" + peopleMay + "Stack/Resource", sub("arn:aws:cloudformation:${AWS::Region}:${AWS::AccountId}:stack/other/1"), "may not cloudformation:DescribeStacks"},
	{"people", "a message that stays", "Resources/OperatorChangePolicy" + peopleMay + "Redrive/Action/1", nil, "the operator who changes may not sqs:DeleteMessage"},
	{"people", "twice", "Resources/OperatorChangePolicy" + peopleMay + "Items/Action/0", "dynamodb:UpdateItem", "twice"},
	{"people", "an event that is not written", "Resources/ProducerPolicy" + peopleMay + "1/Fn::If/1/Action", texts("dynamodb:GetItem"), "the producer may not dynamodb:PutItem"},
	{"people", "a producer that deletes", "Resources/ProducerPolicy" + peopleMay + "1/Fn::If/1/Action/0", "dynamodb:DeleteItem", "the producer may dynamodb:DeleteItem"},
	{"people", "requests that nobody takes", "Resources/ProducerPolicy" + peopleMay + "1/Fn::If/2/Action", texts("sqs:ReceiveMessage"), "the producer may not sqs:DeleteMessage"},
}

var mutationsOfReferences = []mutation{
	{"references", "a name that there is not", consumer + "Environment/Variables/ITEMS_TABLE", ref("ItemTable"), "ItemTable is referred to"},
	{"references", "in a branch that is not taken", "Outputs/EventsQueueArn/Value/Fn::If/2", ref("EventsQueueArns"), "EventsQueueArns is referred to"},
	{"references", "in a text", "Resources/SweeperRole/Properties/Policies/0/PolicyDocument/Statement/Gaps/Resource", sub("${Entities.Arn}/index/gaps"), "Entities is referred to"},
	{"references", "what is not always there", consumerMay + "Items/Resource", itsARN("OutboxTable"), "OutboxTable, which is not there under these parameters"},
	{"references", "an output of what is not always there", "Outputs/OutboxTable/Condition", nil, "OutboxTable, which is not there under these parameters"},
	{"references", "a dead-letter queue that is not always there", "Resources/EffectsQueue/Properties/RedrivePolicy", map[string]any{"deadLetterTargetArn": itsARN("EffectsDlq"), "maxReceiveCount": 5}, "EffectsDlq, which is not there"},
	{"references", "a condition renamed", "Conditions/HasKey", renamed("HasAKey"), "no condition HasKey"},
	{"references", "an attribute that nothing has", "Outputs/EffectsQueueArn/Value", map[string]any{"Fn::GetAtt": texts("EffectsQueue", "ARN")}, "ARN of EffectsQueue"},
	{"references", "a switch that these tests do not know", "Conditions/IsLarge", map[string]any{"Fn::Equals": []any{ref("MemorySize"), "10240"}}, "the condition IsLarge is never both"},
	{"references", "a default that is not allowed", "Parameters/MarkDelay/Default", "16m", "does not match"},

	{"cycles", "each waits for the other", "Resources/EventsDlq/Properties/RedriveAllowPolicy/sourceQueueArns/0", itsARN("EventsQueue"), "EventsQueue -> EventsDlq -> EventsQueue"},
	{"cycles", "by an order that was asked for", "Resources/EffectsDlq/DependsOn", "EffectsQueue", "EffectsQueue -> EffectsDlq -> EffectsQueue"},
	{"cycles", "by a text", "Resources/ConsumerRole/Properties/Description", sub("of ${ConsumerFunction}"), "ConsumerFunction -> ConsumerRole -> ConsumerFunction"},
}
