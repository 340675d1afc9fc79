package cloud

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pretend makes this test's own program pretend to be another one.
const pretend = "INORDER_PRETEND"

func TestMain(m *testing.M) {
	switch as := os.Getenv(pretend); as {
	case "":
		os.Exit(m.Run())
	case "localstack":
		fmt.Println("Ready.")
		flags := flag.NewFlagSet("host.py", flag.ContinueOnError)
		flags.String("folder", "", "")
		flags.String("dynoxide", "", "")
		port := flags.Int("port", 0, "")
		must(flags.Parse(os.Args[2:]))
		serveHealth(*port)
	case "broken":
		fmt.Println("Traceback: no module named localstack")
		os.Exit(3)
	case "starter", "detacher":
		startAndWait(as == "detacher")
	case "holder":
		_, err := Lock(context.Background(), os.Getenv("FOLDER"), "up", os.Stderr)
		must(err)
		fmt.Println("held")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "function":
		serveFunction()
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func serveHealth(port int) {
	http.HandleFunc("/_localstack/health", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"version": "0.0.1", "services": {}}`)
	})
	must(http.ListenAndServe(net.JoinHostPort("127.0.0.1", fmt.Sprint(port)), nil))
}

// startAndWait starts a Cloud as the environment says, prints its address, and lives until it is killed.
func startAndWait(detached bool) {
	c, err := Start(context.Background(), Options{Folder: os.Getenv("FOLDER"), Detached: detached})
	must(err)
	fmt.Println(c.Address)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// project is a folder that looks like the project's, with tools that pretend; the test works in it.
func project(t *testing.T, localstack string) (root string) {
	t.Helper()
	root = t.TempDir()
	t.Chdir(root)
	script(t, filepath.Join(root, "go.mod"), "")
	script(t, filepath.Join(root, ".tools/localstack/bin/python"), pretending(t, localstack)+` "$@"`)
	script(t, filepath.Join(root, ".tools/dynoxide"), "echo dynoxide 0.0.2")
	for _, variable := range []string{LocalStackVariable, SAMVariable, DynoxideVariable} {
		t.Setenv(variable, "")
	}
	t.Setenv(ModeVariable, Host)
	return root
}

// pretending is a shell command that runs this program as something else.
func pretending(t *testing.T, as string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return pretend + "=" + as + " exec " + self
}

func script(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// goneTime is far more than anything here takes to go: only a test that fails waits so long.
const goneTime = 2 * time.Minute

func gone(t *testing.T, what string, there func() bool) {
	t.Helper()
	for deadline := time.Now().Add(goneTime); there(); time.Sleep(gonePoll) {
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there", what)
		}
	}
}

func answers(endpoint string) func() bool {
	return func() bool {
		connection, err := net.Dial("tcp", strings.TrimPrefix(endpoint, "http://"))
		return err == nil && connection.Close() == nil
	}
}

// starter runs this program as a starter of a Cloud and returns the Cloud's address.
func starter(t *testing.T, as, folder string) (endpoint string, parent *exec.Cmd) {
	t.Helper()
	endpoint, parent = pretender(t, as, folder)
	if !answers(endpoint)() {
		t.Fatalf("%s does not answer", endpoint)
	}
	return endpoint, parent
}

// pretender runs this program as something else and returns the first word that it says.
func pretender(t *testing.T, as, folder string) (said string, parent *exec.Cmd) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent = exec.Command(self)
	parent.Env = append(os.Environ(), pretend+"="+as, "FOLDER="+folder)
	parent.Stderr = os.Stderr
	if _, err := parent.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = parent.Process.Kill(); _ = parent.Wait() })
	if _, err := fmt.Fscanln(out, &said); err != nil {
		t.Fatal(err)
	}
	return said, parent
}

func kill9(t *testing.T, parent *exec.Cmd) {
	t.Helper()
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
}

func notRunning(err error) bool {
	none := (*NotRunningError)(nil)
	return errors.As(err, &none)
}
