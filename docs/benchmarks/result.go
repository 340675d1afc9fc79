package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// results is what the file of results holds: of each part the last run.
type results struct {
	Parts []result `json:"parts"`
}

// result is what one part came to.
type result struct {
	Part   string  `json:"part"`
	On     machine `json:"on"`
	Date   string  `json:"date"`           // UTC
	Note   string  `json:"note,omitempty"` // what else was so when it was measured
	Size   string  `json:"size,omitempty"` // where it was not the usual one
	Goals  []goal  `json:"goals,omitempty"`
	Tables []table `json:"tables,omitempty"`
	Charts []chart `json:"charts,omitempty"`
	Took   string  `json:"took"`
}

// goal is what was aimed for and what came out.
type goal struct {
	What    string `json:"what"`
	Of      string `json:"of"` // in which case
	Want    string `json:"want"`
	Got     string `json:"got"`
	Spread  string `json:"spread,omitempty"` // lowest and highest round
	Verdict string `json:"verdict"`
	WhyNot  string `json:"why_not,omitempty"` // only where it is missed or not run
}

// The verdicts.
const (
	met    = "met"
	missed = "**missed**"
	notRun = "not run"
)

// table is one of the page's.
type table struct {
	Title string     `json:"title"`
	Text  string     `json:"text,omitempty"`
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`
}

// chart is one panel of the picture.
type chart struct {
	Name   string   `json:"name"`
	X      []string `json:"x"`
	Series []series `json:"series"`
}

type series struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// atLeast is a goal that a ratio must reach.
func atLeast(what, of string, want float64, got spread, whyNot string) goal {
	return judged(what, of, fmt.Sprintf("≥ %s", short(want)), got, got.Median >= want, whyNot)
}

// atMost is a goal that a number must not exceed.
func atMost(what, of string, want float64, got spread, whyNot string) goal {
	return judged(what, of, fmt.Sprintf("≤ %s", short(want)), got, got.Median <= want, whyNot)
}

func judged(what, of, want string, got spread, ok bool, whyNot string) goal {
	g := goal{What: what, Of: of, Want: want, Got: short(got.Median), Verdict: met}
	if got.Low != got.High {
		g.Spread = got.rounds()
	}
	if !ok {
		g.Verdict, g.WhyNot = missed, whyNot
	}
	return g
}

func (s spread) rounds() string { return short(s.Low) + " – " + short(s.High) }

// with is the median with the rounds' lowest and highest in brackets.
func (s spread) with() string { return short(s.Median) + " (" + s.rounds() + ")" }

// short is a number as a person reads it: three digits that count, and thousands separated.
func short(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.Abs(v) >= 100:
		return humanize.Comma(int64(math.Round(v)))
	case v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case math.Abs(v) >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case math.Abs(v) >= 0.1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	default:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
}

// millis is a time as a person reads it.
func millis(d time.Duration) string { return short(float64(d)/float64(time.Millisecond)) + " ms" }

// row is a line of a table in Markdown.
func row(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }
