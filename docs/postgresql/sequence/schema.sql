-- A price list whose changes are numbered by a sequence. CACHE must be 1, its default.
CREATE SEQUENCE price_number;

-- The entities that are numbered so. Every row above deleted_through that was ever committed is still there.
CREATE TABLE outbox_sequence (
    stream          text     NOT NULL,
    entity_id       text     NOT NULL,
    source          text     NOT NULL DEFAULT '',
    generation      bigint   NOT NULL DEFAULT 0,
    numbers         regclass NOT NULL UNIQUE,
    deleted_through bigint   NOT NULL DEFAULT 0,
    PRIMARY KEY (stream, entity_id, source, generation)
);
INSERT INTO outbox_sequence (stream, entity_id, numbers) VALUES ('prices', 'eur', 'price_number');

-- The only way to draw a number: whoever has one holds this lock until the transaction is over.
CREATE FUNCTION next_number(numbers regclass) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(numbers::oid::bigint);
    RETURN nextval(numbers);
END $$;

CREATE OR REPLACE VIEW outbox_head (stream, entity_id, source, generation, seq, proves_above) AS
    SELECT 'subscription', id, '', 0::bigint, version, NULL::bigint FROM subscription
    UNION ALL
    SELECT stream, entity_id, source, generation, deleted_through, deleted_through FROM outbox_sequence;
