package functions

import (
	"fmt"
	"runtime"
	"strings"
)

// panicError is a panic as an error: a fault of ours or of a projection's, so its log line is loud.
type panicError struct{ what, where string }

func (p *panicError) Error() string { return "panic " + p.what + " at " + p.where }

// recovered turns a panic into a *panicError: `defer recovered(&err)`. The text names where, and what only where the Go
// runtime says it: any other panic value may hold event data, which is never logged.
func recovered(err *error) {
	r := recover()
	if r == nil {
		return
	}
	what := fmt.Sprintf("of type %T", r)
	if fault, ok := r.(runtime.Error); ok {
		what = fault.Error()
	}
	*err = &panicError{what: what, where: panicPlace()}
}

// panicPlace is the innermost frame that is not the runtime's or recovered itself.
func panicPlace() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") {
			file := frame.File[strings.LastIndexByte(frame.File, '/')+1:]
			return fmt.Sprintf("%s (%s:%d)", frame.Function, file, frame.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}
