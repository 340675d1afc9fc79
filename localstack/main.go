// Command localstack is the project's local cloud in a terminal: `make cloud-up cloud-deploy cloud-down` call it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/alecthomas/kong"

	"inorder/localstack/cloud"
)

type commands struct {
	Up     upCommand     `cmd:"" help:"Start LocalStack in the background."`
	Deploy deployCommand `cmd:"" help:"Build the functions and deploy template.yaml to it."`
	Send   sendCommand   `cmd:"" help:"Send messages to the deployed queue."`
	Status statusCommand `cmd:"" help:"Say what runs."`
	Down   downCommand   `cmd:"" help:"Stop LocalStack, and remove all that it kept."`
}

// A command prints what it found out to out, and to notes how it goes on.
type command interface {
	Run(ctx context.Context, out, notes io.Writer) error
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := localstack(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code) //nolint:forbidigo // this is main
}

// localstack returns the exit code: 0 when it is done, 1 when it failed, 2 when it cannot be done as it was asked for.
func localstack(ctx context.Context, args []string, out, notes io.Writer) int {
	helped := false // kong shows the help itself, and then would exit
	parser := kong.Must(&commands{}, kong.Name("localstack"), kong.Writers(out, notes),
		kong.Description("A cloud on this machine to deploy to."), kong.Exit(func(int) { helped = true }))
	chosen, err := parser.Parse(args)
	switch {
	case helped:
		return 0
	case err != nil:
		fmt.Fprintf(notes, "localstack: %v (see --help)\n", err)
		return 2
	}
	if err := chosen.Selected().Target.Addr().Interface().(command).Run(ctx, out, notes); err != nil {
		fmt.Fprintf(notes, "localstack: %v\n", err)
		return 1
	}
	return 0
}

// Place is where the cloud of `up` lives.
type Place struct {
	Folder string `help:"Where it keeps its state (default: .cloud/up in the project)." placeholder:"FOLDER"`
}

func (p *Place) folder() (string, error) {
	if p.Folder != "" {
		return filepath.Abs(p.Folder)
	}
	above, err := cloud.Folder()
	return filepath.Join(above, "up"), err
}

func (p *Place) open(notes io.Writer) (*cloud.Cloud, error) {
	folder, err := p.folder()
	if err != nil {
		return nil, err
	}
	return cloud.Open(folder, notes)
}

// lock is for a command that changes the cloud, before it looks at it.
func (p *Place) lock(ctx context.Context, doing string, notes io.Writer) (unlock func(), err error) {
	folder, err := p.folder()
	if err != nil {
		return nil, err
	}
	return cloud.Lock(ctx, folder, doing, notes)
}

// Wanted is what the cloud shall run in.
type Wanted struct {
	Mode string `help:"auto (what runs, or Docker where an engine answers, else host), docker or host." default:"auto" enum:"auto,docker,host" env:"CLOUD"`
}

type statusCommand struct{ Place }

// Run changes nothing, so it waits for nobody, and says who is at it.
func (s *statusCommand) Run(ctx context.Context, out, notes io.Writer) error {
	folder, err := s.folder()
	if err != nil {
		return err
	}
	busy := cloud.Busy(folder)
	if busy != "" {
		fmt.Fprintln(out, busy)
	}
	c, err := cloud.Open(folder, notes)
	switch {
	case err != nil && busy != "" && neverWas(err), err == nil && c.Starting() && busy != "":
		return nil // it is on its way
	case err != nil:
		return err
	}
	if err := c.Check(ctx); err != nil {
		return err
	}
	fmt.Fprintln(out, c)
	return nil
}

// neverWas tells a folder without a cloud from one whose cloud has ended by itself.
func neverWas(err error) bool {
	none := (*cloud.NotRunningError)(nil)
	return errors.As(err, &none) && none.Was == ""
}

type downCommand struct{ Place }

// Run also removes what a cloud that ended by itself has left. It waits for a deployment, which would fail in ways that say nothing.
func (d *downCommand) Run(ctx context.Context, out, notes io.Writer) error {
	unlock, err := d.lock(ctx, "down", notes)
	if err != nil {
		return err
	}
	defer unlock()
	c, err := d.open(notes)
	if ended := (*cloud.NotRunningError)(nil); err != nil && !errors.As(err, &ended) {
		return err
	}
	if c == nil {
		fmt.Fprintln(out, "no local cloud runs here")
		return nil
	}
	if err := c.Stop(); err != nil {
		return err
	}
	fmt.Fprintln(out, "stopped, and its state is removed")
	return nil
}
