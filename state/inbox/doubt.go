package inbox

import (
	"context"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// doubtsMost bounds how many rows are looked at. Every doubt stays one for the life of the ledger,
// decided or not.
const doubtsMost = 5000

// Doubts returns the attempts of order commitments of which nobody knows whether they made a
// record, and those in flight, with their entries. What is decided is given too, because a record
// may contradict the decision, or be that of a decided row rather than of another one: the newest,
// as many as are left of the most that are looked at.
func (s *Mailbox) Doubts(ctx context.Context) ([]trade.Doubt, error) {
	return s.DoubtRows(ctx, doubtsMost)
}

// DoubtRows returns what is in doubt or held, at most so many rows, the newest first.
func (s *Mailbox) DoubtRows(ctx context.Context, most int) (out []trade.Doubt, err error) {
	const op = "reading the doubts"
	jobs, err := s.roster.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	// First the rows with an attempt of which nobody knows whether it made a record: those about which
	// something is still to be done, then those that are decided, and of both those first whose
	// request ended last.
	var ids []int64
	if err := s.db.All(ctx, op, &ids, `SELECT e.id FROM attempt a JOIN entry e ON e.id = a.entry_id WHERE a.outcome = 'unknown' AND e.sends = 'order_commitments'
		GROUP BY e.id ORDER BY e.state IN ('accepted', 'dismissed', 'withdrawn'), MAX(a.finished_at) DESC, e.id LIMIT ?`, most); err != nil {
		return nil, err
	}
	for _, job := range jobs {
		var sending []int64 // without a limit: no more are in flight than may be at once
		if err := s.db.All(ctx, op, &sending,
			`SELECT e.id FROM entry e WHERE e.job = ? AND e.state = 'sending' AND e.sends = 'order_commitments'`,
			job); err != nil {
			return nil, err
		}
		ids = append(ids, sending...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	entries, err := s.discovery.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	attempts := map[int64][]trade.Attempt{}
	query := `SELECT ` + strings.Join(ledger.AttemptColumns, ", ") + ` FROM attempt WHERE ` + s.db.D.Among("entry_id") +
		` AND (outcome IS NULL OR outcome = 'unknown') ORDER BY entry_id, no`
	found, err := sqldb.Rows(ctx, s.db, op, (*ledger.AttemptRow).Attempt, query, sqldb.ListOf(s.db.D, ids))
	if err != nil {
		return nil, err
	}
	for _, a := range found {
		attempts[a.EntryID] = append(attempts[a.EntryID], a)
	}
	for _, e := range entries {
		for _, a := range attempts[e.ID] {
			out = append(out, trade.Doubt{Entry: e, Attempt: a})
		}
	}
	return out, nil
}
