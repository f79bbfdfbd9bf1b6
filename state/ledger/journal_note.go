// What a transaction writes to the journal: intents, outcomes, facts and acts.

package ledger

import (
	"errors"
	"time"

	"github.com/safrasync/safrasync/state/jobs"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// noteIntent records a POST that may leave after the commit.
func (g *GroupTx) noteIntent(e *NarrowRow, a trade.Attempt, source trade.Hash) {
	r := g.Noting(journal.Group, g.Now)
	r.By = a.Owner
	r.Intents = append(r.Intents, journal.Intent{
		Row: journal.Row{Job: e.Job, Key: e.Key}, Sends: e.Sends, Attempt: a.ID, Generation: a.Generation,
		Payload: a.PayloadHash, Source: source,
	})
}

// noteOutcome records how an attempt ended.
func (g *GroupTx) noteOutcome(e *NarrowRow, a *AttemptRow, st trade.Settlement, follows bool) {
	r := g.Noting(journal.Group, g.Now)
	o := outcomeOf(st, follows)
	o.Row, o.Generation = journal.Row{Job: e.Job, Key: e.Key}, a.Generation
	r.Outcomes = append(r.Outcomes, o)
}

// NoteFacts records the present state of entries whose answers came after a person had decided, or
// whose content numbers were computed anew.
func NoteFacts(t *sqldb.Tx, entries []int64, now time.Time) error {
	if len(entries) == 0 {
		return nil
	}
	r := t.Noting(journal.Group, now)
	return FactPages(t, entries, func(facts []journal.Fact) error {
		r.Facts = append(r.Facts, facts...)
		return nil
	})
}

// keepAnswers writes the answers of a group that the ledger could not store to the journal alone
// (F052, F053). If the process ends before the ledger has stored them, the next start finds them.
// It returns the ledger's error, joined with that of the journal.
func (s *Ledger) keepAnswers(group trade.Group, g *GroupTx, err error) error {
	flushed := g != nil && g.Seq > 0 // the record with the answers is flushed already
	if s.db.Journal == nil || len(group.Settle) == 0 || flushed {
		return err
	}
	r := journal.Record{Kind: journal.Group, At: time.UnixMilli(sqldb.AtOr(group.At, time.Time{})).UTC()}
	if had := s.db.Confirmed(); had.Server != "" {
		r.Seen, r.Term = had.Seen, &had.Term
	}
	for _, st := range group.Settle {
		r.Outcomes = append(r.Outcomes, outcomeOf(st, true))
	}
	if keepErr := s.db.Journal.Keep(r); keepErr != nil {
		return errors.Join(err, s.db.JournalFault(keepErr))
	}
	return err
}

// outcomeOf returns the outcome of an attempt in the form of the journal.
func outcomeOf(st trade.Settlement, follows bool) journal.Outcome {
	a := st.Attempt
	o := journal.Outcome{
		Attempt: a.ID, Generation: a.Generation, Outcome: string(a.Outcome), RemoteID: sqldb.CleanText(a.RemoteID),
		Counts: st.Counts, Status: a.Status,
	}
	if follows {
		o.State, o.Cause, o.Weak = string(st.State), sqldb.CleanText(st.Cause), st.Error != nil && st.Error.Weak
		if !st.NextAttemptAt.IsZero() {
			next := st.NextAttemptAt.UTC()
			o.Next = &next
		}
	}
	return o
}

// noteAct records what a person decided about rows: the state of the entries at the end of the
// act's transaction. An older copy of the ledger, which lacks the decision, is then detected
// although nothing was sent since.
func noteAct(t *sqldb.Tx, act trade.AuditRecord, entries []int64) error {
	r := t.Noting(journal.Act, time.UnixMilli(sqldb.AtOr(act.At, time.Time{})))
	r.ActName, r.Who = sqldb.CleanText(act.Act), sqldb.CleanText(act.Who)
	return FactPages(t, entries, func(facts []journal.Fact) error {
		r.Facts = append(r.Facts, facts...)
		return nil
	})
}

// noteJob records the state in which a person left a job: a pause is also a decision about sending.
func noteJob(t *sqldb.Tx, act trade.AuditRecord, status trade.JobStatus) {
	r := t.Noting(journal.Act, time.UnixMilli(sqldb.AtOr(act.At, time.Time{})))
	r.ActName, r.Who = sqldb.CleanText(act.Act), sqldb.CleanText(act.Who)
	r.Jobs = append(r.Jobs, JobFact(status))
}

// JobFact returns the state in which a person left a job, in the form of the journal.
func JobFact(status trade.JobStatus) journal.JobFact {
	fact := journal.JobFact{Job: status.Job}
	if status.State == trade.Paused && status.Stop != nil {
		fact.Paused, fact.Code, fact.Text, fact.Since = true, status.Stop.Code, sqldb.CleanText(status.Stop.Text),
			status.Since.UTC()
		fact.Brake = status.Stop.Brake
	}
	return fact
}

// Pauses returns the paused jobs, in the form of the journal.
func Pauses(t *sqldb.Tx) (facts []journal.JobFact, err error) {
	var rows []struct {
		Job string
		jobs.StatusRow
	}
	if err := t.All(&rows,
		`SELECT job, state, stop, stop_reach, since FROM job_status WHERE state = 'paused' ORDER BY job`); err != nil {
		return nil, err
	}
	for _, row := range rows {
		status, err := jobs.StatusOf(row.Job, []jobs.StatusRow{row.StatusRow})
		if err != nil {
			return nil, err
		}
		facts = append(facts, JobFact(status))
	}
	return facts, nil
}
