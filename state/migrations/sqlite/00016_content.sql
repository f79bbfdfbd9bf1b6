-- +goose Up
-- The number beside a payload's hash was that of its days; it is that of the business that it asks for (trade.ContentNumber).
-- 0: not known; then only the same payload is found.
UPDATE entry SET payload_near = 0;
UPDATE attempt SET payload_near = 0;

-- They served older programs beside this one, which did not know the numbers. A price that changes leaves the number as it is.
DROP TRIGGER entry_payload_near;
DROP TRIGGER entry_source_near;

-- An older program would not find what was sent by these numbers.
UPDATE ledger SET needs = 16;
