package cloud

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeDocker puts a program called docker first into PATH. It writes down what it is asked, and starts and ends what
// answers as LocalStack does.
func fakeDocker(t *testing.T, root string) (asked func() string) {
	t.Helper()
	notes := filepath.Join(root, "asked")
	script(t, filepath.Join(root, "bin/docker"), `
echo "$@" >>`+notes+`
case "$*" in
*" up "*) (`+pretending(t, "localstack")+` host.py --port "$CLOUD_PORT") >/dev/null 2>&1 & echo $! >`+root+`/pid ;;
*" down "*) kill -9 $(cat `+root+`/pid); rm -rf "$CLOUD_VOLUME" ;;
*" logs "*) echo Ready. ;;
esac`)
	t.Setenv("PATH", filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
	t.Setenv(ModeVariable, Auto)
	return func() string {
		text, err := os.ReadFile(notes)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// C1 and C2 with Docker: auto takes it where it answers; compose's project is started and taken down.
func TestDocker(t *testing.T) {
	root := project(t, "broken")
	asked := fakeDocker(t, root)
	c, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !answers(c.Address)() || !strings.HasPrefix(c.String(), "LocalStack 0.0.1 in Docker: functions are containers at http://127.0.0.1:") {
		t.Errorf("it is %s", c)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	gone(t, c.Address, answers(c.Address))
	compose := "compose --project-name " + c.Project + " --file " + root + "/localstack/compose.yaml "
	for _, want := range []string{compose + "up --detach", compose + "down --volumes --remove-orphans"} {
		if strings.Count(asked(), want) != 1 {
			t.Errorf("docker was not asked once for %q:\n%s", want, asked())
		}
	}
}

// C3 with Docker: the engine would keep the container of a starter that was killed.
func TestAContainerEndsWithItsStarter(t *testing.T) {
	onLinux(t)
	fakeDocker(t, project(t, "broken"))
	endpoint, parent := starter(t, "starter", "")
	kill9(t, parent)
	gone(t, endpoint, answers(endpoint))
}

// C3 with Docker: a detached one is found again.
func TestADetachedContainerLivesOn(t *testing.T) {
	onLinux(t)
	root := project(t, "broken")
	asked := fakeDocker(t, root)
	endpoint, parent := starter(t, "detacher", filepath.Join(root, "up"))
	kill9(t, parent)
	c, err := Open(filepath.Join(root, "up"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	gone(t, endpoint, answers(endpoint))
	if strings.Count(asked(), " down ") != 1 {
		t.Errorf("it was not taken down once:\n%s", asked())
	}
}
