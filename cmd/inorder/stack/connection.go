package stack

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"inorder/ddb"
	"inorder/events"
)

// Connection is a deployment as a command sees it.
type Connection struct {
	config aws.Config
	flags  *Flags
	names  map[Resource]string
}

// Get is the name, URL or value of a resource, empty where it is not known.
func (c *Connection) Get(r Resource) string { return c.names[r] }

// Need returns a *UsageError that names all of the resources that are not known.
func (c *Connection) Need(resources ...Resource) error {
	var missing []Resource
	for _, r := range resources {
		if c.names[r] == "" {
			missing = append(missing, r)
		}
	}
	if err := missingError(c.flags.Stack, missing); err != nil {
		return err
	}
	for _, r := range resources {
		if err := check(r, c.names[r], c.flags.from(r)); err != nil {
			return err
		}
	}
	return nil
}

// An operator waits longer than a function does, but not forever: at most five tries of a request.
const attempts = 5

var clientOptions = ddb.ClientOptions{TryTimeout: TryTimeout, Attempts: attempts}

// Store is over the two tables. Whoever uses it connects with EntitiesTable, and with ItemsTable where it reads the log.
func (c *Connection) Store() *ddb.Store {
	return c.StoreOf(c.Get(EntitiesTable))
}

// StoreOf is Store with another table of entities.
func (c *Connection) StoreOf(entitiesTable string) *ddb.Store {
	return &ddb.Store{
		API:    ddb.NewClient(c.config, clientOptions),
		Tables: ddb.Tables{Entities: entitiesTable, Items: c.Get(ItemsTable)},
	}
}

// Scan reads a whole table of entities.
func (c *Connection) Scan(entitiesTable string) *ddb.Scan {
	return &ddb.Scan{API: ddb.NewClient(c.config, clientOptions), Table: entitiesTable}
}

// SQS is a client for all of the queues.
func (c *Connection) SQS() *sqs.Client {
	return sqs.NewFromConfig(c.config, func(o *sqs.Options) { o.HTTPClient = bounded(); o.RetryMaxAttempts = attempts })
}

// Logs is a client of CloudWatch Logs.
func (c *Connection) Logs() *cloudwatchlogs.Client {
	return cloudwatchlogs.NewFromConfig(c.config, func(o *cloudwatchlogs.Options) {
		o.HTTPClient = bounded()
		o.RetryMaxAttempts = attempts
	})
}

// bounded is an HTTP client that gives up a try in time.
func bounded() aws.HTTPClient {
	return ddb.Whole{Client: awshttp.NewBuildableClient().WithTimeout(TryTimeout)}
}

// Streams reads streams.yaml with the deployment's own defaults for it.
func (c *Connection) Streams() (*events.Config, error) {
	var o events.Options
	var err error
	if o.GapDeadline, err = duration(GapDeadline, c); err != nil {
		return nil, err
	}
	if o.ParkTTL, err = duration(ParkTTL, c); err != nil {
		return nil, err
	}
	return c.flags.readStreams(o)
}
