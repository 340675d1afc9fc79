package cloud

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// startDynamoDB makes LocalStack start its DynamoDB, which it does when it is first asked for something.
func startDynamoDB(t *testing.T, endpoint string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Date", "20260101T000000Z")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("list tables: %s", response.Status)
	}
}

// family are a process and its children.
func family(t *testing.T, pid int) []int {
	t.Helper()
	all := []int{pid}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			all = append(all, child)
		}
	}
	return all
}

// listening are the addresses that processes listen on, as the kernel writes them ("proc_pid_net(5)", Linux manual page).
func listening(t *testing.T, pids []int) []string {
	t.Helper()
	var theirs []string
	for _, pid := range pids {
		open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, file := range open {
			if target, err := os.Readlink(file); err == nil {
				theirs = append(theirs, target)
			}
		}
	}
	var addresses []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		file, err := os.Open(table)
		if err != nil {
			continue // no IPv6 here
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) > 9 && fields[3] == "0A" && slices.Contains(theirs, "socket:["+fields[9]+"]") {
				addresses = append(addresses, fields[1])
			}
		}
	}
	return addresses
}

// What mode host makes of LocalStack.
func TestHost(t *testing.T) {
	before := elsewhere()
	c := ForTest(t)
	if c.Mode != Host {
		t.Skip("with Docker functions are LocalStack's own, and what it listens on is compose.yaml's")
	}
	t.Run("where it listens", func(t *testing.T) { whereItListens(t, c) })
	t.Run("functions that die", func(t *testing.T) { functionsThatDie(t, c) })
	t.Run("changed code", func(t *testing.T) { changedCode(t, c) })
	// C4: it writes nowhere else.
	if after := elsewhere(); after != before {
		t.Errorf("it wrote elsewhere: %s, before %s", after, before)
	}
}

// C4: nothing of it can be reached from another machine.
func whereItListens(t *testing.T, c *Cloud) {
	t.Helper()
	startDynamoDB(t, c.Address)
	deployFunction(t, c, "where", 60).pid(t, "answer")
	processes := family(t, c.PID)
	if len(processes) != 3 {
		t.Errorf("%d processes, want LocalStack, DynamoDB and the function", len(processes))
	}
	addresses := listening(t, processes)
	if len(addresses) < 3 {
		t.Errorf("listening on %v, want LocalStack, DynamoDB and the function's runtime API", addresses)
	}
	for _, address := range addresses {
		if !strings.HasPrefix(address, "0100007F:") {
			t.Errorf("listening on %s, which is not 127.0.0.1", address)
		}
	}
}

// C6: when DynamoDB ends, all ends, and what was said last names it: nothing goes on without tables.
func TestDynamoDBThatDies(t *testing.T) {
	c := ForTest(t)
	if c.Mode != Host {
		t.Skip("with Docker DynamoDB is LocalStack's own")
	}
	startDynamoDB(t, c.Address)
	processes := family(t, c.PID)
	if len(processes) != 2 {
		t.Fatalf("%d processes, want LocalStack and DynamoDB", len(processes))
	}
	kill(processes[1])
	gone(t, "LocalStack", c.engine.alive)
	if err := c.Check(t.Context()); !notRunning(err) || !strings.Contains(err.Error(), "dynoxide, the DynamoDB of this LocalStack, has ended (exit code -9)") {
		t.Errorf("it says %v", err)
	}
}

// elsewhere tells when the folders that LocalStack would take for its own, left alone, were changed.
func elsewhere() (state string) {
	home, _ := os.UserHomeDir()
	for _, folder := range []string{
		"/var/lib/localstack", "/usr/lib/localstack", "/etc/localstack", os.TempDir() + "/localstack", os.TempDir() + "/lambda",
		home + "/.localstack", home + "/.cache/localstack",
	} {
		if info, err := os.Stat(folder); err == nil {
			state += fmt.Sprintln(folder, info.ModTime())
		}
	}
	return state
}

// C3: when the starter is killed, the functions go with LocalStack, and so does DynamoDB.
func TestAllEndsWithItsStarter(t *testing.T) {
	if !Asked() {
		t.Skip(NotAsked)
	}
	endpoint, parent := starter(t, "starter", "")
	above, err := Folder()
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(above, fmt.Sprintf("%s%d-*", runPrefix, parent.Process.Pid)))
	if err != nil || len(folders) != 1 {
		t.Fatalf("folders of the starter: %v, %v", folders, err)
	}
	c, err := Open(folders[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	var processes []int
	if c.Mode == Host {
		startDynamoDB(t, endpoint)
		deployFunction(t, c, "by-hand", 60).pid(t, "answer")
		if processes = family(t, c.PID); len(processes) != 3 {
			t.Errorf("%d processes, want LocalStack, DynamoDB and the function", len(processes))
		}
	}
	kill9(t, parent)
	gone(t, endpoint, answers(endpoint))
	for _, pid := range processes {
		gone(t, fmt.Sprint("process ", pid), func() bool { return startOf(pid) != "" })
	}
	if err := removeLeft(above); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folders[0]); err == nil {
		t.Error("its folder is still there")
	}
}
