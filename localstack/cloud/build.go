package cloud

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Build says what `sam build` is to make. The zero value builds the project's template for this machine.
type Build struct {
	Template string    // default: template.yaml of the project
	Folder   string    // where it goes; default: .aws-sam/build of the project
	Version  string    // what the functions say that they are; default: what git says
	Progress io.Writer // nil is nowhere
}

// Run builds the functions and returns the folder for Deployment.Build. A build may be deployed any number of times.
func (b Build) Run(ctx context.Context) (string, error) {
	root, err := projectRoot()
	if err != nil {
		return "", err
	}
	if b.Template == "" {
		b.Template = filepath.Join(root, "template.yaml")
	}
	if b.Folder == "" {
		b.Folder = filepath.Join(root, ".aws-sam", "build")
	}
	if b.Progress == nil {
		b.Progress = io.Discard
	}
	beside := b.Folder + ".sam" // the build's own folder is emptied by each build
	if err := os.MkdirAll(beside, 0o755); err != nil {
		return "", err
	}
	environment := []string{"ARCHITECTURE=" + Architecture()}
	if b.Version != "" {
		environment = append(environment, "VERSION="+b.Version)
	}
	return b.Folder, step(b.Progress, "building the functions for "+Architecture(), func() error {
		return sam(ctx, root, beside, environment, "build", "--template-file", b.Template, "--build-dir", b.Folder,
			"--build-in-source")
	})
}

// BuildFolder is a place for builds that only whoever changes this Cloud writes to: what lies in .aws-sam/build, for AWS perhaps,
// stays as it is.
func (c *Cloud) BuildFolder() string { return filepath.Join(c.folder, "build") }

// Architecture is this machine's in Lambda's words: the template's parameter of that name must be the same.
func Architecture() string {
	if runtime.GOARCH == "arm64" {
		return "arm64"
	}
	return "x86_64"
}
