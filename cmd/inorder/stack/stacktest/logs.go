package stacktest

import (
	"encoding/json"
	"net/http"
	"sync"

	"inorder/cmd/inorder/backend"
)

// Logs are what CloudWatch Logs has. It hands out all of it, two lines a page, whatever the pattern says: how a pattern
// is matched is for AWS to know.
type Logs struct {
	Lines []Line

	mu       sync.Mutex
	patterns []string
}

// Line is one line of a log group.
type Line struct {
	Timestamp int64  `json:"timestamp"` // milliseconds since 1970
	Message   string `json:"message"`
}

// Patterns are those that were asked for.
func (l *Logs) Patterns() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.patterns...)
}

const linesPerPage = 2

func (l *Logs) serve(w http.ResponseWriter, r *http.Request, operation string) {
	var in struct {
		LogGroupName, FilterPattern, NextToken string
		StartTime                              int64
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || operation != "FilterLogEvents" || in.LogGroupName != LogGroup {
		relay(w, r, refusing{"ResourceNotFoundException", "The specified log group does not exist."})
		return
	}
	l.mu.Lock()
	l.patterns = append(l.patterns, in.FilterPattern)
	l.mu.Unlock()
	var lines []Line
	for _, line := range l.Lines {
		if line.Timestamp >= in.StartTime {
			lines = append(lines, line)
		}
	}
	first := len(in.NextToken) * linesPerPage // a token is as long as the pages before it are many
	next := ""
	if first+linesPerPage < len(lines) {
		next = in.NextToken + "x"
	}
	page := lines[min(first, len(lines)):min(first+linesPerPage, len(lines))]
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(map[string]any{"events": page, "nextToken": next})
}

// refusing answers with an error.
type refusing struct{ code, message string }

func (e refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	return backend.Answer(r, http.StatusBadRequest, e.code, e.message), nil
}
