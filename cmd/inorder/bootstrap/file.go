package bootstrap

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"inorder/cmd/inorder/stack"
	"inorder/events"
)

// maxLine is far above what an item of the table takes, in JSON.
const maxLine = 4 << 20

// shownFaults is how many faults a person is shown at once.
const shownFaults = 100

// each hands over the lines of a file that are not blank, with their numbers.
func each(path string, visit func(text string, number int) error) error {
	f, err := os.Open(path)
	if err != nil {
		return stack.Usagef("%v", err)
	}
	defer f.Close()
	return eachOf(f, visit)
}

func eachOf(f io.Reader, visit func(text string, number int) error) error {
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	number := 0
	for lines.Scan() {
		number++
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		if err := visit(lines.Text(), number); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return stack.Usagef("line %d is longer than 4 MB", number+1)
	}
	if lines.Err() != nil {
		return stack.Usagef("%v", lines.Err())
	}
	return nil
}

// check reads the whole file and lists everything that is wrong, before anything is written.
func check(path string, streams *events.Config) (entities int, err error) {
	var faults []string
	total := 0
	seen := map[string]int{}
	fault := func(number int, text string) {
		if total++; total <= shownFaults {
			faults = append(faults, fmt.Sprintf("line %d: %s", number, text))
		}
	}
	err = each(path, func(text string, number int) error {
		l, err := parse(streams, text, number)
		if err != nil {
			fault(number, err.Error())
			return nil
		}
		name := l.name()
		if before, twice := seen[name]; twice {
			fault(number, fmt.Sprintf("the same entity stands in line %d", before))
			return nil
		}
		seen[name] = number
		entities++
		return nil
	})
	if err != nil {
		return 0, err
	}
	if total > len(faults) {
		faults = append(faults, fmt.Sprintf("and %d more", total-len(faults)))
	}
	if total > 0 {
		return 0, stack.Usagef("%s has faults, and nothing was written:\n  %s", path, strings.Join(faults, "\n  "))
	}
	return entities, nil
}
