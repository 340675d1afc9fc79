-- $1: a republish request, as it came. Returns message bodies, to be sent as they are.
WITH request AS (
    SELECT r ->> 'stream' AS stream, r ->> 'entity_id' AS entity_id, r ->> 'source' AS source,
           (r ->> 'generation')::bigint AS generation,
           (SELECT range_agg(int8range((pair ->> 0)::bigint, (pair ->> 1)::bigint, '[]'))
            FROM jsonb_array_elements(r -> 'ranges') AS pair) AS asked
    FROM (SELECT $1::jsonb AS r) AS message
), kept AS ( -- what can be sent again
    SELECT o.seq, o.body
    FROM request q
    JOIN outbox o USING (stream, entity_id, source, generation)
    WHERE o.seq >= lower(q.asked) AND o.seq < upper(q.asked) AND o.seq <@ q.asked
), head AS ( -- the newest number: nothing is said about those above it
    SELECT h.proves_above, greatest(h.seq, newest.seq, 0) AS seq
    FROM request q
    LEFT JOIN outbox_head h USING (stream, entity_id, source, generation)
    LEFT JOIN LATERAL (
        SELECT o.seq FROM outbox o
        WHERE (o.stream, o.entity_id, o.source, o.generation) = (q.stream, q.entity_id, q.source, q.generation)
        ORDER BY o.seq DESC LIMIT 1
    ) AS newest ON true
), missing AS (
    SELECT q.asked * int8multirange(int8range(1, head.seq + 1))
           - coalesce((SELECT range_agg(int8range(seq, seq, '[]')) FROM kept), '{}') AS numbers,
           int8multirange(int8range(coalesce(head.proves_above, head.seq), NULL, '()')) AS proven
    FROM request q, head
), void (reason, numbers) AS (
    SELECT 'expired', numbers - proven FROM missing
    UNION ALL
    SELECT 'never_existed', numbers * proven FROM missing
)
SELECT seq, body FROM kept
UNION ALL
SELECT min(lower(part)), json_build_object(
    'type', 'inorder.void', 'stream', stream, 'entity_id', entity_id, 'source', source, 'generation', generation,
    'ranges', json_agg(json_build_array(lower(part), upper(part) - 1) ORDER BY part), 'reason', reason)::text
FROM request, void, unnest(numbers) WITH ORDINALITY AS parts (part, i)
GROUP BY stream, entity_id, source, generation, reason, (i - 1) / 1000 -- keeps a message far below SQS's limit
ORDER BY seq;
