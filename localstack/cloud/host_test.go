package cloud

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("mode host is for Linux")
	}
}

// C2: it answers when Start returns, and when Stop returns it is gone, its folder too.
func TestStartAndStop(t *testing.T) {
	onLinux(t)
	root := project(t, "localstack")
	var progress strings.Builder
	c, err := Start(t.Context(), Options{Progress: &progress})
	if err != nil {
		t.Fatal(err)
	}
	if !answers(c.Address)() {
		t.Errorf("%s does not answer", c.Address)
	}
	if got, want := c.String(), "LocalStack 0.0.1 without Docker: functions are processes, DynamoDB is dynoxide 0.0.2 at "+c.Address; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
	if !strings.Contains(progress.String(), "starting LocalStack, mode host: done in ") {
		t.Errorf("progress: %q", progress.String())
	}
	if filepath.Dir(c.folder) != filepath.Join(root, ".cloud") {
		t.Errorf("it lives in %s", c.folder)
	}
	for range 2 {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	}
	if answers(c.Address)() {
		t.Errorf("%s still answers", c.Address)
	}
	empty(t, filepath.Join(root, ".cloud"))
}

func empty(t *testing.T, folder string) {
	t.Helper()
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("in %s are %v, %v", folder, left, err)
	}
}

// C3: whoever started it is killed, and it goes; what it left is removed by the next one.
func TestItEndsWithItsStarter(t *testing.T) {
	onLinux(t)
	root := project(t, "localstack")
	endpoint, parent := starter(t, "starter", "")
	kill9(t, parent)
	gone(t, endpoint, answers(endpoint))
	c, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	empty(t, filepath.Join(root, ".cloud"))
}

// C3: a detached one goes on when its starter is killed, is found again, and ends with Stop.
func TestADetachedOneLivesOn(t *testing.T) {
	onLinux(t)
	folder := filepath.Join(project(t, "localstack"), "up")
	endpoint, parent := starter(t, "detacher", folder)
	kill9(t, parent)
	c, err := Open(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Address != endpoint || !answers(endpoint)() || !strings.Contains(c.String(), "LocalStack 0.0.1") {
		t.Errorf("found %v, want one at %s", c, endpoint)
	}
	if _, err := Start(t.Context(), Options{Folder: folder}); err == nil || !strings.Contains(err.Error(), "has a cloud already") {
		t.Errorf("a second one in the same folder: %v", err)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if answers(endpoint)() {
		t.Errorf("%s still answers", endpoint)
	}
	if _, err := Open(folder, nil); !notRunning(err) {
		t.Errorf("after Stop: %v", err)
	}
}

// One that ended by itself is told from none at all, with its last words, and a later process that got its number is not
// taken for it, nor killed.
func TestOneThatEndedByItself(t *testing.T) {
	onLinux(t)
	folder := t.TempDir()
	if _, err := Open(folder, nil); !notRunning(err) || !strings.Contains(err.Error(), "make cloud-up") {
		t.Errorf("nothing there: %v", err)
	}
	s := state{Mode: Host, Address: "http://127.0.0.1:1", PID: os.Getpid(), Started: "0"}
	if err := s.save(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, logName), []byte("out of memory\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(folder, nil)
	if !notRunning(err) || !strings.Contains(err.Error(), "out of memory") || !strings.Contains(err.Error(), "http://127.0.0.1:1") {
		t.Errorf("one that ended: %v", err)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("its folder is still there")
	}
}

// C2: one that cannot start says why, and leaves nothing.
func TestStartSaysWhatIsWrong(t *testing.T) {
	onLinux(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, row := range map[string]struct {
		localstack string
		spoil      func(t *testing.T, root string)
		options    Options
		want       string
	}{
		"it ends at once": {"broken", nil, Options{}, "ended before it answered; the last that it said:\n    Traceback: no module"},
		"no LocalStack": {
			"localstack", func(t *testing.T, root string) { remove(t, root, ".tools/localstack") },
			Options{},
			"install it with `make tools`, or name it in INORDER_LOCALSTACK",
		},
		"no dynoxide": {
			"localstack", func(t *testing.T, root string) { remove(t, root, ".tools/dynoxide") },
			Options{},
			"install it with `make tools`, or name it in DYNOXIDE",
		},
		"the port is taken": {"localstack", nil, Options{Port: taken.Addr().(*net.TCPAddr).Port}, "is not free"},
		"an unknown mode":   {"localstack", nil, Options{Mode: "cloudy"}, `no mode "cloudy"`},
	} {
		t.Run(name, func(t *testing.T) {
			root := project(t, row.localstack)
			if row.spoil != nil {
				row.spoil(t, root)
			}
			row.options.Folder = filepath.Join(root, "here")
			if _, err := Start(t.Context(), row.options); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q in it", err, row.want)
			}
			if _, err := os.Stat(row.options.Folder); err == nil {
				t.Error("its folder is still there")
			}
		})
	}
}

func remove(t *testing.T, root, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(root, name)); err != nil {
		t.Fatal(err)
	}
}

// C5: neither LocalStack nor the SAM CLI sees the user's accounts, and what they need to work they keep.
func TestWhatTheyKnowOfTheEnvironment(t *testing.T) {
	users := []string{"PATH=/bin", "HOME=/home/u", "AWS_PROFILE=prod", "AWS_ENDPOINT_URL=https://x", "SAM_CLI_CONTAINER=1", "no_proxy=x", "HTTPS_PROXY=p", "DEBUG=1", "PERSISTENCE=1"}
	host, sam := hostEnvironment(users, "/f"), samEnvironment(users, "/f")
	for _, one := range []string{"AWS_PROFILE=prod", "AWS_ENDPOINT_URL=https://x", "SAM_CLI_CONTAINER=1", "no_proxy=x"} {
		if slices.Contains(host, one) || slices.Contains(sam, one) {
			t.Errorf("%s is known", one)
		}
	}
	if slices.Contains(host, "PERSISTENCE=1") {
		t.Error("LocalStack reads a variable of the user's")
	}
	if slices.Contains(host, "HOME=/home/u") || !slices.Contains(host, "HOME=/f") {
		t.Errorf("what its libraries keep is not in its folder: %v", host)
	}
	if !slices.Contains(host, "PATH=/bin") || !slices.Contains(sam, "PATH=/bin") || !slices.Contains(sam, "HTTPS_PROXY=p") {
		t.Errorf("too little is known: %v, %v", host, sam)
	}
	if want := "AWS_SHARED_CREDENTIALS_FILE=/f/nowhere"; !slices.Contains(sam, want) {
		t.Errorf("no %s in %v", want, sam)
	}
}

func TestStartOfAProcess(t *testing.T) {
	onLinux(t)
	if got := startOf(os.Getpid()); got == "" || got != startOf(os.Getpid()) {
		t.Errorf("this process started at %q", got)
	}
	endpoint, parent := "", 0
	project(t, "localstack")
	endpoint, cmd := starter(t, "starter", "")
	parent = cmd.Process.Pid
	if startOf(parent) == "" {
		t.Errorf("the starter of %s does not live", endpoint)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// It is a zombie now: nobody has asked how it ended.
	gone(t, fmt.Sprint("process ", parent), func() bool { return startOf(parent) != "" })
}
