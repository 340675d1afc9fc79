// Command proof runs what the README's guarantees rest on, in a short form that `make test` has time for, or in the long
// one of `make prove`, which writes docs/proof.md. It exits with 1 when anything of it fails.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"

	"github.com/alecthomas/kong"
)

type command struct {
	Long bool   `help:"The long forms: some hours. Writes docs/proof.md. A run that was ended goes on where it was, at the same commit."`
	Only string `help:"Only the proofs whose names match this regular expression; writes nothing." placeholder:"REGEXP"`
	For  string `help:"How long each fuzz target runs, where it is not the long form." default:"5s" placeholder:"DURATION"`
	List bool   `help:"Name the proofs and their commands, and run nothing."`
}

func main() {
	var c command
	kong.Parse(&c, kong.Name("proof"), kong.Description("Runs what must hold, by exploration, simulation, faults, fuzzing and load."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	held, err := c.run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "proof:", err)
		os.Exit(2)
	}
	if !held {
		os.Exit(1)
	}
}

// run reports whether everything held.
func (c command) run(ctx context.Context) (bool, error) {
	chosen, err := c.choose()
	if err != nil {
		return false, err
	}
	if c.List {
		for _, p := range chosen {
			fmt.Println(p.name + ": " + p.shell())
		}
		return true, nil
	}
	run := &series{}
	if c.Long && c.Only == "" {
		if run.kept, err = openKept(ctx); err != nil {
			return false, err
		}
	}
	results := run.all(ctx, chosen)
	fmt.Print("\n" + table(results, false))
	if run.kept != nil && len(results) == len(chosen) {
		if err := writePage(run.kept.ended(ctx), results); err != nil {
			return false, err
		}
	}
	return held(results, len(chosen)), nil
}

// choose makes the list of what is to be run.
func (c command) choose() ([]proof, error) {
	only, err := regexp.Compile(c.Only)
	if err != nil {
		return nil, fmt.Errorf("--only: %w", err)
	}
	all, err := proofs(c.Long, c.For)
	if err != nil {
		return nil, err
	}
	var chosen []proof
	for _, p := range all {
		switch {
		case !only.MatchString(p.name):
		case p.linux && runtime.GOOS != "linux":
			fmt.Println("left out, for it needs Linux: " + p.name)
		default:
			chosen = append(chosen, p)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no proof has a name that matches %q; --list names them", c.Only)
	}
	return chosen, nil
}
