package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"inorder/ddb/local"
)

// gossip is how a service may answer that tells whatever it was sent: the request's body stands in each message.
type gossip struct {
	name   string
	status int
	body   func(request string) string // empty: the connection is cut
}

func answerOf(kind, code string, status int, message string) gossip {
	return gossip{code + kind, status, func(request string) string {
		text, _ := json.Marshal(map[string]any{
			"__type": "com.amazonaws.dynamodb.v20120810#" + code, "message": fmt.Sprintf(message, request), "Message": fmt.Sprintf(message, request),
			"CancellationReasons": []map[string]any{{"Code": "ValidationError", "Message": fmt.Sprintf(message, request)}},
		})
		return string(text)
	}}
}

// gossips are the classes of errors that ddb tells apart, each in the words that quote the most.
var gossips = []gossip{
	answerOf(" of a value", "ValidationException", 400, "1 validation error detected: Value '%s' at 'item' failed to satisfy constraint"),
	answerOf(" of a number", "ValidationException", 400, "The parameter cannot be converted to a numeric value: %s"),
	answerOf(" that only quotes", "ValidationException", 400, "%s"),
	answerOf("", "SerializationException", 400, "%s is no number"),
	answerOf("", "InternalServerError", 500, "cannot handle <%s>"),
	answerOf("", "SomethingNewException", 400, "about (%s)"),
	answerOf("", "ItemCollectionSizeLimitExceededException", 400, "too large: %s"),
	answerOf("", "IdempotentParameterMismatchException", 400, "not the same: %s"),
	{"a cancelled transaction", 400, func(request string) string {
		quoted, _ := json.Marshal("One or more parameter values were invalid: " + request)
		return `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",` +
			`"Message":"Transaction cancelled, please refer cancellation reasons for specific reasons [ValidationError]",` +
			`"CancellationReasons":[{"Code":"ValidationError","Message":` + string(quoted) + `}]}`
	}},
	{"a page of a proxy", 502, func(request string) string { return "<html>" + request + "</html>" }},
	{"an answer that is no JSON", 200, func(request string) string { return request[1:] }},
	{"a cut connection", 0, nil},
}

// gossiping is a way to the engine on which, from a request on, all are answered by a gossip.
type gossiping struct {
	mu   sync.Mutex
	now  *gossip
	from int // the first request that is, counted from 1
	seen int
}

func (g *gossiping) set(now *gossip, from int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now, g.from, g.seen = now, from, 0
}

func (g *gossiping) talks() *gossip {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen++
	if g.now == nil || g.seen < g.from {
		return nil
	}
	return g.now
}

func (g *gossiping) RoundTrip(r *http.Request) (*http.Response, error) {
	now := g.talks()
	if now == nil {
		return local.Transport().RoundTrip(r)
	}
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if now.body == nil {
		return nil, errors.New("connection reset by peer")
	}
	return &http.Response{
		StatusCode: now.status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader([]byte(now.body(string(sent))))),
	}, nil
}

// gossipingSQS is SQS that, when told, refuses each message in words that quote it, or panics with it.
type gossipingSQS struct {
	mu     sync.Mutex
	code   string // empty: it takes them
	panics bool
	fakeSQS
	batches int
}

func (g *gossipingSQS) refusal(body string, attributes any) error {
	if g.panics {
		panic(body)
	}
	if g.code == "" {
		return nil
	}
	return &smithy.GenericAPIError{Code: g.code, Message: fmt.Sprintf("Value '%s' with '%v' is invalid", body, attributes)}
}

func (g *gossipingSQS) SendMessage(ctx context.Context, in *sqs.SendMessageInput, o ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.refusal(*in.MessageBody, in.MessageAttributes); err != nil {
		return nil, err
	}
	return g.fakeSQS.SendMessage(ctx, in, o...)
}

// SendMessageBatch refuses in turn the whole request, and each of its messages.
func (g *gossipingSQS) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := &sqs.SendMessageBatchOutput{}
	g.batches++
	for i, e := range in.Entries {
		err := g.refusal(*e.MessageBody, nil)
		if err != nil && g.batches%2 == 1 {
			return nil, err
		}
		if err != nil {
			text := err.Error()
			out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: e.Id, Code: &g.code, Message: &text, SenderFault: true})
			continue
		}
		out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: in.Entries[i].Id})
	}
	return out, nil
}

// secrets are what all data of the test hold. Of none of them anything may stand in a line: as it is, in other letters, or encoded.
const (
	secretText   = "Zq7secretXy9"
	secretNumber = "918273645546"
)

// leaks returns the lines that hold something of the data.
func leaks(output string) (lines []string) {
	for line := range strings.Lines(output) {
		low := strings.ToLower(line)
		for _, hidden := range []string{
			strings.ToLower(secretText), "7secret", "secretxy", secretNumber, "9.182736",
			"wne3c2vjcmv0whk5", "dzzwnyzxryetl", "xn3nly3jldfh5o", // in base64, by the place where it begins
		} {
			if strings.Contains(low, hidden) {
				lines = append(lines, fmt.Sprintf("%.600s", line))
				break
			}
		}
	}
	return lines
}
