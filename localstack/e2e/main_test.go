package e2e

import (
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"inorder/localstack/cloud"
)

var seedFlag = flag.Uint64("seed", 1, "of everything that is random; 0: a new one")

const (
	standardStack = "inorder-e2e"
	fifoStack     = "inorder-e2e-fifo"
)

// From nothing to a stack that works takes one minute here, and all tests then take two. As all limits here it is for what
// hangs, and a machine may be busy.
const startTimeout = 15 * time.Minute

func TestMain(m *testing.M) {
	flag.Parse()
	if !cloud.Asked() {
		os.Exit(m.Run()) // each test skips
	}
	// The tests wait more than they work, and all of them must wait at once.
	if err := flag.Set("test.parallel", "32"); err != nil {
		panic(err)
	}
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	err := start()
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := here.stop(code != 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// here is what all tests share.
var here world

type world struct {
	seed     uint64
	cloud    *cloud.Cloud
	inorder  string // the built command
	standard *stack
	fifo     func() (*stack, error) // waits for it
}

func start() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if here.seed = *seedFlag; here.seed == 0 {
		var random [4]byte
		_, _ = crand.Read(random[:]) // it never fails
		here.seed = uint64(binary.BigEndian.Uint32(random[:]))
	}
	fmt.Printf("seed %d: to play the same again, add  -args -seed %[1]d\n", here.seed)
	if here.cloud, err = cloud.Start(ctx, cloud.Options{Progress: os.Stderr}); err != nil {
		return fmt.Errorf("start a local cloud: %w", err)
	}
	sayEngine(here.cloud)
	environment(here.cloud)
	build, err := buildAll(ctx)
	if err != nil {
		return err
	}
	here.fifo = here.deployFIFO(build)
	here.standard, err = here.deploy(ctx, standardStack, build, standardParameters())
	return err
}

// sayEngine says what the tests run on, and what they therefore cannot tell.
func sayEngine(c *cloud.Cloud) {
	fmt.Printf("%s\n", c)
	fmt.Print(`It lacks, so that no test here speaks of it:
  - EventBridge Scheduler (the template has a rule), and bisecting a stream's batch that fails
  - alarms of metric math, metrics of EMF lines (the lines themselves are read), filters of log lines
  - permissions, keys, TLS and queue policies: they are stored, and nothing is refused
  - Retain, deletion protection, point-in-time recovery, and changes of a table
`)
}

// environment is for whatever reads its connection from the process's own: the outbox of a producer, and `inorder`.
func environment(c *cloud.Cloud) {
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": c.Address, "AWS_REGION": cloud.Region,
		"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
}

// stop keeps what LocalStack said where something failed.
func (w *world) stop(failed bool) error {
	if w.cloud == nil {
		return nil
	}
	if w.fifo != nil {
		_, _ = w.fifo() // its test has told of its error
	}
	if failed {
		if err := w.cloud.Check(context.Background()); err != nil {
			fmt.Println("it may be no fault of the tests:", err)
		}
		if file, err := filepath.Abs(filepath.Join(projectRoot, ".cloud", "e2e.log")); err == nil && w.cloud.KeepLog(file) == nil {
			fmt.Println("what LocalStack said:", file)
		}
	}
	return w.cloud.Stop()
}

// others are the tests that are not about the end of them all.
var others sync.WaitGroup

// begin is the first call of each test.
func begin(t *testing.T) *stack {
	t.Helper()
	if !cloud.Asked() {
		t.Skip(cloud.NotAsked)
	}
	others.Add(1)
	t.Cleanup(others.Done)
	return here.standard
}

// afterAll is begin for a test of what all the others left: it waits for them.
func afterAll(t *testing.T) *stack {
	t.Helper()
	if !cloud.Asked() {
		t.Skip(cloud.NotAsked)
	}
	t.Parallel() // it is paused here until the last of the others has begun
	others.Wait()
	return here.standard
}
