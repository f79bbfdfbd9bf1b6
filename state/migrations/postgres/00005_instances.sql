-- +goose Up
-- Several machines work on one ledger: see instance.go. From this migration on, one that leaves `needs` alone only adds, and programs that know at least
-- that number go on beside it.

-- The processes that may send, or did and ended without a word.
CREATE TABLE instance (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    version TEXT NOT NULL,
    command TEXT NOT NULL, -- run or sync
    part BIGINT NOT NULL, -- of the sums (tally) that it writes
    started_at BIGINT NOT NULL,
    expires BIGINT NOT NULL -- on the database's clock
);

ALTER TABLE ledger ADD COLUMN needs BIGINT NOT NULL DEFAULT 5; -- the oldest schema that a program must know to work on this one
ALTER TABLE ledger ADD COLUMN moved_to TEXT; -- where the ledger was moved to; nothing is sent from this one any more
ALTER TABLE ledger ADD COLUMN moved_from TEXT; -- id of the ledger that was moved here

ALTER TABLE job_lease ADD COLUMN shared BIGINT NOT NULL DEFAULT 0 CHECK (shared IN (0, 1)); -- other instances may send rows of the job
ALTER TABLE job_lease ADD COLUMN run TEXT NOT NULL DEFAULT '';
ALTER TABLE job_lease ADD COLUMN mapped_with TEXT NOT NULL DEFAULT ''; -- of the one who shares it: who maps otherwise does not help
ALTER TABLE job_lease ADD COLUMN stop TEXT; -- why an instance that helped stopped the job
ALTER TABLE job_lease ADD COLUMN stop_reach TEXT NOT NULL DEFAULT '{}';
ALTER TABLE job_lease ADD COLUMN quiet BIGINT NOT NULL DEFAULT 0; -- until then nobody begins to send: somebody waits for the job's status

-- What each instance that helps with a job has begun to send in this epoch.
CREATE TABLE hand (
    job TEXT NOT NULL,
    instance TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    sent BIGINT NOT NULL,
    PRIMARY KEY (job, instance)
);

-- Which attempt asks whether the platform has a record; while it is open, no other does.
CREATE TABLE asking (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    attempt_id TEXT NOT NULL,
    PRIMARY KEY (kind, id)
);

-- Each instance keeps sums of its own, so that none waits for another's commit: one part may be below zero, what counts is the sum of all.
ALTER TABLE tally ADD COLUMN part BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tally DROP CONSTRAINT tally_pkey;
ALTER TABLE tally DROP CONSTRAINT tally_not_negative;
ALTER TABLE tally ADD PRIMARY KEY (job, state, unit, part);
