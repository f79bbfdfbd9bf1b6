// Whether the records agree with the rows and their attempts.

package state

import (
	"context"

	"github.com/safrasync/safrasync/trade"
)

// selectSentRecord selects the records of ended attempts whose payload is kept, with that payload.
var selectSentRecord = `SELECT ` + prefixed("r", sentColumns) + `, e.job AS owner_job, e.key AS owner_key, x.payload
	FROM sent r JOIN entry e ON e.id = r.entry_id JOIN exchange x ON x.attempt = r.attempt
	WHERE r.outcome IN ('unknown', 'created') AND r.certainty IN ('made', 'maybe') AND x.payload <> '{}' `

// unlike reports whether a record has other fingerprints than what was sent for it.
func (r *sentRow) unlike(target string, payload []byte) bool {
	return r.sent() != trade.PrintsOf(trade.Kind(r.Kind), r.SentCells, target, payload)
}

// Unrecorded returns the entries whose records contradict them, by id with the job and the key: an
// entry that was sent, may have been, or is stated to exist, and that has no record which says so;
// an attempt without the record that it may have made.
func (s *Store) Unrecorded(ctx context.Context) (map[int64]string, error) {
	out := map[int64]string{}
	for _, where := range []string{
		`e.state = 'accepted' AND NOT EXISTS (SELECT 1 FROM sent r WHERE r.id = e.record_id AND r.kind = e.sends
			AND r.certainty IN ('made', 'stated') AND (r.entry_id = e.id OR r.remote_id <> '' AND EXISTS
			(SELECT 1 FROM entry n WHERE n.id = r.entry_id AND n.record_id = r.id)))`,
		`e.state = 'sending' AND NOT EXISTS (SELECT 1 FROM sent r WHERE r.entry_id = e.id
			AND r.generation = e.generation AND r.certainty = 'maybe')`,
		// a second sending that only the journal has is in doubt after a rebuild because of the first
		`e.state = 'in_doubt' AND NOT EXISTS (SELECT 1 FROM sent r WHERE r.entry_id = e.id AND r.certainty = 'maybe')`,
		`e.state = 'dismissed' AND NOT EXISTS (SELECT 1 FROM sent r WHERE r.entry_id = e.id AND r.certainty <> 'void')`,
		`e.state = 'held' AND e.cause = 'exists' AND NOT EXISTS (SELECT 1 FROM sent r WHERE r.entry_id = e.id
			AND r.certainty <> 'void')`,
		`EXISTS (SELECT 1 FROM sent a WHERE a.origin = e.id AND a.outcome IN ('open', 'unknown', 'created') AND a.certainty = 'void'
			AND NOT EXISTS (SELECT 1 FROM sent r WHERE r.entry_id = e.id AND r.remote_id = a.answer_id AND a.answer_id <> ''))`,
		// while a second sending is open, or a person has taken it out, the first may have made one
		`e.state NOT IN ('accepted', 'sending', 'in_doubt', 'dismissed') AND EXISTS (SELECT 1 FROM sent r
			WHERE r.entry_id = e.id AND r.certainty = 'made')`,
	} {
		var rows []struct {
			ID       int64
			Job, Key string
		}
		if err := s.db.All(ctx, "comparing records with rows", &rows,
			`SELECT e.id, e.job, e.key FROM entry e WHERE `+where); err != nil {
			return nil, err
		}
		for _, row := range rows {
			out[row.ID] = row.Job + " " + row.Key
		}
	}
	return out, nil
}
