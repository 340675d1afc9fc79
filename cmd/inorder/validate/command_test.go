package validate

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

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

func run(t *testing.T, c Command) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code, err := c.Run(t.Context(), &out, &out)
	if err != nil && code != exitUsage {
		t.Error(err)
	}
	return out.String(), code
}

func TestTheExampleIsRight(t *testing.T) {
	out, code := run(t, Command{File: "../../../events/streams.yaml"})
	if want := "ok: 9 streams in ../../../events/streams.yaml\n"; out != want || code != exitOK {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestEveryFaultIsListedWithItsLine(t *testing.T) {
	out, code := run(t, Command{File: "testdata/broken.yaml"})
	if code != exitFaults {
		t.Errorf("exit %d", code)
	}
	golden(t, "broken.golden", []byte(out))
}

func TestAFileThatIsNoYAMLHasAFault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "streams.yaml")
	if err := os.WriteFile(path, []byte("streams: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := run(t, Command{File: path}); code != exitFaults || out == "" {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestAFileThatIsNotThereIsNoFaultOfTheFile(t *testing.T) {
	if _, code := run(t, Command{File: "testdata/nowhere.yaml"}); code != exitUsage {
		t.Errorf("exit %d", code)
	}
}

func TestJSON(t *testing.T) {
	for file, want := range map[string]Result{
		"../../../events/streams.yaml": {OK: true, Streams: 9},
		"testdata/broken.yaml":         {OK: false},
	} {
		out, code := run(t, Command{File: file, JSON: true})
		var got Result
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		if got.File != file || got.OK != want.OK || got.Streams != want.Streams || got.Faults == nil || got.OK != (code == exitOK) ||
			got.OK != (len(got.Faults) == 0) {
			t.Errorf("%s: exit %d, %+v", file, code, got)
		}
	}
}
