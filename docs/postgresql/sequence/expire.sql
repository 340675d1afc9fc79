-- In the place of expire.sql. To be repeated until it returns 0.
WITH deleted AS (
    DELETE FROM outbox WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM outbox WHERE expires_at < now() AND sent_at IS NOT NULL
        ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED
    ))
    RETURNING stream, entity_id, source, generation, seq
), highest AS (
    SELECT stream, entity_id, source, generation, max(seq) AS seq FROM deleted
    GROUP BY stream, entity_id, source, generation
), moved AS (
    UPDATE outbox_sequence s SET deleted_through = greatest(s.deleted_through, h.seq) FROM highest h
    WHERE (s.stream, s.entity_id, s.source, s.generation) = (h.stream, h.entity_id, h.source, h.generation)
)
SELECT count(*) FROM deleted;
