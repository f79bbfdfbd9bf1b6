-- +goose Up
-- A sweep goes through all entries of a job: what it compares, and what `rows` selects by, stands in one index, a tenth of the table. It takes the place of entry_job, whose order it has.
DROP INDEX entry_job;
CREATE INDEX entry_roll ON entry (job, id, key, source_hash, amount, unit, state, flags, acknowledged, gone_sweeps, updated_at);
CREATE INDEX entry_bare ON entry (job, id) WHERE mapped_with = ''; -- rebuilt from the journal, and not yet seen in the ERP again
