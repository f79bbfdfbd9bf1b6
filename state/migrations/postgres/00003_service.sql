-- +goose Up
-- The processes of `safrasync run` that serve this ledger, or did and ended without a word.
CREATE TABLE service (
    instance TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    version TEXT NOT NULL,
    since BIGINT NOT NULL,
    seen BIGINT NOT NULL
);

-- When each task of the housekeeping ran last, so that a time that was missed while nothing ran is caught up.
CREATE TABLE task (
    name TEXT PRIMARY KEY,
    ran_at BIGINT NOT NULL
);
