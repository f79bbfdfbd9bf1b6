-- +goose Up
-- The number beside a payload's hash was that of its days; it is that of the business that it asks for (trade.ContentNumber).
-- 0: not known; then only the same payload is found.
UPDATE entry SET payload_near = 0;
UPDATE attempt SET payload_near = 0;

-- It served older programs beside this one, which did not know the numbers. A price that changes leaves the number as it is.
DROP TRIGGER entry_near ON entry;
DROP FUNCTION safrasync_entry_near();

-- What the platform says it has counts as sent (state/content.go has the same words).
DROP INDEX entry_content;
CREATE INDEX entry_content ON entry (payload_near, payload_hash) WHERE CASE WHEN state = 'accepted' OR state = 'held' AND cause = 'exists' THEN true ELSE false END;

-- An older program would not find what was sent by these numbers.
UPDATE ledger SET needs = 16;
