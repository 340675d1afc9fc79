package stack

import (
	"errors"
	"fmt"
	"strings"
)

// The exit codes of the operator's commands.
const (
	ExitDone   = 0 // done, and nothing was found
	ExitFailed = 1 // something was found, or did not work
	ExitUsage  = 2 // it cannot be done as it was asked for
)

// UsageError says that a command cannot be done as it was asked for, and what to do instead.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Usagef makes a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// ExitCode is what a command ends with because of an error: ExitUsage for a UsageError.
func ExitCode(err error) int {
	usage := (*UsageError)(nil)
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &usage):
		return ExitUsage
	}
	return ExitFailed
}

// missingError names all that is missing at once, each by its variable and its output.
func missingError(stack string, missing []Resource) error {
	if len(missing) == 0 {
		return nil
	}
	lines := make([]string, len(missing))
	for i, r := range missing {
		if stack != "" {
			lines[i] = fmt.Sprintf("%s: stack %s has no output %s", r, stack, r.Output())
		} else {
			lines[i] = fmt.Sprintf("%s: set %s, or name with --stack NAME a stack that has the output %s", r, r.Variable(), r.Output())
		}
	}
	if stack != "" {
		lines = append(lines, "(without --stack the names are taken from the environment, from "+variables(missing)+")")
	}
	return Usagef("not all is known that this needs:\n  %s", strings.Join(lines, "\n  "))
}

func variables(of []Resource) string {
	names := make([]string, len(of))
	for i, r := range of {
		names[i] = r.Variable()
	}
	return strings.Join(names, ", ")
}
