package cloud

import (
	"errors"
	"strings"
	"testing"
)

// C1: a mode that was asked for is taken or refused, and a refusal says what to do.
func TestMode(t *testing.T) {
	there, none := func() error { return nil }, func() error { return errors.New("`docker version` fails: no daemon") }
	for _, row := range []struct {
		mode, system string
		docker       func() error
		want         string // the mode, or what the error says
	}{
		{"", "linux", there, Docker},
		{Auto, "darwin", there, Docker},
		{Auto, "linux", none, Host},
		{Auto, "darwin", none, "start Docker, and try again: `docker version` fails: no daemon. Without it functions would be"},
		{Docker, "linux", there, Docker},
		{Docker, "linux", none, "start Docker, or take CLOUD=host on Linux: `docker version` fails: no daemon"},
		{Host, "linux", there, Host},
		{Host, "darwin", there, "CLOUD=host does not work on darwin: functions would be processes of this machine, and they are Linux programs."},
		{"podman", "linux", there, `no mode "podman": there are auto, docker and host`},
	} {
		got, err := decide(row.mode, row.system, row.docker)
		if err != nil {
			got = err.Error()
		}
		if got != row.want && (err == nil || !strings.HasPrefix(got, row.want)) {
			t.Errorf("%q on %s: %s, want %s", row.mode, row.system, got, row.want)
		}
	}
}

// In containers functions see nothing but LocalStack: what cannot be had is refused, and not left out in silence.
func TestDirectIsForHostOnly(t *testing.T) {
	for mode, ok := range map[string]bool{Host: true, Docker: false} {
		if err := (Options{Direct: true}).fits(mode); (err == nil) != ok {
			t.Errorf("%s: %v", mode, err)
		}
		if err := (Options{}).fits(mode); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}
