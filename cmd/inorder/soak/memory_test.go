package soak

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"
)

// What grows is told from what does not, however many samples there are and however they jump.
func TestGrowth(t *testing.T) {
	for _, row := range []struct {
		name     string
		n        int
		at       func(i int) float64
		from, to float64
	}{
		{"flat", 300, func(i int) float64 { return 100 + float64(i%7) }, -0.03, 0.03},
		{"grows by a third from third to third", 30_000, func(i int) float64 { return 100 + float64(i)/300 }, 0.15, 0.25},
		{"only in the beginning", 300, func(i int) float64 { return math.Min(100, float64(i)) }, -0.001, 0.001},
		{"a jump now and then", 300, func(i int) float64 { return 100 + 900*float64(1/(1+i%50)) }, -0.001, 0.001},
	} {
		var m Memory
		for i := range row.n {
			m.Add(row.at(i))
		}
		if got, known := m.Growth(); !known || got < row.from || got > row.to || len(m.samples) > mostSamples {
			t.Errorf("%s: %v, %v, of %d samples", row.name, got, known, len(m.samples))
		}
	}
	var few Memory
	few.Add(1)
	if _, known := few.Growth(); known {
		t.Error("one sample tells of no growth")
	}
}

// Progress says how much is done and when the rest will be.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := Progress{To: &out, Every: 10 * time.Second, Total: 4000}
	at := time.Unix(0, 0)
	for second := range 21 {
		p.Show(at.Add(time.Duration(second)*time.Second), Now{Sent: 100 * second, Applied: 50 * second, More: "more"})
	}
	want := "    10 s  sent 1,000, done with 500 of 4,000, 50/s, more; ready in 1m10s\n"
	if got := out.String(); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 2 {
		t.Errorf("%s, want %s", got, want)
	}
}
