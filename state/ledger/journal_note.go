// What a transaction notes in the journal: intents, outcomes, facts and acts.

package ledger

import (
	"errors"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// noteIntent tells the journal of a POST that may leave after the commit.
func (g *GroupTx) noteIntent(e *NarrowRow, a trade.Attempt, source trade.Hash) {
	r := g.Noting(journal.Group, g.Now)
	r.By = a.Owner
	r.Intents = append(r.Intents, journal.Intent{
		Row: journal.Row{Job: e.Job, Key: e.Key}, Sends: e.Sends, Attempt: a.ID, Generation: a.Generation,
		Payload: a.PayloadHash, Content: a.Content, Source: source,
	})
}

// noteOutcome tells the journal how an attempt ended.
func (g *GroupTx) noteOutcome(e *NarrowRow, a *AttemptRow, st trade.Settlement, follows bool) {
	r := g.Noting(journal.Group, g.Now)
	o := outcomeOf(st, follows)
	o.Row, o.Generation = journal.Row{Job: e.Job, Key: e.Key}, a.Generation
	r.Outcomes = append(r.Outcomes, o)
}

// NoteFacts tells the journal how entries are now: their answers came after a person had decided,
// or their content numbers were counted anew.
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

// keepAnswers writes the answers of a group that the ledger did not take to the journal alone
// (F052, F053): should the process end before the ledger takes them, the next start has them. It
// gives back the ledger's error.
func (s *Ledger) keepAnswers(group trade.Group, g *GroupTx, err error) error {
	flushed := g != nil && g.Seq > 0 // the record is there, with the answers
	if s.db.Journal == nil || len(group.Settle) == 0 || flushed {
		return err
	}
	r := journal.Record{Kind: journal.Group, At: time.UnixMilli(sqldb.AtOr(group.At, time.Time{})).UTC()}
	for _, st := range group.Settle {
		r.Outcomes = append(r.Outcomes, outcomeOf(st, true))
	}
	if keepErr := s.db.Journal.Keep(r); keepErr != nil {
		return errors.Join(err, s.db.JournalFault(keepErr))
	}
	return err
}

// outcomeOf is how an attempt ended, as the journal keeps it.
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

// noteAct tells the journal what a person decided about rows: the entries as they are now, at the
// end of the act's transaction. An older copy of the ledger, in which it is not decided, is then
// noticed although nothing was sent since.
func noteAct(t *sqldb.Tx, act trade.AuditRecord, entries []int64) error {
	r := t.Noting(journal.Act, time.UnixMilli(sqldb.AtOr(act.At, time.Time{})))
	r.ActName, r.Who = sqldb.CleanText(act.Act), sqldb.CleanText(act.Who)
	return FactPages(t, entries, func(facts []journal.Fact) error {
		r.Facts = append(r.Facts, facts...)
		return nil
	})
}

// noteJob tells the journal where a person left a job: a pause is a decision about sending too.
func noteJob(t *sqldb.Tx, act trade.AuditRecord, status trade.JobStatus) {
	r := t.Noting(journal.Act, time.UnixMilli(sqldb.AtOr(act.At, time.Time{})))
	r.ActName, r.Who = sqldb.CleanText(act.Act), sqldb.CleanText(act.Who)
	r.Jobs = append(r.Jobs, JobFact(status))
}

// JobFact is a job as a person left it.
func JobFact(status trade.JobStatus) journal.JobFact {
	fact := journal.JobFact{Job: status.Job}
	if status.State == trade.Paused && status.Stop != nil {
		fact.Paused, fact.Code, fact.Text, fact.Since = true, status.Stop.Code, sqldb.CleanText(status.Stop.Text),
			status.Since.UTC()
	}
	return fact
}
