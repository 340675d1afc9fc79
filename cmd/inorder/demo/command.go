package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"inorder/cmd/inorder/backend"
	"inorder/cmd/inorder/demo/naive"
	"inorder/cmd/inorder/demo/producer"
	"inorder/cmd/inorder/demo/report"
)

// Command is `inorder demo`.
type Command struct {
	backend.Choice
	Events  int    `help:"How many events happen on the day." default:"5000"`
	Workers int    `help:"How many workers consume at once." default:"12"`
	Seed    uint64 `help:"Decides what happens and what is lost; how workers meet, and die, differs from run to run." default:"1"`
	Report  string `help:"Write the report as one HTML page, too." type:"path" placeholder:"FILE"`
	JSON    bool   `name:"json" help:"Print the report as JSON."`

	plants plants
}

// The exit status.
const (
	exitRight = 0
	exitWrong = 1 // something is not right, or there is no result
)

// minEvents is the smallest day on which something happens in every stream.
const minEvents = 20

// Validate is called by the command line parser.
func (c *Command) Validate() error {
	if c.Events < minEvents {
		return fmt.Errorf("--events %d: a day has %d events at least", c.Events, minEvents)
	}
	if c.Workers < 1 {
		return errors.New("--workers: nobody would be at work; name 1 or more")
	}
	return c.Choice.Validate()
}

// Run plays the day. The report goes to out, progress and notes to notes. The exit status is 1 where anything is wrong.
func (c *Command) Run(ctx context.Context, out, notes io.Writer) (exitCode int, err error) {
	r, err := c.play(ctx, notes)
	if err != nil {
		return exitWrong, fmt.Errorf("demo: %w", err)
	}
	if err := c.show(r, out); err != nil {
		return exitWrong, fmt.Errorf("demo: %w", err)
	}
	if !r.Right() {
		return exitWrong, nil
	}
	return exitRight, nil
}

func (c *Command) play(ctx context.Context, notes io.Writer) (*report.Report, error) {
	b, err := backend.Open(ctx, c.Choice, notes)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.Close() }() // its data is in memory
	day := producer.Generate(c.Seed, c.Events)
	run, err := newRun(ctx, day, b, c.plants)
	if err != nil {
		return nil, err
	}
	run.bar = newProgress(notes, len(day.Arrivals))
	if err := run.play(ctx, c.Workers); err != nil {
		return nil, err
	}
	healing := run.healing()
	checks, err := run.verdict(ctx, &healing)
	if err != nil {
		return nil, err
	}
	if c.Endpoint != "" { // somebody else's engine is left as it was
		if err := b.DropTables(ctx, run.tables); err != nil {
			return nil, err
		}
		if err := b.DropOutbox(ctx, run.outbox); err != nil {
			return nil, err
		}
	}
	return c.report(run, checks, healing), nil
}

// report puts together what the run has to say.
func (c *Command) report(r *run, checks []report.Check, healing report.Healing) *report.Report {
	h, day := &r.history, r.day
	note := ""
	if r.sweeps.instead != nil {
		note = "This engine's index loses entries: its sweepers read the table instead."
	}
	out := &report.Report{
		Note:  note,
		Title: "inorder demo", Seed: c.Seed, Engine: r.backend.Name(), Workers: c.Workers,
		Replay: c.replay(),
		Day: report.Day{
			Events: len(day.Events), Entities: len(day.Meant), Lost: day.Lost, Copies: day.Copies, Poison: day.Poison,
		},
		Play: report.Play{
			Deliveries: h.deliveries(), Invocations: h.invocations, Crashes: h.crashes, Lost: h.lost, Seconds: r.seconds,
		},
		Checks: checks, Dispositions: h.dispositions(), Drained: h.drained, Distances: h.histogram(),
		Parked: h.parkedLevels(), Healing: healing, Timelines: r.timelines(),
	}
	out.Costs = append(out.Costs, r.cost(checks))
	for _, n := range naive.Run(day, naive.Plan{Workers: c.Workers, Doom: doom}) {
		out.Costs = append(out.Costs, report.Cost{
			Name: n.Name, How: n.How, Requests: n.Requests,
			WriteUnits: report.Units(n.WriteUnits), ReadUnits: report.Units(n.ReadUnits),
			WrongEntities: n.WrongEntities, WrongNotices: n.WrongNotices, Example: n.Example,
		})
	}
	return out
}

// replay is the command that plays the same day. Which worker meets which is up to the machine; the end is not.
func (c *Command) replay() string {
	s := fmt.Sprintf("go run ./cmd/inorder demo --seed %d --events %d --workers %d", c.Seed, c.Events, c.Workers)
	switch {
	case c.Engine != "":
		s += " --engine " + c.Engine
	case c.Endpoint != "":
		s += " --endpoint " + c.Endpoint
	}
	return s
}

// cost is what went over the wire.
func (r *run) cost(checks []report.Check) report.Cost {
	t := r.wire.traffic()
	c := report.Cost{
		Name: "inorder", Ours: true, Requests: t.requests,
		WriteUnits: report.Units(t.writeUnits + float64(t.refused)), ReadUnits: report.Units(t.readUnits),
		WrongEntities: checks[0].Faults(), WrongNotices: checks[1].Faults(),
	}
	if t.told == 0 {
		c.WriteUnits, c.ReadUnits = -1, -1
		c.How = "Its requests to DynamoDB were counted on their way; this engine does not say what they consume."
		return c
	}
	c.How = fmt.Sprintf("Measured: its requests to DynamoDB were counted on their way, copies, crashes, races and marks included, "+
		"and the engine said what each consumed. %d writes whose condition failed are in it with one unit each, because "+
		"AWS bills them and the engine does not say so. Webhooks have no number, so each takes a marker with it: two items "+
		"in a transaction, two units each.", t.refused)
	return c
}

// show writes the report in the forms that were asked for.
func (c *Command) show(r *report.Report, out io.Writer) error {
	if c.Report != "" {
		if err := writePage(r, c.Report); err != nil {
			return err
		}
	}
	if c.JSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			Right bool `json:"right"`
			*report.Report
		}{r.Right(), r})
	}
	if err := r.Text(out, isTerminal(out) && os.Getenv("NO_COLOR") == ""); err != nil {
		return err
	}
	if c.Report != "" {
		_, err := fmt.Fprintf(out, "The same with charts: %s\n", c.Report)
		return err
	}
	return nil
}

func writePage(r *report.Report, path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return r.HTML(f)
}
