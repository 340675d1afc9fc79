package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	startTimeout = 3 * time.Minute // it takes 3 s here; a machine that builds on all cores takes longer
	startPoll    = 50 * time.Millisecond
	beat         = 10 * time.Second // between two lines that say that a step goes on
)

// await returns LocalStack's version once it answers.
func (c *Cloud) await(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(startPoll)
	defer tick.Stop()
	for {
		if version, err := c.health(ctx); err == nil && c.engine.ready() {
			return version, nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("LocalStack does not answer at %s: %w", c.Address, ctx.Err())
		case <-tick.C:
			if !c.engine.alive() {
				return "", errEnded
			}
		}
	}
}

// health asks whether LocalStack answers ("Internal Endpoints", LocalStack's documentation).
func (c *Cloud) health(ctx context.Context) (version string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Address+"/_localstack/health", http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var health struct{ Version string }
	if err := json.NewDecoder(response.Body).Decode(&health); err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK || health.Version == "" {
		return "", fmt.Errorf("%s is no LocalStack: status %d", c.Address, response.StatusCode)
	}
	return health.Version, nil
}

// step does something that takes its time, and says so.
func (c *Cloud) step(what string, do func() error) error { return step(c.progress, what, do) }

func step(progress io.Writer, what string, do func() error) error {
	started := time.Now()
	fmt.Fprintln(progress, what)
	done := make(chan error, 1)
	go func() { done <- do() }()
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err == nil {
				fmt.Fprintf(progress, "%s: done in %.1f s\n", what, time.Since(started).Seconds())
			}
			return err
		case <-tick.C:
			fmt.Fprintf(progress, "%s: %.0f s so far\n", what, time.Since(started).Seconds())
		}
	}
}

// lastWords of a log are enough to see what went wrong.
const lastWords = 4096

func last(text string) string { return text[max(0, len(text)-lastWords):] }

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}
