-- +goose Up
-- What people were told, or are to be told. See doc.go of the package.

CREATE TABLE alert (
    id TEXT PRIMARY KEY,
    topic TEXT NOT NULL CHECK (topic <> ''),
    subject TEXT NOT NULL,
    detail TEXT NOT NULL,
    since INTEGER,
    seen_at INTEGER NOT NULL,
    raised_at INTEGER, -- null: nobody was told
    gone_at INTEGER, -- null: it is there
    closed_at INTEGER, -- null: it is open
    version INTEGER NOT NULL CHECK (version >= 1),
    CONSTRAINT alert_gone_before_closed CHECK (closed_at IS NULL OR gone_at IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX alert_one_open ON alert (topic, subject) WHERE closed_at IS NULL;

CREATE TABLE alert_message (
    id TEXT PRIMARY KEY,
    alert_id TEXT NOT NULL, -- '' for a digest
    kind TEXT NOT NULL CHECK (kind <> ''),
    target TEXT NOT NULL CHECK (target <> ''),
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    next_at INTEGER NOT NULL,
    done_at INTEGER, -- null: to be delivered
    outcome TEXT NOT NULL CONSTRAINT alert_message_outcome CHECK (outcome IN ('', 'delivered', 'superseded', 'given_up')),
    fault TEXT NOT NULL,
    CONSTRAINT alert_message_done CHECK ((done_at IS NULL) = (outcome = ''))
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_message_due ON alert_message (next_at) WHERE done_at IS NULL;
CREATE INDEX alert_message_alert ON alert_message (alert_id) WHERE done_at IS NULL;

CREATE TABLE digest (
    one INTEGER PRIMARY KEY CHECK (one = 1), -- there is one row
    until INTEGER -- how far the last digest went; null: there was none
) STRICT;
INSERT INTO digest (one, until) VALUES (1, NULL);
