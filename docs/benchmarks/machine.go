package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"inorder/ddb/local"
)

// machine is what the numbers depend on. It names no host.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	System string `json:"system"`
	Engine string `json:"engine"`
	Go     string `json:"go"`
	Node   string `json:"node"`
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s; %s, %s, Node %s", m.CPU, m.Cores, m.System, m.Engine, m.Go, m.Node)
}

func thisMachine(ctx context.Context, engine *local.Engine) machine {
	return machine{
		CPU: processor(), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Engine: engine.Name + " " + engine.Version, Go: "Go " + strings.TrimPrefix(runtime.Version(), "go"), Node: nodeVersion(ctx),
	}
}

// processor is the processor's name, where the system tells it in a file.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return "unknown processor"
}

func nodeVersion(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return "not installed"
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
}
