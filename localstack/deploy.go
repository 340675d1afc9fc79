package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"inorder/localstack/cloud"
	"inorder/localstack/template"
)

type deployCommand struct {
	Place
	Template string            `help:"Another template." placeholder:"FILE"`
	Stack    string            `help:"Name of the stack." default:"inorder" placeholder:"NAME"`
	Set      map[string]string `help:"Parameters of template.yaml." placeholder:"PARAMETER=VALUE" mapsep:"none"`
}

// Run deploys, again and again if need be: a second time it changes the stack.
func (d *deployCommand) Run(ctx context.Context, out, notes io.Writer) error {
	c, err := d.open(notes)
	if err != nil {
		return err
	}
	if err := d.allowed(); err != nil {
		return err
	}
	build, err := cloud.Build{Template: d.Template, Progress: notes}.Run(ctx)
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

// allowed says what AWS would not take: SAM passes over a name that is not there, and LocalStack looks at no pattern and no
// rule. Of another template it knows nothing.
func (d *deployCommand) allowed() error {
	if d.Template != "" {
		return nil
	}
	folder, err := cloud.Folder()
	if err != nil {
		return err
	}
	t, err := template.Read(filepath.Join(filepath.Dir(folder), "template.yaml"))
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
	on := fmt.Sprintf("--stack %s --endpoint %s --region %s", d.Stack, c.Address, cloud.Region)
	stack := ""
	if d.Stack != "inorder" {
		stack = "--stack " + d.Stack + " "
	}
	fmt.Fprintf(out, "\n(GapDeadline and MarkDelay are shorter than the template's, and LogLevel is debug, to play with.)\n")
	fmt.Fprintln(out, strings.NewReplacer("ON", on, "STACK ", stack).Replace(`
send to it       go run ./localstack send STACK events/samples/plan-changed.json
look             go run ./cmd/inorder inspect subscription sub_1 ON
make a gap       go run ./localstack send STACK events/samples/step-with-its-predecessor-missing.json
see it           go run ./cmd/inorder gaps ON
watch            go run ./cmd/inorder tail ON
give it up       go run ./cmd/inorder skip ledger acc_2 --through 7 --reason "to play" --yes ON
send poison      go run ./localstack send STACK events/samples/quarantine-no-route.json
see why          go run ./cmd/inorder redrive ON
deploy changes   make cloud-deploy
set a parameter  go run ./localstack deploy STACK --set ReceiveCount=3
it does nothing? .cloud/up/log has what a function says that does not start
stop it          make cloud-down`))
}
