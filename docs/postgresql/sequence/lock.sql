-- $1: a republish request, as it came. Waits until all who have drawn a number of the entity are done.
SELECT pg_advisory_xact_lock(numbers::oid::bigint)
FROM outbox_sequence s, (SELECT $1::jsonb AS r) AS message
WHERE (s.stream, s.entity_id, s.source, s.generation)
    = (r ->> 'stream', r ->> 'entity_id', r ->> 'source', (r ->> 'generation')::bigint);
