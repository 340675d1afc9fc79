-- $1: the event's id, a new UUID, $2: the article, $3: its price.
INSERT INTO outbox (stream, entity_id, seq, event_id, body)
SELECT 'prices', 'eur', n, $1, json_build_object(
    'event_id', $1::text, 'type', 'PriceSet', 'entity_id', 'eur', 'seq', n,
    'data', json_build_object('article', $2::text, 'price', $3::numeric))::text
FROM next_number('price_number') AS n
RETURNING seq;
