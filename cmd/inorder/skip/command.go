// Package skip passes numbers that are lost for good, so that what waits behind them can go on.
package skip

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"strings"

	"inorder/cmd/inorder/stack"
	"inorder/cmd/inorder/terminal"
	"inorder/events"
	"inorder/ordering"
)

// Command is `inorder skip`.
type Command struct {
	stack.Flags
	stack.Entity
	terminal.Output
	Through    int64  `required:"" help:"The last number to pass." placeholder:"N"`
	Reason     string `required:"" help:"Why, for whoever reads the audit row in a year." placeholder:"TEXT"`
	Generation *int64 `help:"Refuse where the entity is in another generation (default: the one it is in)." placeholder:"G"`
	By         string `help:"Who skips, for the audit row (default: the user of this machine)." placeholder:"WHO"`
	Yes        bool   `help:"Do it. Without it nothing is changed."`
}

// Help is shown below the flags.
func (*Command) Help() string {
	return `Says, and with --yes does, what it takes to pass an entity's numbers up to --through: what is logged is applied,
what nobody has is lost, and what is logged and cannot be applied is passed, with a copy in quarantine. Then all that
is parked behind it runs. An original that turns up later goes to quarantine (skipped). Skipping cannot be undone.

With --yes it leaves an audit row, which inorder inspect shows. To skip again what is skipped changes nothing.`
}

// Validate is called by the command line parser.
func (c *Command) Validate() error {
	switch {
	case strings.TrimSpace(c.Reason) == "":
		return errors.New("--reason: say why, for whoever reads it in a year")
	case c.Through < 1:
		return fmt.Errorf("--through %d: numbers begin with 1", c.Through)
	}
	return c.Flags.Validate()
}

// Run does the skip, or says what it would do.
func (c *Command) Run(ctx context.Context, out, _ io.Writer) (exitCode int, err error) {
	r, err := c.skip(ctx)
	if r != nil { // with an error, too: what is done is done
		if printErr := c.Show(out, r, r.print); printErr != nil {
			return stack.ExitFailed, printErr
		}
	}
	return stack.ExitCode(err), err
}

func (c *Command) skip(ctx context.Context) (*Result, error) {
	at, err := c.Find(ctx, &c.Flags, stack.EntitiesTable, stack.ItemsTable)
	if err != nil {
		return nil, err
	}
	keeper, err := at.Keeper(at.Config, at.Stream, c.Time)
	if err != nil {
		return nil, err
	}
	before, err := keeper.Store.Entity(ctx, at.Key)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", stack.NameOf(at.Key), err)
	}
	if !before.Exists {
		return nil, stack.NeverSeen(at.Key)
	}
	order := c.order(before)
	done, err := keeper.Skip(ctx, at.Key, at.Stream, order)
	if err = c.explain(err, at.Key, order, moved(done)); err != nil && !moved(done) {
		return nil, err
	}
	return c.result(at.Stream, at.Key, before, order, done, keeper.EffectsMode), err
}

func (c *Command) order(before *ordering.Entity) ordering.Skip {
	order := ordering.Skip{
		Generation: before.Gen, Through: c.Through, Reason: strings.TrimSpace(c.Reason), By: c.By, DryRun: !c.Yes,
	}
	if c.Generation != nil {
		order.Generation = *c.Generation
	}
	if order.By == "" {
		order.By = thisUser()
	}
	return order
}

// thisUser is who is logged in: the machine knows it without asking AWS, where a role often hides the person.
func thisUser() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return u.Username
}

// moved reports whether anything was passed, however it ended.
func moved(done ordering.Skipped) bool {
	return len(done.Applied)+len(done.Lost)+len(done.Passed) > 0
}

// explain says what the operator can do about a refusal.
func (c *Command) explain(err error, key ordering.Key, order ordering.Skip, moved bool) error {
	switch {
	case errors.Is(err, ordering.ErrBeyondKnown):
		return fmt.Errorf("number %d of %s cannot be skipped: %w", c.Through, stack.NameOf(key), err)
	case errors.Is(err, ordering.ErrAnotherGeneration) && moved:
		return fmt.Errorf("%s: %w, not %d any more. What is said above was done in generation %d and is on record there; "+
			"the numbers of the new one are others, and none of them was skipped: look with inorder inspect what it lacks",
			stack.NameOf(key), err, order.Generation, order.Generation)
	case errors.Is(err, ordering.ErrAnotherGeneration):
		return fmt.Errorf("%s: %w, not %d. Nothing was done: look with inorder inspect what that one lacks",
			stack.NameOf(key), err, order.Generation)
	case errors.Is(err, ordering.ErrNothingToSkip):
		return stack.Usagef("stream %s is not ordered by seq: %v", key.Stream, err)
	case err != nil && c.Yes:
		return fmt.Errorf("%w (what is done stays done: run it again for what is left)", err)
	}
	return err
}

// result puts together what is told.
func (c *Command) result(s *events.Stream, key ordering.Key, before *ordering.Entity, order ordering.Skip, done ordering.Skipped, mode ordering.EffectsMode) *Result {
	r := &Result{
		Consumer: key.Consumer, Stream: key.Stream, EntityID: key.ID, Source: key.Source, Generation: before.Gen,
		Through: order.Through, Reason: order.Reason, By: order.By, DryRun: order.DryRun,
		Lost: listed(done.Lost), Passed: listed(done.Passed), Effects: effectsOf(s, mode, c.Yes, done.Entity),
		Before: sideOf(s, before), After: sideOf(s, done.Entity), mode: s.Mode,
	}
	if r.Applied, r.Drained = split(done.Applied, order.Through); r.overtaken() {
		r.Drained = []events.Range{} // these would be the new generation's
	}
	r.NothingToDo = !moved(done)
	return r
}
