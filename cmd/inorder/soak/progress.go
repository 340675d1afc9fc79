package soak

import (
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"
)

// Progress writes a line now and then: how far it is, and when it will be done.
type Progress struct {
	To    io.Writer
	Every time.Duration
	Total int // events

	begun, last time.Time
	before      int
}

// Now is what is known at a time.
type Now struct {
	Sent, Applied int
	More          string // what else there is to say
}

// Show writes the line if it is time for one.
func (p *Progress) Show(at time.Time, n Now) {
	if p.begun.IsZero() {
		p.begun, p.last = at, at
	}
	since := at.Sub(p.last)
	if since < p.Every {
		return
	}
	rate := float64(n.Applied-p.before) / since.Seconds()
	_, _ = fmt.Fprintf(p.To, "%6.0f s  sent %s, done with %s of %s, %.0f/s, %s; %s\n", at.Sub(p.begun).Seconds(),
		Thousands(n.Sent), Thousands(n.Applied), Thousands(p.Total), rate, n.More, p.left(at, n.Applied))
	p.last, p.before = at, n.Applied
}

// left is an estimate by all that was done so far.
func (p *Progress) left(at time.Time, done int) string {
	if done == 0 || done >= p.Total {
		return "the rest follows"
	}
	left := time.Duration(float64(at.Sub(p.begun)) / float64(done) * float64(p.Total-done))
	return "ready in " + left.Round(time.Second).String()
}

// Thousands writes a number for people.
func Thousands[N int | int64](n N) string { return humanize.Comma(int64(n)) }
