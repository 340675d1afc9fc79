package template

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"inorder/ddb"
	"inorder/events"
	"inorder/functions"
)

// durations are the parameters that are durations, with whoever reads each.
var durations = map[string]func(value string) error{
	"GapDeadline": func(value string) error { return start("consumer", someVariables("GAP_DEADLINE", value)) },
	"ParkTtl":     func(value string) error { return start("sweeper", someVariables("PARK_TTL", value)) },
	"MarkDelay":   func(value string) error { return start("relay", someVariables("MARK_DELAY", value)) },
	"OutboxTtl":   startOutbox,
}

// What a pattern admits the code must take; else the stack is deployed and its functions do not start.
func checkDurations(v *views) (wrong []string) {
	var f faults
	for name, read := range durations {
		pattern, _ := At(map[string]any(v.source), "Parameters", name, "AllowedPattern").(string)
		if pattern == "" {
			f.add("%s has no pattern", name)
			continue
		}
		values := append(examples(pattern), "0", "0s", "1s", "5m", "15m", "16m", "1.5h", "99999d")
		values = slices.DeleteFunc(values, func(value string) bool { return v.source.Allowed(name, value) != nil })
		if value, err := refused(values, read); err != nil {
			f.add("%s may be %q, and the code says: %v", name, value, err)
		}
	}
	return f
}

// refused is the shortest of some values that is not taken.
func refused(values []string, take func(value string) error) (value string, err error) {
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	for _, value := range values {
		if err := take(value); err != nil {
			return value, err
		}
	}
	return "", nil
}

// examples are texts that match a pattern.
func examples(pattern string) (all []string) {
	texts := rapid.StringMatching("^(" + pattern + ")$")
	for seed := range 100 {
		all = append(all, texts.Example(seed))
	}
	return all
}

// someVariables are right for all functions, with one changed.
func someVariables(name, value string) map[string]string {
	const queue = "https://sqs.eu-west-1.amazonaws.com/123456789012/"
	variables := map[string]string{
		"ENTITIES_TABLE": "entities", "ITEMS_TABLE": "items", "OUTBOX_TABLE": "outbox", "EVENTS_QUEUE_URL": queue + "events",
		"QUARANTINE_QUEUE_URL": queue + "quarantine", "REPUBLISH_QUEUE_URL": queue + "republish", "EFFECTS_QUEUE_URL": queue + "effects.fifo",
	}
	variables[name] = value
	return variables
}

// startOutbox reads a producer's variables. Without a table it stops there, and says all that is wrong.
func startOutbox(ttl string) error {
	_, err := functions.StartOutbox(context.Background(), func(name string) string { return map[string]string{"OUTBOX_TTL": ttl}[name] }, time.Now)
	if said := strings.TrimSpace(strings.ReplaceAll(fmt.Sprint(err), "OUTBOX_TABLE is not set", "")); said != "" {
		return errors.New(said)
	}
	return nil
}

// Where a parameter has the default that the code has as well, both are the same.
func checkDefaults(v *views) (wrong []string) {
	var f faults
	standard := func(name string) string {
		return fmt.Sprint(At(map[string]any(v.source), "Parameters", name, "Default"))
	}
	same := func(name string, want time.Duration) {
		if d, err := events.ParseDuration(standard(name)); err != nil || d != want {
			f.add("the default of %s is %s, the code's is %v", name, standard(name), want)
		}
	}
	config, err := events.ParseStreams([]byte("consumer: c\nstreams: [{name: s, types: [T], mode: step, projection: {sum: {n: data.n}}}]"), events.Options{})
	if err != nil {
		return []string{err.Error()}
	}
	same("GapDeadline", config.Streams[0].GapDeadline)
	same("ParkTtl", config.Streams[0].ParkTTL)
	same("OutboxTtl", ddb.OutboxTTL)
	relay, err := functions.ReadRelaySettings(func(string) string { return "" }, nil)
	if same("MarkDelay", relay.MarkDelay); err == nil {
		f.add("the relay starts with nothing")
	}
	text, err := os.ReadFile(root + "/events/streams.yaml")
	if config, parsed := events.ParseStreams(text, events.Options{}); err != nil || parsed != nil {
		f.add("events/streams.yaml: %v", errors.Join(err, parsed))
	} else {
		f.want("the default of Consumer", standard("Consumer"), config.Consumer)
	}
	consumer, _ := functions.ReadSettings(func(string) string { return "" }, nil)
	asked, _ := functions.ReadSettings(func(name string) string { return standard(camel(name)) }, nil)
	f.want("the default of Effects, read,", asked.EffectsMode, consumer.EffectsMode)
	f.want("the default of LogLevel, read,", asked.LogLevel, consumer.LogLevel)
	return f
}

var mustBeOneOf = regexp.MustCompile(`(?m)must be one of (.*): "nonsense"$`)

// What may be chosen are the words that the code knows.
func checkWords(v *views) (wrong []string) {
	var f faults
	for parameter, variable := range map[string]string{"Effects": "EFFECTS", "LogLevel": "LOG_LEVEL"} {
		err := start("consumer", someVariables(variable, "nonsense"))
		said := mustBeOneOf.FindStringSubmatch(fmt.Sprint(err))
		if said == nil {
			f.add("the consumer takes nonsense for %s: %v", variable, err)
			continue
		}
		words := list(At(map[string]any(v.source), "Parameters", parameter, "AllowedValues"))
		f.want("what "+parameter+" may be", join(words, ", "), said[1])
	}
	return f
}
