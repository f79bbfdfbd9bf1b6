-- +goose Up
-- Several processes work on one ledger: see instance.go. From this migration on, one that leaves `needs` alone only adds, and programs that know at least
-- that number go on beside it.

-- The processes that may send, or did and ended without a word.
CREATE TABLE instance (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    version TEXT NOT NULL,
    command TEXT NOT NULL, -- run or sync
    part INTEGER NOT NULL, -- of the sums (tally) that it writes
    started_at INTEGER NOT NULL,
    expires INTEGER NOT NULL -- on the database's clock
) STRICT, WITHOUT ROWID;

ALTER TABLE ledger ADD COLUMN needs INTEGER NOT NULL DEFAULT 5; -- the oldest schema that a program must know to work on this one
ALTER TABLE ledger ADD COLUMN moved_to TEXT; -- where the ledger was moved to; nothing is sent from this one any more
ALTER TABLE ledger ADD COLUMN moved_from TEXT; -- id of the ledger that was moved here

ALTER TABLE job_lease ADD COLUMN shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1)); -- other instances may send rows of the job
ALTER TABLE job_lease ADD COLUMN run TEXT NOT NULL DEFAULT '';
ALTER TABLE job_lease ADD COLUMN mapped_with TEXT NOT NULL DEFAULT ''; -- of the one who shares it: who maps otherwise does not help
ALTER TABLE job_lease ADD COLUMN stop TEXT; -- why an instance that helped stopped the job
ALTER TABLE job_lease ADD COLUMN stop_reach TEXT NOT NULL DEFAULT '{}';
ALTER TABLE job_lease ADD COLUMN quiet INTEGER NOT NULL DEFAULT 0; -- until then nobody begins to send: somebody waits for the job's status

-- What each instance that helps with a job has begun to send in this epoch.
CREATE TABLE hand (
    job TEXT NOT NULL,
    instance TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    PRIMARY KEY (job, instance)
) STRICT, WITHOUT ROWID;

-- Which attempt asks whether the platform has a record; while it is open, no other does.
CREATE TABLE asking (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    attempt_id TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

-- Sums in parts are for PostgreSQL, where several commit at once; here all are in part 0.
CREATE TABLE tally_parts (
    job TEXT NOT NULL,
    state TEXT NOT NULL,
    unit TEXT NOT NULL,
    n INTEGER NOT NULL CONSTRAINT tally_not_negative CHECK (n >= 0),
    volume TEXT NOT NULL,
    part INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (job, state, unit, part)
) STRICT, WITHOUT ROWID;
INSERT INTO tally_parts (job, state, unit, n, volume) SELECT job, state, unit, n, volume FROM tally;
DROP TABLE tally;
ALTER TABLE tally_parts RENAME TO tally;
