// Consumer is the Lambda function that takes the events queue. Its settings are the variables that
// functions.ReadSettings lists.
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
	consumer, err := functions.StartConsumer(context.Background(), os.Getenv, os.Stdout, time.Now, projections.All())
	if err != nil {
		fmt.Fprintf(os.Stderr, "the consumer cannot start:\n%v\n", err)
		os.Exit(1)
	}
	lambda.Start(consumer.Handle)
}
