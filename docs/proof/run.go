package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
)

// result is what came of a proof.
type result struct {
	Name, Holds, Command string
	Held                 bool
	Figures              []string
	Seconds              float64
	said                 []string // all that it printed, until it held
	early                bool     // a fuzz target that came to no new input
}

// series is one run of the program, from proof to proof.
type series struct {
	kept *kept // nil where no earlier result counts
}

// all runs one proof after the other, for each takes all the cores that there are. It ends early when it is told to.
func (s *series) all(ctx context.Context, chosen []proof) (results []result) {
	for i, p := range chosen {
		fmt.Printf("proof %d of %d, %s: %s\n", i+1, len(chosen), p.name, p.shell())
		if r, done := s.kept.of(p); done {
			fmt.Println("  held at this commit in an earlier run")
			results = append(results, r)
			continue
		}
		r := p.prove(ctx)
		if ctx.Err() != nil {
			return results
		}
		r.report()
		if r.Held && s.kept.still(ctx) {
			s.kept.keep(r)
		}
		results = append(results, r)
	}
	return results
}

func (r result) report() {
	word := "held"
	if !r.Held {
		word = "FAILED"
		fmt.Println(strings.Join(r.said, "\n"))
	}
	fmt.Printf("  %s in %s", word, lasted(r.Seconds))
	for _, f := range r.Figures {
		fmt.Print("\n  " + f)
	}
	fmt.Println()
}

// prove runs a proof, and a fuzz target once more and longer where its time was over before it came to a new input: all that was
// found in earlier runs, which Go keeps, is tried first, and on a busy machine that takes long.
func (p proof) prove(ctx context.Context) result {
	r := p.once(ctx)
	for r.early && ctx.Err() == nil && p.longer() {
		r = p.once(ctx)
	}
	return r
}

// enough is a time in which a fuzz target comes to new inputs, or never does.
const enough = time.Minute

// longer gives a fuzz target four times as long, unless that was enough.
func (p *proof) longer() bool {
	had, err := time.ParseDuration(p.fuzz)
	if err != nil || had >= enough {
		return false
	}
	p.fuzz = (4 * had).String()
	return true
}

// once runs a proof. It holds when its command does, all of it, and says what it did: a test that was skipped proves nothing,
// whatever others say beside it.
func (p proof) once(ctx context.Context) result {
	r := result{Name: p.name, Holds: p.holds, Command: p.shell()}
	began := time.Now()
	words := p.command()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's interrupt reaches it through us only
	cmd.Cancel = func() error {
		all := -cmd.Process.Pid
		time.AfterFunc(lastMoments, func() { _ = syscall.Kill(all, syscall.SIGKILL) }) // one that does not listen keeps its output open
		return syscall.Kill(all, syscall.SIGTERM)
	}
	cmd.WaitDelay = lastMoments
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.said = append(r.said, err.Error())
		return r
	}
	cmd.Stderr = cmd.Stdout
	err = cmd.Start()
	if err == nil {
		r.said = listen(out, began)
		err = cmd.Wait()
	}
	r.Seconds = time.Since(began).Seconds()
	p.judge(&r, err)
	return r
}

// judge says whether a proof holds by how its command ended and what it said.
func (p proof) judge(r *result, err error) {
	r.Figures = figures(r.said)
	skipped := skips(r.said)
	ended := err == nil || p.fuzz != "" && onlyTimeRanOut(r.said)
	r.Held = ended && len(r.Figures) > 0 && skipped == nil
	switch {
	case !ended || r.Held:
	case skipped != nil:
		r.said = append(r.said, "skipped, which proves nothing: "+strings.Join(skipped, ", "))
	case p.fuzz != "":
		r.early = true
		r.said = append(r.said, "its time was over before it came to a new input: give it longer")
	default:
		r.said = append(r.said, "it does not say what it did")
	}
}

// lastMoments is how long what was told to end has for that.
const lastMoments = 20 * time.Second

// stillEvery is how often somebody who watches is told that it goes on.
const stillEvery = 30 * time.Second

// listen takes what a proof says, and passes on its last words now and then.
func listen(out io.Reader, began time.Time) []string {
	var mu sync.Mutex
	var said []string
	ticker := time.NewTicker(stillEvery)
	defer ticker.Stop()
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				mu.Lock()
				last := ""
				if len(said) > 0 {
					last = said[len(said)-1]
				}
				fmt.Fprintf(os.Stdout, "  %s: %s\n", lasted(time.Since(began).Seconds()), strings.TrimSpace(last))
				mu.Unlock()
			}
		}
	}()
	for line := range linesOf(out) {
		mu.Lock()
		said = append(said, line)
		mu.Unlock()
	}
	return said
}

const longestLine = 1 << 20

// linesOf are the lines of an output, to its end. Of a very long one there is only the beginning: whoever stopped there would not
// hear what comes behind it.
func linesOf(out io.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		lines := bufio.NewReaderSize(out, longestLine)
		for {
			line, more, err := lines.ReadLine()
			if err != nil || !yield(string(line)) {
				return
			}
			for more && err == nil {
				_, more, err = lines.ReadLine()
			}
		}
	}
}

var (
	// What a test prints without a newline at its end stands in front of the word on how it ended.
	figure     = regexp.MustCompile(`\bproof: (.+?)(?:--- (?:PASS|FAIL|SKIP): .*)?$`)
	skip       = regexp.MustCompile(`--- SKIP: ([^/ ]+) \(`) // a part of a test has a slash in its name
	executions = regexp.MustCompile(`^fuzz: elapsed: \S+, execs: (\d+) \(`)
)

// skips are the tests that were skipped as a whole. Parts of one may be: it says which and why.
func skips(said []string) (names []string) {
	for _, line := range said {
		if m := skip.FindStringSubmatch(line); m != nil {
			names = append(names, m[1])
		}
	}
	return names
}

// figures are the lines in which a test says what it did, or how often a fuzz target ran.
func figures(said []string) (all []string) {
	execs := int64(0)
	for _, line := range said {
		if m := figure.FindStringSubmatch(line); m != nil {
			all = append(all, m[1])
		}
		if m := executions.FindStringSubmatch(line); m != nil {
			execs, _ = strconv.ParseInt(m[1], 10, 64)
		}
	}
	if execs > 0 {
		all = append(all, humanize.Comma(execs)+" executions")
	}
	return all
}

// onlyTimeRanOut tells of a fuzz target that failed by nothing but the end of its time, which Go up to 1.26 may call a
// failure while a worker is busy (golang/go#75804). A true failure has an input.
func onlyTimeRanOut(said []string) bool {
	all := "\n" + strings.Join(said, "\n") + "\n"
	for _, sign := range []string{"Failing input", "\npanic:", "hung or terminated"} {
		if strings.Contains(all, sign) {
			return false
		}
	}
	return strings.Contains(all, "\n    context deadline exceeded\n")
}

func lasted(seconds float64) string {
	return (time.Duration(seconds) * time.Second).String()
}
