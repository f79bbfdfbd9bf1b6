-- +goose Up
-- SQLite makes a table of a list (IN) for each row whose CHECK, or whose place in an index, it looks at. The same rules and the same indexes, said as comparisons. The three states that a row goes
-- through when all is well are told first.
ALTER TABLE entry DROP CONSTRAINT entry_state;
ALTER TABLE entry ADD CONSTRAINT entry_state CHECK (state = 'accepted' OR state = 'sending' OR state = 'pending' OR state = 'waiting' OR state = 'invalid' OR state = 'rejected'
    OR state = 'in_doubt' OR state = 'held' OR state = 'dismissed' OR state = 'withdrawn');
ALTER TABLE attempt DROP CONSTRAINT attempt_outcome;
ALTER TABLE attempt ADD CONSTRAINT attempt_outcome CHECK (outcome IS NULL OR outcome = 'created' OR outcome = 'not_created' OR outcome = 'not_sent' OR outcome = 'unknown');
DROP INDEX entry_body;
CREATE INDEX entry_body ON entry (updated_at, id) WHERE reduced_at IS NULL AND (state = 'accepted' OR state = 'dismissed' OR state = 'withdrawn');
DROP INDEX entry_reduced;
CREATE INDEX entry_reduced ON entry (updated_at, id) WHERE reduced_at IS NOT NULL AND (state = 'accepted' OR state = 'dismissed' OR state = 'withdrawn');
DROP INDEX entry_stuck;
CREATE INDEX entry_stuck ON entry (job, id, version, state, updated_at, key)
    WHERE (state = 'waiting' OR state = 'invalid' OR state = 'rejected' OR state = 'in_doubt' OR state = 'held');
-- Queries of older programs name these indexes, with conditions in the old words, and fail.
UPDATE ledger SET needs = 15;
