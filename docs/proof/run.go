package main

import (
	"bufio"
	"context"
	"fmt"
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
}

// series is one run of the program, from proof to proof.
type series struct {
	long    bool
	started time.Time
	kept    *kept // nil where no earlier result counts
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
		if r.Held {
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

// prove runs a proof. It holds when its command does, all of it, and says what it did: a test that was skipped proves nothing,
// whatever others say beside it.
func (p proof) prove(ctx context.Context) result {
	r := result{Name: p.name, Holds: p.holds, Command: p.shell()}
	began := time.Now()
	words := p.command()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's interrupt reaches it through us only
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.said = append(r.said, err.Error())
		return r
	}
	cmd.Stderr = cmd.Stdout
	err = cmd.Start()
	if err == nil {
		r.said = listen(bufio.NewScanner(out), began)
		err = cmd.Wait()
	}
	r.Seconds = time.Since(began).Seconds()
	r.Figures = figures(r.said)
	skipped := skips(r.said)
	r.Held = (err == nil || p.fuzz != "" && onlyTimeRanOut(r.said)) && len(r.Figures) > 0 && skipped == nil
	switch {
	case err != nil || r.Held:
	case skipped != nil:
		r.said = append(r.said, "skipped, which proves nothing: "+strings.Join(skipped, ", "))
	case p.fuzz != "":
		r.said = append(r.said, "its time was over before it came to a new input: give it longer")
	default:
		r.said = append(r.said, "it does not say what it did")
	}
	return r
}

// stillEvery is how often somebody who watches is told that it goes on.
const stillEvery = 30 * time.Second

// listen takes what a proof says, and passes on its last words now and then.
func listen(lines *bufio.Scanner, began time.Time) []string {
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
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		mu.Lock()
		said = append(said, lines.Text())
		mu.Unlock()
	}
	return said
}

var (
	figure     = regexp.MustCompile(`\bproof: (.+)$`)
	executions = regexp.MustCompile(`^fuzz: elapsed: \S+, execs: (\d+) \(`)
)

// skips are the tests that were skipped as a whole. Parts of one may be: it says which and why.
func skips(said []string) (names []string) {
	for _, line := range said {
		if rest, is := strings.CutPrefix(line, "--- SKIP: "); is {
			name, _, _ := strings.Cut(rest, " ")
			names = append(names, name)
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
