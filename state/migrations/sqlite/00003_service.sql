-- +goose Up
-- The processes of `safrasync run` that serve this ledger, or did and ended without a word.
CREATE TABLE service (
    instance TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    version TEXT NOT NULL,
    since INTEGER NOT NULL,
    seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- When each task of the housekeeping ran last, so that a time that was missed while nothing ran is caught up.
CREATE TABLE task (
    name TEXT PRIMARY KEY,
    ran_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
