-- +goose Up
-- A row is its kind of record and its key, whatever its job is called: the jobs that have entries of a kind, and where those of a renamed job went.
CREATE TABLE job_kind (
    job TEXT NOT NULL,
    sends TEXT NOT NULL,
    PRIMARY KEY (job, sends)
) STRICT, WITHOUT ROWID;
CREATE TABLE job_moved (
    job TEXT NOT NULL,
    sends TEXT NOT NULL,
    moved_to TEXT NOT NULL,
    journal TEXT NOT NULL, -- that tells of it; '' = the ledger has none
    seq INTEGER NOT NULL, -- the record before
    PRIMARY KEY (journal, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO job_kind (job, sends) SELECT DISTINCT job, sends FROM entry;

-- Entries follow a renamed job, by an act that stands in the audit.
DROP TRIGGER entry_identity;
-- +goose StatementBegin
CREATE TRIGGER entry_identity BEFORE UPDATE OF id, sends, key, first_seen_at, remote_id, moved_id, generation ON entry
WHEN NEW.id <> OLD.id OR NEW.sends <> OLD.sends OR NEW.key <> OLD.key OR NEW.first_seen_at <> OLD.first_seen_at
    OR (OLD.remote_id IS NOT NULL AND NEW.remote_id IS NOT OLD.remote_id AND (NEW.remote_id IS NOT NULL OR NEW.moved_id IS NOT OLD.remote_id))
    OR (NEW.moved_id IS NOT OLD.moved_id AND (OLD.moved_id IS NOT NULL OR OLD.state = 'accepted' AND OLD.remote_id IS NOT NEW.moved_id))
    OR (OLD.moved_id IS NOT NULL AND NEW.remote_id IS NOT NULL) OR (NEW.generation <> OLD.generation AND NEW.generation <> OLD.generation + 1)
BEGIN
    SELECT RAISE(ROLLBACK, 'safrasync: what an entry is and the id it got never change; an id goes from one entry to another only by leaving its trace');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER entry_job BEFORE UPDATE OF job ON entry
WHEN NEW.job <> OLD.job AND NOT EXISTS (SELECT 1 FROM audit WHERE seq = (SELECT seq FROM audit_head) AND act IN ('job move', 'rebuild', 'journal settle'))
BEGIN
    SELECT RAISE(ROLLBACK, 'safrasync: an entry goes to another job only by an act that stands in the audit');
END;
-- +goose StatementEnd
-- A program that does not compare the keys of several jobs must not send beside one that does.
UPDATE ledger SET needs = 19;
