-- +goose Up
-- What the platform tells by itself: our registrations, the events as they came, and what they are evidence of. See doc.go of the package.

CREATE TABLE webhook (
    id TEXT PRIMARY KEY,
    event TEXT NOT NULL CHECK (event <> ''),
    address TEXT NOT NULL, -- without the secret path
    path_hash TEXT NOT NULL UNIQUE,
    login_hash TEXT NOT NULL,
    hmac_mark TEXT NOT NULL,
    remote_id TEXT NOT NULL, -- '' = not known
    state TEXT NOT NULL CONSTRAINT webhook_state CHECK (state IN ('asked', 'active', 'retired')),
    asked_at INTEGER NOT NULL,
    settled_at INTEGER,
    retired_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX webhook_one_asked ON webhook (event) WHERE state = 'asked'; -- two programs do not register one event
CREATE UNIQUE INDEX webhook_one_active ON webhook (event) WHERE state = 'active';

CREATE TABLE inbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    hash TEXT NOT NULL UNIQUE,
    event TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    body TEXT NOT NULL,
    coded INTEGER NOT NULL CHECK (coded IN (0, 1)), -- the body is base64: it is no text
    content_type TEXT NOT NULL,
    origin TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    times INTEGER NOT NULL CHECK (times >= 1),
    next_at INTEGER, -- null: nothing is left to do
    outcome TEXT NOT NULL
) STRICT;
CREATE INDEX inbox_due ON inbox (next_at, seq) WHERE next_at IS NOT NULL;
CREATE INDEX inbox_last ON inbox (last_at);

CREATE TABLE heard (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    event TEXT NOT NULL,
    at INTEGER NOT NULL,
    word TEXT NOT NULL,
    PRIMARY KEY (kind, id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE candidate (
    id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    event TEXT NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('doubt', 'deleted')),
    heard_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    typed_from INTEGER, -- between when and when the platform says that it was made; null: it does not say
    typed_to INTEGER,
    next_at INTEGER, -- null: it is not read again
    asked_at INTEGER,
    tries INTEGER NOT NULL,
    state TEXT NOT NULL CONSTRAINT candidate_state CHECK (state IN ('heard', 'read', 'unreadable', 'settled')),
    status INTEGER NOT NULL,
    fields TEXT NOT NULL,
    unread TEXT NOT NULL,
    settled_by INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX candidate_due ON candidate (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX candidate_heard ON candidate (last_at);

CREATE INDEX attempt_unknown ON attempt (entry_id) WHERE outcome = 'unknown';
