-- Rows that were sent five minutes ago. Those with a body are still their entity's newest: the body is the mark to send.
SELECT id, CASE WHEN NOT EXISTS (
           SELECT FROM outbox n
           WHERE (n.stream, n.entity_id, n.source) = (o.stream, o.entity_id, o.source)
             AND (n.generation, n.seq) > (o.generation, o.seq)
       ) THEN json_build_object(
           'type', 'inorder.mark', 'stream', stream, 'entity_id', entity_id, 'source', source,
           'generation', generation, 'seq', seq)::text END AS body
FROM outbox o
WHERE marked_at IS NULL AND sent_at < now() - interval '5 minutes'
ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED;
