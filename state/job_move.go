package state

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// moveName is the name of the act in the audit, which a trigger of the database requires, and in
// the journal.
const moveName = "job move"

// MoveJob renames a job: its entries, with attempts, sums, runs, cursor and status, belong to the
// new name, in one transaction with the audit record. It returns *trade.LeasedError while a process
// runs either job. If apply is false, or if the new name is taken, it changes nothing and returns
// what it would do.
func (s *Store) MoveJob(ctx context.Context, from, to string, apply bool,
	record trade.AuditRecord,
) (plan trade.JobMove, err error) {
	if from == to {
		return plan, errors.New("a job cannot be moved to itself")
	}
	if apply && (record.Who == "" || record.Reason == "") {
		return plan, errNoRecord
	}
	work := s.db.InLongTx
	if !apply {
		work = s.db.Peek
	}
	err = work(ctx, "moving a job", func(t *sqldb.Tx) error {
		if apply {
			if err := mayWork(t); err != nil {
				return err
			}
			both := []string{from, to}
			slices.Sort(both)
			for _, job := range both { // nobody can run either until the transaction ends
				if err := t.Do(addLease, job); err != nil {
					return err
				}
				if _, err := lockLease(t, job); err != nil {
					return err
				}
			}
		}
		m := &jobMove{Tx: t, From: from, To: to, Now: time.UnixMilli(sqldb.AtOr(record.At, time.Now()))}
		err := m.look()
		plan = m.plan
		if err != nil || !apply || plan.Taken || plan.Sends == "" {
			return err
		}
		return m.Apply(record)
	})
	return plan, err
}

// jobMove is the move of one job.
type jobMove struct {
	*sqldb.Tx
	From, To string
	Now      time.Time
	plan     trade.JobMove
	status   trade.JobStatus
	journal  string // the journal that records the move, and its last record before it
	after    int64
}

// look determines what the move would do.
func (m *jobMove) look() error {
	m.plan = trade.JobMove{From: m.From, To: m.To, States: map[trade.State]int{}}
	var kinds []trade.Kind
	err := m.All(&kinds, `SELECT sends FROM job_kind WHERE job = ? ORDER BY sends`, m.From)
	if err != nil || len(kinds) == 0 {
		return err
	}
	m.plan.Sends = kinds[0]
	if len(kinds) > 1 {
		return phrase.Errorf("job %s has rows of %s and of %s: it cannot be moved", m.From, kinds[0], kinds[1])
	}
	if err := m.Get(&m.plan.Taken, `SELECT EXISTS (SELECT 1 FROM entry WHERE job = ?)
		OR EXISTS (SELECT 1 FROM sent WHERE job = ?)`, m.To, m.To); err != nil {
		return err
	}
	counts, err := countsOf(m.All, m.From)
	if err != nil {
		return err
	}
	for _, c := range counts {
		m.plan.States[c.State] += c.Count
		m.plan.Entries += c.Count
	}
	was, err := lockStatus(m.Tx, m.From)
	if err != nil {
		return err
	}
	m.status, err = lockStatus(m.Tx, m.To)
	if err != nil {
		return err
	}
	// A pause of either job stays, except for a brake that asked for this move.
	asked := false
	if stop := m.status.Stop; m.status.State == trade.Paused && stop != nil && stop.Brake != nil {
		others := slices.DeleteFunc(slices.Clone(stop.Brake.Former),
			func(k trade.KnownJob) bool { return k.Job == m.From })
		asked = len(others) == 0 && len(stop.Brake.Former) > 0
		stop.Brake.Former = others
		if len(others) > 0 { // they cannot get the name of this one any more
			stop.Brake.Known = m.plan.Entries
		}
	}
	if asked || m.status.State != trade.Paused {
		m.status = trade.JobStatus{Job: m.To, State: trade.Idle, Since: m.Now}
		if was.State == trade.Paused || was.State == trade.Stopped {
			m.status = was
			m.status.Job = m.To
			if was.Stop != nil && was.Stop.Brake != nil {
				was.Stop.Brake.Job = m.To
			}
			if was.Stop != nil && was.Stop.Why.Args["job"] != nil {
				was.Stop.Why = was.Stop.Why.With("job", m.To)
			}
		}
	}
	m.plan.Paused = m.status.State == trade.Paused
	return nil
}

// Apply moves the job, and records that in the audit and in the journal.
func (m *jobMove) Apply(record trade.AuditRecord) error {
	if err := m.remember(m.plan.Sends); err != nil {
		return err
	}
	record.Act, record.Target = moveName, m.From+" "+m.To
	if err := books.AddAudit(m.Tx, record); err != nil {
		return err
	}
	if m.S.D.Name == sqldb.Postgres {
		if err := m.Do(`SET LOCAL statement_timeout = 0`); err != nil {
			return err
		}
	}
	// The job continues reading where it was. Its next run sweeps, because the query under the new
	// name may be another one.
	cursor, err := cursorOf(m.All, m.From)
	if err != nil {
		return err
	}
	released, err := cursorOf(m.All, m.To)
	if err != nil {
		return err
	}
	cursor.Brakes.Former = released.Brakes.Former
	cursor.SweptAt, cursor.Parents = time.Time{}, ""
	if err := setCursor(m.Tx, m.To, cursor); err != nil {
		return err
	}
	for _, rename := range []string{
		`UPDATE entry SET job = ?, version = version + 1 WHERE job = ?`,
		`UPDATE sent SET job = ?, version = version + 1 WHERE job = ?`,
		`UPDATE listing SET job = ? WHERE job = ?`,
		// a text of the facts, which are JSON, has no quote without a backslash
		`UPDATE body SET facts = REPLACE(facts, '"contract":{"Job":"' || l.contract_job || '"',
			'"contract":{"Job":"' || ? || '"') FROM listing l WHERE l.entry_id = body.entry_id AND l.contract_job = ?`,
		`UPDATE listing SET contract_job = ? WHERE contract_job = ?`,
		`UPDATE run SET job = ? WHERE job = ?`,
	} {
		if err := m.Do(rename, m.To, m.From); err != nil {
			return err
		}
	}
	for _, forget := range []string{
		`DELETE FROM job_cursor WHERE job = ?`,
		`DELETE FROM job_kind WHERE job = ?`,
		`DELETE FROM job_status WHERE job = ?`,
	} {
		if err := m.Do(forget, m.From); err != nil {
			return err
		}
	}
	// what was in flight under the old name was so under an earlier lease
	if err := m.Do(`UPDATE job_lease SET epoch = (SELECT MAX(epoch) FROM job_lease WHERE job IN (?, ?)) WHERE job = ?`,
		m.From, m.To, m.To); err != nil {
		return err
	}
	if err := knowJob(m.Tx, m.To, string(m.plan.Sends)); err != nil {
		return err
	}
	note := m.Noting(m.Now)
	note.ActName, note.Who = moveName, sqldb.CleanText(record.Who)
	note.Moves = append(note.Moves, journal.Move{
		From:  m.From,
		To:    m.To,
		Sends: string(m.plan.Sends),
		After: m.after,
	})
	note.Jobs = append(note.Jobs, journal.JobFact{Job: m.From}, jobFactOf(m.status))
	return putStatus(m.Tx, m.status)
}

// remember records that the entries of the job were moved, for journals that know them under the
// old name.
func (m *jobMove) remember(sends trade.Kind) error {
	if m.journal == "" { // it is not repeated from a journal
		query, args := `SELECT COUNT(*) FROM job_moved WHERE journal = ''`, []any{}
		if m.S.Journal != nil {
			m.journal = m.S.Journal.Header().Journal
			query, args = m.S.D.Locked(`SELECT seq FROM journal WHERE id = ?`, "journal"), []any{m.journal}
		}
		if err := m.Get(&m.after, query, args...); err != nil {
			return err
		}
	}
	return m.Do(`INSERT INTO job_moved (job, sends, moved_to, journal, seq) VALUES (?, ?, ?, ?, ?)`, m.From,
		string(sends), m.To, m.journal, m.after)
}

// moveJobs repeats the moves of jobs that the journal has after the last record of the ledger.
func (r *replay) moveJobs(last int64, who string) error {
	why, err := json.Marshal(map[string]any{"why": trade.Say("audit.journal")})
	if err != nil {
		return err
	}
	for _, move := range r.History.moves {
		if move.After < last {
			continue
		}
		m := &jobMove{
			Tx:      r.Tx,
			From:    move.From,
			To:      move.To,
			Now:     r.Now,
			journal: r.History.End.Header.Journal,
			after:   move.After,
		}
		err := m.look()
		switch {
		case err != nil:
		case m.plan.Sends == "":
			err = m.remember(trade.Kind(move.Sends))
		case m.plan.Taken:
			err = phrase.Errorf(
				"the journal says that job %s was renamed to %s, and this ledger has rows of both: it is no copy from before, or another host's journal is to be replayed first",
				move.From, move.To)
		default:
			err = m.Apply(trade.AuditRecord{At: r.Now, Who: who, Detail: string(why)})
		}
		if err != nil {
			return err
		}
	}
	r.Note = nil // the journal has all that
	return nil
}
