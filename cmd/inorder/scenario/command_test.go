package scenario

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares an output with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs (write it anew with -update):\n%s", path, got)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	return files
}

func TestAFileThatCannotBePlayedSaysWhyAndExits2(t *testing.T) {
	var all bytes.Buffer
	for _, path := range glob(t, "testdata/unplayable/*.yaml") {
		var out bytes.Buffer
		code, err := (&Command{Files: []string{path}}).Run(t.Context(), &out, t.Output())
		if code != exitUnplayable || err != nil {
			t.Errorf("%s: exit %d, %v", path, code, err)
		}
		all.Write(out.Bytes())
	}
	golden(t, "unplayable.golden", all.Bytes())
}

func TestAnExpectationThatDoesNotHoldIsShownAndExits1(t *testing.T) {
	var out bytes.Buffer
	files := append(glob(t, "testdata/failing/*.yaml"), "testdata/holds.yaml")
	code, err := (&Command{Files: files, Seed: 1}).Run(t.Context(), &out, t.Output())
	if code != exitFailed || err != nil {
		t.Errorf("exit %d, %v", code, err)
	}
	golden(t, "failing.golden", out.Bytes())
}

func TestOfSeveralFilesTheWorstCounts(t *testing.T) {
	var out bytes.Buffer
	files := []string{"testdata/holds.yaml", "testdata/unplayable/unknown-message.yaml", "testdata/failing/a-wrong-expectation.yaml"}
	code, err := (&Command{Files: files, Seed: 1}).Run(t.Context(), &out, t.Output())
	if code != exitUnplayable || err != nil {
		t.Errorf("exit %d, %v", code, err)
	}
}

func TestJSONIsOneObjectPerFile(t *testing.T) {
	var out bytes.Buffer
	files := []string{
		"testdata/holds.yaml", "testdata/unplayable/unknown-message.yaml", "testdata/failing/a-wrong-expectation.yaml",
		"testdata/nowhere.yaml",
	}
	if code, err := (&Command{Files: files, Seed: 1, JSON: true}).Run(t.Context(), &out, t.Output()); code != exitUnplayable || err != nil {
		t.Errorf("exit %d, %v", code, err)
	}
	var all []Result
	for decoder := json.NewDecoder(&out); decoder.More(); {
		var r Result
		if err := decoder.Decode(&r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if len(all) != len(files) {
		t.Fatalf("%d objects for %d files", len(all), len(files))
	}
	if r := all[0]; !r.OK || r.Name != "this one holds" || r.Failures == nil {
		t.Errorf("holds: %+v", r)
	}
	if r := all[1]; r.OK || r.Unplayable == "" || r.Name != "a message that nobody sent" {
		t.Errorf("unplayable: %+v", r)
	}
	if r := all[2]; r.OK || len(r.Failures) == 0 || r.Failures[0].Line == 0 || string(*r.Failures[0].Matrix) != `{"plan":"team","seq":1}` {
		t.Errorf("failing: %+v", r)
	}
	if r := all[3]; r.Unplayable == "" {
		t.Errorf("missing: %+v", r)
	}
}

func TestAnEngineThatIsNotThereIsAnError(t *testing.T) {
	t.Setenv("DYNOXIDE", "/nowhere/dynoxide")
	c := &Command{Files: []string{"testdata/holds.yaml"}}
	c.Engine = "dynoxide"
	if code, err := c.Run(t.Context(), &bytes.Buffer{}, &bytes.Buffer{}); code != exitUnplayable || err == nil {
		t.Errorf("exit %d, %v", code, err)
	}
}

func TestEveryFormOfYAMLIsRead(t *testing.T) {
	var out bytes.Buffer
	code, err := (&Command{Files: glob(t, "testdata/forms/*.yaml"), Seed: 1}).Run(t.Context(), &out, t.Output())
	if code != exitHolds || err != nil {
		t.Errorf("exit %d, %v:\n%s", code, err, out.String())
	}
}
