package cloud

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
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

// C4 with Docker: nothing is published elsewhere than on 127.0.0.1. What both ways set of LocalStack they set to the same, and
// what compose.yaml takes from outside is what it is given, or what its comments and docs/engines.md name.
func TestCompose(t *testing.T) {
	text, err := os.ReadFile("../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Ports       []string
			Environment map[string]string
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	localstack := file.Services["localstack"] // the name by which it is asked to clean up
	if len(file.Services) != 1 || len(localstack.Ports) != 1 || !strings.HasPrefix(localstack.Ports[0], "127.0.0.1:${CLOUD_PORT:-") {
		t.Errorf("it publishes %v", file.Services)
	}
	for _, used := range regexp.MustCompile(`\$\{(\w+)`).FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains([]string{"CLOUD_PORT", "CLOUD_VOLUME", "LOCALSTACK_VERSION", "LOCALSTACK_AUTH_TOKEN", "DEBUG", "DOCKER_SOCK"}, used[1]) {
			t.Errorf("nobody knows %s", used[1])
		}
	}
	host, err := os.ReadFile("../host/host.py")
	if err != nil {
		t.Fatal(err)
	}
	both := 0
	for _, set := range regexp.MustCompile(`(?m)^        "([A-Z_]+)": "(.*?)",`).FindAllStringSubmatch(string(host), -1) {
		if value, ok := localstack.Environment[set[1]]; ok {
			if both++; value != set[2] {
				t.Errorf("%s is %q, and on the host %q", set[1], value, set[2])
			}
		}
	}
	if both < 7 {
		t.Errorf("only %d settings are in both", both)
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
