package stack

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/smithy-go/logging"
)

// Flags are those of every operator's command.
type Flags struct {
	Stack    string `help:"CloudFormation stack whose outputs name tables and queues (default: the variables ENTITIES_TABLE, ITEMS_TABLE and so on)." placeholder:"NAME"`
	Region   string `help:"AWS region (default: as for the AWS CLI)." placeholder:"REGION"`
	Profile  string `help:"Profile of the AWS configuration." placeholder:"NAME"`
	Endpoint string `help:"One address for every service, such as http://localhost:4566." placeholder:"URL"`
	Streams  string `help:"What each type of event means (default: STREAMS_FILE, else events/streams.yaml)." placeholder:"FILE"`

	Getenv func(string) string `kong:"-"` // nil: the process's own
}

// Validate is called by the command line parser.
func (f *Flags) Validate() error {
	if f.Endpoint == "" {
		return nil
	}
	u, err := url.Parse(f.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Usagef("--endpoint %s: an address begins with http:// or https://", f.Endpoint)
	}
	return nil
}

// TryTimeout bounds one try of a request to any service. It is longer than a function's: a person at the end of a slow
// line waits for a page of 1 MB. Who polls a queue must ask it to wait for less.
const TryTimeout = 15 * time.Second

// localRegion is what an emulator is told where nobody says a region; it is LocalStack's own default.
const localRegion = "us-east-1"

// Connect finds out what the deployment is made of. The error is a *UsageError where a resource of need is not known;
// all others may be asked for with Get or Need. No request is made but with --stack.
func (f *Flags) Connect(ctx context.Context, need ...Resource) (*Connection, error) {
	cfg, err := f.load(ctx)
	if err != nil {
		return nil, err
	}
	c := &Connection{config: cfg, flags: f}
	if f.Stack != "" {
		if c.names, err = outputs(ctx, cfg, f.Stack); err != nil {
			return nil, err
		}
	} else {
		c.names = f.fromEnvironment()
	}
	return c, c.Need(need...)
}

func (f *Flags) getenv(name string) string {
	if f.Getenv != nil {
		return strings.TrimSpace(f.Getenv(name))
	}
	return strings.TrimSpace(os.Getenv(name))
}

func (f *Flags) fromEnvironment() map[Resource]string {
	names := map[Resource]string{}
	for _, r := range All() {
		names[r] = f.getenv(r.Variable())
	}
	return names
}

// load reads the AWS configuration as every tool does. With an endpoint nothing must be set up at all.
func (f *Flags) load(ctx context.Context) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{
		config.WithRegion(f.Region), config.WithSharedConfigProfile(f.Profile),
		config.WithLogger(logging.Nop{}), // what matters is in the errors
	}
	if f.Endpoint != "" {
		options = append(options, config.WithBaseEndpoint(f.Endpoint),
			config.WithEC2IMDSClientEnableState(imds.ClientDisabled)) // credentials are not worth waiting for
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, Usagef("the AWS configuration cannot be read: %v", err)
	}
	if cfg.Region == "" && f.Endpoint != "" {
		cfg.Region = localRegion
	}
	if cfg.Region == "" {
		return aws.Config{}, Usagef("no AWS region: give --region, or set AWS_REGION")
	}
	if f.Endpoint != "" && f.Profile == "" {
		if _, err := cfg.Credentials.Retrieve(ctx); err != nil { // an emulator takes any
			cfg.Credentials = credentials.NewStaticCredentialsProvider("local", "local", "")
		}
	}
	return cfg, nil
}

// check refuses what can be no queue's URL before it turns up in an error of AWS.
func check(r Resource, value, from string) error {
	if value == "" || !r.isQueue() {
		return nil
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") == "" {
		return Usagef("%s (%s) is not the URL of a queue, such as https://sqs.eu-west-1.amazonaws.com/123456789012/name: %q",
			r, from, value)
	}
	return nil
}

// from is where the value of a resource comes from.
func (f *Flags) from(r Resource) string {
	if f.Stack != "" {
		return fmt.Sprintf("output %s of stack %s", r.Output(), f.Stack)
	}
	return r.Variable()
}
