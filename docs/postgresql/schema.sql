-- The business table. Its version is the number of its newest event.
CREATE TABLE subscription (
    id      text   PRIMARY KEY,
    plan    text   NOT NULL,
    version bigint NOT NULL
);

-- One row per event, kept as long as somebody may ask for it again.
CREATE TABLE outbox (
    stream       text        NOT NULL, -- its name in streams.yaml
    entity_id    text        NOT NULL,
    source       text        NOT NULL DEFAULT '', -- empty, but for streams with per_source or clock: source
    generation   bigint      NOT NULL DEFAULT 0,
    seq          bigint      NOT NULL,
    event_id     text        NOT NULL,
    body         text        NOT NULL, -- the message as it is sent; jsonb would give back other bytes
    published_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at   timestamptz NOT NULL DEFAULT clock_timestamp() + interval '28 days',
    sent_at      timestamptz, -- when SQS had it
    marked_at    timestamptz, -- when it was settled whether it needs a mark
    id           bigint      GENERATED ALWAYS AS IDENTITY, -- names the row to the jobs below; no order rests on it
    PRIMARY KEY (stream, entity_id, source, generation, seq)
);
CREATE INDEX outbox_unsent   ON outbox (id) WHERE sent_at IS NULL;
CREATE INDEX outbox_unmarked ON outbox (id) WHERE marked_at IS NULL;
CREATE INDEX outbox_expiry   ON outbox (expires_at);

-- How far each entity is. Above proves_above, where it is set, a number without a row was never used.
CREATE VIEW outbox_head (stream, entity_id, source, generation, seq, proves_above) AS
    SELECT 'subscription', id, '', 0::bigint, version, NULL::bigint FROM subscription;
