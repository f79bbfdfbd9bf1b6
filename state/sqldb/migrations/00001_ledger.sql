-- Times are milliseconds since 1970 in UTC, booleans 0 and 1, structured values JSON text, hashes the first 16 bytes of
-- SHA-256. What each table means: see doc.go. What stands in braces: see schema.go.

CREATE TABLE ledger (
    one {{int}} PRIMARY KEY CHECK (one = 1), -- there is one row
    id TEXT NOT NULL, created_at {{int}} NOT NULL,
    program TEXT NOT NULL, -- the version that created it
    refs_version TEXT NOT NULL,
    -- random; of the keyed hashes in lookup. It never changes
    lookup_key TEXT NOT NULL DEFAULT ({{if postgres -}}
        replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''){{else}}lower(hex(randomblob(32))){{end}}),
    needs {{int}} NOT NULL DEFAULT 1, -- the oldest schema that a program must know to work on this one
    moved_to TEXT, -- where the ledger was moved to; nothing is sent from this one any more
    moved_from TEXT, -- id of the ledger that was moved here; until the copy is complete, its place
    platform TEXT NOT NULL DEFAULT '', -- base address of the platform that it has sent to; '' = none yet
    server TEXT NOT NULL DEFAULT '', -- PostgreSQL: system identifier and timeline of the server, see cluster.go
    term {{int}} NOT NULL DEFAULT 0, -- PostgreSQL: raised each time that the ledger goes on after its server changed
    term_value TEXT NOT NULL DEFAULT '', -- random; drawn with the term
    -- 1 within the transaction that brings in what a journal has: a row takes its state from there, whatever it was
    replaying {{int}} NOT NULL DEFAULT 0 CHECK (replaying IN (0, 1)),
    asked TEXT NOT NULL DEFAULT '' -- why all hosts must report before sending, and from which server; '' = no need
) {{strict}};

-- What the last transaction of each writer left, so that a COMMIT whose answer was lost can be looked up: see tx.go.
CREATE TABLE tx_mark (
    owner TEXT NOT NULL, slot {{int}} NOT NULL, id TEXT NOT NULL, at {{int}} NOT NULL, PRIMARY KEY (owner, slot)
) {{strict}};

CREATE TABLE journal (
    id TEXT PRIMARY KEY,
    seq {{int}} NOT NULL, -- its last record that this ledger has
    mark TEXT NOT NULL, -- of that record
    host TEXT NOT NULL,
    path TEXT NOT NULL, -- its folder
    at {{int}} NOT NULL,
    retired_at {{int}}, -- null: it is in use
    -- since hosts were asked it was in step, and its host had confirmed the term before this number; 0 = not yet
    reported {{int}} NOT NULL DEFAULT 0,
    reported_at {{int}} NOT NULL DEFAULT 0, -- when it last was, on the database's clock
    server TEXT NOT NULL DEFAULT '' -- PostgreSQL: address and port of the server from which its host last worked
) {{without_rowid}};

CREATE TABLE audit (
    seq {{int}} PRIMARY KEY {{identity}},
    at {{int}} NOT NULL, who TEXT NOT NULL, origin TEXT NOT NULL, act TEXT NOT NULL, target TEXT NOT NULL,
    reason TEXT NOT NULL, detail TEXT NOT NULL,
    prev TEXT NOT NULL, -- hash of the record before; '' for the first
    hash TEXT NOT NULL, -- of prev and of this record
    -- person, reason and detail are gone; the hash is that of the whole record
    reduced {{int}} NOT NULL DEFAULT 0 CHECK (reduced IN (0, 1))
) {{strict}};
CREATE UNIQUE INDEX audit_one_chain ON audit (prev); -- two writers cannot go on from the same record
CREATE INDEX audit_target ON audit (target, seq); -- the acts on one row
CREATE INDEX audit_who ON audit (who, seq); -- who acted, and the acts of one person

CREATE TABLE audit_head (
    one {{int}} PRIMARY KEY CHECK (one = 1), -- there is one row
    seq {{int}} NOT NULL, -- of the last record
    hash TEXT NOT NULL
) {{strict}};
INSERT INTO audit_head (one, seq, hash) VALUES (1, 0, '');

CREATE TABLE entry (
    id {{int}} PRIMARY KEY {{identity}},
    job TEXT NOT NULL CHECK (job <> ''), sends TEXT NOT NULL CHECK (sends <> ''),
    key TEXT{{bytewise}} NOT NULL, key_parts TEXT NOT NULL,
    state TEXT NOT NULL CONSTRAINT entry_state CHECK ({{in "state" (words states)}}),
    cause TEXT NOT NULL,
    record_id {{int}}, -- the record on which its acceptance rests; a person may have given it to another row since
    flags TEXT NOT NULL,
    generation {{int}} NOT NULL CHECK (generation >= 1),
    resend_audit_id {{int}} REFERENCES audit (seq), -- the act that opened the generation
    attempts {{int}} NOT NULL CHECK (attempts >= 0),
    next_attempt_at {{int}}, first_seen_at {{int}} NOT NULL, updated_at {{int}} NOT NULL,
    error TEXT,
    weak {{int}} NOT NULL DEFAULT 0 CHECK (weak IN (0, 1)), -- its error is a refusal in no form of the API
    waiting_for TEXT NOT NULL, acknowledged TEXT NOT NULL DEFAULT '[]', -- flags that a person has dealt with
    dismissal TEXT, -- where it stood before a person took it out
    another {{bytes}} NOT NULL DEFAULT {{empty}}, -- payload hash that a person declared to be another record
    source_hash {{bytes}} NOT NULL, -- of the newest row seen
    mapped_with TEXT NOT NULL,
    shown_mark {{int}} NOT NULL DEFAULT 0, -- of what people are shown; 0 = nothing. It stays when the texts go
    sendable {{int}} NOT NULL CHECK (sendable IN (0, 1)), -- its body has a payload
    contract_id TEXT NOT NULL DEFAULT '', -- the platform's id of the contract under which its request goes; '' = none
    payload_hash {{bytes}} NOT NULL, -- of target and payload; empty where there is none
    content {{int}} NOT NULL, -- a number of the identifying fields of the payload (trade.Prints); 0 where there is none
    amount TEXT NOT NULL, unit TEXT NOT NULL CONSTRAINT entry_unit CHECK (unit = '' OR {{in "unit" "SC KG TON"}}),
    volume {{int}}, -- the amount in 1/10,000, for sums; null: it does not fit exactly
    gone_sweeps {{int}} NOT NULL CHECK (gone_sweeps >= 0),
    version {{int}} NOT NULL CHECK (version >= 1),
    reduced_at {{int}}, -- when its values became marks and its payload went; null: it holds something
    CONSTRAINT entry_record_when_accepted CHECK ((state = 'accepted') = (record_id IS NOT NULL)),
    CONSTRAINT entry_payload_to_send CHECK (state NOT IN ('pending', 'sending') OR sendable = 1),
    CONSTRAINT entry_resend_has_audit CHECK (generation = 1 OR resend_audit_id IS NOT NULL)
) {{strict}};

-- What an entry holds, one for each. It is wide, and stays as it is while the entry is sent.
CREATE TABLE body (
    entry_id {{int}} PRIMARY KEY, cells TEXT NOT NULL, warnings TEXT NOT NULL, payload TEXT,
    target TEXT NOT NULL, -- what the request's path names beside the payload; '' = nothing
    now_cells TEXT NOT NULL DEFAULT '{}', -- of the newest row seen, where it is another than the one that was sent
    ack_cells TEXT NOT NULL DEFAULT '{}', -- the row that a person has dealt with
    shown TEXT NOT NULL DEFAULT '{}', -- what people are shown of the newest row seen, by label
    facts TEXT NOT NULL DEFAULT '{}' -- what lists are narrowed by, of the newest row seen, as JSON; see listing
) {{strict}};

CREATE UNIQUE INDEX entry_one_key ON entry (job, key);
-- What a sweep compares of each entry.
CREATE INDEX entry_swept ON entry (job, id{{include}} key, state, cause, flags, updated_at, source_hash, acknowledged,
    gone_sweeps, shown_mark);
CREATE INDEX entry_bare ON entry (job, id) WHERE mapped_with = ''; -- rebuilt from the journal, and not read since
-- What sums are counted from.
CREATE INDEX entry_sums ON entry (job, state, unit, volume);
CREATE INDEX entry_unfit ON entry (job, state, unit, amount, volume) WHERE volume IS NULL;
-- What is due, and the narrow table of all that lists are filtered by beside the listing.
CREATE INDEX entry_due ON entry (job, state, id{{include}} key, cause, flags, updated_at);
CREATE INDEX entry_wake ON entry (job, state, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX entry_waiting ON entry (id) WHERE state = 'waiting';
CREATE INDEX entry_cause ON entry (job, cause, id) WHERE cause <> '';
CREATE INDEX entry_flags ON entry (job, flags) WHERE flags <> '[]';
-- What waits for somebody.
CREATE INDEX entry_stuck ON entry (job, id{{include}} version, state) WHERE {{in "state" (words stuck)}};
-- Rows that are settled and hold something, by the time of their last change.
CREATE INDEX entry_body ON entry (updated_at, id)
    WHERE reduced_at IS NULL AND {{in "state" "accepted dismissed withdrawn"}};
-- On SQLite it stays while the state changes: who looks for content looks at the state of what is found. PostgreSQL
-- gets a condition without statistics: while these lag, it takes rows in a state for none, and would go through all of
-- them (NewContents of state has the same words).
CREATE INDEX entry_source ON entry (source_hash){{if postgres}}
    WHERE CASE WHEN state IN ('pending', 'waiting', 'invalid', 'held', 'rejected') THEN true ELSE false END{{end}};
CREATE INDEX entry_contract ON entry (contract_id, id) WHERE contract_id <> ''; -- what hangs on a contract

-- What lists are narrowed, sorted and searched by of each entry: see trade.Listing. It is beside the entry, because it
-- is narrow and stays as it is while the entry is sent. Entries are never deleted, so nothing refers to them. NULL = not
-- known.
CREATE TABLE listing (
    entry_id {{int}} PRIMARY KEY, job TEXT NOT NULL, title TEXT{{bytewise}} NOT NULL,
    product TEXT{{bytewise}}, producer TEXT{{bytewise}}, branch TEXT{{bytewise}},
    season TEXT{{bytewise}}, contract_job TEXT, contract TEXT{{bytewise}}, -- of a contract; of others, its job and key
    day {{int}}, -- 20260510
    kilograms {{int}}, worth {{int}}, -- in 1/10,000, of the currency
    currency TEXT NOT NULL,
    words TEXT NOT NULL, -- by which people find it (pages_text.go of state)
    documents TEXT NOT NULL -- CPF and CNPJ among them, for those who may see documents
) {{strict}};
-- Which names there are, for the filters that propose them. Lists do not use these: they scan the table.
CREATE INDEX listing_by_product ON listing (job, product) WHERE product IS NOT NULL;
CREATE INDEX listing_producer ON listing (job, producer) WHERE producer IS NOT NULL;
CREATE INDEX listing_branch ON listing (job, branch) WHERE branch IS NOT NULL;

-- One sending: what is, or may be, on the platform (trade.Record), and its last attempt. There is one for each row and
-- generation. It outlives the row, key and job under which it went.
CREATE TABLE sent (
    id {{int}} PRIMARY KEY {{identity}},
    origin {{int}} NOT NULL REFERENCES entry (id), -- the row under which it went
    generation {{int}} NOT NULL CHECK (generation >= 1),
    entry_id {{int}} NOT NULL REFERENCES entry (id), -- the row that it belongs to now
    kind TEXT NOT NULL CHECK (kind <> ''),
    job TEXT NOT NULL, key TEXT NOT NULL, -- of the origin
    certainty TEXT NOT NULL CONSTRAINT sent_certainty CHECK ({{in "certainty" "made maybe stated left_out void"}}),
    remote_id TEXT NOT NULL, -- '' = not known
    -- the decision that made it, or gave it to its row; null: the program sent it
    decided_by {{int}} REFERENCES audit (seq),
    parent TEXT NOT NULL, -- the platform's id of the record under which it went; '' = none
    -- fingerprints of what was sent (trade.Prints)
    sent_cells {{bytes}} NOT NULL, sent_payload {{bytes}} NOT NULL, sent_fields {{bytes}} NOT NULL,
    -- numbers of two groups each of the identifying fields: by one of them what may be alike is found
    sent_ab {{int}} NOT NULL, sent_ac {{int}} NOT NULL, sent_bc {{int}} NOT NULL,
    -- of the newest row under the key of its row; empty = as it was sent
    new_cells {{bytes}} NOT NULL DEFAULT {{empty}}, new_payload {{bytes}} NOT NULL DEFAULT {{empty}},
    new_fields {{bytes}} NOT NULL DEFAULT {{empty}},
    new_ab {{int}} NOT NULL DEFAULT 0, new_ac {{int}} NOT NULL DEFAULT 0, new_bc {{int}} NOT NULL DEFAULT 0,
    kg TEXT NOT NULL, sent_at {{int}} NOT NULL, version {{int}} NOT NULL CHECK (version >= 1),
    attempt TEXT NOT NULL DEFAULT '', -- the id of its last attempt; '' = none: it was stated, or left out
    no {{int}} NOT NULL DEFAULT 0, -- of the attempt within its row
    outcome TEXT NOT NULL DEFAULT 'none'
        CONSTRAINT sent_outcome CHECK ({{in "outcome" "none open unknown created not_created not_sent"}}),
    run_id TEXT NOT NULL DEFAULT '', owner TEXT NOT NULL DEFAULT '', epoch {{int}} NOT NULL DEFAULT 0,
    target TEXT NOT NULL DEFAULT '', payload_hash {{bytes}} NOT NULL DEFAULT {{empty}},
    started_at {{int}} NOT NULL DEFAULT 0, finished_at {{int}},
    counts {{int}} NOT NULL DEFAULT 0 CHECK (counts IN (0, 1)), -- it is one of entry.attempts
    -- its outcome was unknown first, or comes from the journal: a person may have stated another id
    late {{int}} NOT NULL DEFAULT 0 CHECK (late IN (0, 1)),
    status {{int}} NOT NULL DEFAULT 0, messages TEXT NOT NULL DEFAULT '[]',
    answer_id TEXT NOT NULL DEFAULT '', -- the platform's id that its answer had
    reason TEXT NOT NULL DEFAULT '',
    CONSTRAINT sent_made_has_id CHECK (certainty <> 'made' OR remote_id <> ''),
    CONSTRAINT sent_id_is_certain CHECK (remote_id = '' OR certainty = 'made' OR certainty = 'stated'),
    CONSTRAINT sent_attempted CHECK ((outcome = 'none') = (attempt = '')),
    CONSTRAINT sent_finished CHECK ((outcome = 'none' OR outcome = 'open') = (finished_at IS NULL)),
    CONSTRAINT sent_created_has_id CHECK (outcome <> 'created' OR answer_id <> '')
) {{strict}};

-- I3: a generation of a row is sent once. After an attempt that certainly created nothing, the next one takes its place.
CREATE UNIQUE INDEX sent_origin ON sent (origin, generation);
CREATE INDEX sent_key ON sent (key, kind);
CREATE UNIQUE INDEX sent_attempt ON sent (attempt) WHERE attempt <> '';
CREATE INDEX sent_entry ON sent (entry_id);
-- people search for the first characters of an id
{{if postgres}}CREATE INDEX sent_begins ON sent ((remote_id COLLATE "C"));{{end}}
-- The API's document does not call the id of a delivery a UUID: it may be unique within its contract only ("1", "2"
-- ...). One that has the form of a UUID still is that of one record. What the request named is not in reach of an
-- index: state/records_holders.go compares the contracts.
CREATE UNIQUE INDEX sent_one_remote ON sent (kind, remote_id, (CASE WHEN kind <> 'deliveries'
    OR length(remote_id) = 36 AND substr(remote_id, 9, 1) = '-' AND substr(remote_id, 14, 1) = '-'
    AND substr(remote_id, 19, 1) = '-' AND substr(remote_id, 24, 1) = '-' THEN 0 ELSE id END)) WHERE remote_id <> '';
CREATE INDEX sent_late ON sent (answer_id) WHERE late = 1; -- of all others the record has the id
CREATE INDEX sent_unsettled ON sent (outcome, origin) WHERE outcome = 'open' OR outcome = 'unknown';
-- None of these moves when a record becomes certain.
CREATE INDEX sent_by_cells ON sent (sent_cells);
-- The first two together: all identifying fields.
CREATE INDEX sent_by_ab ON sent (sent_ab, sent_ac);
CREATE INDEX sent_by_ac ON sent (sent_ac);
CREATE INDEX sent_by_bc ON sent (sent_bc);
CREATE INDEX sent_new_cells ON sent (new_cells) WHERE new_cells <> {{empty}};
-- of the newest row only the cells are known
CREATE INDEX sent_unread ON sent (entry_id) WHERE new_ab = 0 AND new_cells <> {{empty}};
CREATE INDEX sent_new_ab ON sent (new_ab, new_ac) WHERE new_ab <> 0;
CREATE INDEX sent_new_ac ON sent (new_ac) WHERE new_ac <> 0;
CREATE INDEX sent_new_bc ON sent (new_bc) WHERE new_bc <> 0;

-- The attempts whose place in their sending a later one has: all of them certainly created nothing.
CREATE TABLE former (
    attempt TEXT PRIMARY KEY,
    origin {{int}} NOT NULL REFERENCES entry (id), generation {{int}} NOT NULL, no {{int}} NOT NULL,
    outcome TEXT NOT NULL CONSTRAINT former_outcome CHECK ({{in "outcome" "not_created not_sent"}}),
    run_id TEXT NOT NULL, owner TEXT NOT NULL, epoch {{int}} NOT NULL,
    target TEXT NOT NULL, payload_hash {{bytes}} NOT NULL,
    started_at {{int}} NOT NULL, finished_at {{int}} NOT NULL,
    counts {{int}} NOT NULL CHECK (counts IN (0, 1)), late {{int}} NOT NULL CHECK (late IN (0, 1)),
    status {{int}} NOT NULL, messages TEXT NOT NULL, answer_id TEXT NOT NULL, reason TEXT NOT NULL
) {{without_rowid}};
CREATE INDEX former_origin ON former (origin, generation);

-- What an attempt that has ended sent, and what was answered. What an open one sends is the payload of its body, which
-- does not change meanwhile.
CREATE TABLE exchange (
    attempt TEXT PRIMARY KEY,
    payload TEXT NOT NULL,
    evidence TEXT, request_head TEXT, answer_head TEXT, answer_body TEXT NOT NULL
) {{without_rowid}};

-- All attempts.
{{define "attempt"}}attempt, origin, generation, no, outcome, run_id, owner, epoch, target, payload_hash, started_at,
    finished_at, counts, late, status, messages, answer_id, reason{{end}}
CREATE VIEW attempt AS
SELECT {{template "attempt"}} FROM sent WHERE attempt <> ''
UNION ALL SELECT {{template "attempt"}} FROM former;

-- What a row holds, or held last, that may be the row of a record (trade.Sighting), until somebody decides.
CREATE TABLE sighting (
    entry_id {{int}} NOT NULL REFERENCES entry (id),
    record_id {{int}} NOT NULL REFERENCES sent (id),
    seen_cells {{bytes}} NOT NULL, seen_payload {{bytes}} NOT NULL, seen_fields {{bytes}} NOT NULL,
    seen_ab {{int}} NOT NULL, seen_ac {{int}} NOT NULL, seen_bc {{int}} NOT NULL,
    PRIMARY KEY (entry_id, record_id)
) {{without_rowid}};
CREATE INDEX sighting_record ON sighting (record_id);
CREATE INDEX sighting_cells ON sighting (seen_cells);
CREATE INDEX sighting_ab ON sighting (seen_ab, seen_ac);
CREATE INDEX sighting_ac ON sighting (seen_ac);
CREATE INDEX sighting_bc ON sighting (seen_bc);

-- I14: since when each boot of a host knows that nobody knows what an attempt did, on the boot's own clock.
CREATE TABLE quarantine (
    attempt_id TEXT NOT NULL,
    boot TEXT NOT NULL, ticks {{int}} NOT NULL, -- milliseconds of that clock
    PRIMARY KEY (attempt_id, boot)
) {{without_rowid}};

CREATE TABLE run (
    seq {{int}} PRIMARY KEY {{identity}},
    id TEXT NOT NULL UNIQUE, job TEXT NOT NULL, started_at {{int}} NOT NULL,
    ended_at {{int}}, -- null: it runs, or crashed
    report TEXT NOT NULL
) {{strict}};
CREATE INDEX run_job ON run (job, seq);

-- The jobs that have entries of a kind, and where those of a renamed job went: a row is its kind of record and its key,
-- whatever its job is called.
CREATE TABLE job_kind (job TEXT NOT NULL, sends TEXT NOT NULL, PRIMARY KEY (job, sends)) {{without_rowid}};

CREATE TABLE job_moved (
    job TEXT NOT NULL, sends TEXT NOT NULL, moved_to TEXT NOT NULL,
    journal TEXT NOT NULL, -- that tells of it; '' = the ledger has none
    seq {{int}} NOT NULL, -- the record before
    PRIMARY KEY (journal, seq)
) {{without_rowid}};

CREATE TABLE job_cursor (
    job TEXT PRIMARY KEY, bound TEXT NOT NULL, swept_at {{int}}, fingerprint TEXT NOT NULL, sweep TEXT,
    parents TEXT NOT NULL, -- how many parents were accepted when the children were last looked at
    brakes TEXT NOT NULL DEFAULT '{}', -- what the brakes remember
    refs TEXT NOT NULL DEFAULT '' -- the codes with several ids with which what was sent was last compared
) {{without_rowid}};

CREATE TABLE job_lease (
    job TEXT PRIMARY KEY, epoch {{int}} NOT NULL,
    instance TEXT NOT NULL, -- '' when it was released
    owner TEXT NOT NULL,
    expires {{int}} NOT NULL -- on the database's clock
) {{without_rowid}};

CREATE TABLE job_status (
    job TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('idle', 'running', 'backing_off', 'stopped', 'paused')),
    stop TEXT, since {{int}}
) {{without_rowid}};

CREATE TABLE reference (
    kind TEXT NOT NULL CHECK (kind <> ''), code TEXT NOT NULL,
    id TEXT NOT NULL, -- '' when the code was removed
    label TEXT NOT NULL DEFAULT '', -- what people are shown beside the code
    former TEXT NOT NULL DEFAULT '', -- the ids that it had before, a line for each: what was sent with one is shown
    PRIMARY KEY (kind, code)
) {{without_rowid}};

CREATE TABLE lookup (
    kind TEXT NOT NULL CHECK (kind <> ''),
    code TEXT NOT NULL, -- a keyed hash of what was asked for
    id TEXT NOT NULL, -- '' when the platform has none
    message TEXT NOT NULL,
    first_at {{int}} NOT NULL, asked_at {{int}} NOT NULL, next_at {{int}} NOT NULL, tries {{int}} NOT NULL,
    PRIMARY KEY (kind, code)
) {{without_rowid}};

CREATE TABLE block (
    kind TEXT NOT NULL, id TEXT NOT NULL, message TEXT NOT NULL,
    first_at {{int}} NOT NULL, next_at {{int}}, tries {{int}} NOT NULL,
    PRIMARY KEY (kind, id)
) {{without_rowid}};

-- The processes that may send, or did and ended without a word: see instance.go.
CREATE TABLE instance (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, version TEXT NOT NULL,
    command TEXT NOT NULL, -- run or sync
    started_at {{int}} NOT NULL,
    expires {{int}} NOT NULL -- on the database's clock
) {{without_rowid}};

-- The processes of `safrasync run` that serve this ledger, or did and ended without a word.
CREATE TABLE service (
    instance TEXT PRIMARY KEY, owner TEXT NOT NULL, version TEXT NOT NULL,
    since {{int}} NOT NULL, seen {{int}} NOT NULL
) {{without_rowid}};

-- When each task of the housekeeping ran last, so that a time that was missed while nothing ran is caught up, and how
-- far the last digest went.
CREATE TABLE task (name TEXT PRIMARY KEY, ran_at {{int}} NOT NULL) {{without_rowid}};

-- What people were told, or are to be told.
CREATE TABLE alert (
    id TEXT PRIMARY KEY, topic TEXT NOT NULL CHECK (topic <> ''), subject TEXT NOT NULL, detail TEXT NOT NULL,
    since {{int}}, seen_at {{int}} NOT NULL,
    raised_at {{int}}, -- null: nobody was told
    gone_at {{int}}, -- null: it is there
    closed_at {{int}}, -- null: it is open
    version {{int}} NOT NULL CHECK (version >= 1),
    CONSTRAINT alert_gone_before_closed CHECK (closed_at IS NULL OR gone_at IS NOT NULL)
) {{without_rowid}};
CREATE UNIQUE INDEX alert_one_open ON alert (topic, subject) WHERE closed_at IS NULL;

CREATE TABLE alert_message (
    id TEXT PRIMARY KEY,
    alert_id TEXT NOT NULL, -- '' for a digest
    kind TEXT NOT NULL CHECK (kind <> ''), target TEXT NOT NULL CHECK (target <> ''), content TEXT NOT NULL,
    created_at {{int}} NOT NULL, attempts {{int}} NOT NULL CHECK (attempts >= 0), next_at {{int}} NOT NULL,
    done_at {{int}}, -- null: to be delivered
    outcome TEXT NOT NULL CONSTRAINT alert_message_outcome
        CHECK (outcome IN ('', 'delivered', 'superseded', 'given_up')),
    fault TEXT NOT NULL,
    CONSTRAINT alert_message_done CHECK ((done_at IS NULL) = (outcome = ''))
) {{without_rowid}};

-- Rows that changed, for programs that ask again and again (GET /api/v1/rows). Filled only while feed has its row.
CREATE TABLE feed (
    one {{int}} PRIMARY KEY CHECK (one = 1), -- there is one row, or none
    id TEXT NOT NULL, -- random; a cursor of another feed is refused
    seq {{int}} NOT NULL, -- the highest number given to a change
    wanted_at {{int}} NOT NULL -- when a service last said that it is wanted, on the database's clock
) {{strict}};

CREATE TABLE change (
    entry_id {{int}} PRIMARY KEY,
    seq {{int}} -- of its newest change, in the order in which changes became visible; null: not numbered yet
) {{strict}};
CREATE INDEX change_seq ON change (seq);

-- The people of the console. A user is never deleted, so that a name in the audit stays that person's. Who comes by an
-- OpenID Connect provider is known by its address and by the number there, never by a name, and has no password.
CREATE TABLE person (
    id {{int}} PRIMARY KEY {{identity}},
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    role TEXT NOT NULL CHECK (role IN ('reader', 'accountant', 'administrator')),
    password TEXT NOT NULL, -- a hash
    disabled {{int}} NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
    created_at {{int}} NOT NULL, password_at {{int}} NOT NULL,
    -- somebody else typed it: the person must change it first
    first_password {{int}} NOT NULL DEFAULT 0 CHECK (first_password IN (0, 1)),
    version {{int}} NOT NULL CHECK (version >= 1),
    issuer TEXT NOT NULL DEFAULT '', subject TEXT NOT NULL DEFAULT ''
) {{strict}};
CREATE UNIQUE INDEX person_subject ON person (issuer, subject) WHERE issuer <> '';

-- Who is logged in; the browsers with which somebody has logged in before, whom strangers cannot slow down; and logins
-- that were tried in vain, by name, address or browser. What a browser holds is not here, only its hash.
CREATE TABLE login (
    kind TEXT NOT NULL CHECK (kind IN ('session', 'device', 'tries')),
    hash TEXT NOT NULL, -- of what the browser holds; of tries their bucket
    person_id {{int}} REFERENCES person (id), -- null: of tries
    began_at {{int}}, seen_at {{int}} NOT NULL, proved_at {{int}}, origin TEXT NOT NULL DEFAULT '',
    failures {{int}} NOT NULL DEFAULT 0 CHECK (failures >= 0), until {{int}} NOT NULL DEFAULT 0, -- of tries
    PRIMARY KEY (kind, hash),
    CONSTRAINT login_of_person CHECK (kind = 'tries' OR person_id IS NOT NULL)
) {{without_rowid}};

-- Who takes care of a cause, until when nobody is reminded of it, and how many rows of each job had it then.
CREATE TABLE cause_owner (
    key TEXT PRIMARY KEY CHECK (key <> ''), cause TEXT NOT NULL, owner TEXT NOT NULL CHECK (owner <> ''),
    note TEXT NOT NULL, until {{int}},
    row_counts TEXT NOT NULL, -- JSON
    who TEXT NOT NULL, at {{int}} NOT NULL
) {{without_rowid}};

-- Acts that one person ordered and others have to agree to before they are done; decided ones stay 90 days.
CREATE TABLE approval (
    id {{int}} PRIMARY KEY {{identity}},
    act TEXT NOT NULL CHECK (act <> ''), target TEXT NOT NULL,
    mark TEXT NOT NULL CHECK (mark <> ''), -- of the plan that was shown
    plan TEXT NOT NULL, -- JSON: what was ordered, what was planned
    people TEXT NOT NULL, -- JSON: who ordered it, and who has agreed since
    needs {{int}} NOT NULL CHECK (needs >= 2), -- so many people in all
    version {{int}} NOT NULL DEFAULT 1,
    until {{int}} NOT NULL, -- then it lapses
    outcome TEXT NOT NULL DEFAULT '' -- given, declined, lapsed, undone; '' = it waits
) {{strict}};

-- Reports that a person has closed: what they said, for good. A part belongs to a closing once there is one with its
-- id; parts without one are of a closing that was not finished, and are removed by the next.
CREATE TABLE closing (
    id TEXT PRIMARY KEY,
    day TEXT NOT NULL CHECK (LENGTH(day) = 10), -- the report's cut-off, YYYY-MM-DD
    at {{int}} NOT NULL, -- the moment of which it tells
    who TEXT NOT NULL CHECK (who <> ''), reason TEXT NOT NULL CHECK (reason <> ''), program TEXT NOT NULL,
    head TEXT NOT NULL, -- JSON: what is not a row
    row_count {{int}} NOT NULL CHECK (row_count >= 0), parts {{int}} NOT NULL CHECK (parts >= 0),
    hash TEXT NOT NULL, -- of head and parts
    audit_seq {{int}} NOT NULL REFERENCES audit (seq)
) {{without_rowid}};

CREATE TABLE closing_part (
    closing_id TEXT NOT NULL, no {{int}} NOT NULL CHECK (no >= 1),
    data TEXT NOT NULL, -- a piece of the rows: base64 of gzip of JSON lines
    PRIMARY KEY (closing_id, no)
) {{without_rowid}};

-- Since when (milliseconds) the ERP's zone is so many seconds ahead of UTC: for the views.
CREATE TABLE zone (since {{int}} PRIMARY KEY, seconds {{int}} NOT NULL) {{strict}};

-- What the platform tells by itself: our registrations, the events as they came, and what they are evidence of.
CREATE TABLE webhook (
    id TEXT PRIMARY KEY, event TEXT NOT NULL CHECK (event <> ''),
    address TEXT NOT NULL, -- without the secret path
    path_hash TEXT NOT NULL UNIQUE, login_hash TEXT NOT NULL, hmac_mark TEXT NOT NULL,
    remote_id TEXT NOT NULL, -- '' = not known
    state TEXT NOT NULL CONSTRAINT webhook_state CHECK (state IN ('asked', 'active', 'retired')),
    asked_at {{int}} NOT NULL, settled_at {{int}}, retired_at {{int}}
) {{without_rowid}};
-- two programs do not register one event
CREATE UNIQUE INDEX webhook_one_asked ON webhook (event) WHERE state = 'asked';
CREATE UNIQUE INDEX webhook_one_active ON webhook (event) WHERE state = 'active';

CREATE TABLE inbox (
    seq {{int}} PRIMARY KEY {{identity}},
    hash TEXT NOT NULL UNIQUE, event TEXT NOT NULL, webhook_id TEXT NOT NULL, body TEXT NOT NULL,
    coded {{int}} NOT NULL CHECK (coded IN (0, 1)), -- the body is base64: it is no text
    content_type TEXT NOT NULL, origin TEXT NOT NULL, first_at {{int}} NOT NULL, last_at {{int}} NOT NULL,
    times {{int}} NOT NULL CHECK (times >= 1),
    next_at {{int}}, -- null: nothing is left to do
    outcome TEXT NOT NULL
) {{strict}};
CREATE INDEX inbox_due ON inbox (next_at, seq) WHERE next_at IS NOT NULL;
CREATE INDEX inbox_last ON inbox (last_at);

CREATE TABLE heard (
    kind TEXT NOT NULL, id TEXT NOT NULL, seq {{int}} NOT NULL,
    event TEXT NOT NULL, at {{int}} NOT NULL, word TEXT NOT NULL,
    PRIMARY KEY (kind, id, seq)
) {{without_rowid}};
CREATE INDEX heard_event ON heard (seq); -- what one event told of

CREATE TABLE candidate (
    id TEXT PRIMARY KEY, seq {{int}} NOT NULL, event TEXT NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('doubt', 'deleted')),
    heard_at {{int}} NOT NULL, last_at {{int}} NOT NULL,
    typed_from {{int}}, -- between when and when the platform says that it was made; null: it does not say
    typed_to {{int}},
    next_at {{int}}, -- null: it is not read again
    asked_at {{int}}, tries {{int}} NOT NULL,
    state TEXT NOT NULL CONSTRAINT candidate_state CHECK (state IN ('heard', 'read', 'unreadable', 'settled')),
    status {{int}} NOT NULL, fields TEXT NOT NULL, unread TEXT NOT NULL, settled_by {{int}} NOT NULL
) {{without_rowid}};
CREATE INDEX candidate_due ON candidate (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX candidate_heard ON candidate (last_at);

-- For people: names, states in words, times as text in the ERP's zone, once in Portuguese and once in English.
-- docs/ledger-sql.pt-BR.md asks ten questions of them.
{{define "zoned"}}{{.}} / 1000
        + COALESCE((SELECT seconds FROM zone WHERE since <= {{.}} ORDER BY since DESC LIMIT 1), 0){{end -}}
{{define "time"}}{{if postgres -}}
to_char(to_timestamp({{template "zoned" .}}) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')
{{- else}}strftime('%Y-%m-%d %H:%M:%S', {{template "zoned" .}}, 'unixepoch'){{end}}{{end -}}
{{define "list"}}replace(replace(replace({{.}}, '[', ''), ']', ''), '"', ''){{end -}}
{{range $i, $lang := languages}}
CREATE VIEW {{name $i "linhas" "rows"}} AS
SELECT id AS {{name $i "linha" "id"}}, job AS {{name $i "rotina" "job"}},
    CASE sends WHEN 'order_commitments' THEN '{{name $i "contrato" "contract"}}'
        WHEN 'deliveries' THEN '{{name $i "entrega" "delivery"}}'
        WHEN 'traceability' THEN '{{name $i "rastreabilidade" "traceability"}}' ELSE sends END
        AS {{name $i "registro" "record"}},
    key AS {{name $i "chave" "key"}},
    CASE state{{range states}} WHEN '{{.}}' THEN '{{.Label $lang}}'{{end}} ELSE state END
        AS {{name $i "situacao" "state"}},
    cause AS {{name $i "causa" "cause"}},
    CASE WHEN error IS NULL THEN ''
        ELSE {{if postgres}}CAST(error AS JSON) ->> 'text'{{else}}error ->> '$.text'{{end}} END
        AS {{name $i "motivo" "reason"}},
    COALESCE((SELECT r.remote_id FROM sent r WHERE r.id = record_id), '')
        AS {{name $i "id_plataforma" "platform_id"}},
    amount AS {{name $i "quantidade" "amount"}}, unit AS {{name $i "unidade" "unit"}},
    {{template "list" "flags"}} AS {{name $i "alertas" "flags"}},
    attempts AS {{name $i "tentativas" "attempts"}}, generation AS {{name $i "geracao" "generation"}},
    {{template "time" "next_attempt_at"}} AS {{name $i "proxima_tentativa" "next_attempt"}},
    {{template "time" "first_seen_at"}} AS {{name $i "vista_em" "first_seen"}},
    {{template "time" "updated_at"}} AS {{name $i "mudou_em" "changed"}},
    shown AS {{name $i "mostra" "show"}}
FROM entry LEFT JOIN body ON entry_id = id;

CREATE VIEW {{name $i "tentativas" "attempts"}} AS
SELECT a.origin AS {{name $i "linha" "id"}}, e.job AS {{name $i "rotina" "job"}},
    e.key AS {{name $i "chave" "key"}}, a.no AS {{name $i "numero" "number"}},
    {{template "time" "a.started_at"}} AS {{name $i "inicio" "started"}},
    {{template "time" "a.finished_at"}} AS {{name $i "fim" "finished"}},
    CASE WHEN a.outcome = 'open' THEN '{{name $i "em andamento" "open"}}'
        WHEN a.outcome = 'created' THEN '{{name $i "criado" "created"}}'
        WHEN a.outcome = 'not_created' THEN '{{name $i "não criado" "not created"}}'
        WHEN a.outcome = 'not_sent' THEN '{{name $i "não saiu" "not sent"}}'
        WHEN a.outcome = 'unknown' THEN '{{name $i "sem resposta certa" "unknown"}}' ELSE a.outcome END
        AS {{name $i "resultado" "outcome"}},
    a.status AS {{name $i "status_http" "http_status"}}, a.answer_id AS {{name $i "id_plataforma" "platform_id"}},
    a.reason AS {{name $i "motivo" "reason"}},
    {{template "list" "a.messages"}} AS {{name $i "mensagens" "messages"}}
FROM attempt a JOIN entry e ON e.id = a.origin;
{{end}}
-- What the program must never do, also when somebody tries it by hand: see rules in schema.go. PostgreSQL calls a
-- function only where a row may break a rule.
{{if postgres}}
CREATE FUNCTION safrasync_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = 'safrasync: ' || TG_ARGV[0];
END $$;
{{range rules}}{{$name := index (fields .Trigger) 0}}{{if .Check}}
CREATE FUNCTION safrasync_{{$name}}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF {{.Check}} THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = 'safrasync: ' || TG_ARGV[0];
    END IF;
    RETURN NEW;
END $$;
{{end}}
CREATE TRIGGER {{.Trigger}} FOR EACH ROW{{with .When}} WHEN ({{.}}){{end}}
    EXECUTE FUNCTION safrasync_{{if .Check}}{{$name}}{{else}}refuse{{end}}('{{.Refuse}}');
{{end}}
CREATE TRIGGER entry_no_truncate BEFORE TRUNCATE ON entry
    EXECUTE FUNCTION safrasync_refuse('entries are never deleted');
CREATE TRIGGER body_no_truncate BEFORE TRUNCATE ON body
    EXECUTE FUNCTION safrasync_refuse('entries are never deleted');
CREATE TRIGGER sent_no_truncate BEFORE TRUNCATE ON sent
    EXECUTE FUNCTION safrasync_refuse('records are never deleted');
CREATE TRIGGER exchange_no_truncate BEFORE TRUNCATE ON exchange
    EXECUTE FUNCTION safrasync_refuse('attempts are never deleted');
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit
    EXECUTE FUNCTION safrasync_refuse('the audit is never deleted');
{{else}}{{range rules}}
CREATE TRIGGER {{.Trigger}}{{with .When}} WHEN {{.}}{{end}}
BEGIN
    SELECT RAISE(ROLLBACK, 'safrasync: {{.Refuse}}'){{with .Check}} WHERE {{.}}{{end}};
END;
{{end}}{{end}}
-- The order of changes, by which other programs read them. On PostgreSQL the triggers are enabled only while somebody
-- may ask (state/feed.go): a row costs nothing otherwise. On SQLite a step of a replay leaves the version as it was:
-- only where a row arrives is in it.
{{if postgres}}
CREATE FUNCTION safrasync_fed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM feed) THEN
        INSERT INTO change (entry_id) VALUES (NEW.id)
            ON CONFLICT (entry_id) DO UPDATE SET seq = NULL WHERE change.seq IS NOT NULL;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER entry_fed_new AFTER INSERT ON entry FOR EACH ROW EXECUTE FUNCTION safrasync_fed();
CREATE TRIGGER entry_fed AFTER UPDATE ON entry FOR EACH ROW
    WHEN ((NEW.version <> OLD.version OR NEW.job <> OLD.job) AND NEW.state <> 'sending')
    EXECUTE FUNCTION safrasync_fed();
ALTER TABLE entry DISABLE TRIGGER entry_fed_new, DISABLE TRIGGER entry_fed;
{{else}}
CREATE TRIGGER entry_fed_new AFTER INSERT ON entry WHEN EXISTS (SELECT 1 FROM feed)
BEGIN
    UPDATE feed SET seq = seq + 1;
    INSERT INTO change (entry_id, seq) SELECT NEW.id, seq FROM feed;
END;
CREATE TRIGGER entry_fed AFTER UPDATE OF version, job ON entry
WHEN (NEW.version <> OLD.version OR NEW.job <> OLD.job) AND NEW.state <> 'sending' AND EXISTS (SELECT 1 FROM feed)
BEGIN
    UPDATE feed SET seq = seq + 1;
    INSERT INTO change (entry_id, seq) SELECT NEW.id, seq FROM feed WHERE one = 1
        ON CONFLICT (entry_id) DO UPDATE SET seq = excluded.seq;
END;
{{end}}
