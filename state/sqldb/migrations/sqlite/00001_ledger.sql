-- Times are milliseconds since 1970 in UTC, booleans 0 and 1, structured values JSON text, hashes the first 16 bytes of SHA-256. What each table means: see doc.go of
-- the package; for people there are views, see docs/ledger-sql.pt-BR.md.

CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1), -- there is one row
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    program TEXT NOT NULL, -- the version that created it
    refs_version TEXT NOT NULL,
    needs INTEGER NOT NULL DEFAULT 1, -- the oldest schema that a program must know to work on this one
    moved_to TEXT, -- where the ledger was moved to; nothing is sent from this one any more
    moved_from TEXT, -- id of the ledger that was moved here; until the copy is complete, its place
    platform TEXT NOT NULL DEFAULT '', -- base address of the platform that it has sent to; '' = none yet
    server TEXT NOT NULL DEFAULT '', -- PostgreSQL: system identifier and timeline of the server, see cluster.go
    term INTEGER NOT NULL DEFAULT 0, -- PostgreSQL: raised each time that the ledger goes on after its server changed
    term_value TEXT NOT NULL DEFAULT '', -- random; drawn with the term
    asked TEXT NOT NULL DEFAULT '' -- why all hosts must report before anything is sent, and from which server; '' = they need not
) STRICT;

-- What the last transaction of each writer left, so that a COMMIT whose answer was lost can be looked up: see tx.go.
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
    retired_at INTEGER, -- null: it is in use
    reported INTEGER NOT NULL DEFAULT 0, -- since hosts were asked it was in step, and its host had confirmed the term before this number; 0 = not yet
    reported_at INTEGER NOT NULL DEFAULT 0, -- when it last was, on the database's clock
    server TEXT NOT NULL DEFAULT '' -- PostgreSQL: address and port of the server from which its host last said that it works
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
    hash TEXT NOT NULL, -- of prev and of this record
    reduced INTEGER NOT NULL DEFAULT 0 CHECK (reduced IN (0, 1)) -- person, reason and detail are gone; the hash is that of the whole record
) STRICT;
CREATE UNIQUE INDEX audit_one_chain ON audit (prev); -- two writers cannot go on from the same record
CREATE INDEX audit_target ON audit (target, seq); -- the acts on one row
CREATE INDEX audit_who ON audit (who, seq); -- who acted, and the acts of one person

CREATE TABLE audit_head (
    one INTEGER PRIMARY KEY CHECK (one = 1), -- there is one row
    seq INTEGER NOT NULL, -- of the last record
    hash TEXT NOT NULL
) STRICT;
INSERT INTO audit_head (one, seq, hash) VALUES (1, 0, '');

-- The changes of state that are allowed (trade.Moves); '' = a new entry.
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
    state TEXT NOT NULL CONSTRAINT entry_state CHECK (state = 'accepted' OR state = 'sending' OR state = 'pending' OR state = 'waiting' OR state = 'invalid'
        OR state = 'rejected' OR state = 'in_doubt' OR state = 'held' OR state = 'dismissed' OR state = 'withdrawn'),
    cause TEXT NOT NULL,
    record_id INTEGER, -- the record on which its acceptance rests; a person may have given it to another row since
    flags TEXT NOT NULL,
    generation INTEGER NOT NULL CHECK (generation >= 1),
    resend_audit_id INTEGER REFERENCES audit (seq), -- the act that opened the generation
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    next_attempt_at INTEGER,
    first_seen_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    error TEXT,
    weak INTEGER NOT NULL DEFAULT 0 CHECK (weak IN (0, 1)), -- its error is a refusal in no form of the API
    waiting_for TEXT NOT NULL,
    warnings TEXT NOT NULL,
    cells TEXT NOT NULL,
    shown TEXT NOT NULL DEFAULT '{}', -- what people are shown of the newest row seen, by label
    facts TEXT NOT NULL DEFAULT '{}', -- what lists are narrowed by, of the newest row seen, as JSON; see listing
    shown_mark INTEGER NOT NULL DEFAULT 0, -- of it; 0 = there is nothing to show. It stays when the retention takes the texts
    now_cells TEXT NOT NULL DEFAULT '{}', -- of the newest row seen, where it is another than the one that was sent
    acknowledged TEXT NOT NULL DEFAULT '[]', -- flags that a person has dealt with
    ack_cells TEXT NOT NULL DEFAULT '{}', -- the row that a person has dealt with
    dismissal TEXT, -- where it stood before a person took it out
    another BLOB NOT NULL DEFAULT x'', -- payload hash that a person declared to be another record than the one like it
    source_hash BLOB NOT NULL, -- of the newest row seen
    mapped_with TEXT NOT NULL,
    target TEXT NOT NULL, -- what the request's path names beside the payload; '' = nothing
    payload TEXT,
    contract_id TEXT NOT NULL DEFAULT '', -- the platform's id of the contract under which its request goes; '' = none
    payload_hash BLOB NOT NULL, -- of target and payload; empty where there is none
    content INTEGER NOT NULL, -- a number of the identifying fields of the payload (trade.Prints); 0 where there is none
    amount TEXT NOT NULL,
    unit TEXT NOT NULL,
    volume INTEGER, -- the amount in 1/10,000, for sums; null: it does not fit exactly
    gone_sweeps INTEGER NOT NULL CHECK (gone_sweeps >= 0),
    version INTEGER NOT NULL CHECK (version >= 1),
    reduced_at INTEGER, -- when its values became marks and its payload went; null: it holds something
    CONSTRAINT entry_record_when_accepted CHECK ((state = 'accepted') = (record_id IS NOT NULL)),
    CONSTRAINT entry_payload_to_send CHECK (state NOT IN ('pending', 'sending') OR payload IS NOT NULL),
    CONSTRAINT entry_resend_has_audit CHECK (generation = 1 OR resend_audit_id IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX entry_one_key ON entry (job, key);
-- What a sweep compares of each entry.
CREATE INDEX entry_swept ON entry (job, id, key, state, cause, flags, updated_at, source_hash, acknowledged, gone_sweeps, shown_mark);
CREATE INDEX entry_bare ON entry (job, id) WHERE mapped_with = ''; -- rebuilt from the journal, and not read since
-- What sums are counted from.
CREATE INDEX entry_sums ON entry (job, state, unit, volume);
CREATE INDEX entry_unfit ON entry (job, state, unit, amount, volume) WHERE volume IS NULL;
-- What is due, and the narrow table of all that lists are filtered by beside the listing.
CREATE INDEX entry_due ON entry (job, state, id, key, cause, flags, updated_at);
CREATE INDEX entry_wake ON entry (job, state, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX entry_waiting ON entry (id) WHERE state = 'waiting';
CREATE INDEX entry_cause ON entry (job, cause, id) WHERE cause <> '';
CREATE INDEX entry_flags ON entry (job, flags) WHERE flags <> '[]';
-- What waits for somebody.
CREATE INDEX entry_stuck ON entry (job, id, version, state)
    WHERE (state = 'waiting' OR state = 'invalid' OR state = 'rejected' OR state = 'in_doubt' OR state = 'held');
-- Rows that are settled, by the time of their last change: those that hold something, and those that the retention has reduced.
CREATE INDEX entry_body ON entry (updated_at, id) WHERE reduced_at IS NULL AND (state = 'accepted' OR state = 'dismissed' OR state = 'withdrawn');
CREATE INDEX entry_reduced ON entry (updated_at, id) WHERE reduced_at IS NOT NULL AND (state = 'accepted' OR state = 'dismissed' OR state = 'withdrawn');
-- These stay while the state changes: who looks for content looks at the state of what is found.
CREATE INDEX entry_source ON entry (source_hash);
-- What hangs on a contract.
CREATE INDEX entry_contract ON entry (contract_id, id) WHERE contract_id <> '';

-- What lists are narrowed, sorted and searched by of each entry: see trade.Listing. It is beside the entry, because it is narrow and stays as it is while the entry is sent.
-- Entries are never deleted, so nothing refers to them. NULL = not known.
CREATE TABLE listing (
    entry_id INTEGER PRIMARY KEY,
    job TEXT NOT NULL,
    title TEXT NOT NULL,
    product TEXT,
    producer TEXT,
    branch TEXT,
    day INTEGER, -- 20260510
    kilograms INTEGER, -- in 1/10,000
    worth INTEGER, -- in 1/10,000 of the currency
    currency TEXT NOT NULL,
    words TEXT NOT NULL, -- by which people find it (pages_text.go of state)
    documents TEXT NOT NULL -- CPF and CNPJ among them, for those who may see documents
) STRICT;
-- Which names there are, for the filters that propose them.
CREATE INDEX listing_product ON listing (job, product);
CREATE INDEX listing_producer ON listing (job, producer);
CREATE INDEX listing_branch ON listing (job, branch);

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
    payload_hash BLOB NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    outcome TEXT CONSTRAINT attempt_outcome CHECK (outcome IS NULL OR outcome = 'created' OR outcome = 'not_created' OR outcome = 'not_sent' OR outcome = 'unknown'),
    counts INTEGER NOT NULL CHECK (counts IN (0, 1)), -- it is one of entry.attempts
    late INTEGER NOT NULL DEFAULT 0 CHECK (late IN (0, 1)), -- its outcome was unknown first, or comes from the journal: a person may have stated another id
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
CREATE INDEX attempt_late ON attempt (remote_id) WHERE late = 1; -- of all others the record has the id
CREATE INDEX attempt_unknown ON attempt (entry_id) WHERE outcome = 'unknown';

-- What is, or may be, on the platform: see trade.Record. A record outlives the row, key and job under which it went.
CREATE TABLE record (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    entry_id INTEGER NOT NULL REFERENCES entry (id), -- the row that it belongs to now
    kind TEXT NOT NULL CHECK (kind <> ''),
    job TEXT NOT NULL, -- under this job, key and generation it went
    key TEXT NOT NULL,
    generation INTEGER NOT NULL CHECK (generation >= 1),
    certainty TEXT NOT NULL CONSTRAINT record_certainty CHECK (certainty = 'made' OR certainty = 'maybe' OR certainty = 'stated' OR certainty = 'left_out' OR certainty = 'void'),
    remote_id TEXT NOT NULL, -- '' = not known
    decided_by INTEGER REFERENCES audit (seq), -- the decision that made it, or gave it to its row; null: the program sent it
    parent TEXT NOT NULL, -- the platform's id of the record under which it went; '' = none
    sent_cells BLOB NOT NULL, -- fingerprints of what was sent (trade.Prints)
    sent_payload BLOB NOT NULL,
    sent_fields BLOB NOT NULL,
    sent_ab INTEGER NOT NULL, -- numbers of two groups each of the identifying fields: by one of them what may be alike is found
    sent_ac INTEGER NOT NULL,
    sent_bc INTEGER NOT NULL,
    new_cells BLOB NOT NULL DEFAULT x'', -- of the newest row under the key of its row; empty = as it was sent
    new_payload BLOB NOT NULL DEFAULT x'',
    new_fields BLOB NOT NULL DEFAULT x'',
    new_ab INTEGER NOT NULL DEFAULT 0,
    new_ac INTEGER NOT NULL DEFAULT 0,
    new_bc INTEGER NOT NULL DEFAULT 0,
    kg TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    CONSTRAINT record_made_has_id CHECK (certainty <> 'made' OR remote_id <> ''),
    CONSTRAINT record_id_is_certain CHECK (remote_id = '' OR certainty = 'made' OR certainty = 'stated')
) STRICT;

CREATE UNIQUE INDEX record_origin ON record (key, kind, job, generation);
CREATE INDEX record_entry ON record (entry_id);
-- The API's document does not call the id of a delivery a UUID: it may be unique within its contract only ("1", "2" ...). One that has the form of a UUID still is
-- that of one record. What the request named is not in reach of an index: state/records_holders.go compares the contracts.
CREATE UNIQUE INDEX record_one_remote ON record (kind, remote_id, (CASE WHEN kind <> 'deliveries' OR length(remote_id) = 36 AND substr(remote_id, 9, 1) = '-'
    AND substr(remote_id, 14, 1) = '-' AND substr(remote_id, 19, 1) = '-' AND substr(remote_id, 24, 1) = '-' THEN 0 ELSE id END)) WHERE remote_id <> '';
-- None of these moves when a record becomes certain.
CREATE INDEX record_cells ON record (sent_cells);
-- The first two together: all identifying fields.
CREATE INDEX record_ab ON record (sent_ab, sent_ac);
CREATE INDEX record_ac ON record (sent_ac);
CREATE INDEX record_bc ON record (sent_bc);
CREATE INDEX record_new_cells ON record (new_cells) WHERE new_cells <> x'';
CREATE INDEX record_unread ON record (entry_id) WHERE new_ab = 0 AND new_cells <> x''; -- of the newest row only the cells are known
CREATE INDEX record_new_ab ON record (new_ab, new_ac) WHERE new_ab <> 0;
CREATE INDEX record_new_ac ON record (new_ac) WHERE new_ac <> 0;
CREATE INDEX record_new_bc ON record (new_bc) WHERE new_bc <> 0;

-- What a row holds, or held last, that may be the row of a record (trade.Sighting), until somebody decides.
CREATE TABLE sighting (
    entry_id INTEGER NOT NULL REFERENCES entry (id),
    record_id INTEGER NOT NULL REFERENCES record (id),
    seen_cells BLOB NOT NULL,
    seen_payload BLOB NOT NULL,
    seen_fields BLOB NOT NULL,
    seen_ab INTEGER NOT NULL,
    seen_ac INTEGER NOT NULL,
    seen_bc INTEGER NOT NULL,
    PRIMARY KEY (entry_id, record_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sighting_record ON sighting (record_id);
CREATE INDEX sighting_cells ON sighting (seen_cells);
CREATE INDEX sighting_ab ON sighting (seen_ab, seen_ac);
CREATE INDEX sighting_ac ON sighting (seen_ac);
CREATE INDEX sighting_bc ON sighting (seen_bc);

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
    report TEXT NOT NULL
) STRICT;
CREATE INDEX run_job ON run (job, seq);

-- The jobs that have entries of a kind, and where those of a renamed job went: a row is its kind of record and its key, whatever its job is called.
CREATE TABLE job_kind (
    job TEXT NOT NULL,
    sends TEXT NOT NULL,
    PRIMARY KEY (job, sends)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_moved (
    job TEXT NOT NULL,
    sends TEXT NOT NULL,
    moved_to TEXT NOT NULL,
    journal TEXT NOT NULL, -- that tells of it; '' = the ledger has none
    seq INTEGER NOT NULL, -- the record before
    PRIMARY KEY (journal, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_cursor (
    job TEXT PRIMARY KEY,
    bound TEXT NOT NULL,
    swept_at INTEGER,
    fingerprint TEXT NOT NULL,
    sweep TEXT,
    parents TEXT NOT NULL, -- how many parents were accepted when the children were last looked at
    brakes TEXT NOT NULL DEFAULT '{}', -- what the brakes remember
    refs TEXT NOT NULL DEFAULT '' -- the codes with several ids with which what was sent was last compared
) STRICT, WITHOUT ROWID;

CREATE TABLE job_lease (
    job TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    instance TEXT NOT NULL, -- '' when it was released
    owner TEXT NOT NULL,
    expires INTEGER NOT NULL -- on the database's clock
) STRICT, WITHOUT ROWID;

CREATE TABLE job_status (
    job TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('idle', 'running', 'backing_off', 'stopped', 'paused')),
    stop TEXT,
    since INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE reference (
    kind TEXT NOT NULL CHECK (kind <> ''),
    code TEXT NOT NULL,
    id TEXT NOT NULL,
    label TEXT NOT NULL DEFAULT '', -- what people are shown beside the code
    PRIMARY KEY (kind, code)
) STRICT, WITHOUT ROWID;

-- the ids that a code had before: what was sent with one of them is shown
CREATE TABLE reference_former (
    kind TEXT NOT NULL CHECK (kind <> ''),
    code TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (kind, code, id)
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

-- The processes that may send, or did and ended without a word: see instance.go.
CREATE TABLE instance (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    version TEXT NOT NULL,
    command TEXT NOT NULL, -- run or sync
    started_at INTEGER NOT NULL,
    expires INTEGER NOT NULL -- on the database's clock
) STRICT, WITHOUT ROWID;

-- The processes of `safrasync run` that serve this ledger, or did and ended without a word.
CREATE TABLE service (
    instance TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    version TEXT NOT NULL,
    since INTEGER NOT NULL,
    seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- When each task of the housekeeping ran last, so that a time that was missed while nothing ran is caught up.
CREATE TABLE task (
    name TEXT PRIMARY KEY,
    ran_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What people were told, or are to be told.
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

-- Rows that changed, for programs that ask again and again (GET /api/v1/rows). Filled only while feed has its row.
CREATE TABLE feed (
    one INTEGER PRIMARY KEY CHECK (one = 1), -- there is one row, or none
    id TEXT NOT NULL, -- random; a cursor of another feed is refused
    seq INTEGER NOT NULL, -- the highest number given to a change
    wanted_at INTEGER NOT NULL -- when a service last said that it is wanted, on the database's clock
) STRICT;

CREATE TABLE change (
    entry_id INTEGER PRIMARY KEY,
    seq INTEGER -- of its newest change, in the order in which changes became visible; null: not numbered yet
) STRICT;
CREATE INDEX change_seq ON change (seq);

CREATE TABLE digest (
    one INTEGER PRIMARY KEY CHECK (one = 1), -- there is one row
    until INTEGER -- how far the last digest went; null: there was none
) STRICT;
INSERT INTO digest (one, until) VALUES (1, NULL);

-- The people of the console. A user is never deleted, so that a name in the audit stays that person's. Who comes by an OpenID Connect provider is known by its address
-- and by the number there, never by a name, and has no password.
CREATE TABLE person (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    role TEXT NOT NULL CHECK (role IN ('reader', 'accountant', 'administrator')),
    password TEXT NOT NULL, -- a hash
    disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
    created_at INTEGER NOT NULL,
    password_at INTEGER NOT NULL,
    first_password INTEGER NOT NULL DEFAULT 0 CHECK (first_password IN (0, 1)), -- somebody else typed it: the person must change it first
    version INTEGER NOT NULL CHECK (version >= 1),
    issuer TEXT NOT NULL DEFAULT '',
    subject TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX person_subject ON person (issuer, subject) WHERE issuer <> '';

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

-- Who takes care of a cause, until when nobody is reminded of it, and how many rows of each job had it then.
CREATE TABLE cause_owner (
    key TEXT PRIMARY KEY CHECK (key <> ''),
    cause TEXT NOT NULL,
    owner TEXT NOT NULL CHECK (owner <> ''),
    note TEXT NOT NULL,
    until INTEGER,
    row_counts TEXT NOT NULL, -- JSON
    who TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Acts that one person ordered and others have to agree to before they are done. One that was done or declined is gone; the audit tells of it.
CREATE TABLE approval (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    act TEXT NOT NULL CHECK (act <> ''),
    target TEXT NOT NULL,
    mark TEXT NOT NULL CHECK (mark <> ''), -- of the plan that was shown
    plan TEXT NOT NULL, -- JSON: what was ordered, what was planned
    people TEXT NOT NULL, -- JSON: who ordered it, and who has agreed since
    needs INTEGER NOT NULL CHECK (needs >= 2), -- so many people in all
    version INTEGER NOT NULL DEFAULT 1,
    until INTEGER NOT NULL -- then it lapses
) STRICT;
CREATE UNIQUE INDEX approval_one_plan ON approval (act, target, mark);

-- Reports that a person has closed: what they said, for good. A part belongs to a closing once there is one with its id; parts without one are of a closing that was not
-- finished, and are removed by the next.
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

-- Since when (milliseconds) the ERP's zone is so many seconds ahead of UTC: for the views.
CREATE TABLE zone (
    since INTEGER PRIMARY KEY,
    seconds INTEGER NOT NULL
) STRICT;

-- What the platform tells by itself: our registrations, the events as they came, and what they are evidence of.
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
CREATE INDEX heard_event ON heard (seq); -- what one event told of

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

-- For people: names, states in words, times as text in the ERP's zone. docs/ledger-sql.pt-BR.md asks ten questions of them.
CREATE VIEW linhas AS
SELECT id AS linha,
    job AS rotina,
    CASE sends WHEN 'order_commitments' THEN 'contrato' WHEN 'deliveries' THEN 'entrega' WHEN 'traceability' THEN 'rastreabilidade' ELSE sends END AS registro,
    key AS chave,
    CASE state WHEN 'pending' THEN 'pendente' WHEN 'waiting' THEN 'aguardando' WHEN 'invalid' THEN 'com erro (dados do ERP)' WHEN 'sending' THEN 'enviando' WHEN 'accepted' THEN 'enviado' WHEN 'rejected' THEN 'rejeitado pela plataforma' WHEN 'in_doubt' THEN 'sem confirmação (verificar)' WHEN 'held' THEN 'retido (decidir)' WHEN 'dismissed' THEN 'dispensado' WHEN 'withdrawn' THEN 'retirado do ERP' ELSE state END AS situacao,
    cause AS causa,
    CASE WHEN error IS NULL THEN '' ELSE error ->> '$.text' END AS motivo,
    COALESCE((SELECT r.remote_id FROM record r WHERE r.id = record_id), '') AS id_plataforma,
    amount AS quantidade,
    unit AS unidade,
    replace(replace(replace(flags, '[', ''), ']', ''), '"', '') AS alertas,
    attempts AS tentativas,
    generation AS geracao,
    strftime('%Y-%m-%d %H:%M:%S', (next_attempt_at / 1000 + COALESCE((SELECT seconds FROM zone WHERE since <= next_attempt_at ORDER BY since DESC LIMIT 1), 0)), 'unixepoch') AS proxima_tentativa,
    strftime('%Y-%m-%d %H:%M:%S', (first_seen_at / 1000 + COALESCE((SELECT seconds FROM zone WHERE since <= first_seen_at ORDER BY since DESC LIMIT 1), 0)), 'unixepoch') AS vista_em,
    strftime('%Y-%m-%d %H:%M:%S', (updated_at / 1000 + COALESCE((SELECT seconds FROM zone WHERE since <= updated_at ORDER BY since DESC LIMIT 1), 0)), 'unixepoch') AS mudou_em,
    shown AS mostra
FROM entry;

CREATE VIEW tentativas AS
SELECT a.entry_id AS linha,
    e.job AS rotina,
    e.key AS chave,
    a.no AS numero,
    strftime('%Y-%m-%d %H:%M:%S', (a.started_at / 1000 + COALESCE((SELECT seconds FROM zone WHERE since <= a.started_at ORDER BY since DESC LIMIT 1), 0)), 'unixepoch') AS inicio,
    strftime('%Y-%m-%d %H:%M:%S', (a.finished_at / 1000 + COALESCE((SELECT seconds FROM zone WHERE since <= a.finished_at ORDER BY since DESC LIMIT 1), 0)), 'unixepoch') AS fim,
    CASE WHEN a.outcome IS NULL THEN 'em andamento' WHEN a.outcome = 'created' THEN 'criado' WHEN a.outcome = 'not_created' THEN 'não criado' WHEN a.outcome = 'not_sent' THEN 'não saiu' WHEN a.outcome = 'unknown' THEN 'sem resposta certa' ELSE a.outcome END AS resultado,
    a.status AS status_http,
    a.remote_id AS id_plataforma,
    a.reason AS motivo,
    replace(replace(replace(a.messages, '[', ''), ']', ''), '"', '') AS mensagens
FROM attempt a JOIN entry e ON e.id = a.entry_id;

CREATE VIEW rows AS
SELECT id,
    job,
    CASE sends WHEN 'order_commitments' THEN 'contract' WHEN 'deliveries' THEN 'delivery' WHEN 'traceability' THEN 'traceability' ELSE sends END AS record,
    key,
    CASE state WHEN 'pending' THEN 'pending' WHEN 'waiting' THEN 'waiting' WHEN 'invalid' THEN 'invalid (ERP data)' WHEN 'sending' THEN 'sending' WHEN 'accepted' THEN 'sent' WHEN 'rejected' THEN 'rejected by the platform' WHEN 'in_doubt' THEN 'in doubt (verify)' WHEN 'held' THEN 'held (decide)' WHEN 'dismissed' THEN 'dismissed' WHEN 'withdrawn' THEN 'withdrawn from the ERP' ELSE state END AS state,
    cause,
    CASE WHEN error IS NULL THEN '' ELSE error ->> '$.text' END AS reason,
    COALESCE((SELECT r.remote_id FROM record r WHERE r.id = record_id), '') AS platform_id,
    amount,
    unit,
    replace(replace(replace(flags, '[', ''), ']', ''), '"', '') AS flags,
    attempts,
    generation,
    strftime('%Y-%m-%d %H:%M:%S', (next_attempt_at / 1000 + COALESCE((SELECT seconds FROM zone WHERE since <= next_attempt_at ORDER BY since DESC LIMIT 1), 0)), 'unixepoch') AS next_attempt,
    strftime('%Y-%m-%d %H:%M:%S', (first_seen_at / 1000 + COALESCE((SELECT seconds FROM zone WHERE since <= first_seen_at ORDER BY since DESC LIMIT 1), 0)), 'unixepoch') AS first_seen,
    strftime('%Y-%m-%d %H:%M:%S', (updated_at / 1000 + COALESCE((SELECT seconds FROM zone WHERE since <= updated_at ORDER BY since DESC LIMIT 1), 0)), 'unixepoch') AS changed,
    shown AS show
FROM entry;

CREATE VIEW attempts AS
SELECT a.entry_id AS id,
    e.job AS job,
    e.key AS key,
    a.no AS number,
    strftime('%Y-%m-%d %H:%M:%S', (a.started_at / 1000 + COALESCE((SELECT seconds FROM zone WHERE since <= a.started_at ORDER BY since DESC LIMIT 1), 0)), 'unixepoch') AS started,
    strftime('%Y-%m-%d %H:%M:%S', (a.finished_at / 1000 + COALESCE((SELECT seconds FROM zone WHERE since <= a.finished_at ORDER BY since DESC LIMIT 1), 0)), 'unixepoch') AS finished,
    CASE WHEN a.outcome IS NULL THEN 'open' WHEN a.outcome = 'created' THEN 'created' WHEN a.outcome = 'not_created' THEN 'not created' WHEN a.outcome = 'not_sent' THEN 'not sent' WHEN a.outcome = 'unknown' THEN 'unknown' ELSE a.outcome END AS outcome,
    a.status AS http_status,
    a.remote_id AS platform_id,
    a.reason AS reason,
    replace(replace(replace(a.messages, '[', ''), ']', ''), '"', '') AS messages
FROM attempt a JOIN entry e ON e.id = a.entry_id;

-- What the program must never do, also when somebody tries it by hand. SQLite makes a table of a list (IN) each time that a trigger runs: so there are comparisons instead.
-- The two moves of a row that all goes well with are told first.
CREATE TRIGGER entry_starts AFTER INSERT ON entry
WHEN NEW.state <> 'pending' AND NEW.state <> 'waiting' AND NEW.state <> 'invalid' AND NEW.state <> 'held'
BEGIN
    SELECT RAISE(ROLLBACK, 'safrasync: an entry cannot start in this state');
END;
CREATE TRIGGER entry_moves BEFORE UPDATE OF state ON entry
WHEN NEW.state <> OLD.state AND NOT (OLD.state = 'sending' AND NEW.state = 'accepted') AND NOT (OLD.state = 'pending' AND NEW.state = 'sending'
    AND EXISTS (SELECT 1 FROM attempt WHERE entry_id = NEW.id AND generation = NEW.generation AND outcome IS NULL))
BEGIN
    SELECT CASE
        WHEN NOT EXISTS (SELECT 1 FROM move WHERE from_state = OLD.state AND to_state = NEW.state)
            THEN RAISE(ROLLBACK, 'safrasync: this change of state is not allowed')
        WHEN NEW.state = 'sending' AND NOT EXISTS (SELECT 1 FROM attempt WHERE entry_id = NEW.id AND generation = NEW.generation AND outcome IS NULL)
            THEN RAISE(ROLLBACK, 'safrasync: an entry is sent only with an open attempt')
        WHEN NEW.state = 'accepted' AND OLD.state IN ('pending', 'waiting', 'invalid', 'rejected', 'withdrawn') AND NOT EXISTS
            (SELECT 1 FROM record WHERE id = NEW.record_id AND (certainty = 'made' OR EXISTS (SELECT 1 FROM audit WHERE seq = decided_by AND act = 'adopt')))
            THEN RAISE(ROLLBACK, 'safrasync: only the late answer of an earlier attempt accepts this entry, or a person')
    END;
END;
CREATE TRIGGER entry_identity BEFORE UPDATE OF id, sends, key, first_seen_at, generation ON entry
WHEN NEW.id <> OLD.id OR NEW.sends <> OLD.sends OR NEW.key <> OLD.key OR NEW.first_seen_at <> OLD.first_seen_at
    OR (NEW.generation <> OLD.generation AND NEW.generation <> OLD.generation + 1)
BEGIN
    SELECT RAISE(ROLLBACK, 'safrasync: what an entry is never changes');
END;
CREATE TRIGGER entry_rests BEFORE UPDATE OF record_id ON entry
WHEN NEW.record_id IS NOT OLD.record_id AND (
    NOT EXISTS (SELECT 1 FROM record WHERE id = NEW.record_id AND kind = NEW.sends AND (certainty = 'made' OR certainty = 'stated') AND (entry_id = NEW.id
        OR EXISTS (SELECT 1 FROM audit WHERE seq = (SELECT seq FROM audit_head) AND act IN ('rebuild', 'journal settle'))))
    OR EXISTS (SELECT 1 FROM record WHERE id = OLD.record_id AND remote_id <> ''))
BEGIN
    SELECT RAISE(ROLLBACK, 'safrasync: an entry is accepted by a record of its own that certainly exists, and by another only if that one has no id');
END;
CREATE TRIGGER entry_job BEFORE UPDATE OF job ON entry
WHEN NEW.job <> OLD.job AND NOT EXISTS (SELECT 1 FROM audit WHERE seq = (SELECT seq FROM audit_head) AND act IN ('job move', 'rebuild', 'journal settle'))
BEGIN
    SELECT RAISE(ROLLBACK, 'safrasync: an entry goes to another job only by an act that stands in the audit');
END;
CREATE TRIGGER entry_stays BEFORE DELETE ON entry
BEGIN
    SELECT RAISE(ABORT, 'safrasync: entries are never deleted');
END;
-- The order of changes, by which other programs read them. A step of a replay leaves the version as it was: only where a row arrives is in it.
CREATE TRIGGER entry_fed_new AFTER INSERT ON entry WHEN EXISTS (SELECT 1 FROM feed)
BEGIN
    UPDATE feed SET seq = seq + 1;
    INSERT INTO change (entry_id, seq) SELECT NEW.id, seq FROM feed;
END;
CREATE TRIGGER entry_fed AFTER UPDATE OF version, job ON entry
WHEN (NEW.version <> OLD.version OR NEW.job <> OLD.job) AND NEW.state <> 'sending' AND EXISTS (SELECT 1 FROM feed)
BEGIN
    UPDATE feed SET seq = seq + 1;
    INSERT INTO change (entry_id, seq) SELECT NEW.id, seq FROM feed WHERE one = 1 ON CONFLICT (entry_id) DO UPDATE SET seq = excluded.seq;
END;
CREATE TRIGGER attempt_outcome BEFORE UPDATE OF outcome ON attempt
WHEN OLD.outcome IS NOT NULL AND NEW.outcome IS NOT OLD.outcome
    AND NOT (OLD.outcome = 'unknown' AND NEW.outcome IS NOT NULL AND NEW.outcome IN ('created', 'not_created', 'not_sent'))
BEGIN
    SELECT RAISE(ROLLBACK, 'safrasync: an outcome never changes, but from unknown to a certain one');
END;
CREATE TRIGGER attempt_identity BEFORE UPDATE OF id, entry_id, generation, no, target, payload_hash, started_at ON attempt
WHEN NEW.id <> OLD.id OR NEW.entry_id <> OLD.entry_id OR NEW.generation <> OLD.generation OR NEW.no <> OLD.no
    OR NEW.target <> OLD.target OR NEW.payload_hash <> OLD.payload_hash OR NEW.started_at <> OLD.started_at
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what an attempt sent never changes');
END;
CREATE TRIGGER attempt_payload BEFORE UPDATE OF payload ON attempt
WHEN NEW.payload <> OLD.payload AND NOT (NEW.payload = '{}' AND OLD.outcome IS NOT NULL
    AND EXISTS (SELECT 1 FROM entry WHERE id = NEW.entry_id AND state IN ('accepted', 'dismissed', 'withdrawn')))
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what an attempt sent never changes');
END;
CREATE TRIGGER attempt_stays BEFORE DELETE ON attempt
BEGIN
    SELECT RAISE(ABORT, 'safrasync: attempts are never deleted');
END;
CREATE TRIGGER record_stays BEFORE DELETE ON record WHEN OLD.certainty <> 'void'
BEGIN
    SELECT RAISE(ABORT, 'safrasync: records are never deleted');
END;
CREATE TRIGGER record_identity BEFORE UPDATE OF id, kind, key, generation, certainty, remote_id ON record
WHEN NEW.id <> OLD.id OR NEW.kind <> OLD.kind OR NEW.key <> OLD.key OR NEW.generation <> OLD.generation
    OR (OLD.certainty = 'made' AND NEW.certainty <> 'made') OR (OLD.remote_id <> '' AND NEW.remote_id <> '' AND NEW.remote_id <> OLD.remote_id)
BEGIN
    SELECT RAISE(ABORT, 'safrasync: the row under which a record went, and the id that it got, never change');
END;
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit
WHEN NOT (OLD.reduced = 0 AND NEW.reduced = 1 AND NEW.seq = OLD.seq AND NEW.at = OLD.at AND NEW.act = OLD.act AND NEW.prev = OLD.prev AND NEW.hash = OLD.hash
    AND NEW.who = '' AND NEW.origin = '' AND NEW.target = '' AND NEW.reason = '' AND NEW.detail = '')
BEGIN
    SELECT RAISE(ABORT, 'safrasync: the audit is never changed');
END;
CREATE TRIGGER audit_stays BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'safrasync: the audit is never deleted');
END;
CREATE TRIGGER closing_unchanged BEFORE UPDATE ON closing
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what was closed never changes');
END;
CREATE TRIGGER closing_stays BEFORE DELETE ON closing
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what was closed never changes');
END;
CREATE TRIGGER closing_part_unchanged BEFORE UPDATE ON closing_part
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what was closed never changes');
END;
CREATE TRIGGER closing_part_stays BEFORE DELETE ON closing_part WHEN EXISTS (SELECT 1 FROM closing WHERE id = OLD.closing_id)
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what was closed never changes');
END;
CREATE TRIGGER closing_part_late BEFORE INSERT ON closing_part WHEN EXISTS (SELECT 1 FROM closing WHERE id = NEW.closing_id)
BEGIN
    SELECT RAISE(ABORT, 'safrasync: what was closed never changes');
END;
