package main

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pretend makes this test's own program pretend to be a LocalStack.
const pretend = "INORDER_PRETEND"

func TestMain(m *testing.M) {
	if os.Getenv(pretend) == "" {
		os.Exit(m.Run())
	}
	flags := flag.NewFlagSet("host.py", flag.ExitOnError)
	folder, port := flags.String("folder", "", ""), flags.Int("port", 0, "")
	flags.String("dynoxide", "", "")
	must(flags.Parse(os.Args[2:]))
	http.HandleFunc("/_localstack/health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"version": "0.0.1"}`) })
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	must(err)
	must(os.WriteFile(filepath.Join(filepath.Dir(*folder), fmt.Sprint("started-", os.Getpid())), nil, 0o600))
	fmt.Println("Ready.")
	must(http.Serve(listener, nil))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// user is somebody with a folder for a cloud, in which a LocalStack that pretends is started.
type user struct {
	t      *testing.T
	folder string
}

func newUser(t *testing.T) *user {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("mode host is for Linux")
	}
	self, err := os.Executable()
	must(err)
	root := t.TempDir()
	for path, text := range map[string]string{
		"venv/bin/python": pretend + "=localstack exec " + self + ` "$@"`,
		"dynoxide":        "echo dynoxide 0.0.2",
	} {
		must(os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755))
		must(os.WriteFile(filepath.Join(root, path), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	t.Setenv("INORDER_LOCALSTACK", filepath.Join(root, "venv"))
	t.Setenv("DYNOXIDE", filepath.Join(root, "dynoxide"))
	u := &user{t: t, folder: filepath.Join(root, "clouds", "up")}
	t.Cleanup(func() {
		u.says("down")
		for _, pid := range u.localStacks() { // where a test has failed, `down` may not know of all
			if process, err := os.FindProcess(pid); err == nil && alive(pid) {
				_ = process.Kill()
			}
		}
	})
	return u
}

// says runs this command and returns its exit code and all that it says.
func (u *user) says(args ...string) (code int, said string) {
	var out bytes.Buffer
	code = localstack(u.t.Context(), append(args, "--folder", u.folder), &out, &out)
	return code, out.String()
}

// localStacks are the processes that were started, dead ones too.
func (u *user) localStacks() (pids []int) {
	u.t.Helper()
	notes, err := filepath.Glob(filepath.Join(filepath.Dir(u.folder), "started-*"))
	if err != nil {
		u.t.Fatal(err)
	}
	for _, note := range notes {
		_, number, _ := strings.Cut(filepath.Base(note), "-")
		pid, err := strconv.Atoi(number)
		if err != nil {
			u.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// eventually waits for what comes within milliseconds: only a test that fails waits so long.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never is that %s", what)
		}
	}
}
