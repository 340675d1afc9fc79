package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
)

// permissive are the licences, by their SPDX names, that what is built or tested here may have: they ask for their text
// to be handed on, and for nothing else. Whatever is not among them is for a person to read first.
var permissive = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD-3-Clause-Clear", "ISC", "MIT", "MIT-0", "Unlicense"}

// testOnly are licences of modules that only tests and benchmarks may use, for they are not handed out: MPL-2.0 asks for the source
// of its own files to go with them, FTL for a word of credit.
var testOnly = []string{"MPL-2.0", "FTL"}

// elsewhere are files that are no licence themselves but say where it stands, by a sentence in them. Where they offer a choice, this
// is the one that was taken. Without a file the licences lie beside, and are looked at anyway.
var elsewhere = []struct{ sentence, file string }{
	{"Lambda functions are made available under a modified MIT license.", ""},
	{"your choice of exactly one of", filepath.Join("licenses", "ftl.txt")}, // the FreeType License or the GPL
}

// recognised is how much of a licence file must be known words, in percent: the rest is names, years and headings. Apache's
// text comes with notices of others behind it, which are matched like any.
const recognised = 75

// builds are what is handed out: the functions for Lambda's two kinds of machine, the command for people's.
var builds = []struct {
	name, goos, goarch string
	arguments          []string
}{
	{"the functions", "linux", "arm64", []string{"-tags", "lambda.norpc", "./functions/consumer", "./functions/sweeper", "./functions/relay"}},
	{"the functions", "linux", "amd64", []string{"-tags", "lambda.norpc", "./functions/consumer", "./functions/sweeper", "./functions/relay"}},
	{"the command", "linux", "amd64", []string{"./cmd/inorder"}},
	{"the command", "darwin", "arm64", []string{"./cmd/inorder"}},
	{"the command", "windows", "amd64", []string{"./cmd/inorder"}},
	{"the tests", "linux", "amd64", []string{"-test", "./..."}},
}

// Every module that is linked into a function or the command has a licence of the permissive list, and so has each folder of it
// that is used and has a licence of its own; what only tests use may have one of testOnly too. npm's and Python's packages are
// run, and never handed out.
func TestDependenciesHavePermissiveLicences(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it asks for all modules")
	}
	modules := map[string]map[string]bool{}
	allowed := map[string][]string{} // by licence file
	for _, build := range builds {
		for _, used := range usedPackages(t, build.goos, build.goarch, build.arguments) {
			found := licenceFiles(t, used)
			if len(found) == 0 {
				t.Errorf("%s: %s has no licence file", build.name, used.module)
			}
			if modules[build.name] == nil {
				modules[build.name] = map[string]bool{}
			}
			modules[build.name][used.module] = true
			for _, file := range found {
				if build.name == "the tests" && allowed[file] == nil {
					allowed[file] = slices.Concat(permissive, testOnly)
				} else if build.name != "the tests" {
					allowed[file] = permissive
				}
			}
		}
	}
	for file, licences := range allowed {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if text = followed(t, file, text); text == nil {
			continue
		}
		if err := hasOnly(text, licences); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, name := range []string{"the functions", "the command", "the tests"} {
		if len(modules[name]) == 0 {
			t.Errorf("%s use no module: nothing was looked at", name)
		}
	}
	t.Logf("proof: licences of %d modules in the functions, %d in the command, %d with the tests: %d files, all permissive (MPL-2.0 and FTL in tests only)",
		len(modules["the functions"]), len(modules["the command"]), len(modules["the tests"]), len(allowed))
}

// A licence that asks for more, one that nobody knows, and none at all are told apart from permissive ones.
func TestOtherLicencesAreFound(t *testing.T) {
	apache, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing":         "",
		"somebody's own":  "Copyright 2026 Somebody. You may use this on Tuesdays.",
		"one word only":   "MIT",
		"another with it": string(apache) + "\n\n" + gpl,
		"GPL":             gpl,
	} {
		if err := hasOnly([]byte(text), permissive); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	if err := hasOnly(apache, permissive); err != nil {
		t.Errorf("this project's own: %v", err)
	}
}

const gpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public
License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.`

// followed is the licence that a file says to look at, or its own text; nil where others beside it are looked at anyway.
func followed(t *testing.T, file string, text []byte) []byte {
	t.Helper()
	for _, e := range elsewhere {
		if !strings.Contains(string(text), e.sentence) {
			continue
		}
		if e.file == "" {
			return nil
		}
		chosen, err := os.ReadFile(filepath.Join(filepath.Dir(file), e.file))
		if err != nil {
			t.Fatal(err)
		}
		return chosen
	}
	return text
}

func hasOnly(text []byte, licences []string) error {
	found := licensecheck.Scan(text)
	if len(found.Match) == 0 || found.Percent < recognised {
		return fmt.Errorf("%.0f %% of it is the text of a known licence: read it", found.Percent)
	}
	for _, match := range found.Match {
		if !slices.Contains(licences, match.ID) {
			return fmt.Errorf("%s is not on the list", match.ID)
		}
	}
	return nil
}

// used is a folder of another module.
type used struct{ module, root, dir string }

func usedPackages(t *testing.T, goos, goarch string, arguments []string) (all []used) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", append([]string{
		"list", "-deps", "-f", `{{if .Module}}{{if not .Module.Main}}{{.Module.Path}} {{.Module.Version}}|{{.Module.Dir}}|{{.Dir}}{{end}}{{end}}`,
	}, arguments...)...)
	list.Dir = filepath.Join("..", "..")
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	out, err := list.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		t.Fatalf("%v: %s", err, failed.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if part := strings.Split(strings.TrimSpace(line), "|"); len(part) == 3 {
			all = append(all, used{part[0], part[1], part[2]})
		}
	}
	return all
}

var licenceName = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying`)

// licenceFiles are those of a folder and of all above it up to the module's own: the nearest speaks for the folder, and
// the module's for the rest.
func licenceFiles(t *testing.T, of used) (found []string) {
	t.Helper()
	for dir := of.dir; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if entry.Type().IsRegular() && licenceName.MatchString(entry.Name()) && filepath.Ext(entry.Name()) != ".go" {
				found = append(found, filepath.Join(dir, entry.Name()))
			}
		}
		if dir == of.root || len(dir) <= len(of.root) {
			return found
		}
	}
}
