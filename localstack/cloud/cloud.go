package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// LocalStack takes any key, and every region by itself; these are fixed so that it never sees the user's own.
const (
	Region    = "us-east-1"
	accessKey = "test"
	secretKey = "test"
)

// Options say how a Cloud is to run. The zero value is right for a test.
type Options struct {
	Mode     string    // Auto, which is the default, Docker or Host
	Port     int       // on 127.0.0.1; 0 is any that is free
	Folder   string    // all that it writes; Stop removes it. Empty is a new one in the project's .cloud/
	Detached bool      // it lives on when this process ends: Open finds it again in its folder
	Progress io.Writer // a line for each step and now and then; nil is nowhere

	// Direct lets the functions of mode Host speak to DynamoDB's engine without LocalStack in between, which forwards each
	// request as it is, in 5 ms of its one processor: three times as many events a second go through the queue then.
	Direct bool
}

// Cloud is a LocalStack that runs.
type Cloud struct {
	state
	folder   string
	progress io.Writer
	engine   engine
}

// engine is what a LocalStack runs in.
type engine interface {
	alive() bool // false only where it is sure that it has ended
	ready() bool // whether what answers at its address is it, and not another one that took the port first
	stop() error // returns when it is gone; stopping one that is gone is fine
	log() string // what it has said so far, or why that is not known
}

// Start starts a LocalStack and returns when it answers. The context bounds the start only; the Cloud runs until Stop.
// The error of a tool that is not there is a [*MissingError].
func Start(ctx context.Context, o Options) (*Cloud, error) {
	mode, err := choose(ctx, o.Mode)
	if err != nil {
		return nil, err
	}
	if err := o.fits(mode); err != nil {
		return nil, err
	}
	root, err := projectRoot()
	if err != nil {
		return nil, err
	}
	c := &Cloud{folder: o.Folder, progress: o.Progress, state: state{Mode: mode}}
	if c.progress == nil {
		c.progress = io.Discard
	}
	if err := c.makeFolder(root); err != nil {
		return nil, err
	}
	port, err := pickPort(o.Port)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.folder))
	}
	c.Address = fmt.Sprintf("http://127.0.0.1:%d", port)
	err = c.step("starting LocalStack, mode "+mode, func() error { return c.launch(ctx, root, port, o) })
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (o Options) fits(mode string) error {
	if o.Direct && mode != Host {
		return fmt.Errorf("functions reach DynamoDB without LocalStack in mode %s only, and this is %s", Host, mode)
	}
	return nil
}

func (c *Cloud) launch(ctx context.Context, root string, port int, o Options) (err error) {
	if c.Mode == Docker {
		err = c.startDocker(ctx, root, port, o.Detached)
	} else {
		err = c.startHost(ctx, root, port, o)
	}
	if err != nil {
		return err
	}
	// Before it answers: whoever gives up waiting can find it and stop it.
	if err := c.save(c.folder); err != nil {
		return err
	}
	if c.Version, err = c.await(ctx); err != nil {
		return fmt.Errorf("%w; the last that it said:\n%s", err, indent(last(c.engine.log())))
	}
	return c.save(c.folder)
}

// Open finds the detached Cloud of a folder. The error is a [*NotRunningError] where there is none.
func Open(folder string, progress io.Writer) (*Cloud, error) {
	s, err := load(folder)
	if err != nil {
		return nil, err
	}
	c := &Cloud{state: s, folder: folder, progress: progress}
	if s.Mode == Docker {
		c.engine = &container{project: s.Project, folder: folder, compose: s.Compose, port: s.port()}
	} else {
		c.engine = &host{pid: s.PID, started: s.Started, logFile: filepath.Join(folder, logName)}
	}
	if !c.engine.alive() {
		return c, c.ended()
	}
	return c, nil
}

// Stop ends the Cloud, and removes its folder and all that is in it. Stopping twice is fine.
func (c *Cloud) Stop() error {
	var stopped error
	if c.engine != nil {
		stopped = c.engine.stop()
	}
	return errors.Join(stopped, os.RemoveAll(c.folder))
}

// String says what this is: engine, versions and address.
func (c *Cloud) String() string {
	return fmt.Sprintf("LocalStack %s %s at %s", c.Version, c.How, c.Address)
}

// Config is for any client of the AWS SDK. It takes nothing from the environment. A client of S3 needs UsePathStyle.
func (c *Cloud) Config() aws.Config {
	return aws.Config{
		Region:       Region,
		Credentials:  credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
		BaseEndpoint: aws.String(c.Address),
		HTTPClient:   client,
	}
}

// client keeps away from proxies: 127.0.0.1 is behind nobody's.
var client = func() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	t.MaxIdleConnsPerHost = 64 // tests send from many goroutines
	return &http.Client{Transport: t, Timeout: 2 * time.Minute}
}()
