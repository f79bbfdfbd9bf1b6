-- +goose Up
-- What waits for somebody, with all that a page of it is chosen and sorted by: a row that goes well is never in this index.
DROP INDEX entry_stuck;
CREATE INDEX entry_stuck ON entry (job, id, version, state, updated_at, key) WHERE state IN ('waiting', 'invalid', 'rejected', 'in_doubt', 'held');
