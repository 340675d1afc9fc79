package cloud

import (
	"context"
	"fmt"
	"time"
)

// Check says what is wrong with a Cloud that is thought to run; nil where it answers. The error of one that has ended, or has
// lost its DynamoDB, which ends it, is a [*NotRunningError].
func (c *Cloud) Check(ctx context.Context) error {
	if !c.engine.alive() {
		return c.ended()
	}
	if c.Starting() { // it may answer by now, and nobody has seen that it is right
		return fmt.Errorf("who started the local cloud at %s did not wait for it: `make cloud-down cloud-up` starts anew", c.Address)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if _, err := c.health(ctx); err != nil {
		return fmt.Errorf("the local cloud at %s does not answer (%w); `make cloud-down cloud-up` starts anew. The last that it said:\n%s",
			c.Address, err, indent(last(c.engine.log())))
	}
	return nil
}

// Starting tells whether it has not answered yet.
func (c *Cloud) Starting() bool { return c.Version == "" }

func (c *Cloud) ended() error {
	return &NotRunningError{Folder: c.folder, Was: c.Address, Said: last(c.engine.log())}
}

// alivePoll is how often a deployment looks whether there still is something to deploy to. It costs a read of /proc.
const alivePoll = time.Second

// whileAlive does something that talks to the Cloud, and breaks it off where the Cloud ends meanwhile: the SAM CLI would try
// again and again.
func (c *Cloud) whileAlive(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done, err := make(chan struct{}), error(nil)
	go func() {
		defer close(done)
		err = do(ctx)
	}()
	tick := time.NewTicker(alivePoll)
	defer tick.Stop()
	for {
		select {
		case <-done:
			if err != nil && !c.engine.alive() {
				return c.ended()
			}
			return err
		case <-tick.C:
			if !c.engine.alive() {
				cancel()
				<-done
				return c.ended()
			}
		}
	}
}
