package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// days are few by default, for with the race detector each takes some seconds. More of them find more.
var days = flag.Uint64("days", 2, "how many small days to play where everything must be right")

// day is one that is small and wild enough to be played by every test.
func day(seed uint64) Command { return Command{Events: 500, Workers: 12, Seed: seed} }

// played is how a day ended.
type played struct {
	code   int
	report *report.Report
	page   []byte
}

var (
	largeOnce sync.Once
	largeDay  played
)

// large is a day that has losses of every kind. It is played once for all tests that look at it.
func large(t *testing.T) played {
	t.Helper()
	largeOnce.Do(func() {
		c := Command{Events: 1500, Workers: 12, Seed: 1, Report: filepath.Join(t.TempDir(), "demo.html")}
		code, r := play(t, c)
		page, err := os.ReadFile(c.Report)
		if err != nil {
			t.Fatal(err)
		}
		largeDay = played{code, r, page}
	})
	if largeDay.report == nil {
		t.Fatal("the large day could not be played")
	}
	return largeDay
}

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
	var crashes, drained, poison, copies, lost int
	for seed := uint64(1); seed <= *days; seed++ {
		code, r := play(t, day(seed))
		if code != 0 {
			complain(t, r)
		}
		crashes, drained = crashes+r.Play.Crashes, drained+r.Drained
		poison, copies, lost = poison+r.Day.Poison, copies+r.Day.Copies, lost+r.Day.Lost
	}
	if crashes == 0 || drained == 0 || poison == 0 || copies == 0 || lost == 0 {
		t.Errorf("days without adventures: %d crashes, %d drained, %d poisoned, %d copies, %d lost", crashes, drained, poison, copies, lost)
	}
}

// The engine that stands in where there is no dynoxide is good enough for the demo.
func TestOnMinidyn(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it plays what other tests play, with a fault, on a page, on another engine")
	}
	c := day(1)
	c.Choice = backend.Choice{Engine: local.Minidyn}
	if code, r := play(t, c); code != 0 {
		complain(t, r)
	}
}

// What is lost comes back, also where nothing after it shows that it is missing, and where what is sent in its place is
// lost again; sweeping ends when nothing is open any more.
func TestWhatIsLostIsHealed(t *testing.T) {
	r := large(t).report
	if large(t).code != 0 {
		complain(t, r)
	}
	h := &r.Healing
	if h.Count(report.SentAgain)+h.Count(report.Outdated) != r.Day.Lost || h.Count(report.Outdated) == 0 || h.LostAgain() == 0 {
		t.Errorf("of %d lost %d were sent again, %d of them lost again, and %d are outdated",
			r.Day.Lost, h.Count(report.SentAgain), h.LostAgain(), h.Count(report.Outdated))
	}
	if n := h.ByMark(); n == 0 || n == h.Count(report.SentAgain) {
		t.Errorf("%d of %d were shown by a mark", n, h.Count(report.SentAgain))
	}
	if h.StayWrong == 0 || h.StayParked() == 0 || r.Parked[len(r.Parked)-1].N != 0 {
		t.Errorf("unasked %d would stay wrong and %d parked; as it was, %d are", h.StayWrong, h.StayParked(), r.Parked[len(r.Parked)-1].N)
	}
	early := 0
	for _, l := range h.Losses {
		if l.Healed != report.SentAgain {
			continue
		}
		if l.Asked == 0 || l.SeenAt.Before(l.LostAt) || l.AskedAt.Before(l.SeenAt) || l.HealedAt.Before(l.AskedAt) {
			t.Errorf("out of order: %+v", l)
		}
		if l.AskedAt.Sub(l.SeenAt) < 4*time.Minute {
			early++
		}
	}
	// Where who saw it first died before it said so, as one in 25 does on average; a sweeper that does not wait is early with
	// nearly all.
	if few := h.Count(report.SentAgain) / 4; early > few {
		t.Errorf("%d of %d were asked for before the gap deadline of five minutes", early, h.Count(report.SentAgain))
	}
}

// A demo that could not fail would prove nothing. Whatever is left out, the day goes wrong, and it says where. Whether a
// race shows it depends on the day, so that there may be several to notice what the engine is made to do.
func TestNoticesWhatIsLeftOut(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it plays what other tests play, with a fault, on a page, on another engine")
	}
	const entities, healing, requests = 0, 2, 3
	for _, tt := range []struct {
		name   string
		plants plants
		check  int // the one that must notice, whatever others do
	}{
		{"the condition of writes", plants{engine: rewriting(withoutConditions)}, entities},
		// What is acknowledged and not kept is missing again, asked for, and comes: only that it was asked for shows it.
		{"log rows", plants{engine: rewriting(withoutRows)}, requests},
		{"the sweeper", plants{idle: true}, healing},
		{"the requests", plants{letter: func(body string) int { return times(1, isNote(body)) }}, healing},
		{"the notes, and so the marks", plants{letter: func(body string) int { return times(1, !isNote(body)) }}, healing},
		{"the back-off", plants{letter: func(body string) int { return 2 - times(1, isNote(body)) }}, requests},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events, last := 300, uint64(1)
			if tt.plants.engine != nil {
				events, last = 500, 3
			}
			for seed := uint64(1); ; seed++ {
				c := Command{Events: events, Workers: 12, Seed: seed, plants: tt.plants}
				code, r := play(t, c)
				if code == 1 && !r.Right() && !r.Checks[tt.check].Right {
					return
				}
				if seed == last {
					t.Fatalf("seed %d: exit status %d, and it says %q", seed, code, r.Checks[tt.check].Name)
				}
			}
		})
	}
}

func isNote(body string) bool { return strings.Contains(body, `"type":"inorder.note"`) }

// times is n where a condition holds, and none where it does not.
func times(n int, holds bool) int {
	if holds {
		return n
	}
	return 0
}

// The hook alone changes nothing.
func TestPlantWithoutFault(t *testing.T) {
	c := Command{Events: 200, Workers: 12, Seed: 1}
	c.plants.engine = rewriting(func(string, fields) bool { return false })
	if code, r := play(t, c); code != 0 {
		complain(t, r)
	}
}

// What is reported adds up: every delivery ended in one way or died, and every cost was told.
func TestReportAddsUp(t *testing.T) {
	r := large(t).report
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
	c := Command{Events: 100, Workers: 12, Seed: 1}
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
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	const before = 500 // requests
	var requests atomic.Int64
	c := Command{Events: 5000, Workers: 12, Seed: 1}
	c.plants.engine = rewriting(func(string, fields) bool {
		if requests.Add(1) == before {
			interrupt()
		}
		return false
	})
	code, err := c.Run(ctx, io.Discard, io.Discard)
	if code != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v", code, err)
	}
	if after := requests.Load() - before; after > 100 {
		t.Errorf("%d requests after the end", after)
	}
}

// Where there is no terminal, a line now and then tells how far it is.
func TestProgressLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := newProgress(&b, 100)
		p.add(10)
		time.Sleep(2 * lineEvery)
		p.add(30)
		p.add(30)
		p.end()
		if got := b.String(); got != "40 of 100 messages\n" {
			t.Errorf("it says %q", got)
		}
	})
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
