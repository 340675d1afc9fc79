package stack

import (
	"io"
	"strings"
	"time"

	"inorder/events"
	"inorder/functions"
	"inorder/functions/projections"
	"inorder/ordering"
)

// EffectsMode is what the deployment does with effects. An operator's command that makes events run must do the same.
func (c *Connection) EffectsMode() (ordering.EffectsMode, error) {
	switch value := strings.ToLower(c.Get(Effects)); value {
	case "", "on":
		return ordering.EffectsOn, nil
	case "off":
		return ordering.EffectsOff, nil
	case "hold":
		return ordering.EffectsHold, nil
	default:
		return ordering.EffectsOn, Usagef("%s (%s) is on, off or hold: %q", Effects, c.flags.from(Effects), value)
	}
}

// Keeper acts on entities of one stream as the sweeper does. It asks for the queues that this may need.
func (c *Connection) Keeper(streams *events.Config, of *events.Stream, now func() time.Time) (*ordering.Keeper, error) {
	mode, err := c.EffectsMode()
	if err != nil {
		return nil, err
	}
	var need []Resource
	if of.Mode == events.Step {
		need = append(need, QuarantineQueue)
	}
	if of.Effects && mode == ordering.EffectsOn {
		need = append(need, EffectsQueue)
	}
	if err := c.Need(need...); err != nil {
		return nil, err
	}
	store := c.Store()
	return functions.NewKeeper(functions.SweeperParts{
		Parts: functions.Parts{
			Streams: streams, Projections: projections.All(), Store: store, SQS: c.SQS(), EffectsMode: mode,
			QuarantineURL: c.Get(QuarantineQueue), EffectsURL: c.Get(EffectsQueue), Metrics: io.Discard, Now: now,
		},
		Upkeep: store, RepublishURL: c.Get(RepublishQueue),
	}), nil
}
