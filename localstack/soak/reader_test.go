package soak

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"inorder/cmd/inorder/soak"
)

// reader reads what the consumer writes. Each execution environment has a file for it, which no folder names: it is found by its
// processes, and held from then on.
type reader struct {
	*stack
	files map[string]*file // by device and inode
	text  [1 << 16]byte
}

type file struct {
	*os.File
	out *soak.Output
}

// read reads what is new.
func (r *reader) read() error {
	ids, err := r.cloud.Processes(name + "-" + consumer)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r.open(id)
	}
	for _, f := range r.files {
		if err := r.copy(f); err != nil {
			return err
		}
	}
	return nil
}

// open finds the file of a process, unless that has ended.
func (r *reader) open(id int) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/fd/1", id))
	if err != nil {
		return
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return
	}
	of := info.Sys().(*syscall.Stat_t)
	name := fmt.Sprintf("%d/%d", of.Dev, of.Ino)
	if r.files[name] != nil {
		_ = f.Close()
		return
	}
	r.files[name] = &file{f, r.lines.Output()}
}

func (r *reader) copy(f *file) error {
	for {
		n, err := f.Read(r.text[:])
		_, _ = f.out.Write(r.text[:n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read what the consumer writes: %w", err)
		}
	}
}

// end is for when no invocation is under way.
func (r *reader) end() {
	for _, f := range r.files {
		f.out.Killed() // the last process may have been
		_ = f.Close()
	}
}

// read notes which messages are done with.
func (s *stack) read(l soak.Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.Disposition != "deferred" {
		s.done[idOf(l.MessageID)] = true
	}
	if l.ReceiveCount > 1 {
		s.cameBack++
	}
}
