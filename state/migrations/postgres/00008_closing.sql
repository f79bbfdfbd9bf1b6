-- +goose Up
-- Reports that a person has closed: what they said, for good. A part belongs to a closing once there is one with its id; parts without one are of a closing that was
-- not finished, and are removed by the next.

CREATE TABLE closing (
    id TEXT PRIMARY KEY,
    day TEXT NOT NULL CHECK (LENGTH(day) = 10), -- the report's cut-off, YYYY-MM-DD
    at BIGINT NOT NULL, -- the moment of which it tells
    who TEXT NOT NULL CHECK (who <> ''),
    reason TEXT NOT NULL CHECK (reason <> ''),
    program TEXT NOT NULL,
    head TEXT NOT NULL, -- JSON: what is not a row
    row_count BIGINT NOT NULL CHECK (row_count >= 0),
    parts BIGINT NOT NULL CHECK (parts >= 0),
    hash TEXT NOT NULL, -- of head and parts
    audit_seq BIGINT NOT NULL REFERENCES audit (seq)
);
CREATE INDEX closing_day ON closing (day, at);

CREATE TABLE closing_part (
    closing_id TEXT NOT NULL,
    no BIGINT NOT NULL CHECK (no >= 1),
    data TEXT NOT NULL, -- a piece of the rows: base64 of gzip of JSON lines
    PRIMARY KEY (closing_id, no)
);

-- +goose StatementBegin
CREATE FUNCTION safrasync_closing_part() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM closing WHERE id = CASE WHEN TG_OP = 'INSERT' THEN NEW.closing_id ELSE OLD.closing_id END) THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = 'safrasync: what was closed never changes';
    END IF;
    IF TG_OP = 'INSERT' THEN
        RETURN NEW;
    END IF;
    RETURN OLD;
END $$;
-- +goose StatementEnd
CREATE TRIGGER closing_unchanged BEFORE UPDATE OR DELETE ON closing FOR EACH ROW EXECUTE FUNCTION safrasync_refuse('what was closed never changes');
CREATE TRIGGER closing_part_unchanged BEFORE UPDATE ON closing_part FOR EACH ROW EXECUTE FUNCTION safrasync_refuse('what was closed never changes');
CREATE TRIGGER closing_part_stays BEFORE INSERT OR DELETE ON closing_part FOR EACH ROW EXECUTE FUNCTION safrasync_closing_part();
