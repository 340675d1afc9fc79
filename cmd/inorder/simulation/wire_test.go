package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/cmd/inorder/backend"
	"inorder/ddb"
	"inorder/ddb/local"
)

// RoundTrip is the way of every request that a thread sends over HTTP: to the queues, and where the life plays on an
// engine to that.
func (w *world) RoundTrip(request *http.Request) (*http.Response, error) {
	t := threadOf(request.Context())
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	service, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	toQueue := strings.HasPrefix(service, "AmazonSQS")
	u := turn{op: operation, text: string(body), lane: w.laneOf(body)}
	u.cost.writes, u.cost.reads = backend.Cost(operation, body)
	var response *http.Response
	u.effect = func() { response, err = w.carry(request, operation, body, toQueue) } //nolint:bodyclose // the client closes it
	switch happens := mishaps[t.pass(request.Context(), u)]; {
	case happens.deadly:
		return nil, errDead
	case happens.silent: // until the client gives up
		<-request.Context().Done()
		return nil, request.Context().Err()
	case happens.error != "":
		return failed(request, happens.error, operation, body, toQueue)
	}
	return response, err
}

// failed is an error as the service words it. Queues know no transactions, and call all ways to send one.
func failed(request *http.Request, failure, operation string, body []byte, toQueue bool) (*http.Response, error) {
	if toQueue {
		operation = backend.SendOperation
	}
	if toQueue && failure == "busy" {
		failure = "internal"
	}
	return backend.Fail(request, failure, operation, body)
}

// carry is the request itself. The scheduler calls it.
func (w *world) carry(request *http.Request, operation string, body []byte, toQueue bool) (*http.Response, error) {
	again, err := http.NewRequestWithContext(context.Background(), request.Method, request.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	again.Header = request.Header.Clone()
	if toQueue {
		return w.queues.RoundTrip(again)
	}
	var response *http.Response
	var answer []byte
	w.ferry.over(func() {
		if response, err = local.Transport().RoundTrip(again); err != nil { //nolint:bodyclose // below
			return
		}
		answer, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
	})
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(answer))
	if operation == "TransactWriteItems" && response.StatusCode == http.StatusOK {
		w.noteRows(body)
	}
	return response, nil
}

// noteRows puts the rows of a transaction that a producer's outbox got into its table's stream.
func (w *world) noteRows(body []byte) {
	type text struct{ S string }
	var in struct {
		TransactItems []struct {
			Put struct {
				TableName string
				Item      struct {
					PK     text `json:"_pk"`
					SK     text `json:"_sk"`
					Event  text `json:"event"`
					Source text `json:"source"`
				}
			}
		}
	}
	if json.Unmarshal(body, &in) != nil {
		return
	}
	for _, action := range in.TransactItems {
		row := action.Put.Item
		if _, isRow := ddb.ParseOutboxSK(row.SK.S); isRow && action.Put.TableName == w.outboxTable {
			w.streamRow(row.PK.S, row.SK.S, row.Event.S, row.Source.S)
		}
	}
}

// streamRow is a new row as the relay hears of it, each once.
func (w *world) streamRow(pk, sk, event, source string) {
	if w.streamed[pk+" "+sk] {
		return // a transaction that was asked for again, by its token
	}
	w.streamed[pk+" "+sk] = true
	w.written[w.byBody[event]] = time.Now()
	w.records = append(w.records, awsevents.DynamoDBEventRecord{
		EventName: string(awsevents.DynamoDBOperationTypeInsert), EventSource: "aws:dynamodb",
		Change: awsevents.DynamoDBStreamRecord{
			SequenceNumber: strconv.Itoa(len(w.streamed)),
			Keys:           map[string]awsevents.DynamoDBAttributeValue{"_pk": awsevents.NewStringAttribute(pk), "_sk": awsevents.NewStringAttribute(sk)},
			NewImage:       map[string]awsevents.DynamoDBAttributeValue{"event": awsevents.NewStringAttribute(event), "source": awsevents.NewStringAttribute(source)},
		},
	})
}

var entityInText = regexp.MustCompile(`\be(\d)-[a-z]+`)

// laneOf is which entity a request is about: the first one that it names. Those that name none are a lane of their own.
func (w *world) laneOf(body []byte) int {
	if m := entityInText.FindSubmatch(body); m != nil {
		return int(m[1][0] - '0')
	}
	return commonLane
}
