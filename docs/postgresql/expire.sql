-- To be repeated until it deletes no row.
DELETE FROM outbox WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM outbox WHERE expires_at < now() AND sent_at IS NOT NULL
    ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED
));
