package functions

import (
	"context"
	"errors"
	"log/slog"

	awsevents "github.com/aws/aws-lambda-go/events"

	"inorder/ddb"
	"inorder/events"
	"inorder/ordering"
)

// newRow is a row of the outbox on its way to the events queue.
type newRow struct {
	place   string // its SequenceNumber in the table's stream, where Lambda goes on
	stream  *events.Stream
	key     ddb.OutboxKey
	at      ordering.Position
	message outgoing
	note    bool  // it is the newest of its history in this batch
	err     error // why it was not sent; errRefused: why it never can be
}

// back reports whether the row must come again: it may be sent the next time.
func (w *newRow) back() bool { return w.err != nil && !errors.Is(w.err, errRefused) }

// HandleStream sends new rows to the events queue, in their order, and with the newest of each history a note to the relay
// itself. Of several rows of one history in a batch the notes of all but the newest would find the head moved on.
//
// Of what fails only the first is named: Lambda goes on from the lowest sequence number that it is given and brings
// everything behind it again ("Configuring partial batch response with DynamoDB and Lambda"), so nothing behind it is
// tried either. A row that can never be sent is told at error level, counted and passed, or it would hold up its shard
// until the stream forgets it, after a day, with all the rows behind it. It stays in the outbox, and its note leads to
// a mark: the consumer misses it and says so.
//
// Notes go out last, and none of them brings a row back: events must flow whatever becomes of the republish queue.
func (r *Relay) HandleStream(ctx context.Context, batch awsevents.DynamoDBEvent) (awsevents.DynamoDBEventResponse, error) {
	defer r.flush(ctx)
	until, end := limited(ctx, margin)
	defer end()
	rows := r.rows(ctx, batch.Records)
	failures := []awsevents.DynamoDBBatchItemFailure{}
	done := r.relay(ctx, until.work, rows)
	if done < len(rows) {
		failures = append(failures, awsevents.DynamoDBBatchItemFailure{ItemIdentifier: rows[done].place})
	}
	r.sendNotes(ctx, until.rest, rows[:done])
	return awsevents.DynamoDBEventResponse{BatchItemFailures: failures}, nil
}

// relay sends rows, a request after the other, up to the first that comes back, and returns how many stand before it.
func (r *Relay) relay(ctx, work context.Context, rows []*newRow) (done int) {
	for done < len(rows) {
		n := r.events.fit(messagesOf(rows[done:]))
		part := rows[done : done+n]
		r.sendRows(work, part)
		told := r.tell(ctx, part)
		done += told
		if told < n {
			break
		}
	}
	return done
}

// rows reads the new rows of a batch. Heads, changed and deleted items are no rows to be sent.
func (r *Relay) rows(ctx context.Context, records []awsevents.DynamoDBEventRecord) []*newRow {
	var rows []*newRow
	newest := map[ddb.OutboxKey]*newRow{}
	for _, record := range records {
		if record.EventName != string(awsevents.DynamoDBOperationTypeInsert) {
			continue
		}
		w, err := r.readRow(record)
		if err != nil {
			r.count(MetricRelayFailures, nil, 1)
			r.log.LogAttrs(ctx, slog.LevelError, "an item of the outbox is no row and was passed",
				slog.String("stream_sequence_number", record.Change.SequenceNumber), failure(err))
		}
		if w == nil {
			continue
		}
		rows = append(rows, w)
		if last := newest[w.key]; last == nil || !isBefore(w.at, last.at) {
			newest[w.key] = w
		}
	}
	for _, w := range newest {
		w.note = r.markDelay > 0 && w.stream != nil && w.stream.Order.By == events.BySeq
	}
	return rows
}

// readRow reads a row; nil where the item is a head, or whatever else a producer keeps in the table.
func (r *Relay) readRow(record awsevents.DynamoDBEventRecord) (w *newRow, err error) {
	defer recovered(&err)
	at, ok := ddb.ParseOutboxSK(stringOf(record.Change.Keys["_sk"]))
	if !ok {
		return nil, nil
	}
	pk := stringOf(record.Change.Keys["_pk"])
	key, err := ddb.ParseOutboxPK(pk)
	if err != nil {
		return nil, err
	}
	if !key.PerSource {
		key.Source = stringOf(record.Change.NewImage["source"])
	}
	w = &newRow{place: record.Change.SequenceNumber, key: key, at: at}
	if s := r.streams.Stream(key.Stream); s != nil && s.PerSource == key.PerSource {
		w.stream = s
	}
	w.message = outgoing{body: stringOf(record.Change.NewImage["event"]), entity: pk, dedup: hashed(pk, at.Gen, at.Seq)}
	w.err = w.message.sendable()
	return w, nil
}

// stringOf is a string attribute; empty for any other, on which String would panic or make something up.
func stringOf(v awsevents.DynamoDBAttributeValue) string {
	if v.DataType() != awsevents.DataTypeString {
		return ""
	}
	return v.String()
}

func isBefore(a, b ordering.Position) bool { return a.Gen < b.Gen || a.Gen == b.Gen && a.Seq < b.Seq }

func messagesOf(rows []*newRow) []outgoing {
	messages := make([]outgoing, len(rows))
	for i, w := range rows {
		messages[i] = w.message
	}
	return messages
}

// sendRows sends the rows of one request.
func (r *Relay) sendRows(ctx context.Context, rows []*newRow) {
	var able []*newRow
	for _, w := range rows {
		if w.err == nil {
			able = append(able, w)
		}
	}
	for i, err := range r.events.send(ctx, messagesOf(able)) {
		able[i].err = err
	}
}

// sendNotes sends the notes of rows that are done with. One that cannot be sent is told, counted and lost, as a mark may
// be: the consumer learns of a lost event from the next one of its history.
func (r *Relay) sendNotes(ctx, work context.Context, rows []*newRow) {
	var noted []*newRow
	var notes []outgoing
	for _, w := range rows {
		if w.note {
			noted, notes = append(noted, w), append(notes, r.noteOf(w.key, w.at))
		}
	}
	for i, err := range r.notes.sendEach(work, notes) {
		if err != nil {
			r.count(MetricRelayFailures, noted[i].stream, 1)
			r.log.LogAttrs(ctx, slog.LevelError, "the note of a row was not sent: if its event is lost, only the next one shows it",
				noted[i].identity(err)...)
		}
	}
}

// tell counts and logs what became of rows, up to the first that comes back, and returns how many stand before it.
func (r *Relay) tell(ctx context.Context, rows []*newRow) (done int) {
	for i, w := range rows {
		switch {
		case w.err == nil:
			r.count(MetricRowsRelayed, w.stream, 1)
			r.tellStranger(ctx, w)
		case w.back():
			r.count(MetricRelayFailures, w.stream, 1)
			r.log.LogAttrs(ctx, slog.LevelWarn, "a row of the outbox was not sent and comes back", w.identity(w.err)...)
			return i
		default:
			r.count(MetricRelayFailures, w.stream, 1)
			r.log.LogAttrs(ctx, slog.LevelError, "a row of the outbox cannot be sent and was passed", w.identity(w.err)...)
		}
	}
	return len(rows)
}

// identity names a row in a log line about an error.
func (w *newRow) identity(err error) []slog.Attr {
	return append(whose(w.key, w.at.Gen), slog.Int64("seq", w.at.Seq),
		slog.String("stream_sequence_number", w.place), failure(err))
}

// tellStranger warns of a row that was sent although streams.yaml does not know its key: it has no note, and a
// republish request would not find it.
func (r *Relay) tellStranger(ctx context.Context, w *newRow) {
	if w.stream != nil {
		return
	}
	why := "streams.yaml has no such stream"
	if r.streams.Stream(w.key.Stream) != nil {
		why = "its key and the stream's per_source in streams.yaml disagree"
	}
	r.log.LogAttrs(ctx, slog.LevelError, "a row was sent that can be neither marked nor sent again",
		append(whose(w.key, w.at.Gen), slog.Int64("seq", w.at.Seq), slog.String("error", why))...)
}
