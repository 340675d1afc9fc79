package template

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// ofAWS are the metrics of AWS that are watched, with their dimensions: "Available CloudWatch metrics for Amazon SQS", "Types of
// metrics for Lambda functions", "DynamoDB metrics and dimensions", "Amazon API Gateway dimensions and metrics", "Monitoring
// with CloudWatch metrics" of CloudWatch Logs.
var ofAWS = map[string]struct{ dimensions, stats []string }{
	"AWS/SQS ApproximateNumberOfMessagesVisible": {[]string{"QueueName"}, []string{"Maximum"}},
	"AWS/SQS ApproximateAgeOfOldestMessage":      {[]string{"QueueName"}, []string{"Maximum"}},
	"AWS/SQS NumberOfMessagesSent":               {[]string{"QueueName"}, []string{"Sum"}},
	"AWS/Lambda Invocations":                     {[]string{"FunctionName"}, []string{"Sum"}},
	"AWS/Lambda Errors":                          {[]string{"FunctionName"}, []string{"Sum"}},
	"AWS/Lambda Throttles":                       {[]string{"FunctionName"}, []string{"Sum"}},
	"AWS/Lambda Duration":                        {[]string{"FunctionName"}, []string{"p99", "Sum"}},
	"AWS/Lambda ConcurrentExecutions":            {[]string{"FunctionName"}, []string{"Maximum"}},
	"AWS/Lambda IteratorAge":                     {[]string{"FunctionName"}, []string{"Maximum"}},
	"AWS/DynamoDB ReadThrottleEvents":            {[]string{"TableName", "GlobalSecondaryIndexName TableName"}, []string{"Sum"}},
	"AWS/DynamoDB WriteThrottleEvents":           {[]string{"TableName", "GlobalSecondaryIndexName TableName"}, []string{"Sum"}},
	"AWS/DynamoDB ConsumedReadCapacityUnits":     {[]string{"TableName", "GlobalSecondaryIndexName TableName"}, []string{"Sum"}},
	"AWS/DynamoDB ConsumedWriteCapacityUnits":    {[]string{"TableName", "GlobalSecondaryIndexName TableName"}, []string{"Sum"}},
	"AWS/ApiGateway 5XXError":                    {[]string{"ApiName Stage"}, []string{"Sum"}},
	"AWS/Logs IncomingBytes":                     {[]string{"LogGroupName"}, []string{"Sum"}},
}

// series is a metric as an alarm or a graph names it.
type series struct {
	namespace, metric, stat string
	dimensions              map[string]string
}

func (m series) String() string {
	s := m.namespace + " " + m.metric
	for _, name := range slices.Sorted(maps.Keys(m.dimensions)) {
		s += " " + name + "=" + m.dimensions[name]
	}
	return s
}

// seriesOf are the metrics that an alarm reads.
func seriesOf(alarm *Resource) []series {
	if alarm.Properties["Metrics"] == nil {
		return []series{seriesIn(alarm.Properties, text(alarm.Properties["Statistic"]))}
	}
	var all []series
	for _, query := range list(alarm.Properties["Metrics"]) {
		if read := At(query, "MetricStat"); read != nil {
			all = append(all, seriesIn(At(read, "Metric"), text(At(read, "Stat"))))
		}
	}
	return all
}

func seriesIn(v any, stat string) series {
	m := series{text(At(v, "Namespace")), text(At(v, "MetricName")), stat, map[string]string{}}
	for _, d := range list(At(v, "Dimensions")) {
		m.dimensions[text(At(d, "Name"))] = text(At(d, "Value"))
	}
	return m
}

// wrongWith says why a series has no values, or not those that were meant: the code or AWS writes no such metric, not with
// these dimensions, or of nothing that this stack has.
func (w *watching) wrongWith(s *Stack, m series) error {
	dimensions := strings.Join(slices.Sorted(maps.Keys(m.dimensions)), " ")
	if m.namespace == w.code.namespace {
		stats := w.code.stats[m.metric]
		switch {
		case dimensions != w.code.consumer || m.dimensions[dimensions] != s.Parameters["Consumer"]:
			return fmt.Errorf("%s: want the dimension %s alone, and the parameter Consumer in it", m, w.code.consumer)
		case !slices.Contains(stats, m.stat):
			return fmt.Errorf("%s: the code writes none of which %q says something; of this name: %v", m, m.stat, stats)
		}
		return nil
	}
	known := ofAWS[m.namespace+" "+m.metric]
	if !slices.Contains(known.dimensions, dimensions) || !slices.Contains(known.stats, m.stat) {
		return fmt.Errorf("%s, %s: AWS has none such that is on the list", m, m.stat)
	}
	for name, value := range m.dimensions {
		if !slices.Contains(named(s)[name], value) {
			return fmt.Errorf("%s: the stack has no such %s", m, name)
		}
	}
	return nil
}

// named are the names of what a stack has, and of what it was given, by the dimensions that tell them apart.
func named(s *Stack) map[string][]string {
	names := map[string][]string{}
	take := func(dimension, resourceType string, path ...string) {
		for _, r := range s.Types(resourceType) {
			names[dimension] = append(names[dimension], text(At(r.Properties, path...)))
		}
	}
	take("QueueName", "AWS::SQS::Queue", "QueueName")
	take("FunctionName", "AWS::Serverless::Function", "FunctionName")
	take("TableName", "AWS::DynamoDB::Table", "TableName")
	take("LogGroupName", "AWS::Logs::LogGroup", "LogGroupName")
	take("ApiName", "AWS::Serverless::Api", "Name")
	take("Stage", "AWS::Serverless::Api", "StageName")
	for _, table := range s.Types("AWS::DynamoDB::Table") {
		for _, index := range list(table.Properties["GlobalSecondaryIndexes"]) {
			names["GlobalSecondaryIndexName"] = append(names["GlobalSecondaryIndexName"], text(At(index, "IndexName")))
		}
	}
	for _, given := range []string{"EventsQueueArn", "EventsDlqArn"} {
		arn := s.Parameters[given]
		names["QueueName"] = append(names["QueueName"], arn[strings.LastIndexByte(arn, ':')+1:])
	}
	return names
}

// Each alarm watches a metric that there is, of something that is deployed.
func checkAlarmMetrics(w *watching) []string {
	return w.eachAlarm(func(s *Stack, alarm *Resource, f *faults) {
		all := seriesOf(alarm)
		if len(all) == 0 {
			f.add("%s watches nothing", alarm.ID)
		}
		for _, m := range all {
			if err := w.wrongWith(s, m); err != nil {
				f.add("%s: %v", alarm.ID, err)
			}
		}
	})
}

var (
	identifier = regexp.MustCompile(`\b[a-z][A-Za-z0-9_]*\b`)
	operator   = regexp.MustCompile(`\b[A-Z_]{2,}\b`)
)

// An expression names what is there, and no function that sees more values in an alarm than are evaluated ("Using math
// expressions with CloudWatch metrics"); exactly one of an alarm's queries is watched; and no alarm looks back for longer than
// a day ("PutMetricAlarm").
func checkAlarmMath(w *watching) []string {
	return w.eachAlarm(func(_ *Stack, alarm *Resource, f *faults) {
		queries := list(alarm.Properties["Metrics"])
		period, _ := number(alarm.Properties["Period"])
		ids, returned := map[string]bool{}, 0
		for _, query := range queries {
			ids[text(At(query, "Id"))] = true
			if At(query, "ReturnData") != false {
				returned++
			}
			if of, ok := number(At(query, "MetricStat", "Period")); ok {
				period = of
			}
		}
		if len(queries) > 0 && (returned != 1 || len(queries) > 10) {
			f.add("%s watches %d of its %d queries, want 1 of at most 10", alarm.ID, returned, len(queries))
		}
		for _, query := range queries {
			f.wrongExpression(alarm.ID, text(At(query, "Expression")), ids, "IF", "DIFF", "AND")
		}
		if times, _ := number(alarm.Properties["EvaluationPeriods"]); period*times <= 0 || period*times > 86400 {
			f.add("%s looks back for %v seconds", alarm.ID, period*times)
		}
	})
}

func (f *faults) wrongExpression(whose, expression string, ids map[string]bool, functions ...string) {
	for _, id := range identifier.FindAllString(expression, -1) {
		if !ids[id] {
			f.add("%s: nothing is called %s in %q", whose, id, expression)
		}
	}
	for _, function := range operator.FindAllString(expression, -1) {
		if !slices.Contains(functions, function) {
			f.add("%s: %s may not be used in %q", whose, function, expression)
		}
	}
}
