package rie

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var coldStarts = flag.Int("cold-starts", 2, "how often TestColdStart starts each function; `make bench-cold` takes 20")

// What the project aims for.
const (
	initGoal     = 50 * time.Millisecond
	zipGoalBytes = 6_000_000
)

// warmInvokes is how many invocations follow the first one of each start.
const warmInvokes = 5

// measured are the times of one function, over all its starts.
type measured struct {
	name        function
	zipBytes    int
	init        times // by the emulator: from the start of the process to its first request for an invocation
	ownInit     times // the same by a runtime API of ours, which has nothing else to do
	first, warm times // by the emulator: from handing over the event to having the answer
	whole       times // as the caller sees a cold start: init and first invocation
	lastSeq     int
}

// TestColdStart measures what a cold start takes here; `make bench-cold` prints it. It asserts no time, for that would be a
// test of the machine, but the size of what is uploaded (R6).
func TestColdStart(t *testing.T) {
	w := newWorld(t)
	var all []*measured
	for _, name := range functionNames {
		m := &measured{name: name, zipBytes: zipBytes(t, artifacts(t, name))}
		for range *coldStarts {
			m.start(t, w)
			m.ownInit = append(m.ownInit, ownInit(t, artifacts(t, name), w.environment(nil)))
		}
		if m.zipBytes >= zipGoalBytes {
			t.Errorf("the zip of the %s has %d bytes, the goal is less than %d", name, m.zipBytes, zipGoalBytes)
		}
		all = append(all, m)
	}
	printTable(t.Output(), *coldStarts, all)
}

// start measures one start.
func (m *measured) start(t *testing.T, w *world) {
	t.Helper()
	f := w.start(t, m.name, nil)
	defer f.stop()
	for i := range 1 + warmInvokes {
		got := f.invoke(m.event(t))
		if got.status != 200 || got.body != nothingBack && got.body != "null" {
			t.Fatalf("the %s answered %d %s\n%s", m.name, got.status, got.body, got.output)
		}
		if i == 0 {
			m.whole = append(m.whole, got.took)
		}
	}
	log := f.log.await("INVOKE RTDONE", 1+warmInvokes)
	invokes := durations(t, log, `INVOKE RTDONE\(status: success, .*duration: ([0-9.]+)ms\)`, 1+warmInvokes)
	m.init = append(m.init, durations(t, log, `INIT REPORT\(durationMs: ([0-9.]+)\)`, 1)...)
	m.first, m.warm = append(m.first, invokes[0]), append(m.warm, invokes[1:]...)
}

// event is one that gives the function its everyday work: a change to write, a look at 16 empty shards, a row to send.
func (m *measured) event(t *testing.T) string {
	t.Helper()
	switch m.name {
	case consumer:
		m.lastSeq++
		return strings.NewReplacer(`sub_1:8`, fmt.Sprint("sub_1:", m.lastSeq), `\"seq\":8`, fmt.Sprint(`\"seq\":`, m.lastSeq)).
			Replace(text(t, samplesFolder, "plan-changed.json"))
	case sweeper:
		return text(t, "testdata", "schedule.json")
	case relay:
		return text(t, "testdata", "outbox-row-inserted.json")
	}
	t.Fatalf("no function %s", m.name)
	return ""
}

// durations reads the milliseconds that the emulator's log has in lines of one form.
func durations(t *testing.T, log, form string, want int) (all times) {
	t.Helper()
	for _, found := range regexp.MustCompile(form).FindAllStringSubmatch(log, -1) {
		ms, err := strconv.ParseFloat(found[1], 64)
		if err != nil || ms <= 0 {
			t.Fatalf("%s ms: %v", found[1], err)
		}
		all = append(all, time.Duration(ms*float64(time.Millisecond)))
	}
	if len(all) != want {
		t.Fatalf("%d of %d lines %s in\n%s", len(all), want, form, log)
	}
	return all
}

// zipBytes is the size of a folder as it is uploaded, but for some hundred bytes. gzip compresses as the zip of
// `sam deploy` is compressed, and takes a tenth of the time that Go takes under the race detector.
func zipBytes(t *testing.T, dir string) (total int) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Fatalf("want binary and streams.yaml, there is %v, %v", files, err)
	}
	for _, file := range files {
		out, err := exec.Command("gzip", "-6", "-c", filepath.Join(dir, file.Name())).Output()
		if err != nil {
			t.Fatal(err)
		}
		total += len(out)
	}
	return total
}
