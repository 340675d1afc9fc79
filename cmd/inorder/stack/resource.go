package stack

import "strings"

// Resource is something of a deployment that a command has to know the name, the URL or the value of.
type Resource int

// What there is, by its variable in DESIGN and the functions' environment.
const (
	EntitiesTable    Resource = iota // ENTITIES_TABLE
	ItemsTable                       // ITEMS_TABLE
	EventsQueue                      // EVENTS_QUEUE_URL
	DLQ                              // DLQ_URL
	QuarantineQueue                  // QUARANTINE_QUEUE_URL
	RepublishQueue                   // REPUBLISH_QUEUE_URL
	EffectsQueue                     // EFFECTS_QUEUE_URL
	ConsumerLogGroup                 // CONSUMER_LOG_GROUP
	GapDeadline                      // GAP_DEADLINE: stands in for the built-in default of streams.yaml
	ParkTTL                          // PARK_TTL: the same
	Effects                          // EFFECTS: whether effects are sent, held back, or nobody's business
)

var resources = [...]struct{ what, variable string }{
	EntitiesTable:    {"the name of the entities table", "ENTITIES_TABLE"},
	ItemsTable:       {"the name of the items table", "ITEMS_TABLE"},
	EventsQueue:      {"the URL of the events queue", "EVENTS_QUEUE_URL"},
	DLQ:              {"the URL of the dead-letter queue", "DLQ_URL"},
	QuarantineQueue:  {"the URL of the quarantine queue", "QUARANTINE_QUEUE_URL"},
	RepublishQueue:   {"the URL of the republish queue", "REPUBLISH_QUEUE_URL"},
	EffectsQueue:     {"the URL of the effects queue", "EFFECTS_QUEUE_URL"},
	ConsumerLogGroup: {"the name of the consumer's log group", "CONSUMER_LOG_GROUP"},
	GapDeadline:      {"the gap deadline", "GAP_DEADLINE"},
	ParkTTL:          {"how long a parked event is kept", "PARK_TTL"},
	Effects:          {"whether effects are sent", "EFFECTS"},
}

// Variable is the environment's name of a resource.
func (r Resource) Variable() string { return resources[r].variable }

// Output is the name of a resource among the outputs of a stack: its variable in CamelCase.
func (r Resource) Output() string {
	var b strings.Builder
	for word := range strings.SplitSeq(r.Variable(), "_") {
		b.WriteString(word[:1] + strings.ToLower(word[1:]))
	}
	return b.String()
}

// String says in words what it is.
func (r Resource) String() string { return resources[r].what }

func (r Resource) isQueue() bool { return strings.HasSuffix(r.Variable(), "_URL") }

// All lists every resource.
func All() []Resource {
	all := make([]Resource, len(resources))
	for i := range all {
		all[i] = Resource(i)
	}
	return all
}
