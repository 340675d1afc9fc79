-- Sets a plan. $1: the subscription's id, $2: the plan, $3: the event's id, a new UUID.
WITH changed AS (
    INSERT INTO subscription AS s (id, plan, version) VALUES ($1, $2, 1)
    ON CONFLICT (id) DO UPDATE SET plan = excluded.plan, version = s.version + 1
    RETURNING id, plan, version, clock_timestamp() AS at
)
INSERT INTO outbox (stream, entity_id, seq, event_id, published_at, body)
SELECT 'subscription', id, version, $3, at, json_build_object(
    'event_id', $3::text, 'type', 'PlanChanged', 'entity_id', id, 'seq', version,
    'published_at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'data', json_build_object('plan', plan))::text
FROM changed
RETURNING seq;
