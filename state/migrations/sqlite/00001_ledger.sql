-- +goose Up
-- Times are milliseconds since 1970 in UTC, booleans 0 and 1, structured values JSON text. What each table means: see doc.go of the package.

CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1), -- there is one row
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    program TEXT NOT NULL, -- the version that created it
    refs_version TEXT NOT NULL
) STRICT;

CREATE TABLE tx_mark (
    owner TEXT NOT NULL,
    slot INTEGER NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (owner, slot)
) STRICT;

CREATE TABLE journal (
    id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL, -- its last record that this ledger has
    mark TEXT NOT NULL, -- of that record
    host TEXT NOT NULL,
    path TEXT NOT NULL, -- its folder
    at INTEGER NOT NULL,
    retired_at INTEGER -- null: it is in use
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    origin TEXT NOT NULL,
    act TEXT NOT NULL,
    target TEXT NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    prev TEXT NOT NULL, -- hash of the record before; '' for the first
    hash TEXT NOT NULL -- of prev and of this record
) STRICT;
CREATE UNIQUE INDEX audit_one_chain ON audit (prev); -- two writers cannot go on from the same record

CREATE TABLE audit_head (
    one INTEGER PRIMARY KEY CHECK (one = 1), -- there is one row
    seq INTEGER NOT NULL, -- of the last record
    hash TEXT NOT NULL
) STRICT;
INSERT INTO audit_head (one, seq, hash) VALUES (1, 0, '');

CREATE TABLE move (
    from_state TEXT NOT NULL,
    to_state TEXT NOT NULL,
    PRIMARY KEY (from_state, to_state)
) STRICT, WITHOUT ROWID;

INSERT INTO move (from_state, to_state) VALUES
    ('', 'pending'), ('', 'waiting'), ('', 'invalid'), ('', 'held'),
    ('pending', 'waiting'), ('pending', 'invalid'), ('pending', 'sending'), ('pending', 'held'), ('pending', 'dismissed'), ('pending', 'withdrawn'), ('pending', 'accepted'),
    ('waiting', 'pending'), ('waiting', 'invalid'), ('waiting', 'held'), ('waiting', 'dismissed'), ('waiting', 'withdrawn'), ('waiting', 'accepted'),
    ('invalid', 'pending'), ('invalid', 'waiting'), ('invalid', 'held'), ('invalid', 'dismissed'), ('invalid', 'withdrawn'), ('invalid', 'accepted'),
    ('sending', 'pending'), ('sending', 'accepted'), ('sending', 'rejected'), ('sending', 'in_doubt'), ('sending', 'held'),
    ('rejected', 'pending'), ('rejected', 'waiting'), ('rejected', 'invalid'), ('rejected', 'held'), ('rejected', 'dismissed'), ('rejected', 'withdrawn'), ('rejected', 'accepted'),
    ('in_doubt', 'pending'), ('in_doubt', 'accepted'), ('in_doubt', 'rejected'), ('in_doubt', 'held'), ('in_doubt', 'dismissed'),
    ('held', 'pending'), ('held', 'waiting'), ('held', 'invalid'), ('held', 'accepted'), ('held', 'dismissed'), ('held', 'withdrawn'),
    ('dismissed', 'pending'), ('dismissed', 'waiting'), ('dismissed', 'invalid'), ('dismissed', 'accepted'), ('dismissed', 'rejected'), ('dismissed', 'in_doubt'), ('dismissed', 'held'),
    ('withdrawn', 'pending'), ('withdrawn', 'waiting'), ('withdrawn', 'invalid'), ('withdrawn', 'held'), ('withdrawn', 'accepted');

CREATE TABLE entry (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job TEXT NOT NULL CHECK (job <> ''),
    sends TEXT NOT NULL CHECK (sends <> ''),
    key TEXT NOT NULL,
    key_parts TEXT NOT NULL,
    state TEXT NOT NULL CONSTRAINT entry_state CHECK (state IN
        ('pending', 'waiting', 'invalid', 'sending', 'accepted', 'rejected', 'in_doubt', 'held', 'dismissed', 'withdrawn')),
    cause TEXT NOT NULL,
    remote_id TEXT CHECK (remote_id <> ''),
    closed_by INTEGER REFERENCES audit (seq), -- the act that accepted it without an id
    moved_id TEXT CHECK (moved_id <> ''), -- the id that it had: a person gave the record to the row under its new key
    flags TEXT NOT NULL,
    generation INTEGER NOT NULL CHECK (generation >= 1),
    resend_audit_id INTEGER REFERENCES audit (seq), -- the act that opened the generation
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    next_attempt_at INTEGER,
    first_seen_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    error TEXT,
    waiting_for TEXT NOT NULL,
    warnings TEXT NOT NULL,
    cells TEXT NOT NULL,
    now_cells TEXT NOT NULL DEFAULT '{}', -- of the newest row seen, where it is another than the one that was sent
    acknowledged TEXT NOT NULL DEFAULT '[]', -- flags that a person has dealt with
    ack_cells TEXT NOT NULL DEFAULT '{}', -- the row that a person has dealt with
    dismissal TEXT, -- where it stood before a person took it out
    another TEXT NOT NULL DEFAULT '', -- hash of the content that a person declared to be another record than the one like it
    source_hash TEXT NOT NULL,
    mapped_with TEXT NOT NULL,
    target TEXT NOT NULL, -- what the request's path names beside the payload; '' = nothing
    payload TEXT,
    payload_hash TEXT NOT NULL,
    amount TEXT NOT NULL,
    unit TEXT NOT NULL,
    gone_sweeps INTEGER NOT NULL CHECK (gone_sweeps >= 0),
    version INTEGER NOT NULL CHECK (version >= 1),
    CONSTRAINT entry_id_when_accepted CHECK (state <> 'accepted' OR remote_id IS NOT NULL OR closed_by IS NOT NULL OR moved_id IS NOT NULL),
    CONSTRAINT entry_id_only_when_accepted CHECK (state = 'accepted' OR (remote_id IS NULL AND closed_by IS NULL AND moved_id IS NULL)),
    CONSTRAINT entry_one_id CHECK (remote_id IS NULL OR moved_id IS NULL),
    CONSTRAINT entry_payload_to_send CHECK (state NOT IN ('pending', 'sending') OR payload IS NOT NULL),
    CONSTRAINT entry_resend_has_audit CHECK (generation = 1 OR resend_audit_id IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX entry_one_key ON entry (job, key);
CREATE UNIQUE INDEX entry_one_remote ON entry (sends, remote_id) WHERE remote_id IS NOT NULL;
CREATE INDEX entry_job ON entry (job, id);
CREATE INDEX entry_due ON entry (job, state, id);
CREATE INDEX entry_wake ON entry (job, state, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX entry_waiting ON entry (id) WHERE state = 'waiting';
CREATE INDEX entry_short ON entry (state, id) WHERE waiting_for <> '[]';
CREATE INDEX entry_cause ON entry (job, cause, id) WHERE cause <> '';
CREATE INDEX entry_flags ON entry (job, flags) WHERE flags <> '[]';
CREATE INDEX entry_content ON entry (payload_hash) WHERE state = 'accepted';
CREATE INDEX entry_source ON entry (source_hash) WHERE state IN ('accepted', 'in_doubt', 'sending');

CREATE TABLE attempt (
    id TEXT PRIMARY KEY,
    entry_id INTEGER NOT NULL REFERENCES entry (id),
    generation INTEGER NOT NULL,
    no INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    target TEXT NOT NULL,
    payload TEXT NOT NULL,
    payload_hash TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    outcome TEXT CONSTRAINT attempt_outcome CHECK (outcome IN ('created', 'not_created', 'not_sent', 'unknown')),
    counts INTEGER NOT NULL CHECK (counts IN (0, 1)), -- it is one of entry.attempts
    status INTEGER NOT NULL,
    messages TEXT NOT NULL,
    remote_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    evidence TEXT,
    request_head TEXT,
    answer_head TEXT,
    answer_body TEXT NOT NULL,
    CONSTRAINT attempt_finished CHECK ((outcome IS NULL) = (finished_at IS NULL)),
    CONSTRAINT attempt_created_has_id CHECK (outcome IS NULL OR outcome <> 'created' OR remote_id <> '')
) STRICT;

-- I3: while an attempt of a generation is open, unknown or created, no other can start.
CREATE UNIQUE INDEX attempt_one_shot ON attempt (entry_id, generation) WHERE outcome IS NULL OR outcome IN ('unknown', 'created');
CREATE UNIQUE INDEX attempt_one_no ON attempt (entry_id, no);
CREATE INDEX attempt_remote ON attempt (remote_id) WHERE outcome = 'created';
CREATE INDEX attempt_content ON attempt (payload_hash) WHERE outcome IS NULL OR outcome IN ('unknown', 'created');

-- I14: since when each boot of a host knows that nobody knows what an attempt did, on the boot's own clock.
CREATE TABLE quarantine (
    attempt_id TEXT NOT NULL REFERENCES attempt (id),
    boot TEXT NOT NULL,
    ticks INTEGER NOT NULL, -- milliseconds of that clock
    PRIMARY KEY (attempt_id, boot)
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    job TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER, -- null: it runs, or crashed
    report TEXT NOT NULL,
    stop_reach TEXT NOT NULL
) STRICT;
CREATE INDEX run_job ON run (job, seq);

CREATE TABLE job_cursor (
    job TEXT PRIMARY KEY,
    bound TEXT NOT NULL,
    swept_at INTEGER,
    fingerprint TEXT NOT NULL,
    sweep TEXT,
    parents TEXT NOT NULL, -- how many parents were accepted when the children were last looked at
    brakes TEXT NOT NULL DEFAULT '{}' -- what the brakes remember
) STRICT, WITHOUT ROWID;

CREATE TABLE job_lease (
    job TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    instance TEXT NOT NULL, -- '' when it was released
    owner TEXT NOT NULL,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE job_status (
    job TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('idle', 'running', 'backing_off', 'stopped', 'paused')),
    stop TEXT,
    stop_reach TEXT NOT NULL,
    since INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE reference (
    kind TEXT NOT NULL CHECK (kind <> ''),
    code TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (kind, code)
) STRICT, WITHOUT ROWID;

CREATE TABLE lookup (
    kind TEXT NOT NULL CHECK (kind <> ''),
    code TEXT NOT NULL, -- a keyed hash of what was asked for
    id TEXT NOT NULL, -- '' when the platform has none
    message TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    PRIMARY KEY (kind, code)
) STRICT, WITHOUT ROWID;

CREATE TABLE lookup_key (
    one INTEGER PRIMARY KEY CHECK (one = 1), -- there is one row
    secret TEXT NOT NULL
) STRICT;
INSERT INTO lookup_key (one, secret) VALUES (1, lower(hex(randomblob(32))));

CREATE TABLE block (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    message TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    next_at INTEGER,
    tries INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tally (
    job TEXT NOT NULL,
    state TEXT NOT NULL,
    unit TEXT NOT NULL,
    n INTEGER NOT NULL CONSTRAINT tally_not_negative CHECK (n >= 0),
    volume TEXT NOT NULL,
    PRIMARY KEY (job, state, unit)
) STRICT, WITHOUT ROWID;

-- +goose StatementBegin
CREATE TRIGGER entry_starts AFTER INSERT ON entry
WHEN NOT EXISTS (SELECT 1 FROM move WHERE from_state = '' AND to_state = NEW.state)
BEGIN
    SELECT RAISE(ABORT, 'safrasync: an entry cannot start in this state');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER entry_moves BEFORE UPDATE OF state ON entry
WHEN NEW.state <> OLD.state AND NOT EXISTS (SELECT 1 FROM move WHERE from_state = OLD.state AND to_state = NEW.state)
BEGIN
    SELECT RAISE(ABORT, 'safrasync: this change of state is not allowed');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER entry_intent BEFORE UPDATE OF state ON entry
WHEN NEW.state = 'sending' AND OLD.state <> 'sending' AND NOT EXISTS
    (SELECT 1 FROM attempt WHERE entry_id = NEW.id AND generation = NEW.generation AND outcome IS NULL)
BEGIN
    SELECT RAISE(ABORT, 'safrasync: an entry is sent only with an open attempt');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER entry_late BEFORE UPDATE OF state ON entry
WHEN NEW.state = 'accepted' AND OLD.state IN ('pending', 'waiting', 'invalid', 'rejected', 'withdrawn') AND NOT EXISTS
    (SELECT 1 FROM attempt WHERE entry_id = NEW.id AND outcome = 'created' AND remote_id = NEW.remote_id)
BEGIN
    SELECT RAISE(ABORT, 'safrasync: only the late answer of an earlier attempt accepts this entry');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER entry_identity BEFORE UPDATE OF id, job, sends, key, first_seen_at, remote_id, moved_id, generation ON entry
WHEN NEW.id <> OLD.id OR NEW.job <> OLD.job OR NEW.sends <> OLD.sends OR NEW.key <> OLD.key OR NEW.first_seen_at <> OLD.first_seen_at
    OR (OLD.remote_id IS NOT NULL AND NEW.remote_id IS NOT OLD.remote_id AND (NEW.remote_id IS NOT NULL OR NEW.moved_id IS NOT OLD.remote_id))
    OR (NEW.moved_id IS NOT OLD.moved_id AND (OLD.moved_id IS NOT NULL OR OLD.state = 'accepted' AND OLD.remote_id IS NOT NEW.moved_id))
    OR (OLD.moved_id IS NOT NULL AND NEW.remote_id IS NOT NULL) OR NEW.generation NOT IN (OLD.generation, OLD.generation + 1)
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what an entry is and the id it got never change; an id goes from one entry to another only by leaving its trace');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER entry_stays BEFORE DELETE ON entry
BEGIN
    SELECT RAISE(ABORT, 'safrasync: entries are never deleted');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER attempt_outcome BEFORE UPDATE OF outcome ON attempt
WHEN NEW.outcome IS NOT OLD.outcome AND OLD.outcome IS NOT NULL
    AND NOT (OLD.outcome = 'unknown' AND NEW.outcome IS NOT NULL AND NEW.outcome IN ('created', 'not_created', 'not_sent'))
BEGIN
    SELECT RAISE(ABORT, 'safrasync: an outcome never changes, but from unknown to a certain one');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER attempt_identity BEFORE UPDATE OF id, entry_id, generation, no, target, payload, payload_hash, started_at ON attempt
WHEN NEW.id <> OLD.id OR NEW.entry_id <> OLD.entry_id OR NEW.generation <> OLD.generation OR NEW.no <> OLD.no
    OR NEW.target <> OLD.target OR NEW.payload <> OLD.payload OR NEW.payload_hash <> OLD.payload_hash OR NEW.started_at <> OLD.started_at
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what an attempt sent never changes');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER attempt_stays BEFORE DELETE ON attempt
BEGIN
    SELECT RAISE(ABORT, 'safrasync: attempts are never deleted');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'safrasync: the audit is never changed');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_stays BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'safrasync: the audit is never deleted');
END;
-- +goose StatementEnd
