-- +goose Up
-- What a row costs while it is sent: the same rules; a function is called only where a row may break one.
DROP TRIGGER entry_starts ON entry;
CREATE TRIGGER entry_starts AFTER INSERT ON entry FOR EACH ROW
    WHEN (NEW.state NOT IN ('pending', 'waiting', 'invalid', 'held')) EXECUTE FUNCTION safrasync_refuse('an entry cannot start in this state');
DROP FUNCTION safrasync_entry_starts();

-- The two moves of a row that all goes well with are told first.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION safrasync_entry_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state = 'sending' AND NOT EXISTS
        (SELECT 1 FROM attempt WHERE entry_id = NEW.id AND generation = NEW.generation AND outcome IS NULL) THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = 'safrasync: an entry is sent only with an open attempt';
    END IF;
    IF OLD.state = 'pending' AND NEW.state = 'sending' THEN
        RETURN NEW;
    END IF;
    IF NOT EXISTS (SELECT 1 FROM move WHERE from_state = OLD.state AND to_state = NEW.state) THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = 'safrasync: this change of state is not allowed';
    END IF;
    IF NEW.state = 'accepted' AND OLD.state IN ('pending', 'waiting', 'invalid', 'rejected', 'withdrawn') AND NOT EXISTS
        (SELECT 1 FROM attempt WHERE entry_id = NEW.id AND outcome = 'created' AND remote_id = NEW.remote_id) THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = 'safrasync: only the late answer of an earlier attempt accepts this entry';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
DROP TRIGGER entry_moves ON entry;
CREATE TRIGGER entry_moves BEFORE UPDATE OF state ON entry FOR EACH ROW
    WHEN (NEW.state <> OLD.state AND NOT (OLD.state = 'sending' AND NEW.state = 'accepted')) EXECUTE FUNCTION safrasync_entry_moves();
