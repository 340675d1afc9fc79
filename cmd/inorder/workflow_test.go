package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/goccy/go-yaml"
)

// The workflow runs others' code with a token. So each action is pinned by its commit, since a tag can be moved; the token
// may read and nothing else; and the look for known vulnerabilities is of a fixed version.
func TestTheWorkflowIsPinnedAndMayOnlyRead(t *testing.T) {
	text, err := os.ReadFile("../../.github/workflows/ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Permissions any
			Steps       []struct{ Uses, Run string }
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	if len(workflow.Permissions) != 1 || workflow.Permissions["contents"] != "read" {
		t.Errorf("permissions: %v", workflow.Permissions)
	}
	pinned := regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40}$`)
	govulncheck := regexp.MustCompile(`^go run golang\.org/x/vuln/cmd/govulncheck@v\d+\.\d+\.\d+ -test \./\.\.\.$`)
	found := false
	for name, job := range workflow.Jobs {
		if job.Permissions != nil {
			t.Errorf("job %s has permissions of its own", name)
		}
		for _, step := range job.Steps {
			if step.Uses != "" && !pinned.MatchString(step.Uses) {
				t.Errorf("job %s uses %s, which is not pinned by a commit", name, step.Uses)
			}
			found = found || govulncheck.MatchString(step.Run)
		}
	}
	if !found {
		t.Error("no job runs a pinned govulncheck")
	}
}
