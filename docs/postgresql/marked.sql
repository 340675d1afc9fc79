-- $1: the ids of the rows that mark.sql returned, less those whose mark SQS did not take.
UPDATE outbox SET marked_at = clock_timestamp() WHERE id = ANY ($1) AND marked_at IS NULL;
