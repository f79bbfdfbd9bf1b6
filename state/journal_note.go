// What a transaction writes to the journal: its rows, and what was sent, as it leaves them.

package state

import (
	"errors"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// touch adds a row to what the journal must have of the transaction.
func (r *recordSet) touch(e *trade.Entry) {
	if !slices.Contains(r.touched, e) {
		r.touched = append(r.touched, e)
	}
}

// noted adds a sending to what the journal must have of the transaction.
func (r *recordSet) noted(have *ownedRecord) {
	if !have.noted {
		have.noted, r.written = true, append(r.written, have)
	}
}

// touchWhole adds a row and what was sent of it and may exist.
func (r *recordSet) touchWhole(e *trade.Entry) {
	r.touch(e)
	for _, have := range r.of[e.ID] {
		if have.mayExist() {
			r.noted(have)
		}
	}
}

// note writes to the journal the rows that were touched and what was sent and written, as they are now:
// at the end of the transaction.
func (r *recordSet) note() {
	if len(r.touched)+len(r.written)+len(r.seen) > 0 {
		r.fill(r.t.Noting(r.now))
	}
}

// fill adds to a record of the journal what it must have of the transaction.
func (r *recordSet) fill(note *journal.Record) {
	note.Rows = slices.Grow(note.Rows, len(r.touched))
	for _, e := range r.touched {
		note.Rows = append(note.Rows, r.image(e))
	}
	for _, have := range r.written {
		note.Sent = append(note.Sent, have.image())
	}
	note.Sightings = append(note.Sightings, r.seen...)
	r.touched, r.written, r.seen = nil, nil, nil
}

// image returns a row in the form in which the journal keeps it.
func (r *recordSet) image(e *trade.Entry) journal.Image {
	out := journal.Image{
		RowRef: journal.RowRef{Job: e.Job, Key: e.Key}, Sends: string(e.Sends), Version: e.Version,
		Generation: e.Generation, State: string(e.State), Cause: e.Cause, Weak: weakOf(e.Error) == 1,
		Payload: e.PayloadHash, Source: e.SourceHash, Flags: lastingFlags(e.Flags),
	}
	on := r.byID[e.RecordID]
	if on != nil && e.RecordID != 0 && (on.Job != e.Job || on.Key != e.Key || on.Generation != e.Generation) {
		out.On = &journal.Origin{RowRef: on.Row(), Generation: on.Generation}
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

// imagesOf adds rows of the ledger, at most [sqldb.InList], and what was sent of them and may exist, to a
// page of the journal.
func imagesOf(t *sqldb.Tx, ids []int64, page *journal.Record) error {
	var rows []trade.Entry
	if err := t.All(&rows, selectLocked+`WHERE `+t.S.D.Among("e.id")+` ORDER BY e.id`,
		sqldb.ListOf(t.S.D, ids)); err != nil {
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
	for _, e := range of {
		records.touchWhole(e)
	}
	if err := records.loadSightings(of); err != nil {
		return err
	}
	records.fill(page)
	return nil
}

// isRemembered is the SQL condition for the entries with which a journal begins: those that were sent,
// about which a person has decided, or that may be the row of a record.
const isRemembered = `(e.state IN ('accepted', 'in_doubt', 'sending', 'held', 'dismissed', 'rejected') OR e.generation > 1
	OR EXISTS (SELECT 1 FROM sighting g WHERE g.entry_id = e.id))`

// journalAnswers writes the answers of a group that the ledger could not store to the journal alone
// (F052, F053). If the process ends before the ledger has stored them, the next start finds them.
// It returns the ledger's error, joined with that of the journal; if the disk is full and the journal
// has them, as a trade.JournalledError.
func (s *Store) journalAnswers(group trade.Group, g *groupTx, err error) error {
	flushed := g != nil && g.Seq > 0 // the record with the answers is flushed already
	if s.db.Journal == nil || len(group.Settle) == 0 {
		return err
	}
	var full *sqldb.Error
	if errors.As(err, &full) && full.Code == sqldb.CodeFull {
		err = trade.Journalled(err)
	}
	if flushed {
		return err
	}
	r := journal.Record{Kind: journal.Tx, At: time.UnixMilli(sqldb.AtOr(group.At, time.Time{})).UTC()}
	if had := s.db.Confirmed(); had.Server != "" {
		r.Seen, r.Term = had.Seen, &had.Term
	}
	for _, st := range group.Settle {
		answer := journal.Answer{
			AttemptImage: journal.AttemptImage{
				Attempt: st.Attempt.ID, Generation: st.Attempt.Generation, Outcome: string(st.Attempt.Outcome),
				Status: st.Attempt.Status, AnswerID: sqldb.CleanText(st.Attempt.RemoteID),
			},
			State: string(st.State), Cause: sqldb.CleanText(st.Cause), Weak: st.Weak, Flags: lastingFlags(st.Flags),
		}
		if st.Counts {
			answer.Counts = 1
		}
		if !st.NextAttemptAt.IsZero() {
			next := st.NextAttemptAt.UTC()
			answer.Next = &next
		}
		r.Answers = append(r.Answers, answer)
	}
	if keepErr := s.db.Journal.WriteAnswers(r); keepErr != nil {
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
