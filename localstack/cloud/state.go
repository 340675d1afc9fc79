package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
)

// state is what a Cloud's folder remembers of it, so that another process can use it and stop it.
type state struct {
	Mode    string `json:"mode"`
	Address string `json:"address"`           // of every service: an AWS client's endpoint
	Version string `json:"version,omitempty"` // empty: it did not answer yet
	How     string `json:"how"`               // "in Docker", and so on

	PID     int    `json:"pid,omitempty"`     // host
	Started string `json:"started,omitempty"` // host: tells the process from a later one with the same number
	Project string `json:"project,omitempty"` // docker
	Compose string `json:"compose,omitempty"` // docker: the file
}

const stateName = "cloud.json"

// NotRunningError says that there is no Cloud in a folder, or no more.
type NotRunningError struct {
	Folder string
	Was    string // its address, where it ended by itself; empty where there is none
	Said   string // its last words
}

func (e *NotRunningError) Error() string {
	if e.Was == "" {
		return "no local cloud runs here: start one with `make cloud-up`"
	}
	return fmt.Sprintf("the local cloud at %s has ended by itself, with all that was in it; `make cloud-down cloud-up` starts anew. The last that it said:\n%s",
		e.Was, indent(e.Said))
}

func (s state) save(folder string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	// Whoever reads it meanwhile finds the old one or the new one.
	next := filepath.Join(folder, stateName+".next")
	if err := os.WriteFile(next, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(folder, stateName))
}

func load(folder string) (state, error) {
	var s state
	text, err := os.ReadFile(filepath.Join(folder, stateName))
	if errors.Is(err, fs.ErrNotExist) {
		return s, &NotRunningError{Folder: folder}
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read %s: %w", filepath.Join(folder, stateName), err)
	}
	return s, nil
}

func (s state) port() int {
	u, err := url.Parse(s.Address)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return 0
	}
	return port
}
