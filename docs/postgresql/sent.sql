-- $1: the ids of the rows that SQS has.
UPDATE outbox SET sent_at = clock_timestamp() WHERE id = ANY ($1) AND sent_at IS NULL;
