-- +goose Up
-- Reports that a person has closed: what they said, for good. A part belongs to a closing once there is one with its id; parts without one are of a closing that was
-- not finished, and are removed by the next.

CREATE TABLE closing (
    id TEXT PRIMARY KEY,
    day TEXT NOT NULL CHECK (LENGTH(day) = 10), -- the report's cut-off, YYYY-MM-DD
    at INTEGER NOT NULL, -- the moment of which it tells
    who TEXT NOT NULL CHECK (who <> ''),
    reason TEXT NOT NULL CHECK (reason <> ''),
    program TEXT NOT NULL,
    head TEXT NOT NULL, -- JSON: what is not a row
    row_count INTEGER NOT NULL CHECK (row_count >= 0),
    parts INTEGER NOT NULL CHECK (parts >= 0),
    hash TEXT NOT NULL, -- of head and parts
    audit_seq INTEGER NOT NULL REFERENCES audit (seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX closing_day ON closing (day, at);

CREATE TABLE closing_part (
    closing_id TEXT NOT NULL,
    no INTEGER NOT NULL CHECK (no >= 1),
    data TEXT NOT NULL, -- a piece of the rows: base64 of gzip of JSON lines
    PRIMARY KEY (closing_id, no)
) STRICT, WITHOUT ROWID;

-- +goose StatementBegin
CREATE TRIGGER closing_unchanged BEFORE UPDATE ON closing
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what was closed never changes');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER closing_stays BEFORE DELETE ON closing
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what was closed never changes');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER closing_part_unchanged BEFORE UPDATE ON closing_part
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what was closed never changes');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER closing_part_stays BEFORE DELETE ON closing_part WHEN EXISTS (SELECT 1 FROM closing WHERE id = OLD.closing_id)
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what was closed never changes');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER closing_part_late BEFORE INSERT ON closing_part WHEN EXISTS (SELECT 1 FROM closing WHERE id = NEW.closing_id)
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what was closed never changes');
END;
-- +goose StatementEnd
