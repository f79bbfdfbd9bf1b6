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

// Doubts gives the attempts of order commitments of which nobody knows whether they made a record,
// and those in flight, with their entries. What is decided is given too, because a record may
// contradict the decision, or be that of a decided row rather than of another one: the newest, as
// many as are left of the most that are looked at.
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
	ids, err := s.doubtful(ctx, most)
	for _, job := range jobs {
		var sending []int64 // without a limit: no more are in flight than may be at once
		if err == nil {
			err = s.db.Read.SelectContext(ctx, &sending,
				s.db.Q(
					`SELECT e.id FROM entry e WHERE e.job = ? AND e.state = 'sending' AND e.sends = 'order_commitments'`), job)
		}
		ids = append(ids, sending...)
	}
	if err != nil {
		return nil, s.db.Fault(ctx, op, err)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	entries, err := s.discovery.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	attempts := map[int64][]trade.Attempt{}
	for chunk := range slices.Chunk(ids, sqldb.InList) {
		var rows []ledger.AttemptRow
		query := `SELECT ` + strings.Join(ledger.AttemptColumns, ", ") + ` FROM attempt WHERE entry_id IN (` +
			sqldb.Marks(len(chunk)) + `) AND (outcome IS NULL OR outcome = 'unknown') ORDER BY entry_id, no`
		if err := s.db.Read.SelectContext(ctx, &rows, s.db.Q(query), sqldb.Anys(chunk)...); err != nil {
			return nil, s.db.Fault(ctx, op, err)
		}
		for _, r := range rows {
			a, err := r.Attempt()
			if err != nil {
				return nil, s.db.Fault(ctx, op, err)
			}
			attempts[a.EntryID] = append(attempts[a.EntryID], a)
		}
	}
	for _, e := range entries {
		for _, a := range attempts[e.ID] {
			out = append(out, trade.Doubt{Entry: e, Attempt: a})
		}
	}
	return out, nil
}

// doubtful returns the rows with an attempt of which nobody knows whether it made a record: those
// about which something is still to be done, then those that are decided, and of both those first
// whose request ended last.
func (s *Mailbox) doubtful(ctx context.Context, most int) (ids []int64, err error) {
	err = s.db.Read.SelectContext(ctx, &ids, s.db.Q(`SELECT e.id FROM attempt a JOIN entry e ON e.id = a.entry_id WHERE a.outcome = 'unknown' AND e.sends = 'order_commitments'
		GROUP BY e.id ORDER BY e.state IN ('accepted', 'dismissed', 'withdrawn'), MAX(a.finished_at) DESC, e.id LIMIT ?`), most)
	return ids, err
}
