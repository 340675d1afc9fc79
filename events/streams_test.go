package events

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// Each file under testdata/streams is a table of streams.yaml files with what the parser says of them: the streams with
// all defaults filled in, or every fault at its line.
func TestStreamsFilesAreReadStrictlyAndEveryFaultIsListed(t *testing.T) {
	datadriven.Walk(t, "testdata/streams", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			c, err := ParseStreams([]byte(d.Input), caseOptions(t, d))
			if err != nil {
				return mustBeFaults(t, err) + "\n"
			}
			return describe(c)
		})
	})
}

func caseOptions(t *testing.T, d *datadriven.TestData) Options {
	o := Options{Projections: []string{"running_total"}}
	o.GapDeadline = durationArg(t, d, "gap_deadline")
	o.ParkTTL = durationArg(t, d, "park_ttl")
	return o
}

func durationArg(t *testing.T, d *datadriven.TestData, name string) time.Duration {
	if !d.HasArg(name) {
		return 0
	}
	var text string
	d.ScanArgs(t, name, &text)
	v, err := ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mustBeFaults(t *testing.T, err error) string {
	t.Helper()
	var faults Faults
	if !errors.As(err, &faults) || len(faults) == 0 {
		t.Fatalf("not Faults: %#v", err)
	}
	if !slices.IsSortedFunc(faults, func(a, b Fault) int { return a.Line - b.Line }) {
		t.Errorf("not in the order of the file:\n%v", faults)
	}
	return faults.Error()
}

// describe prints what a stream says in other than its zero values.
func describe(c *Config) string {
	var b strings.Builder
	fmt.Fprintf(&b, "consumer %s\n", c.Consumer)
	for _, s := range c.Streams {
		fmt.Fprintf(&b, "%s: %s %s by %s %s entity %s\n", s.Name, s.Mode, s.Clock, s.Order.By, s.Order.Path, s.Entity)
		fmt.Fprintf(&b, "  types %q ignore %q tombstone %q owns %v\n", s.Types, s.Ignore, s.Tombstone, s.Owns)
		fmt.Fprintf(&b, "  marker %t %s future %s window %d per source %t\n", s.Marker, s.MarkerTTL, s.MaxFuture, s.Window, s.PerSource)
		fmt.Fprintf(&b, "  gap %s %d skip %t park %s %s\n", s.GapDeadline, s.GapAttempts, s.SkipExpired, s.ParkTTL, s.MaxParkAge)
		fmt.Fprintf(&b, "  start any %t log all %t effects %t projection %v\n", s.StartAny, s.LogAll, s.Effects, s.Projection)
	}
	return b.String()
}

func TestTheByteOrderMarkOfAStreamsFileIsForgiven(t *testing.T) {
	const text = "consumer: c\nstreams: [{name: a, types: [A], mode: step}]\n"
	if _, err := ParseStreams([]byte(byteOrderMark+text), Options{}); err != nil {
		t.Error(err)
	}
	for _, broken := range []string{"consumer: \xff", strings.Repeat("#", maxYAMLBytes+1)} {
		if _, err := ParseStreams([]byte(broken), Options{}); err == nil {
			t.Errorf("%.20q was taken", broken)
		}
	}
}

// The parser has no limits of its own, and its time grows with the square of what it is given.
func TestAMountainOfAStreamsFileIsAFaultWithItsLine(t *testing.T) {
	for text, line := range map[string]int{
		strings.Repeat("[\n", maxYAMLNesting+1):      maxYAMLNesting + 1,
		strings.Repeat("{a: ", maxYAMLNesting+1):     1,
		strings.Repeat("a:\n", maxYAMLTokens):        maxYAMLTokens/2 + 1,
		strings.Repeat("- ", maxYAMLTokens+1):        1,
		strings.Repeat("&a ", maxYAMLTokens+1):       1,
		strings.Repeat("- - - a\n", maxYAMLTokens/4): 0, // within the limits: a fault of whatever kind
	} {
		began := time.Now()
		_, err := ParseStreams([]byte(text), Options{})
		faults := Faults(nil)
		if !errors.As(err, &faults) || line > 0 && (len(faults) != 1 || faults[0].Line != line) {
			t.Errorf("%.8q: %v", text, err)
		}
		if took := time.Since(began); took > time.Minute { // a busy machine takes some seconds
			t.Errorf("%.8q: that took %s", text, took)
		}
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5m": 5 * time.Minute, "14d": 336 * time.Hour, "47h59m": 48*time.Hour - time.Minute, "1.5h": 90 * time.Minute,
		"1d12h": 36 * time.Hour, "250ms": 250 * time.Millisecond, "0s": 0, "1us1ns": 1001, "106751d": 106751 * 24 * time.Hour,
		"0.0000000001d": 8640, // a fraction of a nanosecond is cut
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "5", "m", "5 m", "-5m", "+5m", "5M", "5m ", "1e3s", ".5h", "5.h", "5..5h", "1w", "106752d", strings.Repeat("9", 50) + "s"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}
