// Sweeper is the Lambda function that a schedule calls every minute. Its settings are the variables that
// functions.ReadSweeperSettings lists.
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
	sweeper, err := functions.StartSweeper(context.Background(), os.Getenv, os.Stdout, time.Now, projections.All())
	if err != nil {
		fmt.Fprintf(os.Stderr, "the sweeper cannot start:\n%v\n", err)
		os.Exit(1)
	}
	lambda.Start(sweeper.Sweep)
}
