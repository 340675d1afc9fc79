package template

const (
	consumer = "Resources/ConsumerFunction/Properties/"
	sweeper  = "Resources/SweeperFunction/Properties/"
	relay    = "Resources/RelayFunction/Properties/"
	global   = "Globals/Function/"
)

var mutationsOfFunctions = []mutation{
	{"functions", "a function is renamed", "Resources/ConsumerFunction", renamed("ConsumerLambda"), "beside the Makefile's targets"},
	{"functions", "a function is called like no folder", relay + "FunctionName", sub("${Name}-relays"), "beside the folders"},
	{"functions", "a function less", "Resources/SweeperFunction", nil, "beside the folders"},
	{"functions", "a function more", "Resources/Another", map[string]any{
		"Type": "AWS::Serverless::Function", "Properties": map[string]any{"FunctionName": sub("${Name}-another"), "Role": itsARN("RelayRole")},
	}, "beside the folders"},
	{"functions", "SAM's own build", "Resources/SweeperFunction/Metadata/BuildMethod", "go1.x", "SweeperFunction is built"},
	{"functions", "another runtime", global + "Runtime", "provided.al2", "Runtime is"},
	{"functions", "another binary", global + "Handler", "main", "Handler is"},
	{"functions", "one architecture", global + "Architectures", texts("arm64"), "Architectures is"},
	{"functions", "another default", "Parameters/Architecture/Default", "x86_64", "default of Architecture"},
	{"functions", "no tracing", global + "Tracing", "PassThrough", "TracingConfig.Mode is"},
	{"functions", "variables without the key", global + "KmsKeyArn", nil, "KmsKeyArn is"},
	{"functions", "reserved concurrency", consumer + "ReservedConcurrentExecutions", 10, "ReservedConcurrentExecutions is 10"},

	{"logs", "a log group renamed", "Resources/RelayLogGroup/Properties/LogGroupName", sub("/aws/lambda/${Name}-relays"), "the log group of RelayFunction is /aws/lambda/inorder-relays"},
	{"logs", "another's log group", sweeper + "LoggingConfig/LogGroup", ref("ConsumerLogGroup"), "the log group of SweeperFunction is"},
	{"logs", "a log group of nobody", sweeper + "LoggingConfig/LogGroup", sub("/aws/lambda/${Name}"), "which is not in the stack"},
	{"logs", "a filter that drops metrics", consumer + "LoggingConfig/ApplicationLogLevel", "INFO", "Lambda's filter of ConsumerFunction is INFO"},
	{"logs", "log lines as text", consumer + "LoggingConfig/LogFormat", "Text", "the log lines of ConsumerFunction"},
	{"logs", "log lines for ever", "Resources/ConsumerLogGroup/Properties/RetentionInDays", nil, "forgets after"},
	{"logs", "log lines without the key", "Resources/ConsumerLogGroup/Properties/KmsKeyId", nil, "the key of ConsumerLogGroup"},

	{"variables", "a variable renamed", consumer + "Environment/Variables/PARK_TTL", renamed("PARKING_TTL"), "what the consumer has"},
	{"variables", "a variable less", sweeper + "Environment/Variables/REPUBLISH_QUEUE_URL", nil, "what the sweeper has"},
	{"variables", "a variable that nobody reads", relay + "Environment/Variables/EFFECTS", ref("Effects"), "what the relay has"},
	{"variables", "another consumer", relay + "Environment/Variables/CONSUMER", "billing", "CONSUMER of the relay is billing; the output or parameter Consumer is"},
	{"values", "a consumer that streams.yaml does not have", "Parameters/Consumer/Default", "billing", "the sweeper does not start: CONSUMER is \"billing\""},
	{"variables", "another table", consumer + "Environment/Variables/ITEMS_TABLE", ref("EntitiesTable"), "ITEMS_TABLE of the consumer is inorder-entities"},
	{"variables", "another parameter", consumer + "Environment/Variables/GAP_DEADLINE", ref("ParkTtl"), "GAP_DEADLINE of the consumer is 14d"},

	{"values", "a FIFO queue's place", consumer + "Environment/Variables/EFFECTS_QUEUE_URL", ref("QuarantineQueue"), "must be a FIFO queue"},
	{"values", "an ARN for a URL", relay + "Environment/Variables/EVENTS_QUEUE_URL", itsARN("EventsQueue"), "is not the URL of a queue"},
	{"values", "a word that nobody knows", sweeper + "Environment/Variables/EFFECTS", "maybe", "EFFECTS must be one of"},
	{"values", "no such duration", "Parameters/MarkDelay/Default", "16m", "must be at most 15m"},

	{"durations", "a longer delay than SQS has", "Parameters/MarkDelay/AllowedPattern", "0|[0-9]{1,3}s|[0-9]{1,2}m", "MarkDelay may be"},
	{"durations", "a unit that nobody knows", "Parameters/OutboxTtl/AllowedPattern", "[1-9][0-9]{0,2}(d|w)", "OutboxTtl may be"},
	{"durations", "anything", "Parameters/GapDeadline/AllowedPattern", ".*", "GapDeadline may be"},
	{"durations", "no pattern", "Parameters/ParkTtl/AllowedPattern", nil, "ParkTtl has no pattern"},

	{"defaults", "another gap deadline", "Parameters/GapDeadline/Default", "10m", "the default of GapDeadline is 10m, the code's is 5m0s"},
	{"defaults", "another park TTL", "Parameters/ParkTtl/Default", "7d", "the default of ParkTtl is 7d"},
	{"defaults", "another mark delay", "Parameters/MarkDelay/Default", "1m", "the default of MarkDelay is 1m"},
	{"defaults", "another outbox TTL", "Parameters/OutboxTtl/Default", "14d", "the default of OutboxTtl is 14d"},
	{"defaults", "another consumer", "Parameters/Consumer/Default", "billing", "the default of Consumer is billing"},
	{"defaults", "no effects by default", "Parameters/Effects/Default", "hold", "the default of Effects"},
	{"defaults", "another log level", "Parameters/LogLevel/Default", "debug", "the default of LogLevel"},

	{"words", "a word less", "Parameters/Effects/AllowedValues", texts("on", "off"), "what Effects may be is on, off, want on, off, hold"},
	{"words", "a word more", "Parameters/LogLevel/AllowedValues", texts("trace", "debug", "info", "warn", "error"), "what LogLevel may be is trace"},

	{"mappings", "a batch that is all or nothing", consumer + "Events/Events/Properties/FunctionResponseTypes", nil, "ConsumerFunctionEvents.FunctionResponseTypes is <nil>"},
	{"mappings", "the same of the stream", relay + "Events/Rows/Properties/FunctionResponseTypes", nil, "RelayFunctionRows.FunctionResponseTypes is <nil>"},
	{"mappings", "the same of the requests", relay + "Events/Requests/Properties/FunctionResponseTypes", nil, "RelayFunctionRequests.FunctionResponseTypes is <nil>"},
	{"mappings", "no bound", consumer + "Events/Events/Properties/ScalingConfig", nil, "ScalingConfig.MaximumConcurrency is <nil>"},
	{"mappings", "a window on a FIFO queue", consumer + "Events/Events/Properties/MaximumBatchingWindowInSeconds", 1, "a FIFO queue gives batches of 10"},
	{"mappings", "a large batch of a FIFO queue", consumer + "Events/Events/Properties/BatchSize", ref("BatchSize"), "a FIFO queue gives batches of 10"},
	{"mappings", "another's FIFO queue taken for a standard one", "Conditions/IsFifo", map[string]any{"Condition": "OwnIsFifo"}, "others' fifo: ConsumerFunctionEvents: a FIFO queue gives batches of 10"},
	{"mappings", "another's queue judged by QueueType", "Conditions/OwnIsFifo", map[string]any{"Fn::Equals": []any{ref("QueueType"), "fifo"}}, "others', with fifo: ConsumerFunctionEvents: batches of 10 of a standard queue, and 100 were asked for"},
	{"mappings", "a large batch without a window", relay + "Events/Requests/Properties/BatchSize", 100, "batches of 100 need a window"},
	{"mappings", "only what comes from now on", relay + "Events/Rows/Properties/StartingPosition", "LATEST", "StartingPosition is LATEST"},
	{"mappings", "no bisecting", relay + "Events/Rows/Properties/BisectBatchOnFunctionError", nil, "BisectBatchOnFunctionError is <nil>"},
	{"mappings", "tried for ever", relay + "Events/Rows/Properties/MaximumRetryAttempts", -1, "is tried -1 times"},
	{"mappings", "tried longer than the stream remembers", relay + "Events/Rows/Properties/MaximumRecordAgeInSeconds", nil, "the stream remembers"},
	{"mappings", "no filter", relay + "Events/Rows/Properties/FilterCriteria", nil, "FilterCriteria.Filters is <nil>"},
	{"mappings", "another filter", relay + "Events/Rows/Properties/FilterCriteria/Filters/0/Pattern", `{"eventName": ["MODIFY"]}`, "FilterCriteria.Filters is"},
	{"mappings", "given up in silence", relay + "Events/Rows/Properties/DestinationConfig", nil, "tells no standard queue"},

	{"sources", "another queue", relay + "Events/Requests/Properties/Queue", itsARN("EventsDlq"), "the sources is"},
	{"sources", "a source less", relay + "Events/Rows", nil, "the sources is"},
	{"sources", "never paused", consumer + "Events/Events/Properties/Enabled", nil, "ConsumerFunctionEvents.Enabled is <nil>"},
	{"sources", "the relay paused, too", relay + "Events/Requests/Properties/Enabled", ref("ConsumerEnabled"), "RelayFunctionRequests.Enabled is true"},

	{"schedule", "every five minutes", sweeper + "Events/EveryMinute/Properties/Schedule", "rate(5 minutes)", "is due is rate(5 minutes)"},
	{"schedule", "a schedule of EventBridge Scheduler's", sweeper + "Events/EveryMinute", map[string]any{
		"Type": "ScheduleV2", "Properties": map[string]any{"ScheduleExpression": "rate(1 minute)"},
	}, "schedules is 1"},
	{"schedule", "tried again", sweeper + "EventInvokeConfig/MaximumRetryAttempts", 2, "how often a call is repeated"},
	{"schedule", "the relay called, too", relay + "Events/Often", map[string]any{"Type": "Schedule", "Properties": map[string]any{"Schedule": "rate(1 minute)"}}, "what a rule calls"},
	{"schedule", "never called", sweeper + "Events/EveryMinute", nil, "what a rule calls"},
}

var mutationsOfTables = []mutation{
	{"tables", "a key renamed", "Resources/EntitiesTable/Properties/KeySchema/0/AttributeName", "pk", "the key of EntitiesTable is pk HASH"},
	{"tables", "a sort key less", "Resources/ItemsTable/Properties/KeySchema/1", nil, "the key of ItemsTable is _pk HASH"},
	{"tables", "a key's type", "Resources/EntitiesTable/Properties/AttributeDefinitions/1/AttributeType", "S", "the attributes of EntitiesTable"},
	{"tables", "a TTL attribute renamed", "Resources/ItemsTable/Properties/TimeToLiveSpecification/AttributeName", "ttl", "the TTL attribute of ItemsTable is ttl"},
	{"tables", "a TTL that is off", "Resources/OutboxTable/Properties/TimeToLiveSpecification/Enabled", false, "the TTL of OutboxTable is false"},
	{"tables", "entities that expire", "Resources/EntitiesTable/Properties/TimeToLiveSpecification", map[string]any{"AttributeName": "expires_at", "Enabled": true}, "the TTL attribute of EntitiesTable"},
	{"tables", "an index renamed", "Resources/EntitiesTable/Properties/GlobalSecondaryIndexes/0/IndexName", "gap", "the indexes of EntitiesTable is [gap:"},
	{"tables", "an index's key", "Resources/EntitiesTable/Properties/GlobalSecondaryIndexes/0/KeySchema/1/AttributeName", "_since", "the indexes of EntitiesTable"},
	{"tables", "an index that holds all", "Resources/EntitiesTable/Properties/GlobalSecondaryIndexes/0/Projection/ProjectionType", "ALL", "the indexes of EntitiesTable"},
	{"tables", "a stream of keys", "Resources/OutboxTable/Properties/StreamSpecification/StreamViewType", "KEYS_ONLY", "the stream of OutboxTable is KEYS_ONLY"},
	{"tables", "a stream that nobody asked for", "Resources/ItemsTable/Properties/StreamSpecification", map[string]any{"StreamViewType": "NEW_IMAGE"}, "the stream of ItemsTable is NEW_IMAGE"},
	{"tables", "a table that ddb does not know", "Resources/OutboxTable", renamed("ProducerTable"), "ddb knows no ProducerTable"},
	{"tables", "an outbox that nobody asked for", "Resources/OutboxTable/Condition", nil, "there is an OutboxTable: true"},

	{"keeping", "gone with the stack", "Resources/ItemsTable/DeletionPolicy", "Delete", "DeletionPolicy of ItemsTable is Delete"},
	{"keeping", "gone by default", "Resources/EntitiesTable/DeletionPolicy", nil, "DeletionPolicy of EntitiesTable is"},
	{"keeping", "gone when replaced", "Resources/OutboxTable/UpdateReplacePolicy", nil, "UpdateReplacePolicy of OutboxTable"},
	{"keeping", "no way back in time", "Resources/ItemsTable/Properties/PointInTimeRecoverySpecification", nil, "point-in-time recovery of ItemsTable"},
	{"keeping", "no protection", "Resources/EntitiesTable/Properties/DeletionProtectionEnabled", false, "deletion protection of EntitiesTable"},
	{"keeping", "no protection by default", "Parameters/DeletionProtection/Default", "false", "the default of DeletionProtection"},
	{"keeping", "bought in advance", "Resources/EntitiesTable/Properties/BillingMode", "PROVISIONED", "the billing of EntitiesTable"},
	{"keeping", "without the key", "Resources/OutboxTable/Properties/SSESpecification", nil, "encryption of OutboxTable"},

	{"outputs", "an output renamed", "Outputs/QuarantineQueueUrl", renamed("QuarantineUrl"), "an output QuarantineQueueUrl: false"},
	{"outputs", "an output of another queue", "Outputs/RepublishQueueUrl/Value", ref("RepublishDlq"), "the output RepublishQueueUrl is"},
	{"outputs", "an ARN for a URL", "Outputs/EffectsQueueUrl/Value", itsARN("EffectsQueue"), "the output EffectsQueueUrl is arn:"},
	{"outputs", "another table", "Outputs/EntitiesTable/Value", ref("ItemsTable"), "the output EntitiesTable is inorder-items"},
	{"outputs", "another parameter", "Outputs/ParkTtl/Value", ref("GapDeadline"), "the output ParkTtl is 5m"},
	{"outputs", "a queue that is not there", "Outputs/DlqUrl/Condition", nil, "an output DlqUrl: true"},
	{"outputs", "a producer's variable less", "Outputs/OutboxTtl", nil, "an output OutboxTtl: false"},
}
