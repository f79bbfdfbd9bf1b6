-- +goose Up
-- What a ledger belongs to, so that another one is noticed before the first POST. Empty: not known yet.
ALTER TABLE ledger
    ADD COLUMN platform TEXT NOT NULL DEFAULT '', -- base address of the platform that it has sent to
    ADD COLUMN server TEXT NOT NULL DEFAULT ''; -- system identifier and timeline of the server: see cluster.go
