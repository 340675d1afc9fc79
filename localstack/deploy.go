package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"inorder/events"
	"inorder/functions/projections"
	"inorder/localstack/cloud"
	"inorder/localstack/template"
)

type deployCommand struct {
	Place
	Wanted
	Template string            `help:"Another template." placeholder:"FILE"`
	Stack    string            `help:"Name of the stack." default:"inorder" placeholder:"NAME"`
	Set      map[string]string `help:"Parameters of template.yaml." placeholder:"PARAMETER=VALUE" mapsep:"none"`
}

// Run deploys, again and again if need be: a second time it changes the stack.
func (d *deployCommand) Run(ctx context.Context, out, notes io.Writer) error {
	unlock, err := d.lock(ctx, "deploy --stack "+d.Stack, notes)
	if err != nil {
		return err
	}
	defer unlock()
	c, err := d.open(notes)
	if err != nil {
		return err
	}
	if err := errors.Join(c.Fits(d.Mode), c.Check(ctx)); err != nil {
		return err
	}
	if err := d.nameConsumer(); err != nil {
		return err
	}
	if err := d.allowed(); err != nil {
		return err
	}
	build, err := cloud.Build{Template: d.Template, Folder: c.BuildFolder(), Progress: notes}.Run(ctx)
	if err != nil {
		return err
	}
	outputs, err := c.Deploy(ctx, cloud.Deployment{Stack: d.Stack, Build: build, Parameters: d.parameters()})
	if err != nil {
		return err
	}
	d.show(c, outputs, out)
	return nil
}

// nameConsumer sets the parameter Consumer to the one of events/streams.yaml, with which the functions do not start where it is
// another.
func (d *deployCommand) nameConsumer() error {
	if d.Template != "" {
		return nil
	}
	file, streams, err := readStreams()
	if err != nil {
		return err
	}
	switch named, ok := d.Set["Consumer"]; {
	case !ok:
		if d.Set == nil {
			d.Set = map[string]string{}
		}
		d.Set["Consumer"] = streams.Consumer
	case named != streams.Consumer:
		return fmt.Errorf("--set Consumer=%s, and the consumer of %s is %s: with two names no function starts. "+
			"Change it there; the parameter then follows", named, file, streams.Consumer)
	}
	return nil
}

// readStreams reads events/streams.yaml as the functions will.
func readStreams() (file string, c *events.Config, err error) {
	file, err = inProject("events", "streams.yaml")
	if err != nil {
		return "", nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", nil, err
	}
	if c, err = events.ParseStreams(text, events.Options{Projections: slices.Sorted(maps.Keys(projections.All()))}); err != nil {
		return "", nil, fmt.Errorf("%s:\n%w", file, err)
	}
	return file, c, nil
}

// inProject is a path below the project's folder.
func inProject(path ...string) (string, error) {
	folder, err := cloud.Folder()
	return filepath.Join(append([]string{filepath.Dir(folder)}, path...)...), err
}

// allowed says what AWS would not take: SAM passes over a name that is not there, and LocalStack looks at no pattern and no
// rule. Of another template it knows nothing.
func (d *deployCommand) allowed() error {
	if d.Template != "" {
		return nil
	}
	file, err := inProject("template.yaml")
	if err != nil {
		return err
	}
	t, err := template.Read(file)
	if err != nil {
		return err
	}
	_, err = t.Deploy(d.parameters())
	return err
}

// toPlay are shorter times than anyone would want in production: a gap heals while one looks.
var toPlay = map[string]string{"GapDeadline": "1m", "MarkDelay": "1m", "LogLevel": "debug"}

func (d *deployCommand) parameters() map[string]string {
	parameters := cloud.Parameters(d.Stack)
	maps.Copy(parameters, toPlay)
	maps.Copy(parameters, d.Set)
	return parameters
}

func (d *deployCommand) show(c *cloud.Cloud, outputs map[string]string, out io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		fmt.Fprintf(out, "  %-24s %s\n", name, outputs[name])
	}
	stack := ""
	if d.Stack != "inorder" {
		stack = "--stack " + d.Stack + " "
	}
	fmt.Fprintln(out, "\n(GapDeadline and MarkDelay are shorter than the template's, and LogLevel is debug, to play with.)")
	fmt.Fprintln(out, strings.NewReplacer("ON", on(d.Stack, c), "STACK ", stack).Replace(toTry))
}

// toTry is a first hour with the stack, in an order that makes sense.
const toTry = `
An event, and what became of it:
  go run ./localstack send STACK events/samples/plan-changed.json
  go run ./cmd/inorder inspect subscription sub_1 ON

A gap opens: number 2 of acc_2 comes and waits, number 1 does not come. After a minute or two the sweeper begins to ask for it.
A producer with an outbox would send it again by itself, as in make demo; here nobody has it. gaps exits with 1 while there is
a gap, tail goes on until Ctrl-C:
  go run ./localstack send STACK events/samples/step-with-its-predecessor-missing.json
  go run ./cmd/inorder gaps ON
  go run ./cmd/inorder tail ON

It closes: number 1 comes after all, and number 2 runs right behind it:
  go run ./localstack send STACK events/samples/step-that-was-missing.json
  go run ./cmd/inorder inspect ledger acc_2 ON

Another gap, which is given up (without --yes it says what would happen). What was sent once is a copy the second time, so sed
makes the events those of an account that is new:
  sed s/acc_2/acc_9/g events/samples/step-with-its-predecessor-missing.json | go run ./localstack send STACK -
  go run ./cmd/inorder skip ledger acc_9 --through 1 --reason "to play" --yes ON

What can never succeed, and why:
  go run ./localstack send STACK events/samples/quarantine-no-route.json
  go run ./cmd/inorder redrive ON

Deploy your changes, or another parameter, and stop it all:
  make cloud-deploy
  go run ./localstack deploy STACK --set LogLevel=info
  make cloud-down

Where nothing happens, .cloud/up/log has what a function says that does not start.`
