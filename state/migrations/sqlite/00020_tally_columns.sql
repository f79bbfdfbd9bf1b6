-- +goose Up
-- The sqlite3 shell of Debian 12 (3.40) reports "NULL value in tally.n" of a table without rowid whose key ends with a column that stands behind others.
-- The same table with its key first. A sum that is no number becomes one that `safrasync doctor --recount` puts right.
CREATE TABLE tally_by_key (
    job TEXT NOT NULL,
    state TEXT NOT NULL,
    unit TEXT NOT NULL,
    part INTEGER NOT NULL DEFAULT 0,
    n INTEGER NOT NULL CONSTRAINT tally_not_negative CHECK (n >= 0),
    volume TEXT NOT NULL,
    PRIMARY KEY (job, state, unit, part)
) STRICT, WITHOUT ROWID;
INSERT INTO tally_by_key (job, state, unit, part, n, volume)
SELECT job, state, unit, part, max(COALESCE(n, 0), 0), CASE WHEN n >= 0 THEN COALESCE(volume, '') ELSE '' END FROM tally;
DROP TABLE tally;
ALTER TABLE tally_by_key RENAME TO tally;
