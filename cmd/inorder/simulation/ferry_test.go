package simulation

// A ferry does work outside of the bubble in which a life plays. There the clock is the world's and no network can be
// waited for: whatever talks to an engine is carried over, and the life's clock stands still until it is back.
type ferry struct {
	work chan func()
	done chan struct{}
}

// newFerry must be called outside of the bubble, to which a channel would belong that was made in it.
func newFerry() *ferry {
	f := &ferry{work: make(chan func()), done: make(chan struct{})}
	go func() {
		for work := range f.work {
			work()
			f.done <- struct{}{}
		}
	}()
	return f
}

func (f *ferry) over(work func()) {
	f.work <- work
	<-f.done
}

func (f *ferry) close() { close(f.work) }
