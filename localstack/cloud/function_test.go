package cloud

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serveFunction is a Lambda function by hand: it answers each event with its process's number, and does what it is told.
func serveFunction() {
	runtime := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/invocation/"
	fmt.Println("the function starts")
	for {
		next, err := http.Get(runtime + "next")
		must(err)
		var event struct{ Do, Begun, End string }
		must(json.NewDecoder(next.Body).Decode(&event))
		next.Body.Close()
		verb, answer := "response", io.Reader(strings.NewReader(fmt.Sprint(os.Getpid())))
		switch event.Do {
		case "exit":
			os.Exit(7)
		case "hang":
			select {}
		case "fail":
			verb, answer = "error", strings.NewReader(`{"errorType": "Planted", "errorMessage": "as told"}`)
		case "wait": // until a file is there
			must(os.WriteFile(event.Begun, nil, 0o600))
			for !isThere(event.End) {
				time.Sleep(gonePoll)
			}
		case "chunks": // a body whose length is not known before
			answer = io.MultiReader(answer)
		}
		fmt.Println("did", event.Do)
		said, err := http.Post(runtime+next.Header.Get("Lambda-Runtime-Aws-Request-Id")+"/"+verb, "application/json", answer)
		must(err)
		said.Body.Close()
	}
}

// function is one that is deployed to a Cloud, spoken to as the AWS CLI does.
type function struct {
	cloud *Cloud
	name  string
}

func isThere(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// zipped is the function's code: a script that runs this program.
func zipped(t *testing.T) []byte {
	t.Helper()
	var code bytes.Buffer
	archive := zip.NewWriter(&code)
	file, err := archive.Create("bootstrap")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(file, "#!/bin/sh\n%s\n", pretending(t, "function"))
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return code.Bytes()
}

func deployFunction(t *testing.T, c *Cloud, name string, timeout int) function {
	t.Helper()
	f := function{c, name}
	status, answer := f.call(t, http.MethodPost, "", map[string]any{
		"FunctionName": name, "Runtime": "provided.al2023", "Handler": "bootstrap", "Timeout": timeout,
		"Role": "arn:aws:iam::000000000000:role/any", "Code": map[string]any{"ZipFile": zipped(t)},
	})
	if status != http.StatusCreated {
		t.Fatalf("create %s: %d %s", name, status, answer)
	}
	f.settle(t, `"State": "Active"`)
	return f
}

// settle returns when what is known of the function has a certain text in it.
func (f function) settle(t *testing.T, text string) {
	t.Helper()
	gone(t, "what is not "+text, func() bool {
		_, answer := f.call(t, http.MethodGet, "/"+f.name, nil)
		return !strings.Contains(answer, text)
	})
}

func (f function) call(t *testing.T, method, path string, body any) (status int, answer string) {
	t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), method, f.cloud.Address+"/2015-03-31/functions"+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(said)
}

// do invokes the function and returns its answer.
func (f function) do(t *testing.T, what string) string {
	t.Helper()
	return f.invoke(t, map[string]string{"Do": what})
}

func (f function) invoke(t *testing.T, event map[string]string) string {
	t.Helper()
	status, answer := f.call(t, http.MethodPost, "/"+f.name+"/invocations", event)
	if status != http.StatusOK {
		t.Fatalf("%v: %d %s", event, status, answer)
	}
	return answer
}

func (f function) pid(t *testing.T, what string) int {
	t.Helper()
	var pid int
	if _, err := fmt.Sscan(f.do(t, what), &pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

// A function is one process that goes on from call to call. Where it dies, hangs or is killed, that call fails, and the
// next one has a new process: what a redelivery rests on.
func functionsThatDie(t *testing.T, c *Cloud) {
	const functionSeconds = 10 // a busy machine must not end the other calls
	f := deployFunction(t, c, "dies", functionSeconds)
	first := f.pid(t, "answer")
	if again := f.pid(t, "chunks"); again != first {
		t.Errorf("process %d answered, then %d", first, again)
	}
	if got := f.do(t, "fail"); !strings.Contains(got, "as told") || f.pid(t, "answer") != first {
		t.Errorf("its own error: %s", got)
	}
	if got := f.do(t, "exit"); !strings.Contains(got, "Runtime.ExitError") {
		t.Errorf("it ends in the middle: %s", got)
	}
	second := f.pid(t, "answer")
	started := time.Now()
	if got := f.do(t, "hang"); !strings.Contains(got, "timed out") || time.Since(started) < functionSeconds*time.Second {
		t.Errorf("it hangs: %s after %v", got, time.Since(started))
	}
	third := f.pid(t, "answer")
	kill(third)
	gone(t, "the process", func() bool { return startOf(third) != "" })
	if fourth := f.pid(t, "answer"); first == second || second == third || third == fourth {
		t.Errorf("processes %d, %d, %d, %d", first, second, third, fourth)
	}
}

// A call that runs when new code comes finishes on the old code, and the next one meets the new.
func changedCode(t *testing.T, c *Cloud) {
	f := deployFunction(t, c, "changes", 600)
	old := f.pid(t, "answer")
	begun, end := filepath.Join(t.TempDir(), "begun"), filepath.Join(t.TempDir(), "end")
	answer := make(chan string, 1)
	go func() {
		defer close(answer) // where the call failed, too
		answer <- f.invoke(t, map[string]string{"Do": "wait", "Begun": begun, "End": end})
	}()
	gone(t, "the wait for the call", func() bool { return !isThere(begun) })
	if status, said := f.call(t, http.MethodPut, "/"+f.name+"/code", map[string]any{"ZipFile": zipped(t)}); status != http.StatusOK {
		t.Fatalf("change the code: %d %s", status, said)
	}
	f.settle(t, `"LastUpdateStatus": "Successful"`)
	if after := f.pid(t, "answer"); after == old {
		t.Errorf("process %d answers with the new code", after)
	}
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-answer; got != fmt.Sprint(old) {
		t.Errorf("the call that ran: %s, want process %d", got, old)
	}
	gone(t, "the old process", func() bool { return startOf(old) != "" })
}
