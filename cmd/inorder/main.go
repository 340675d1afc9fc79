// Command inorder is the terminal of this project: it tries, checks and plays what the functions do.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"

	"inorder/cmd/inorder/bootstrap"
	"inorder/cmd/inorder/demo"
	"inorder/cmd/inorder/gaps"
	"inorder/cmd/inorder/inspect"
	"inorder/cmd/inorder/reconcile"
	"inorder/cmd/inorder/redrive"
	"inorder/cmd/inorder/republish"
	"inorder/cmd/inorder/run"
	"inorder/cmd/inorder/scenario"
	"inorder/cmd/inorder/skip"
	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/tail"
	"inorder/cmd/inorder/validate"
)

type commands struct {
	Demo     demo.Command     `cmd:"" help:"Play a day of shuffled, repeated and crashed-over events, and compare its end with what was meant."`
	Run      run.Command      `cmd:"" help:"Consume messages from files or standard input, and show what becomes of them."`
	Scenario scenario.Command `cmd:"" help:"Play scenario files: messages, faults and expectations in virtual time."`
	Validate validate.Command `cmd:"" help:"List every fault of a streams.yaml with its line."`

	Gaps      gaps.Command      `cmd:"" help:"List what is missing, blocked or owed, oldest first." group:"Operate a deployment:"`
	Inspect   inspect.Command   `cmd:"" help:"Show all that is known of one entity, on one page." group:"Operate a deployment:"`
	Reconcile reconcile.Command `cmd:"" help:"Compare the entities with a file of truth, or with another consumer's." group:"Operate a deployment:"`
	Tail      tail.Command      `cmd:"" help:"Show queue depths, gaps and what is parked, again and again." group:"Operate a deployment:"`
	Skip      skip.Command      `cmd:"" help:"Pass numbers that are lost for good (a dry run without --yes)." group:"Operate a deployment:"`
	Republish republish.Command `cmd:"" help:"Ask the producer to send what is missing of an entity again." group:"Operate a deployment:"`
	Redrive   redrive.Command   `cmd:"" help:"Move messages from quarantine or the dead-letter queue back to the events queue (a preview without --yes)." group:"Operate a deployment:"`
	Bootstrap bootstrap.Command `cmd:"" help:"Give entities the cursors and states of a snapshot file (a dry run without --yes)." group:"Operate a deployment:"`
}

// A command is what each of them does. The exit code is 0 when all is well, 1 when something was found or failed, and 2
// when it cannot be done as it was asked for.
type command interface {
	Run(ctx context.Context, out, notes io.Writer) (exitCode int, err error)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := inorder(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func inorder(ctx context.Context, args []string, out, notes io.Writer) (exitCode int) {
	helped := false // kong shows the help itself, and then would exit
	parser := kong.Must(&commands{}, kong.Name("inorder"), kong.Writers(out, notes),
		kong.Description("An SQS standard queue, as if it were ordered and exactly-once."),
		kong.Exit(func(int) { helped = true }))
	chosen, err := parser.Parse(args)
	if helped {
		return 0
	}
	if err != nil {
		fmt.Fprintf(notes, "inorder: %v (see %s --help)\n", err, asked(err))
		return 2
	}
	exitCode, err = chosen.Selected().Target.Addr().Interface().(command).Run(ctx, out, notes)
	if err != nil {
		fmt.Fprintf(notes, "inorder: %s\n", stack.Explain(err))
		exitCode = max(exitCode, 1)
	}
	return exitCode
}

// asked is the command whose help tells more, as far as the arguments say which.
func asked(err error) string {
	if wrong, ok := errors.AsType[*kong.ParseError](err); ok && wrong.Context != nil {
		if node := wrong.Context.Selected(); node != nil {
			return node.FullPath()
		}
	}
	return "inorder"
}
