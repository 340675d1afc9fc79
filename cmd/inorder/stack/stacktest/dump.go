package stacktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Dump is all that the tables and the queues hold, as text. What changes nothing leaves it as it is.
func (c *Cloud) Dump() string {
	c.t.Helper()
	var all strings.Builder
	for _, table := range []string{c.Tables.Entities, c.Tables.Items} {
		fmt.Fprintf(&all, "table %s\n%s", table, strings.Join(c.items(table), ""))
	}
	for _, url := range []string{EventsURL, QuarantineURL, EffectsURL, DLQURL, RepublishURL} {
		for _, m := range c.Queues.Sent(url) {
			text, err := json.Marshal(m)
			if err != nil {
				c.t.Fatal(err)
			}
			fmt.Fprintf(&all, "queue %s\n%s\n", url, text)
		}
	}
	return all.String()
}

// items are all attributes of all items of a table, straight from the engine.
func (c *Cloud) items(table string) []string {
	c.t.Helper()
	var items []string
	in := map[string]any{"TableName": table, "ConsistentRead": true}
	for {
		var page struct {
			Items            []json.RawMessage
			LastEvaluatedKey json.RawMessage
		}
		c.engine("Scan", in, &page)
		for _, item := range page.Items {
			items = append(items, sorted(c.t.Fatal, item)+"\n")
		}
		if len(page.LastEvaluatedKey) == 0 {
			slices.Sort(items)
			return items
		}
		in["ExclusiveStartKey"] = page.LastEvaluatedKey
	}
}

// sorted is JSON with its names in order.
func sorted(fatal func(...any), text json.RawMessage) string {
	var v any
	err := json.Unmarshal(text, &v)
	out, err2 := json.Marshal(v)
	if err != nil || err2 != nil {
		fatal(err, err2)
	}
	return string(out)
}

// engine makes one request of DynamoDB's protocol that no count of requests sees. An engine on this machine takes any
// signature.
func (c *Cloud) engine(operation string, in, out any) {
	c.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		c.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.address, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	request.Header.Set("X-Amz-Date", "20260101T000000Z")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/eu-west-1/dynamodb/aws4_request, "+
		"SignedHeaders=host;x-amz-date, Signature=0000")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode == http.StatusOK {
		err = json.Unmarshal(answer, out)
	}
	if err != nil || response.StatusCode != http.StatusOK {
		c.t.Fatalf("%s: %s %s %v", operation, response.Status, answer, err)
	}
}
