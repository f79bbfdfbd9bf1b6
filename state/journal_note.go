// What a transaction writes to the journal: its rows, attempts and records as it leaves them.

package state

import (
	"errors"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// touchedRow is a row that the journal must tell of, with the attempts that the transaction changed.
type touchedRow struct {
	*trade.Entry
	attempts []journal.Attempt
}

// touch adds a row, and attempts of it, to what the journal must tell of the transaction.
func (r *recordSet) touch(e *trade.Entry, attempts ...journal.Attempt) {
	if r.tells[e.ID] == nil {
		if r.tells == nil {
			r.tells = map[int64]*touchedRow{}
		}
		r.tells[e.ID] = &touchedRow{Entry: e}
		r.touched = append(r.touched, r.tells[e.ID])
	}
	r.tells[e.ID].attempts = append(r.tells[e.ID].attempts, attempts...)
}

// note writes to the journal the rows that were touched and the records that were written, as they
// are now: at the end of the transaction.
func (r *recordSet) note() error {
	if len(r.touched)+len(r.written)+len(r.seen) == 0 {
		return nil
	}
	note := r.t.Noting(r.now)
	note.Rows = slices.Grow(note.Rows, len(r.touched))
	note.Records = slices.Grow(note.Records, len(r.written))
	for _, row := range r.touched {
		image := imageOf(row.Entry)
		image.Attempts, image.On = row.attempts, r.on(row.Entry)
		note.Rows = append(note.Rows, image)
	}
	for _, row := range r.written {
		note.Records = append(note.Records, row.image())
	}
	note.Sightings = append(note.Sightings, r.seen...)
	r.touched, r.tells, r.written, r.seen = nil, nil, nil, nil
	return nil
}

// on returns the record by which an entry is accepted, if that is not the one of its own generation.
func (r *recordSet) on(e *trade.Entry) *journal.Origin {
	have := r.byID[e.RecordID]
	if have == nil || e.RecordID == 0 || have.Job == e.Job && have.Key == e.Key && have.Generation == e.Generation {
		return nil
	}
	return &journal.Origin{RowRef: journal.RowRef{Job: have.Job, Key: have.Key}, Generation: have.Generation}
}

// imageOf returns a row in the form in which the journal keeps it, without attempts.
func imageOf(e *trade.Entry) journal.Image {
	out := journal.Image{
		RowRef: journal.RowRef{Job: e.Job, Key: e.Key}, Sends: string(e.Sends), Version: e.Version,
		Generation: e.Generation, State: string(e.State), Cause: e.Cause, Weak: weakOf(e.Error) == 1,
		Payload: e.PayloadHash, Source: e.SourceHash, Flags: lastingFlags(e.Flags),
	}
	if !e.NextAttemptAt.IsZero() {
		next := e.NextAttemptAt
		out.Next = &next
	}
	// Those that explain its absence from the ERP end when the row is seen again; other flags tell of new
	// differences too, so a person must see them again after a rebuild.
	out.Explained = slices.DeleteFunc(slices.Clone(e.Acknowledged), func(f trade.Flag) bool {
		return f != trade.MissingInERP && f != trade.Cancelled
	})
	if e.State == trade.Dismissed {
		out.Dismissal = e.Dismissal
	}
	return out
}

// lastingFlags returns those of a row's flags that no reading of the ERP renews.
func lastingFlags(flags trade.Flags) trade.Flags {
	return slices.DeleteFunc(slices.Clone(flags), func(f trade.Flag) bool {
		return f == trade.MissingInERP || f == trade.Cancelled || f == trade.Twin || f == trade.NearTwin
	})
}

// attemptEnded returns an attempt as its settlement leaves it.
func attemptEnded(st trade.Settlement, generation int) journal.Attempt {
	a := st.Attempt
	return journal.Attempt{
		ID: a.ID, Generation: generation, Outcome: string(a.Outcome), RemoteID: sqldb.CleanText(a.RemoteID),
		Status: a.Status, Counts: st.Counts,
	}
}

// attemptsThatCount returns the attempts of entries that created a record, may have, or may be doing
// so, in the form of the journal.
func attemptsThatCount(t *sqldb.Tx, ids []int64) (map[int64][]journal.Attempt, error) {
	var rows []attemptRow
	if err := t.All(&rows, `SELECT attempt, origin, generation, outcome, answer_id, payload_hash, started_at, status, counts
		FROM sent WHERE `+t.S.D.Among("origin")+` AND outcome IN ('open', 'unknown', 'created') ORDER BY origin, no`, sqldb.ListOf(t.S.D, ids)); err != nil {
		return nil, err
	}
	out := map[int64][]journal.Attempt{}
	for _, a := range rows {
		out[a.Origin] = append(out[a.Origin], journal.Attempt{
			ID: a.Attempt, Generation: a.Generation, Outcome: string(a.outcome()), RemoteID: a.AnswerID,
			Payload: a.PayloadHash, Started: time.UnixMilli(a.StartedAt).UTC(), Status: a.Status, Counts: a.Counts == 1,
		})
	}
	return out, nil
}

// imagesOf adds rows of the ledger, and the records of them that count, to a page of the journal.
func imagesOf(t *sqldb.Tx, ids []int64, page *journal.Record) error {
	for chunk := range slices.Chunk(ids, sqldb.InList) {
		var rows []trade.Entry
		if err := t.All(&rows, selectLocked+`WHERE `+t.S.D.Among("e.id")+` ORDER BY e.id`,
			sqldb.ListOf(t.S.D, chunk)); err != nil {
			return err
		}
		attempts, err := attemptsThatCount(t, chunk)
		if err != nil {
			return err
		}
		of := make([]*trade.Entry, len(rows))
		for i := range rows {
			of[i] = &rows[i]
		}
		records, err := loadRecords(t, of, time.Time{})
		if err != nil {
			return err
		}
		if err := sightingImages(t, rows, page); err != nil {
			return err
		}
		for i := range rows {
			image := imageOf(of[i])
			image.Attempts, image.On = attempts[rows[i].ID], records.on(&rows[i])
			page.Rows = append(page.Rows, image)
			for _, r := range records.of[rows[i].ID] {
				if trade.Certainty(r.Certainty).Counts() {
					page.Records = append(page.Records, r.image())
				}
			}
		}
	}
	return nil
}

// isRemembered is the SQL condition for the entries with which a journal begins: those that were sent,
// about which a person has decided, or that may be the row of a record.
const isRemembered = `(e.state IN ('accepted', 'in_doubt', 'sending', 'held', 'dismissed', 'rejected') OR e.generation > 1
	OR EXISTS (SELECT 1 FROM sighting g WHERE g.entry_id = e.id))`

// keepAnswers writes the answers of a group that the ledger could not store to the journal alone
// (F052, F053). If the process ends before the ledger has stored them, the next start finds them.
// It returns the ledger's error, joined with that of the journal; if the disk is full and the journal
// has them, as a trade.KeptError.
func (s *Store) keepAnswers(group trade.Group, g *groupTx, err error) error {
	flushed := g != nil && g.Seq > 0 // the record with the answers is flushed already
	if s.db.Journal == nil || len(group.Settle) == 0 {
		return err
	}
	var full *sqldb.Error
	if errors.As(err, &full) && full.Code == sqldb.CodeFull {
		err = trade.Kept(err)
	}
	if flushed {
		return err
	}
	r := journal.Record{Kind: journal.Tx, At: time.UnixMilli(sqldb.AtOr(group.At, time.Time{})).UTC()}
	if had := s.db.Confirmed(); had.Server != "" {
		r.Seen, r.Term = had.Seen, &had.Term
	}
	for _, st := range group.Settle {
		row := journal.Image{
			State: string(st.State), Cause: sqldb.CleanText(st.Cause), Weak: st.Weak,
			Flags: lastingFlags(st.Flags), Attempts: []journal.Attempt{attemptEnded(st, st.Attempt.Generation)},
		}
		if !st.NextAttemptAt.IsZero() {
			next := st.NextAttemptAt.UTC()
			row.Next = &next
		}
		r.Rows = append(r.Rows, row)
	}
	if keepErr := s.db.Journal.Keep(r); keepErr != nil {
		return errors.Join(err, s.db.JournalFault(keepErr))
	}
	return err
}

func noteActOf(t *sqldb.Tx, act trade.AuditRecord) *journal.Record {
	at := time.UnixMilli(sqldb.AtOr(act.At, time.Time{})).UTC()
	r := t.Noting(at)
	r.At, r.ActName, r.Who = at, sqldb.CleanText(act.Act), sqldb.CleanText(act.Who)
	return r
}

// jobFactOf returns the state in which a person left a job, in the form of the journal.
func jobFactOf(status trade.JobStatus) journal.JobFact {
	fact := journal.JobFact{Job: status.Job}
	if status.State == trade.Paused && status.Stop != nil {
		fact.Paused, fact.Code, fact.Why, fact.Since = true, status.Stop.Code, status.Stop.Why, status.Since.UTC()
		fact.Brake = status.Stop.Brake
	}
	return fact
}

// pauseFacts returns the paused jobs, in the form of the journal.
func pauseFacts(t *sqldb.Tx) (facts []journal.JobFact, err error) {
	var rows []trade.JobStatus
	if err := t.All(&rows,
		`SELECT job, state, stop, since FROM job_status WHERE state = 'paused' ORDER BY job`); err != nil {
		return nil, err
	}
	for _, status := range rows {
		if status.Stop != nil && status.Stop.Brake != nil && status.Job != theLedger {
			status.Stop.Brake.Job = status.Job
		}
		facts = append(facts, jobFactOf(status))
	}
	return facts, nil
}
