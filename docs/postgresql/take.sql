-- The oldest rows to send: one SendMessageBatch takes ten.
SELECT id, body FROM outbox WHERE sent_at IS NULL ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED;
