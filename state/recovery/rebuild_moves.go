package recovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// moveJobs repeats the moves of jobs that the journal has after the last record of the ledger.
func (r *Rebuilding) moveJobs(last int64, who string) error {
	for _, move := range r.History.moves {
		if move.After < last {
			continue
		}
		m := &JobMove{
			Tx: r.Tx, From: move.From, To: move.To, Now: r.Now, Sums: ledger.TallyChange{},
			journal: r.History.End.Header.Journal, after: move.After,
		}
		err := m.Look()
		switch {
		case err != nil:
		case m.plan.Collisions > 0:
			err = fmt.Errorf(
				"the journal says that the entries of job %s went to job %s, and this ledger has %d keys in both that were sent, such as %s: it is no copy from before",
				move.From, move.To, m.plan.Collisions, strings.Join(m.plan.Samples, ", "))
		case m.plan.Sends == "":
			err = m.remember(trade.Kind(move.Sends))
		default:
			err = m.Apply(trade.AuditRecord{At: r.Now, Who: who, Reason: "known from the journal"})
		}
		if err != nil {
			return err
		}
	}
	r.Note = nil // the journal has all that
	return nil
}

// followMoves assigns the history of rows to the jobs that now have them in the ledger. The journal
// of one host records a move; the journals of the others have the old name.
func (r *Rebuilding) followMoves() error {
	var moves []journal.Move
	if err := r.All(&moves,
		`SELECT job AS "from", moved_to AS "to", sends, seq AS "after" FROM job_moved WHERE journal <> ? ORDER BY journal, seq`,
		r.History.End.Header.Journal); err != nil {
		return err
	}
	for _, move := range moves {
		var keys []string
		for _, m := range r.History.Order {
			if m.Job == move.From {
				keys = append(keys, m.Key)
			}
		}
		for chunk := range slices.Chunk(keys, sqldb.InList) {
			var there []string
			if err := r.All(&there, `SELECT n.key FROM entry n WHERE n.job = ? AND `+r.S.D.Among("n.key")+` AND NOT EXISTS (SELECT 1 FROM entry o
				WHERE o.job = ? AND o.key = n.key AND (o.state <> 'withdrawn' OR EXISTS (SELECT 1 FROM attempt a WHERE a.entry_id = o.id)))`,
				move.To, sqldb.ListOf(r.S.D, chunk), move.From); err != nil {
				return err
			}
			for _, key := range there {
				r.History.rename(r.History.rows[journal.Row{Job: move.From, Key: key}], move.To)
			}
		}
		r.History.tidy()
	}
	return nil
}
