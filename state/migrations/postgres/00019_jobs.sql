-- +goose Up
-- A row is its kind of record and its key, whatever its job is called: the jobs that have entries of a kind, and where those of a renamed job went.
CREATE TABLE job_kind (
    job TEXT NOT NULL,
    sends TEXT NOT NULL,
    PRIMARY KEY (job, sends)
);
CREATE TABLE job_moved (
    job TEXT NOT NULL,
    sends TEXT NOT NULL,
    moved_to TEXT NOT NULL,
    journal TEXT NOT NULL, -- that tells of it; '' = the ledger has none
    seq BIGINT NOT NULL, -- the record before
    PRIMARY KEY (journal, seq)
);
INSERT INTO job_kind (job, sends) SELECT DISTINCT job, sends FROM entry;

-- Entries follow a renamed job, by an act that stands in the audit.
DROP TRIGGER entry_identity ON entry;
CREATE TRIGGER entry_identity BEFORE UPDATE ON entry FOR EACH ROW
    WHEN (NEW.id <> OLD.id OR NEW.sends <> OLD.sends OR NEW.key <> OLD.key OR NEW.first_seen_at <> OLD.first_seen_at
        OR (OLD.remote_id IS NOT NULL AND NEW.remote_id IS DISTINCT FROM OLD.remote_id AND (NEW.remote_id IS NOT NULL OR NEW.moved_id IS DISTINCT FROM OLD.remote_id))
        OR (NEW.moved_id IS DISTINCT FROM OLD.moved_id AND (OLD.moved_id IS NOT NULL OR OLD.state = 'accepted' AND OLD.remote_id IS DISTINCT FROM NEW.moved_id))
        OR (OLD.moved_id IS NOT NULL AND NEW.remote_id IS NOT NULL) OR NEW.generation NOT IN (OLD.generation, OLD.generation + 1))
    EXECUTE FUNCTION safrasync_refuse('what an entry is and the id it got never change; an id goes from one entry to another only by leaving its trace');
-- +goose StatementBegin
CREATE FUNCTION safrasync_entry_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM audit WHERE seq = (SELECT seq FROM audit_head) AND act IN ('job move', 'rebuild', 'journal settle')) THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = 'safrasync: an entry goes to another job only by an act that stands in the audit';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER entry_job BEFORE UPDATE OF job ON entry FOR EACH ROW WHEN (NEW.job <> OLD.job) EXECUTE FUNCTION safrasync_entry_job();
-- A program that does not compare the keys of several jobs must not send beside one that does.
UPDATE ledger SET needs = 19;
