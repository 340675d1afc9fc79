package cloud

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
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
		var event struct{ Do string }
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

const functionSeconds = 2

func deployFunction(t *testing.T, c *Cloud, name string) function {
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
	f := function{c, name}
	status, answer := f.call(t, http.MethodPost, "", map[string]any{
		"FunctionName": name, "Runtime": "provided.al2023", "Handler": "bootstrap", "Timeout": functionSeconds,
		"Role": "arn:aws:iam::000000000000:role/any", "Code": map[string]any{"ZipFile": code.Bytes()},
	})
	if status != http.StatusCreated {
		t.Fatalf("create %s: %d %s", name, status, answer)
	}
	gone(t, "its being created", func() bool {
		_, answer := f.call(t, http.MethodGet, "/"+name, nil)
		return !strings.Contains(answer, `"Active"`)
	})
	return f
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
	request, err := http.NewRequestWithContext(t.Context(), method, f.cloud.Endpoint()+"/2015-03-31/functions"+path, bytes.NewReader(text))
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
	status, answer := f.call(t, http.MethodPost, "/"+f.name+"/invocations", map[string]string{"Do": what})
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", what, status, answer)
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
	f := deployFunction(t, c, "dies")
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
