-- +goose Up
-- Hashes stand anywhere in an index, so that each row of a large ledger read and wrote pages of its own. Beside each hash stands a number that equal contents share and that grows as the
-- seasons go (trade.NearOf), 0 where it is not known: in its order, rows of the same days share their pages.
ALTER TABLE entry ADD COLUMN source_near BIGINT NOT NULL DEFAULT 0, ADD COLUMN payload_near BIGINT NOT NULL DEFAULT 0;
ALTER TABLE attempt ADD COLUMN payload_near BIGINT NOT NULL DEFAULT 0;
DROP INDEX entry_content;
-- Conditions of which statistics tell nothing: while they lag, PostgreSQL takes rows in a state for none, and would go through all of them (state/content.go has the same words).
CREATE INDEX entry_content ON entry (payload_near, payload_hash) WHERE CASE WHEN state = 'accepted' THEN true ELSE false END;
DROP INDEX entry_source;
CREATE INDEX entry_source ON entry (source_near, source_hash) WHERE CASE WHEN state IN ('accepted', 'in_doubt', 'sending') THEN true ELSE false END;
DROP INDEX attempt_content;
CREATE INDEX attempt_content ON attempt (payload_near, payload_hash)
    WHERE CASE WHEN outcome IS NULL OR outcome IN ('unknown', 'created') THEN true ELSE false END;

-- Who changes a hash and leaves the number, as an older program beside this one does, leaves one of another content.
-- +goose StatementBegin
CREATE FUNCTION safrasync_entry_near() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.payload_hash <> OLD.payload_hash AND NEW.payload_near = OLD.payload_near THEN
        NEW.payload_near = 0;
    END IF;
    IF NEW.source_hash <> OLD.source_hash AND NEW.source_near = OLD.source_near THEN
        NEW.source_near = 0;
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER entry_near BEFORE UPDATE OF payload_hash, source_hash ON entry FOR EACH ROW
    WHEN (NEW.payload_hash <> OLD.payload_hash AND NEW.payload_near = OLD.payload_near OR NEW.source_hash <> OLD.source_hash AND NEW.source_near = OLD.source_near)
    EXECUTE FUNCTION safrasync_entry_near();
