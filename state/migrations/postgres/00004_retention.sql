-- +goose Up
-- What is kept for how long: see retention.go. An entry, an attempt and an act are never deleted; what they hold beyond what prevents a duplicate is.

ALTER TABLE entry ADD COLUMN reduced_at BIGINT; -- when its values became marks and its payload went; null: it holds something
ALTER TABLE audit ADD COLUMN reduced INTEGER NOT NULL DEFAULT 0 CHECK (reduced IN (0, 1)); -- person, reason and detail are gone; the hash is that of the whole record

CREATE INDEX entry_body ON entry (updated_at, id) WHERE reduced_at IS NULL AND state IN ('accepted', 'dismissed', 'withdrawn');

-- +goose StatementBegin
CREATE FUNCTION safrasync_attempt_payload() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.payload = '{}' AND OLD.outcome IS NOT NULL AND EXISTS
        (SELECT 1 FROM entry WHERE id = NEW.entry_id AND state IN ('accepted', 'dismissed', 'withdrawn')) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = 'safrasync: what an attempt sent never changes';
END $$;
-- +goose StatementEnd

DROP TRIGGER attempt_identity ON attempt;
CREATE TRIGGER attempt_identity BEFORE UPDATE ON attempt FOR EACH ROW
    WHEN (NEW.id <> OLD.id OR NEW.entry_id <> OLD.entry_id OR NEW.generation <> OLD.generation OR NEW.no <> OLD.no
        OR NEW.target <> OLD.target OR NEW.payload_hash <> OLD.payload_hash OR NEW.started_at <> OLD.started_at)
    EXECUTE FUNCTION safrasync_refuse('what an attempt sent never changes');
CREATE TRIGGER attempt_payload BEFORE UPDATE OF payload ON attempt FOR EACH ROW
    WHEN (NEW.payload <> OLD.payload) EXECUTE FUNCTION safrasync_attempt_payload();

DROP TRIGGER audit_unchanged ON audit;
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit FOR EACH ROW
    WHEN (NOT (OLD.reduced = 0 AND NEW.reduced = 1 AND NEW.seq = OLD.seq AND NEW.at = OLD.at AND NEW.act = OLD.act AND NEW.prev = OLD.prev AND NEW.hash = OLD.hash
        AND NEW.who = '' AND NEW.origin = '' AND NEW.target = '' AND NEW.reason = '' AND NEW.detail = ''))
    EXECUTE FUNCTION safrasync_refuse('the audit is never changed');
