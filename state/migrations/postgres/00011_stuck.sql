-- +goose Up
-- What waits for somebody, with its version: a page that groups it by cause reads again only what has changed since it looked.
CREATE INDEX entry_stuck ON entry (job, id, version) WHERE state IN ('waiting', 'invalid', 'rejected', 'in_doubt', 'held');
