package functions

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The limits of a document, of "Specification: Embedded metric format" in the Amazon CloudWatch User Guide. The page
// says 1 MB for the size today and said 256 KB before; the smaller one is kept, and some room with it.
const (
	namespace         = "inorder"
	maxDocMetrics     = 100
	maxMetricValues   = 100
	maxDocumentBytes  = 250_000
	maxDimensionBytes = 1024 // of a dimension's value: CloudWatch API, Dimension
)

// point is a metric with the values that one document may hold of it.
type point struct {
	metric string
	unit   string
	value  jsontext.Value
}

// points turns counters and distributions into points. Where a distribution has more values than a document takes of
// one metric, its name stands several times.
func points(counters map[string]int64, values map[string][]float64) []point {
	var out []point
	for _, metric := range sortedKeys(counters) {
		out = append(out, point{metric, unitOf(metric), jsontext.Value(strconv.FormatInt(counters[metric], 10))})
	}
	for _, metric := range sortedKeys(values) {
		for all := values[metric]; len(all) > 0; {
			n := min(len(all), maxMetricValues)
			out = append(out, point{metric, unitOf(metric), numberList(all[:n])})
			all = all[n:]
		}
	}
	return out
}

func gaugePoints(gauges map[string]float64) []point {
	var out []point
	for _, metric := range sortedKeys(gauges) {
		out = append(out, point{metric, unitOf(metric), number(nil, gauges[metric])})
	}
	return out
}

func number(to []byte, v float64) jsontext.Value {
	// Without an exponent where the number is of a usual size: that is how people read it.
	if v == float64(int64(v)) {
		return strconv.AppendInt(to, int64(v), 10)
	}
	return strconv.AppendFloat(to, v, 'g', -1, 64)
}

func numberList(values []float64) jsontext.Value {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = number(out, v)
	}
	return append(out, ']')
}

func unitOf(metric string) string {
	switch {
	case strings.HasSuffix(metric, "_percent"):
		return "Percent"
	case strings.HasSuffix(metric, "_seconds"):
		return "Seconds"
	}
	return "Count"
}

// document is what the lines of one event type have in common; without an event type it is a document of gauges.
type document struct {
	at        int64 // milliseconds since 1970
	consumer  string
	eventType string
}

// lines packs points into as few documents as the limits allow.
func (d document) lines(all []point) [][]byte {
	var lines [][]byte
	for len(all) > 0 {
		var fit, rest []point
		names := map[string]bool{}
		size := len(d.line(nil))
		for _, p := range all {
			if grown := size + p.size(); !names[p.metric] && len(fit) < maxDocMetrics && (grown <= maxDocumentBytes || len(fit) == 0) {
				fit, size, names[p.metric] = append(fit, p), grown, true
			} else {
				rest = append(rest, p)
			}
		}
		lines, all = append(lines, d.line(fit)), rest
	}
	return lines
}

// size is at least what a point adds to a document: its definition, its value, and what stands around them.
func (p point) size() int {
	return len(`{"Name":"","Unit":""},`) + len(`"":,`) + 2*len(quoted(p.metric)) + len(p.unit) + len(p.value)
}

// line renders one document, the line break included.
func (d document) line(all []point) []byte {
	sets, dimensions := `[["consumer"]]`, `"consumer":`+quoted(dimension(d.consumer))
	if d.eventType != "" {
		sets = `[["consumer"],["consumer","event_type"]]`
		dimensions += `,"event_type":` + quoted(dimension(d.eventType))
	}
	b := []byte(`{"_aws":{"Timestamp":`)
	b = strconv.AppendInt(b, d.at, 10)
	b = append(b, `,"CloudWatchMetrics":[{"Namespace":"`+namespace+`","Dimensions":`+sets+`,"Metrics":[`...)
	for i, p := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"Name":`+quoted(p.metric)+`,"Unit":`+quoted(p.unit)+`}`...)
	}
	b = append(b, `]}]},`+dimensions...)
	for _, p := range all {
		b = append(b, `,`+quoted(p.metric)+`:`...)
		b = append(b, p.value...)
	}
	return append(b, "}\n"...)
}

func quoted(s string) string {
	b, _ := jsontext.AppendQuote(nil, s) // its only error is of invalid UTF-8, which it replaces
	return string(b)
}

// dimension makes a dimension's value of a name: CloudWatch takes printable ASCII, up to 1,024 of it, not all blank.
func dimension(name string) string {
	ascii := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
	if strings.TrimSpace(ascii) == "" {
		return "?"
	}
	return ascii[:min(len(ascii), maxDimensionBytes)]
}
