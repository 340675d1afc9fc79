package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

const root = "../.."

// notHere are commands of the README that run elsewhere: `make test` runs this test, and the tests of localstack/ do what
// the others do, where there is a cloud to do it on.
var notHere = []string{"make test", "make cloud-", "sam "}

// A newcomer copies these, so they are run.
func TestReadmeCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("the README's commands take half a minute")
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(readme(t), -1)
	ran := 0
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			command, _, _ := strings.Cut(line, "  #")
			command = strings.TrimSpace(strings.SplitN(command, " # ", 2)[0])
			is := func(start string) bool { return strings.HasPrefix(command, start) }
			if command == "" || slices.ContainsFunc(notHere, is) {
				continue
			}
			ran++
			if strings.HasPrefix(command, "inorder ") { // needs a deployment; operator_test.go has one
				t.Run(command, func(t *testing.T) { checkGrammar(t, command) })
				continue
			}
			t.Run(command, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
				defer cancel()
				c := exec.CommandContext(ctx, "bash", "-c", command)
				c.Dir = root
				if out, err := c.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
	if ran < 5 {
		t.Errorf("only %d commands found: has the README another form now?", ran)
	}
}

// What the README says that `inorder gaps` prints is what it prints.
func TestReadmeOutput(t *testing.T) {
	printed, err := os.ReadFile("gaps/testdata/one.golden")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(readme(t), "```text\n"+string(printed)+"```") {
		t.Errorf("the README shows no block that is\n%s", printed)
	}
}

// checkGrammar parses a command line as the shell and then the program would.
func checkGrammar(t *testing.T, line string) {
	t.Helper()
	words, err := exec.CommandContext(t.Context(), "bash", "-c", "printf '%s\\n' "+line).Output()
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Split(strings.TrimSuffix(string(words), "\n"), "\n")[1:]
	if _, err := kong.Must(&commands{}, kong.Name("inorder")).Parse(args); err != nil {
		t.Error(err)
	}
}

// Every link of the README and of docs/ that stays in the repository leads somewhere.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	decisions, _ := filepath.Glob(filepath.Join(root, "docs", "*", "*.md"))
	pages = append(append(pages, decisions...), filepath.Join(root, "README.md"), filepath.Join(root, "CHANGELOG.md"))
	links := regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
	code := regexp.MustCompile("(?s)```.*?```")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), link[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", page, link[1])
			}
		}
	}
}

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
