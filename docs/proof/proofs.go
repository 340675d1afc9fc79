package main

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// proof is one test in the size in which it proves something.
type proof struct {
	name  string
	holds string // what it shows, for the table
	pkg   string
	run   string   // the test's name as a regular expression, or the fuzz target's
	fuzz  string   // how long or how often the fuzz target runs; empty for a test
	linux bool     // it finds, weighs and kills processes as only Linux lets one
	args  []string // the test's own flags: its size
}

// sized is a proof that is a test, with its size in either form.
type sized struct {
	proof
	short, long []string
}

// tests are the proofs that are tests. Each prints what it did in lines that begin with "proof: ".
var tests = []sized{
	{
		proof: proof{name: "exploration", holds: "all that must be, in each state that was visited, the nearest first, and at each end", pkg: "./ordering/explore", run: "^TestExploration$"},
		short: []string{"-states", "60000"}, long: []string{"-states", "2000000"},
	},
	{
		proof: proof{name: "planted bugs", holds: "the exploration finds each, and none where none is", pkg: "./ordering/explore", run: "^TestPlantedBugs$"},
	},
	{
		proof: proof{name: "one entity's life", holds: "nine of the ten properties, in the core, over a store in memory", pkg: "./ordering", run: "^Test(Convergence|StepOrder|DeltaSum|NoLostWakeup|NoSilentLoss|EffectOrder|OneEscalation|Conservation|AckIdempotence)$"},
		short: []string{"-seeds", "2000"}, long: []string{"-seeds", "100000"},
	},
	{
		proof: proof{name: "simulation", holds: "the ten properties, all functions and the operator, whatever fails, dies, comes late or twice", pkg: "./cmd/inorder/simulation", run: "^TestSimulation$"},
		short: []string{"-seeds", "2000"}, long: []string{"-seeds", "100000"},
	},
	{
		proof: proof{name: "fault matrix", holds: "each end is as if nothing had failed", pkg: "./cmd/inorder/scenario", run: "^TestFaultMatrix$"},
		short: []string{"-every", "13"}, long: []string{"-every", "1"},
	},
	{
		proof: proof{name: "decoder", holds: "none of the inputs breaks it", pkg: "./events", run: "^TestTheDecoderStandsAnyInput$"},
		short: []string{"-inputs", "1000000"}, long: []string{"-inputs", "100000000"},
	},
	{
		proof: proof{name: "engines", holds: "the store's contract, on each engine but for what it is known to lack", pkg: "./ddb", run: "^TestStoreOn(Dynoxide|Minidyn|Moto)$"},
	},
	{
		proof: proof{name: "hostile messages", holds: "what one costs and breaks is bounded", pkg: "./functions", run: "^Test(WhatOneHostileMessageCosts|WhatAHostileSenderBreaks|RepublishRequestsCannotBeAbused|RequestsFitIntoMessages)$"},
		long:  []string{"-hostile-bytes", "1040000"},
	},
	{
		proof: proof{name: "no data in logs", holds: "on a path to each disposition and reason, and where AWS fails in words that quote", pkg: "./functions", run: "^TestNoDataIsLogged$"},
		long:  []string{"-gossip-from", "5"},
	},
	{
		proof: proof{name: "soak, handlers", holds: "nothing lost, nothing doubled, memory flat, lines as counted", pkg: "./cmd/inorder/soak", run: "^TestSoakThroughTheHandlers$"},
		short: []string{"-events", "20000"}, long: []string{"-events", "1000000"},
	},
	{
		proof: proof{name: "soak, queue", holds: "the same, through LocalStack's queue and the deployed template", pkg: "./localstack/soak", run: "^TestSoakThroughTheQueue$", linux: true},
		short: []string{"-events", "100000"}, long: []string{"-events", "1000000"},
	},
}

// proofs returns what is to be run in one of the two forms.
func proofs(long bool, fuzzTime string) ([]proof, error) {
	var all []proof
	for _, t := range tests {
		p := t.proof
		p.args = t.short
		if long {
			p.args = t.long
		}
		all = append(all, p)
	}
	targets, err := fuzzTargets(".")
	for _, p := range targets {
		if p.fuzz = fuzzTime; long {
			p.fuzz = "10m"
		}
		all = append(all, p)
	}
	return all, err
}

var fuzzTarget = regexp.MustCompile(`^func (Fuzz\w+)\(\w+ \*testing\.F\)`)

// fuzzTargets finds them in the source, so that none is forgotten.
func fuzzTargets(root string) (targets []proof, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		found, err := fuzzTargetsOf(path)
		targets = append(targets, found...)
		return err
	})
	slices.SortFunc(targets, func(a, b proof) int { return strings.Compare(a.pkg+a.run, b.pkg+b.run) })
	return targets, err
}

func fuzzTargetsOf(path string) (targets []proof, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m := fuzzTarget.FindStringSubmatch(lines.Text()); m != nil {
			pkg := "./" + filepath.ToSlash(filepath.Dir(path))
			targets = append(targets, proof{name: "fuzz " + m[1], holds: "none of the inputs breaks it", pkg: pkg, run: m[1]})
		}
	}
	return targets, lines.Err()
}

// command is what runs it.
func (p proof) command() []string {
	// -count=1: what a test prints of an earlier run proves nothing. The timeout is for what hangs.
	all := []string{"go", "test", "-count=1", "-timeout", "12h"}
	if p.fuzz != "" {
		return append(all, "-run", "^$", "-fuzz", "^"+p.run+"$", "-fuzztime", p.fuzz, "-fuzzminimizetime", "10x", p.pkg)
	}
	all = append(all, "-v", "-run", p.run, p.pkg)
	if len(p.args) > 0 {
		all = append(append(all, "-args"), p.args...)
	}
	return all
}

// shell is the command as one types it.
func (p proof) shell() string {
	words := slices.Clone(p.command())
	for i, w := range words {
		if strings.ContainsAny(w, "^$|*() ") {
			words[i] = "'" + w + "'"
		}
	}
	return strings.Join(words, " ")
}
