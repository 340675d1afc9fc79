package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/demo/report"
	"inorder/ddb/local"
)

// play runs the command and returns its exit status and its report.
func play(t *testing.T, c Command) (int, *report.Report) {
	t.Helper()
	c.JSON = true
	var out, notes bytes.Buffer
	code, err := c.Run(t.Context(), &out, &notes)
	if err != nil {
		t.Fatalf("%v\n%s", err, &notes)
	}
	var r report.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return code, &r
}

// seeds are days that are small and wild enough to be played by every test.
var seeds = []uint64{1, 2, 3}

func day(seed uint64) Command { return Command{Events: 500, Workers: 12, Seed: seed} }

func complain(t *testing.T, r *report.Report) {
	t.Helper()
	for _, c := range r.Checks {
		if !c.Right {
			t.Errorf("%s: %s\n%s\nplay it again: %s", r.Title, c.Name, strings.Join(c.Wrong, "\n"), r.Replay)
		}
	}
}

// The promise: whatever the disorder, the copies, the poison and the crashes, everything is right at the end.
func TestEverythingIsRight(t *testing.T) {
	for _, seed := range seeds {
		code, r := play(t, day(seed))
		if code != 0 {
			complain(t, r)
		}
		if r.Play.Crashes == 0 || r.Drained == 0 || r.Day.Poison == 0 || r.Day.Copies == 0 {
			t.Errorf("seed %d: a day without adventures: %+v %+v", seed, r.Day, r.Play)
		}
	}
}

// The engine that stands in where there is no dynoxide is good enough for the demo.
func TestOnMinidyn(t *testing.T) {
	c := day(1)
	c.Choice = backend.Choice{Engine: local.Minidyn}
	if code, r := play(t, c); code != 0 {
		complain(t, r)
	}
}

// A demo that could not fail would prove nothing: with the condition left out of the writes, or the log left out, the
// same days go wrong, and it says so.
func TestNoticesWhatIsLeftOut(t *testing.T) {
	for name, plant := range map[string]func(http.RoundTripper) http.RoundTripper{
		"condition": rewriting(withoutConditions),
		"log row":   rewriting(withoutRows),
	} {
		for _, seed := range seeds[:2] {
			c := day(seed)
			c.plants.engine = plant
			code, r := play(t, c)
			if code != 1 || r.Right() || r.Checks[0].Right {
				t.Errorf("seed %d without the %s: exit status %d, and every entity is right", seed, name, code)
			}
		}
	}
}

// The hook alone changes nothing.
func TestPlantWithoutFault(t *testing.T) {
	c := day(1)
	c.plants.engine = rewriting(func(string, fields) bool { return false })
	if code, r := play(t, c); code != 0 {
		complain(t, r)
	}
}

// What is reported adds up: every delivery ended in one way or died, and every cost was told.
func TestReportAddsUp(t *testing.T) {
	_, r := play(t, day(4))
	ended := 0
	for _, d := range r.Dispositions {
		ended += d.N
	}
	if ended+r.Play.Lost != r.Play.Deliveries {
		t.Errorf("%d ended, %d lost, %d deliveries", ended, r.Play.Lost, r.Play.Deliveries)
	}
	if len(r.Costs) != 4 || r.Costs[0].Requests == 0 || r.Costs[0].WriteUnits < 1 || r.Costs[0].WrongEntities != 0 {
		t.Errorf("costs: %+v", r.Costs)
	}
	streams := map[string]bool{}
	for _, line := range r.Timelines {
		streams[line.Stream] = true
	}
	if len(streams) != 5 {
		t.Errorf("timelines of %d streams, want 5", len(streams))
	}
	if last := r.Parked[len(r.Parked)-1]; last.N != 0 {
		t.Errorf("%d events are parked at the end", last.N)
	}
}

// The command writes the page where it is told to, and names it.
func TestWritesThePage(t *testing.T) {
	c := day(1)
	c.Report = filepath.Join(t.TempDir(), "demo.html")
	var out, notes bytes.Buffer
	if code, err := c.Run(t.Context(), &out, &notes); code != 0 || err != nil {
		t.Fatalf("%d, %v\n%s", code, err, &out)
	}
	page, err := os.ReadFile(c.Report)
	if err != nil || !bytes.Contains(page, []byte("Everything is right.")) {
		t.Errorf("%v, %d bytes", err, len(page))
	}
	if !strings.Contains(out.String(), c.Report) || !strings.Contains(out.String(), "Everything is right.") {
		t.Errorf("the terminal says:\n%s", &out)
	}
	c.Report = filepath.Join(t.TempDir(), "no", "such", "folder.html")
	if code, err := c.Run(t.Context(), &out, &notes); code != 1 || err == nil {
		t.Errorf("a page that cannot be written: %d, %v", code, err)
	}
}

// Ctrl-C ends it at once, however many workers wait for each other.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	c := Command{Events: 5000, Workers: 12, Seed: 1}
	start := time.Now()
	code, err := c.Run(ctx, io.Discard, io.Discard)
	if code != 1 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d, %v", code, err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Where there is no terminal, a line now and then tells how far it is.
func TestProgressLines(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b, 100)
	p.add(10)
	p.(*lines).last = time.Now().Add(-2 * lineEvery)
	p.add(30)
	p.add(30)
	p.end()
	if got := b.String(); got != "40 of 100 messages\n" {
		t.Errorf("it says %q", got)
	}
}

// Faulty flags are named before anything starts.
func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		c    Command
		want string
	}{
		{Command{Events: 19, Workers: 1}, "--events 19"},
		{Command{Events: 20, Workers: 0}, "--workers"},
		{Command{Events: 20, Workers: 1, Choice: backend.Choice{Engine: "x"}}, "--engine x"},
		{Command{Events: 20, Workers: 1}, ""},
	} {
		if err := tt.c.Validate(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.c, err, tt.want)
		}
	}
}
