package state

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Apply moves the job, and records that in the audit and in the journal.
func (m *jobMove) Apply(record trade.AuditRecord) error {
	if m.journal == "" {
		if err := m.place(); err != nil {
			return err
		}
	}
	record.Act, record.Target = moveName, m.From+" "+m.To
	if err := addAudit(m.Tx, record); err != nil {
		return err
	}
	if err := m.moveEntries(record.Target); err != nil {
		return err
	}
	if err := m.moveCursor(); err != nil {
		return err
	}
	if err := m.Do(`UPDATE run SET job = ? WHERE job = ?`, m.To, m.From); err != nil {
		return err
	}
	if err := m.remember(m.plan.Sends); err != nil {
		return err
	}
	// Where rows gave way, they stay under the old name, whose keys are compared as before.
	if err := m.Do(
		`DELETE FROM job_kind WHERE job = ? AND NOT EXISTS (SELECT 1 FROM entry e WHERE e.job = job_kind.job)`,
		m.From); err != nil {
		return err
	}
	if err := m.Do(`DELETE FROM job_status WHERE job = ?`, m.From); err != nil {
		return err
	}
	// what was in flight under the old name was so under an earlier lease
	if err := m.Do(`UPDATE job_lease SET epoch = (SELECT MAX(epoch) FROM job_lease WHERE job IN (?, ?)) WHERE job = ?`,
		m.From, m.To, m.To); err != nil {
		return err
	}
	if err := knowJob(m.Tx, m.To, string(m.plan.Sends)); err != nil {
		return err
	}
	if err := putStatus(m.Tx, m.status); err != nil {
		return err
	}
	note := m.Noting(m.Now)
	note.ActName, note.Who = moveName, sqldb.CleanText(record.Who)
	note.Moves = append(note.Moves, journal.Move{From: m.From, To: m.To, Sends: string(m.plan.Sends), After: m.after})
	note.Jobs = append(note.Jobs, journal.JobFact{Job: m.From}, jobFactOf(m.status))
	if err := imagesOf(m.Tx, slices.Concat(m.replaced, m.left, m.kept), note); err != nil {
		return err
	}
	return m.Sums.Apply(m.Tx)
}

// remember records that the entries of the job were moved, for journals that know them under the
// old name.
func (m *jobMove) remember(sends trade.Kind) error {
	return m.Do(`INSERT INTO job_moved (job, sends, moved_to, journal, seq) VALUES (?, ?, ?, ?, ?)`, m.From,
		string(sends), m.To, m.journal, m.after)
}

// place determines the position of the move in the journal.
func (m *jobMove) place() error {
	if m.S.Journal == nil {
		return m.Get(&m.after, `SELECT COUNT(*) FROM job_moved WHERE journal = ''`)
	}
	m.journal = m.S.Journal.Header().Journal
	return m.Get(&m.after, m.S.D.Locked(`SELECT seq FROM journal WHERE id = ?`, "journal"), m.journal)
}

// moveEntries moves the entries to the other job. Those that are withdrawn get an interim job name,
// which no job can have, until their keys are free.
func (m *jobMove) moveEntries(between string) error {
	if m.S.D.Name == sqldb.Postgres {
		if err := m.Do(`SET LOCAL statement_timeout = 0`); err != nil {
			return err
		}
	}
	gives := slices.Concat(m.replaced, m.left)
	for chunk := range slices.Chunk(gives, sqldb.ArrayRows) {
		// look has counted them
		if err := moveRows(m.Tx, chunk, tallyChange{}, (*trade.Entry).Withdraw, 0, m.Now); err != nil {
			return err
		}
		if err := m.Do(`UPDATE entry SET job = ?, version = version + 1 WHERE `+m.S.D.Among("id"), between,
			sqldb.ListOf(m.S.D, chunk)); err != nil {
			return err
		}
	}
	if err := m.Do(`UPDATE entry SET job = ?, version = version + 1 WHERE job = ?`, m.To, m.From); err != nil {
		return err
	}
	// What was proved not to exist counts no more, and may have the place of what does.
	if err := m.Do(`DELETE FROM record WHERE certainty = 'void' AND job IN (?, ?)`, m.From, m.To); err != nil {
		return err
	}
	if err := errors.Join(m.Do(`UPDATE record SET job = ?, version = version + 1 WHERE job = ?`, m.To, m.From),
		m.Do(`UPDATE listing SET job = ? WHERE job = ?`, m.To, m.From)); err != nil || len(gives) == 0 {
		return err
	}
	for chunk := range slices.Chunk(gives, sqldb.ArrayRows) {
		if err := m.Do(`UPDATE listing SET job = ? WHERE `+m.S.D.Among("entry_id"), m.From,
			sqldb.ListOf(m.S.D, chunk)); err != nil {
			return err
		}
	}
	return m.Do(`UPDATE entry SET job = ?, version = version + 1 WHERE job = ?`, m.From, between)
}

// moveCursor lets the job continue reading where it was, under its new name. Its next run sweeps,
// because the two parts were never compared together.
func (m *jobMove) moveCursor() error {
	was, err := cursorOf(m.All, m.From)
	if err != nil {
		return err
	}
	cursor, err := cursorOf(m.All, m.To)
	if err != nil {
		return err
	}
	if passed := max(was.Brakes.Passed, cursor.Brakes.Passed); cursor.Brakes.Identity == nil {
		was.Brakes.Former, cursor = cursor.Brakes.Former, was
	} else {
		cursor.Brakes.Passed = passed
	}
	cursor.SweptAt, cursor.Parents = time.Time{}, ""
	if err := setCursor(m.Tx, m.To, cursor); err != nil {
		return err
	}
	return m.Do(`DELETE FROM job_cursor WHERE job = ?`, m.From)
}

// moveJobs repeats the moves of jobs that the journal has after the last record of the ledger.
func (r *replay) moveJobs(last int64, who string) error {
	for _, move := range r.History.moves {
		if move.After < last {
			continue
		}
		m := &jobMove{
			Tx: r.Tx, From: move.From, To: move.To, Now: r.Now, Sums: tallyChange{},
			journal: r.History.End.Header.Journal, after: move.After,
		}
		err := m.look()
		switch {
		case err != nil:
		case m.plan.Collisions > 0:
			err = phrase.Errorf(
				"the journal says that the entries of job %s went to job %s, and this ledger has %d keys in both that were sent, such as %s: it is no copy from before",
				move.From, move.To, m.plan.Collisions, strings.Join(m.plan.Samples, ", "))
		case m.plan.Sends == "":
			err = m.remember(trade.Kind(move.Sends))
		default:
			var why []byte
			why, err = json.Marshal(map[string]any{"why": trade.Say("audit.journal")})
			if err == nil {
				err = m.Apply(trade.AuditRecord{At: r.Now, Who: who, Detail: string(why)})
			}
		}
		if err != nil {
			return err
		}
	}
	r.Note = nil // the journal has all that
	return nil
}
