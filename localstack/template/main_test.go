package template

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// root is the project's folder.
const root = "../.."

// sam is the translator of this run, started when a test first needs it.
var sam = sync.OnceValues(func() (*SAM, error) { return StartSAM(os.Getenv("INORDER_SAM")) })

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("INORDER_SAM") != "" {
		if s, err := sam(); err == nil {
			_ = s.Close()
		}
	}
	os.Exit(code)
}

// source is template.yaml.
func source(t *testing.T) Template {
	t.Helper()
	tpl, err := Read(root + "/template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// needSAM skips a test where there is no SAM to transform the template with.
func needSAM(t *testing.T) *SAM {
	t.Helper()
	if os.Getenv("INORDER_SAM") == "" {
		t.Skip("INORDER_SAM names no virtual environment with the SAM CLI: `make tools` installs one into .tools/, and `make test` names it")
	}
	s, err := sam()
	if err != nil {
		t.Fatal(fmt.Errorf("start SAM's translator: %w", err))
	}
	return s
}
