// Relay is the Lambda function of the producer's side: new rows of its outbox come by the table's stream, republish
// requests and its own notes by a queue. Its settings are the variables that functions.ReadRelaySettings lists.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"inorder/functions"
	"inorder/functions/projections"
)

func main() {
	functions.CaptureLog(os.Stdout)
	relay, err := functions.StartRelay(context.Background(), os.Getenv, os.Stdout, time.Now, projections.All())
	if err != nil {
		fmt.Fprintf(os.Stderr, "the relay cannot start:\n%v\n", err)
		os.Exit(1)
	}
	lambda.Start(relay.Handle)
}
