package inbox

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Ours reports which of these ids are ours: "order_commitments" for a record that one of our rows
// created, "sent" for an id that our requests or the references contain.
func (s *Box) Ours(ctx context.Context, ids []string) (map[string]string, error) {
	out := map[string]string{}
	for _, look := range []struct{ kind, query, column string }{
		{"sent", `SELECT DISTINCT id FROM reference WHERE `, "id"},
		{"sent", `SELECT DISTINCT id FROM lookup WHERE `, "id"},
		{commitmentsKind, `SELECT remote_id FROM sent WHERE kind = 'order_commitments' AND remote_id <> '' AND `, "remote_id"},
		{
			commitmentsKind,
			`SELECT a.answer_id FROM sent a JOIN entry e ON e.id = a.origin WHERE a.late = 1 AND a.outcome = 'created' AND e.sends = 'order_commitments' AND `,
			"a.answer_id",
		},
	} {
		var found []string
		if err := s.db.All(ctx, "looking whose ids are", &found, look.query+s.db.D.Among(look.column),
			sqldb.ListOf(s.db.D, ids)); err != nil {
			return nil, err
		}
		for _, id := range found {
			out[id] = look.kind
		}
	}
	return out, nil
}

const commitmentsKind = string(trade.OrderCommitments)

// NotesOf returns what some events told of, in the order of the events.
func (s *Box) NotesOf(ctx context.Context, seqs []int64) ([]trade.EventNote, error) {
	return sqldb.List[trade.EventNote](ctx, s.db, "reading what events told",
		selectNotes+`WHERE `+s.db.D.Among("seq")+` ORDER BY seq, kind, id`, sqldb.ListOf(s.db.D, seqs))
}

// StoreNotes stores what an event reported about records, and the records that are to be read back.
// Existing data is kept, with two exceptions: the time of the last event, and the creation of a
// record whose deletion was reported first. A record that was read, or could not be read, is read
// again if there is a new event about it, or if a person has its event processed again.
func (s *Box) StoreNotes(ctx context.Context, heard []trade.EventNote, candidates []trade.Candidate) error {
	if len(heard)+len(candidates) == 0 {
		return nil
	}
	return s.db.InTx(ctx, "recording what events tell", func(t *sqldb.Tx) error {
		for _, h := range heard {
			if err := t.Do(`INSERT INTO heard (kind, id, seq, event, at, word) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT (kind, id, seq) DO UPDATE SET at = excluded.at, word = excluded.word`, h.Kind, h.ID, h.Seq, h.Event, h.At.UnixMilli(), sqldb.CleanText(h.Word)); err != nil {
				return err
			}
		}
		for _, c := range candidates {
			anew := "candidate.state IN ('unreadable', 'read') AND excluded.last_at > candidate.last_at OR excluded.purpose = 'deleted' AND candidate.purpose <> 'deleted'"
			if c.Again {
				anew += " OR candidate.state IN ('unreadable', 'read')"
			}
			if err := t.Do(`INSERT INTO candidate (id, seq, event, purpose, heard_at, last_at, typed_from, typed_to, next_at, asked_at, tries, state, status, fields, unread, settled_by)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 0, 'heard', 0, '{}', '[]', 0)
				ON CONFLICT (id) DO UPDATE SET
					last_at = CASE WHEN excluded.last_at > candidate.last_at
						THEN excluded.last_at ELSE candidate.last_at END,
					event = CASE WHEN candidate.purpose = 'deleted' AND excluded.event = 'CREATE_ORDER_COMMITMENT'
						THEN excluded.event ELSE candidate.event END,
					purpose = CASE WHEN excluded.purpose = 'deleted' AND candidate.purpose <> 'deleted'
						THEN 'deleted' ELSE candidate.purpose END,
					state = CASE WHEN `+anew+` THEN 'heard' ELSE candidate.state END,
					tries = CASE WHEN `+anew+` THEN 0 ELSE candidate.tries END,
					next_at = CASE WHEN `+anew+` THEN excluded.next_at ELSE candidate.next_at END`,
				c.ID, c.Seq, c.Event, string(c.Purpose), c.HeardAt.UnixMilli(), c.LastAt.UnixMilli(),
				sqldb.Millis(c.TypedFrom), sqldb.Millis(c.TypedTo), sqldb.Millis(c.NextAt)); err != nil {
				return err
			}
		}
		return nil
	})
}

const selectNotes = `SELECT kind, id, event, seq, at, word FROM heard `

// Hints returns what is known from the platform beyond a row's own requests. ids are those of its
// record, its producer and its farm, by kind; since is when the doubt began.
func (s *Box) Hints(ctx context.Context, ids map[string][]string, since time.Time, limit int) (trade.Hints, error) {
	const op = "reading the hints"
	var out trade.Hints
	for kind, list := range ids {
		heard, err := sqldb.List[trade.EventNote](ctx, s.db, op, selectNotes+`WHERE kind = ? AND `+s.db.D.Among("id")+
			` ORDER BY at DESC, seq DESC LIMIT ?`, kind, sqldb.ListOf(s.db.D, list), limit)
		if err != nil {
			return out, err
		}
		out.Heard = append(out.Heard, heard...)
	}
	slices.SortStableFunc(out.Heard, func(a, b trade.EventNote) int { return b.At.Compare(a.At) })
	if since.IsZero() {
		return out, nil
	}
	err := s.db.Get(ctx, op, &out,
		`SELECT COUNT(*) AS events, COALESCE(SUM(CASE WHEN event LIKE '%ORDER_COMMITMENT' THEN 1 ELSE 0 END), 0) AS own FROM inbox WHERE last_at >= ?`,
		since.UnixMilli())
	return out, err
}

// LastNotes returns the last report of an event about records of one kind, by id.
func (s *Box) LastNotes(ctx context.Context, kind, event string, ids []string) (map[string]trade.EventNote, error) {
	out := map[string]trade.EventNote{}
	heard, err := sqldb.List[trade.EventNote](ctx, s.db, "reading what was told last",
		selectNotes+`WHERE kind = ? AND event = ? AND `+s.db.D.Among("id")+` ORDER BY at, seq`, kind, event,
		sqldb.ListOf(s.db.D, ids))
	for _, h := range heard {
		out[h.ID] = h
	}
	return out, err
}

const selectCandidate = `SELECT id, seq, event, purpose, heard_at, last_at, typed_from, typed_to, next_at, asked_at, tries, state, status, fields, unread, settled_by FROM candidate `

// Candidates returns at most limit records of the platform that events named at or after a time,
// and that were read back or could not be. Those whose last event came soonest after that time, as
// that of a request does, are first.
func (s *Box) Candidates(ctx context.Context, since time.Time, limit int) ([]trade.Candidate, error) {
	return s.candidates(ctx, `WHERE last_at >= ? AND purpose = 'doubt' ORDER BY last_at, id LIMIT ?`,
		since.UnixMilli(), limit)
}

// ReadBack returns at most limit records of the platform that events named at or after a time, and
// that were read back or are to be. Those with the latest event are first.
func (s *Box) ReadBack(ctx context.Context, since time.Time, limit int) ([]trade.Candidate, error) {
	return s.candidates(ctx,
		`WHERE last_at >= ? AND (fields <> '{}' OR state = 'heard' AND purpose = 'doubt') ORDER BY last_at DESC, id LIMIT ?`, since.UnixMilli(), limit)
}

// RecordOf returns what is known of a record of the platform that an event named: what it had when it
// was read back, and when that was. ok is false if no event named it.
func (s *Box) RecordOf(ctx context.Context, id string) (record trade.Candidate, ok bool, err error) {
	found, err := s.candidates(ctx, `WHERE id = ?`, id)
	if len(found) == 0 {
		return trade.Candidate{}, false, err
	}
	return found[0], true, nil
}

// DueCandidates returns the records that are due to be read back, those that were due first are
// first.
func (s *Box) DueCandidates(ctx context.Context, now time.Time, limit int) ([]trade.Candidate, error) {
	return s.candidates(ctx, `WHERE next_at IS NOT NULL AND next_at <= ? ORDER BY next_at, last_at, id LIMIT ?`,
		now.UnixMilli(), limit)
}

// ForgetCandidates removes records that turned out to be our own.
func (s *Box) ForgetCandidates(ctx context.Context, ids []string) error {
	return s.eachID(ctx, `DELETE FROM candidate WHERE purpose = 'doubt' AND `, ids)
}

// PostponeCandidates postpones the reading of records that are not needed now.
func (s *Box) PostponeCandidates(ctx context.Context, ids []string, until time.Time) error {
	return s.eachID(ctx, `UPDATE candidate SET next_at = ? WHERE `, ids, until.UnixMilli())
}

func (s *Box) eachID(ctx context.Context, query string, ids []string, args ...any) error {
	if len(ids) == 0 {
		return nil
	}
	return s.db.Do(ctx, "sorting what events told of", query+s.db.D.Among("id"),
		append(args, sqldb.ListOf(s.db.D, ids))...)
}

func (s *Box) candidates(ctx context.Context, where string, args ...any) ([]trade.Candidate, error) {
	return sqldb.List[trade.Candidate](ctx, s.db, "reading what events told of", selectCandidate+where, args...)
}

// ClaimCandidate claims a record for reading, so that no other process reads it until then. It
// returns false if another process was first.
func (s *Box) ClaimCandidate(ctx context.Context, c trade.Candidate, until time.Time) (claimed bool, err error) {
	return sqldb.Stored(ctx, s.db, "claiming a record to read back", func(t *sqldb.Tx) (bool, error) {
		n, err := t.Changed(`UPDATE candidate SET next_at = ? WHERE id = ? AND tries = ? AND next_at = ?`,
			until.UnixMilli(), c.ID, c.Tries, sqldb.Millis(c.NextAt))
		return n == 1, err
	})
}

// SaveCandidate stores the result of a reading.
func (s *Box) SaveCandidate(ctx context.Context, c trade.Candidate) error {
	if c.Fields == nil {
		c.Fields = map[string]string{}
	}
	fields, err := json.Marshal(c.Fields)
	if err != nil {
		return err
	}
	unread, err := json.Marshal(sqldb.NotNil(c.Unread))
	if err != nil {
		return err
	}
	return s.db.Do(ctx, "recording what was read back",
		`UPDATE candidate SET typed_from = ?, typed_to = ?, next_at = ?, asked_at = ?, tries = ?, state = ?, status = ?, fields = ?, unread = ?, settled_by = ? WHERE id = ?`,
		sqldb.Millis(c.TypedFrom), sqldb.Millis(c.TypedTo), sqldb.Millis(c.NextAt), sqldb.Millis(c.AskedAt),
		c.Tries, string(c.State), c.Status, sqldb.CleanText(string(fields)), sqldb.CleanText(string(unread)),
		c.SettledBy, c.ID)
}
