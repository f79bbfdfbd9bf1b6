-- +goose Up
-- What a row costs while it is sent: the same rules, said so that they are cheap where they are kept.

-- Each of these hashes stays while the state changes. An index that asks for the state is written at every move; these are written once, and who looks for content looks at the state of what is found.
DROP INDEX entry_content;
CREATE INDEX entry_content ON entry (payload_hash);
DROP INDEX entry_source;
CREATE INDEX entry_source ON entry (source_hash);
DROP INDEX attempt_content;
CREATE INDEX attempt_content ON attempt (payload_hash);

-- SQLite makes a table of a list (IN) each time that a trigger runs, and keeps a copy of every page that a statement touches where a trigger may end the statement alone. So there are
-- comparisons instead of lists, and a refusal ends the transaction. The two moves of a row that all goes well with are told first.
DROP TRIGGER entry_starts;
-- +goose StatementBegin
CREATE TRIGGER entry_starts AFTER INSERT ON entry
WHEN NEW.state <> 'pending' AND NEW.state <> 'waiting' AND NEW.state <> 'invalid' AND NEW.state <> 'held'
BEGIN
    SELECT RAISE(ROLLBACK, 'safrasync: an entry cannot start in this state');
END;
-- +goose StatementEnd
DROP TRIGGER entry_moves;
DROP TRIGGER entry_intent;
DROP TRIGGER entry_late;
-- +goose StatementBegin
CREATE TRIGGER entry_moves BEFORE UPDATE OF state ON entry
WHEN NEW.state <> OLD.state AND NOT (OLD.state = 'sending' AND NEW.state = 'accepted') AND NOT (OLD.state = 'pending' AND NEW.state = 'sending'
    AND EXISTS (SELECT 1 FROM attempt WHERE entry_id = NEW.id AND generation = NEW.generation AND outcome IS NULL))
BEGIN
    SELECT CASE
        WHEN NOT EXISTS (SELECT 1 FROM move WHERE from_state = OLD.state AND to_state = NEW.state)
            THEN RAISE(ROLLBACK, 'safrasync: this change of state is not allowed')
        WHEN NEW.state = 'sending' AND NOT EXISTS (SELECT 1 FROM attempt WHERE entry_id = NEW.id AND generation = NEW.generation AND outcome IS NULL)
            THEN RAISE(ROLLBACK, 'safrasync: an entry is sent only with an open attempt')
        WHEN NEW.state = 'accepted' AND OLD.state IN ('pending', 'waiting', 'invalid', 'rejected', 'withdrawn') AND NOT EXISTS
            (SELECT 1 FROM attempt WHERE entry_id = NEW.id AND outcome = 'created' AND remote_id = NEW.remote_id)
            THEN RAISE(ROLLBACK, 'safrasync: only the late answer of an earlier attempt accepts this entry')
    END;
END;
-- +goose StatementEnd
DROP TRIGGER entry_identity;
-- +goose StatementBegin
CREATE TRIGGER entry_identity BEFORE UPDATE OF id, job, sends, key, first_seen_at, remote_id, moved_id, generation ON entry
WHEN NEW.id <> OLD.id OR NEW.job <> OLD.job OR NEW.sends <> OLD.sends OR NEW.key <> OLD.key OR NEW.first_seen_at <> OLD.first_seen_at
    OR (OLD.remote_id IS NOT NULL AND NEW.remote_id IS NOT OLD.remote_id AND (NEW.remote_id IS NOT NULL OR NEW.moved_id IS NOT OLD.remote_id))
    OR (NEW.moved_id IS NOT OLD.moved_id AND (OLD.moved_id IS NOT NULL OR OLD.state = 'accepted' AND OLD.remote_id IS NOT NEW.moved_id))
    OR (OLD.moved_id IS NOT NULL AND NEW.remote_id IS NOT NULL) OR (NEW.generation <> OLD.generation AND NEW.generation <> OLD.generation + 1)
BEGIN
    SELECT RAISE(ROLLBACK, 'safrasync: what an entry is and the id it got never change; an id goes from one entry to another only by leaving its trace');
END;
-- +goose StatementEnd
DROP TRIGGER attempt_outcome;
-- +goose StatementBegin
CREATE TRIGGER attempt_outcome BEFORE UPDATE OF outcome ON attempt
WHEN OLD.outcome IS NOT NULL AND NEW.outcome IS NOT OLD.outcome
    AND NOT (OLD.outcome = 'unknown' AND NEW.outcome IS NOT NULL AND NEW.outcome IN ('created', 'not_created', 'not_sent'))
BEGIN
    SELECT RAISE(ROLLBACK, 'safrasync: an outcome never changes, but from unknown to a certain one');
END;
-- +goose StatementEnd
