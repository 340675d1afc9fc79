package run

import (
	"slices"
	"testing"
	"time"
)

func TestAFileIsSplitIntoMessages(t *testing.T) {
	const s3 = `{"Records":[{"eventSource":"aws:s3","eventName":"ObjectCreated:Put","s3":{}}]}`
	for _, row := range []struct {
		name, content string
		bodies        []string
	}{
		{"lines", "{\"a\":1}\n\n  \n{\"b\":2}", []string{`{"a":1}`, `{"b":2}`}},
		{"carriage returns", "one\r\ntwo\r\n", []string{"one", "two"}},
		{"one line", `{"a":1}`, []string{`{"a":1}`}},
		{"one text over several lines", "{\n \"a\": 1\n}\n", []string{"{\n \"a\": 1\n}"}},
		{"broken lines", "{\n \"a\": 1\n", []string{"{", ` "a": 1`}},
		{"no UTF-8", "\xff\xfe{\n", []string{"\xff\xfe{"}},
		{"an S3 notification is a body", s3 + "\n" + s3, []string{s3, s3}},
		{"a list of records", `[{"messageId":"1","body":"x"},{"MessageId":"2","Body":"y"}]`, []string{"x", "y"}},
		{"a list of anything else", `[{"messageId":"1","body":"x"},{"a":1}]`, []string{`[{"messageId":"1","body":"x"},{"a":1}]`}},
		{"a record among bodies", "x\n{\"receiptHandle\":\"r\",\"body\":\"y\"}", []string{"x", "y"}},
		{"an event that has a body", `{"body":"x","type":"T"}`, []string{`{"body":"x","type":"T"}`}},
		{"a body that is no text", `{"messageId":"1","body":{"a":1}}`, []string{`{"messageId":"1","body":{"a":1}}`}},
		{"no records", `{"Records":[]}`, []string{`{"Records":[]}`}},
	} {
		var got []string
		for _, m := range split("f", []byte(row.content), time.Unix(0, 0)) {
			got = append(got, m.record.Body)
			if m.record.MessageId == "" || m.record.EventSourceARN == "" {
				t.Errorf("%s: %+v", row.name, m.record)
			}
		}
		if !slices.Equal(got, row.bodies) {
			t.Errorf("%s: %q, want %q", row.name, got, row.bodies)
		}
	}
}

func TestARecordKeepsItsAttributes(t *testing.T) {
	for _, text := range []string{
		`{"messageId":"1","body":"x","attributes":{"SentTimestamp":"5"},"messageAttributes":{"t":{"dataType":"String","stringValue":"v"},"b":{"dataType":"Binary","binaryValue":"AP8="}}}`,
		`{"MessageId":"1","Body":"x","Attributes":{"SentTimestamp":"5"},"MessageAttributes":{"t":{"DataType":"String","StringValue":"v"},"b":{"DataType":"Binary","BinaryValue":"AP8="}}}`,
	} {
		found, ok := records([]byte(text))
		if !ok || len(found) != 1 {
			t.Fatalf("%s: %v", text, found)
		}
		r := found[0]
		if r.MessageId != "1" || r.Attributes["SentTimestamp"] != "5" || *r.MessageAttributes["t"].StringValue != "v" ||
			string(r.MessageAttributes["b"].BinaryValue) != "\x00\xff" {
			t.Errorf("%s: %+v", text, r)
		}
	}
}
