package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew: read the difference before you commit it")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test -update shows how. Got:\n%s", name, got)
	}
}

func text(t *testing.T, r *Report, colour bool) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Text(&b, colour); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func html(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// broken is a report of a run that went wrong, on an engine that does not report capacity.
func broken() *Report {
	r := sample()
	r.Note = "dynoxide is not installed here."
	r.Checks[0] = Check{
		Name: "615 of 617 entities hold what the producer meant", More: 1,
		Wrong: []string{"subscription sub_0001: plan is pro, meant basic"},
	}
	r.Costs[0].WriteUnits, r.Costs[0].ReadUnits = -1, -1
	l := &r.Healing.Losses[2]
	l.HealedAt, l.Healed = time.Time{}, ""
	return r
}

// What the terminal shows, to the letter.
func TestText(t *testing.T) {
	golden(t, "right.txt", text(t, sample(), false))
	golden(t, "wrong.txt", text(t, broken(), false))
}

// Lines fit a terminal of 80 columns, and colour adds nothing but colour.
func TestTextFits(t *testing.T) {
	plain := text(t, sample(), false)
	for line := range strings.Lines(plain) {
		if n := len([]rune(line)); n > 81 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	escapes := regexp.MustCompile("\x1b\\[[0-9;]*m")
	if got := escapes.ReplaceAllString(text(t, sample(), true), ""); got != plain {
		t.Errorf("with colour it says something else:\n%s", got)
	}
}

// An empty run is a report, too.
func TestEmpty(t *testing.T) {
	r := &Report{}
	if text(t, r, false) == "" || !strings.Contains(html(t, r), "</html>") {
		t.Error("nothing is shown")
	}
}

// The page names no other place: no script, no link, no address but the names of XML.
func TestPageIsSelfContained(t *testing.T) {
	got := html(t, sample())
	got = strings.ReplaceAll(got, "http://www.w3.org/2000/svg", "")
	for _, forbidden := range []string{"<script", "http:", "https:", "src=", "@import", "url(", "ZgotmplZ"} {
		if strings.Contains(got, forbidden) {
			t.Errorf("the page holds %q", forbidden)
		}
	}
}

// The page's first sentence counts as its first checks do: what newer state made needless was not sent again.
func TestPageSaysWhatWasSentAgain(t *testing.T) {
	got := strings.Join(strings.Fields(html(t, sample())), " ")
	if want := "5 never came: 4 were found missing and sent again, 1 were outdated by newer state."; !strings.Contains(got, want) {
		t.Errorf("the page does not say %q", want)
	}
}

// Every chart has a mark for every number, a title on it, and a table for those who do not see it.
func TestPageHasMarksAndTables(t *testing.T) {
	r := sample()
	got := html(t, r)
	marks := len(r.Dispositions) + len(r.Distances) + 2*len(r.Costs) + len(r.Healing.Losses)
	for _, line := range r.Timelines {
		marks += len(line.Arrivals)
	}
	if n := strings.Count(got, `<title>`); n != marks+1 {
		t.Errorf("%d titled marks and the page's own, want %d", n, marks+1)
	}
	if charts, tables := strings.Count(got, `role="img"`), strings.Count(got, "<table"); charts != 9 || tables != 9 {
		t.Errorf("%d charts and %d tables", charts, tables)
	}
}

// What comes from events cannot become markup.
func TestPageEscapes(t *testing.T) {
	r := sample()
	r.Timelines[0].Entity = `<img src=x onerror=alert(1)>`
	r.Timelines[0].Arrivals[0].What = `"><script>`
	if got := html(t, r); strings.Contains(got, "<img") || strings.Contains(got, "<script") {
		t.Error("an entity's name became markup")
	}
}

// Every tag is closed: the page is read as if it were XML.
func TestPageIsWellFormed(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(html(t, broken())))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The JSON form names the verdict's parts; scripts rely on it.
func TestJSON(t *testing.T) {
	b, err := json.MarshalIndent(sample(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", string(b)+"\n")
}
