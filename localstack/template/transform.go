package template

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

//go:embed transform.py
var script string

// SAM is SAM's own translator, in a process that ends with Close.
type SAM struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// StartSAM starts the translator with the Python of a virtual environment that has aws-sam-translator.
func StartSAM(environment string) (*SAM, error) {
	s := &SAM{cmd: exec.Command(filepath.Join(environment, "bin", "python"), "-c", script)}
	s.cmd.Stderr = os.Stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.in, s.out = in, bufio.NewReader(out)
	return s, s.cmd.Start()
}

// Close ends the translator.
func (s *SAM) Close() error {
	return errors.Join(s.in.Close(), s.cmd.Wait())
}

// Transform makes CloudFormation of a SAM template. As on AWS it knows the parameters: some of what it writes depends on them.
func (s *SAM) Transform(t Template, parameters map[string]string) (Template, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if parameters == nil {
		parameters = map[string]string{}
	}
	line, err := json.Marshal(map[string]any{"template": t, "parameters": parameters})
	if err != nil {
		return nil, err
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	if line, err = s.out.ReadBytes('\n'); err != nil {
		return nil, fmt.Errorf("SAM's translator said nothing: %w", err)
	}
	var out map[string]any
	if err := json.Unmarshal(line, &out); err != nil {
		return nil, err
	}
	if why, ok := out["error"]; ok {
		return nil, fmt.Errorf("SAM takes no such template: %v", why)
	}
	return integers(out).(map[string]any), nil
}

// integers makes the numbers of JSON what they are in YAML.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = integers(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = integers(inner)
		}
	case float64:
		if v == math.Trunc(v) {
			return int(v)
		}
	}
	return v
}
