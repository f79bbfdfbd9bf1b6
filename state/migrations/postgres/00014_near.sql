-- +goose Up
-- Hashes stand anywhere in an index, so that each row of a large ledger read and wrote pages of its own. Beside each hash stands a number that equal contents share and that grows as the
-- seasons go (trade.NearOf), 0 where it is not known: in its order, rows of the same days share their pages. Older programs would change a hash and leave the number.
ALTER TABLE entry ADD COLUMN source_near BIGINT NOT NULL DEFAULT 0, ADD COLUMN payload_near BIGINT NOT NULL DEFAULT 0;
ALTER TABLE attempt ADD COLUMN payload_near BIGINT NOT NULL DEFAULT 0;
DROP INDEX entry_content;
CREATE INDEX entry_content ON entry (payload_near, payload_hash) WHERE state = 'accepted';
DROP INDEX entry_source;
CREATE INDEX entry_source ON entry (source_near, source_hash) WHERE state IN ('accepted', 'in_doubt', 'sending');
DROP INDEX attempt_content;
CREATE INDEX attempt_content ON attempt (payload_near, payload_hash) WHERE outcome IS NULL OR outcome IN ('unknown', 'created');
UPDATE ledger SET needs = 14;
