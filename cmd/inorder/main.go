// Command inorder is the terminal of this project: it tries, plays and shows what the functions do.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"

	"inorder/cmd/inorder/scenario"
)

type cli struct {
	Scenario scenario.Command `cmd:"" help:"Play scenario files: messages, faults and expectations in virtual time."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var c cli
	k := kong.Parse(&c)
	_ = k
	code, err := c.Scenario.Run(ctx, os.Stdout, os.Stderr)
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
	}
	os.Exit(code)
}
