package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var unhurried = regexp.MustCompile(`(?m)^UNHURRIED := (.+)$`)

// TestWhatShortLeavesOutRunsElsewhere: a test that `make unit` skips under the race detector runs without it, or is a proof.
func TestWhatShortLeavesOutRunsElsewhere(t *testing.T) {
	atRoot(t)
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := strings.Fields(string(unhurried.FindSubmatch(makefile)[1]))
	for _, test := range tests {
		elsewhere = append(elsewhere, test.pkg)
	}
	seen := 0
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), "if testing.Short() {") {
			return err
		}
		seen++
		if pkg := "./" + filepath.ToSlash(filepath.Dir(path)); pkg != "./docs/proof" && !slices.Contains(elsewhere, pkg) {
			t.Errorf("%s leaves something out with -short, and %s runs nowhere without", path, pkg)
		}
		return nil
	})
	if err != nil || seen < 8 {
		t.Errorf("%d files look at -short: %v", seen, err)
	}
}
