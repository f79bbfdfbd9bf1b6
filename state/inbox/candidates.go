package inbox

import (
	"context"
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

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
