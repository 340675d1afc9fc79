package template

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/ssa"
)

// walked is what the code of each may do.
func walked(t *testing.T) map[string]*calls {
	t.Helper()
	of, err := walk()
	if err != nil {
		t.Fatal(err)
	}
	return of.calls
}

// walk is a walk through the whole program, once.
var walk = sync.OnceValues(func() (of struct {
	calls    map[string]*calls
	commands []string // that operate a deployment
}, err error,
) {
	p, err := load()
	if err != nil {
		return of, err
	}
	of.commands = p.commands()
	of.calls = map[string]*calls{"producer": p.reach(p.method("inorder/ddb", "Outbox", "Write")).calls()}
	for _, folder := range folders() {
		of.calls[folder] = p.reach(p.ImportedPackage("inorder/functions/" + folder).Func("main")).calls()
	}
	run := func(commands []string) (runs []*ssa.Function) {
		for _, name := range commands {
			runs = append(runs, p.method("inorder/cmd/inorder/"+name, "Command", "Run"))
		}
		return runs
	}
	of.calls["reads"], of.calls["changes"] = p.reach(run(reads)...).calls(), p.reach(run(changes)...).calls()
	return of, nil
})

// commands are those of the terminal that operate a deployment.
func (p *program) commands() (names []string) {
	for _, pkg := range p.AllPackages() {
		name, ours := strings.CutPrefix(pkg.Pkg.Path(), "inorder/cmd/inorder/")
		if command := pkg.Type("Command"); ours && command != nil && embeds(command.Type(), resourcesIn, "Flags") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// The play shows nothing that the walk through the code does not find, and everything beside tables that it finds: each
// action, and each queue and log group that the code knows. So a call that is new in the code is new in one of them, and
// the template has to follow.
func TestPlay(t *testing.T) {
	seen, variables := play(t), standard(t).variables()
	for who, code := range walked(t) {
		for _, unclear := range code.unclear {
			t.Errorf("%s: %s, and this test does not see what it does with it", who, unclear)
		}
		actions, resources := map[string]bool{}, map[string]bool{}
		for p := range seen[who] {
			actions[p.action], resources[p.on] = true, true
			if strings.HasPrefix(p.action, "dynamodb:") && !code.onTables[p] || !code.actions[p.action] {
				t.Errorf("%s was seen to %s, and the code seems unable to", who, p)
			}
		}
		for action := range code.actions {
			if !actions[action] && !strings.HasPrefix(action, "dynamodb:") {
				t.Errorf("%s may %s, and the play does not show on what", who, action)
			}
		}
		for variable := range variables[who] {
			code.speaksOf[camel(variable)] = true
		}
		for output := range code.speaksOf {
			if (strings.HasSuffix(output, "Url") || strings.HasSuffix(output, "LogGroup")) && !resources[output] {
				t.Errorf("%s knows %s, and the play does not show what for", who, output)
			}
		}
	}
}

func standard(t *testing.T) *Stack {
	t.Helper()
	s, err := source(t).Deploy(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Whoever adds a command for operators says here whether it reads or changes.
func TestOperatorsCommandsAreKnown(t *testing.T) {
	of, err := walk()
	if err != nil {
		t.Fatal(err)
	}
	if known := slices.Sorted(slices.Values(slices.Concat(reads, changes))); !slices.Equal(of.commands, known) {
		t.Errorf("the commands that operate a deployment are %v, known are %v", of.commands, known)
	}
}
