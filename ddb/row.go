package ddb

import (
	"encoding/json"
	"errors"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// The attributes of the items table.
const (
	attrSK        = "_sk"
	attrExpiresAt = "expires_at" // TTL: epoch seconds

	rowEventID      = "event_id"
	rowSource       = "source"
	rowFingerprint  = "fingerprint"
	rowType         = "type"
	rowReceivedAt   = "received_at"
	rowMessageID    = "message_id"
	rowReceiveCount = "receive_count"
	rowToken        = "token" // of a marker: of the write that left it

	rowVoid       = "void"
	rowBody       = "body"
	rowAttributes = "attributes"
	rowRecord     = "record"
	rowGroupID    = "group_id"
	rowQueueARN   = "queue_arn"
	rowSentAt     = "sent_at"
)

// encodeRow writes a log row with the raw message, so that depth and the order of names do not matter and a copy of it
// is exact.
func encodeRow(pk string, row ordering.Row) (item, error) {
	out := rowKey(pk, row)
	w := itemWriter(out)
	w.text(rowVoid, string(row.Void))
	w.text(rowEventID, row.EventID)
	w.text(rowSource, row.Source)
	w.text(rowFingerprint, row.Fingerprint)
	w.text(rowType, row.Type)
	w.instant(rowReceivedAt, row.ReceivedAt)
	w.integer(rowRecord, int64(row.Record))
	w.epoch(attrExpiresAt, row.ExpiresAt)
	return out, w.message(row.Message)
}

func rowKey(pk string, row ordering.Row) item {
	return item{attrPK: text(pk), attrSK: text(rowSK(row.Gen, row.Seq))}
}

func (w itemWriter) message(m events.Message) error {
	w.text(rowMessageID, m.ID)
	w.integer(rowReceiveCount, int64(m.ReceiveCount))
	w.text(rowGroupID, m.GroupID)
	w.text(rowQueueARN, m.QueueARN)
	w.instant(rowSentAt, m.SentAt)
	if err := w.packed(rowBody, m.Body); err != nil || len(m.Attributes) == 0 {
		return err
	}
	attributes, err := json.Marshal(m.Attributes)
	if err != nil {
		return err
	}
	return w.packed(rowAttributes, string(attributes))
}

func (w itemWriter) packed(name, s string) error {
	if s == "" {
		return nil
	}
	v, err := pack(s)
	if err == nil {
		w[name] = v
	}
	return err
}

// decodeRow reads a log row. No item is the zero row.
func decodeRow(it item) (ordering.Row, error) {
	if len(it) == 0 {
		return ordering.Row{}, nil
	}
	r := &itemReader{item: it}
	gen, seq, err := parseRowSK(r.text(attrSK))
	row := ordering.Row{
		Gen:         gen,
		Seq:         seq,
		Void:        events.VoidReason(r.text(rowVoid)),
		EventID:     r.text(rowEventID),
		Source:      r.text(rowSource),
		Fingerprint: r.text(rowFingerprint),
		Type:        r.text(rowType),
		ReceivedAt:  r.instant(rowReceivedAt),
		Record:      int(r.integer(rowRecord)),
		ExpiresAt:   r.epoch(attrExpiresAt),
	}
	row.Message = r.message(row.ReceivedAt)
	return row, errors.Join(err, r.err)
}

// message reads the raw message of a row. A row and its message were received at the same time.
func (r *itemReader) message(receivedAt time.Time) events.Message {
	m := events.Message{
		ID:           r.text(rowMessageID),
		Body:         r.packed(rowBody),
		GroupID:      r.text(rowGroupID),
		QueueARN:     r.text(rowQueueARN),
		SentAt:       r.instant(rowSentAt),
		ReceivedAt:   receivedAt,
		ReceiveCount: int(r.integer(rowReceiveCount)),
	}
	if attributes := r.packed(rowAttributes); attributes != "" {
		if err := json.Unmarshal([]byte(attributes), &m.Attributes); err != nil {
			r.fail(rowAttributes, err)
		}
	}
	return m
}
