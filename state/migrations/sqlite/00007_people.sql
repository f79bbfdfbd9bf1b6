-- +goose Up
-- The people of the console. A user is never deleted, so that a name in the audit stays that person's.
CREATE TABLE person (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    role TEXT NOT NULL CHECK (role IN ('reader', 'accountant', 'administrator')),
    password TEXT NOT NULL, -- a hash
    disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
    created_at INTEGER NOT NULL,
    password_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

-- Who is logged in. What the browser holds is not here, only its hash.
CREATE TABLE login (
    hash TEXT PRIMARY KEY,
    person_id INTEGER NOT NULL REFERENCES person (id),
    began_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    proved_at INTEGER NOT NULL,
    origin TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX login_person ON login (person_id);

-- Browsers with which somebody has logged in before: strangers cannot slow them down.
CREATE TABLE login_device (
    hash TEXT PRIMARY KEY,
    person_id INTEGER NOT NULL REFERENCES person (id),
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Logins that were tried in vain, by name, address or browser.
CREATE TABLE login_tries (
    bucket TEXT PRIMARY KEY,
    failures INTEGER NOT NULL CHECK (failures >= 0),
    at INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX login_tries_at ON login_tries (at);

CREATE TABLE saved_filter (
    person_id INTEGER NOT NULL REFERENCES person (id),
    name TEXT NOT NULL CHECK (name <> ''),
    query TEXT NOT NULL,
    PRIMARY KEY (person_id, name)
) STRICT, WITHOUT ROWID;

-- Rows by the day of their last change: those that are settled and not reduced are in entry_body, these are the others. Nothing of the sending writes to it.
CREATE INDEX entry_reduced ON entry (updated_at, id) WHERE reduced_at IS NOT NULL AND state IN ('accepted', 'dismissed', 'withdrawn');

-- The acts on one row.
CREATE INDEX audit_target ON audit (target, seq);
