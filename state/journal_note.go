package state

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/trade"
)

// noting gives the note of a transaction, which is flushed to the journal before the commit.
func (t *tx) noting(kind journal.Kind, at time.Time) *journal.Record {
	if t.note == nil {
		t.note = &journal.Record{Kind: kind, At: at.UTC()}
	}
	return t.note
}

// noteIntent tells the journal of a POST that may leave after the commit.
func (g *groupTx) noteIntent(e *narrowRow, a trade.Attempt, source trade.Hash) {
	r := g.noting(journal.Group, g.now)
	r.By = a.Owner
	r.Intents = append(r.Intents, journal.Intent{
		Row: journal.Row{Job: e.Job, Key: e.Key}, Sends: e.Sends, Attempt: a.ID, Generation: a.Generation, Payload: a.PayloadHash, Content: a.Content, Source: source,
	})
}

// noteOutcome tells the journal how an attempt ended.
func (g *groupTx) noteOutcome(e *narrowRow, a *attemptRow, st trade.Settlement, follows bool) {
	r := g.noting(journal.Group, g.now)
	o := outcomeOf(st, follows)
	o.Row, o.Generation = journal.Row{Job: e.Job, Key: e.Key}, a.Generation
	r.Outcomes = append(r.Outcomes, o)
}

// noteFacts tells the journal how entries are now: their answers came after a person had decided,
// or their content numbers were counted anew.
func (t *tx) noteFacts(entries []int64, now time.Time) error {
	if len(entries) == 0 {
		return nil
	}
	r := t.noting(journal.Group, now)
	return factPages(t, entries, func(facts []journal.Fact) error {
		r.Facts = append(r.Facts, facts...)
		return nil
	})
}

// keepAnswers writes the answers of a group that the ledger did not take to the journal alone (F052, F053): should the process end before the ledger takes them,
// the next start has them. It gives back the ledger's error.
func (s *Store) keepAnswers(group trade.Group, g *groupTx, err error) error {
	flushed := g != nil && g.seq > 0 // the record is there, with the answers
	if s.journal == nil || len(group.Settle) == 0 || flushed {
		return err
	}
	r := journal.Record{Kind: journal.Group, At: time.UnixMilli(atOr(group.At, time.Time{})).UTC()}
	for _, st := range group.Settle {
		r.Outcomes = append(r.Outcomes, outcomeOf(st, true))
	}
	if keepErr := s.journal.Keep(r); keepErr != nil {
		return errors.Join(err, s.journalFault(keepErr))
	}
	return err
}

// outcomeOf is how an attempt ended, as the journal keeps it.
func outcomeOf(st trade.Settlement, follows bool) journal.Outcome {
	a := st.Attempt
	o := journal.Outcome{
		Attempt: a.ID, Generation: a.Generation, Outcome: string(a.Outcome), RemoteID: cleanText(a.RemoteID), Counts: st.Counts, Status: a.Status,
	}
	if follows {
		o.State, o.Cause, o.Weak = string(st.State), cleanText(st.Cause), st.Error != nil && st.Error.Weak
		if !st.NextAttemptAt.IsZero() {
			next := st.NextAttemptAt.UTC()
			o.Next = &next
		}
	}
	return o
}

// noteAct tells the journal what a person decided about rows: the entries as they are now, at the end of the act's transaction. An older copy of the ledger, in
// which it is not decided, is then noticed although nothing was sent since.
func (t *tx) noteAct(act trade.AuditRecord, entries []int64) error {
	r := t.noting(journal.Act, time.UnixMilli(atOr(act.At, time.Time{})))
	r.ActName, r.Who = cleanText(act.Act), cleanText(act.Who)
	return factPages(t, entries, func(facts []journal.Fact) error {
		r.Facts = append(r.Facts, facts...)
		return nil
	})
}

// noteJob tells the journal where a person left a job: a pause is a decision about sending too.
func (t *tx) noteJob(act trade.AuditRecord, status trade.JobStatus) {
	r := t.noting(journal.Act, time.UnixMilli(atOr(act.At, time.Time{})))
	r.ActName, r.Who = cleanText(act.Act), cleanText(act.Who)
	r.Jobs = append(r.Jobs, jobFact(status))
}

// jobFact is a job as a person left it.
func jobFact(status trade.JobStatus) journal.JobFact {
	fact := journal.JobFact{Job: status.Job}
	if status.State == trade.Paused && status.Stop != nil {
		fact.Paused, fact.Code, fact.Text, fact.Since = true, status.Stop.Code, cleanText(status.Stop.Text), status.Since.UTC()
	}
	return fact
}

// writeNote flushes the note to the journal and stores its number in the transaction. Journal first, ledger second: a crash between the two is seen at the next
// start, when the journal has one record more.
func (t *tx) writeNote() error {
	s := t.s
	switch {
	case t.note == nil:
		return nil
	case s.journal == nil && s.served:
		return &Error{
			Code: CodeJournal, Path: s.where, Hint: "set state.journal as the other processes have it",
			Err: errors.New("the ledger has a journal, and was opened without it"),
		}
	case s.journal == nil:
		return nil
	}
	id := s.journal.Header().Journal
	// Locked: one transaction of this journal at a time; those of other hosts go on.
	if err := t.all(&[]int64{}, s.d.locked(`SELECT seq FROM journal WHERE id = ?`, "journal"), id); err != nil {
		return err
	}
	rows, err := journalRows(t, false)
	if err != nil {
		return err
	}
	row, ok := rows[id]
	if !ok || row.RetiredAt.Valid {
		return &Error{Code: CodeRolledBack, Path: s.where, Hint: rebuildHint, Err: errors.New("the ledger no longer knows its journal")}
	}
	for other, r := range rows {
		if other != id && !r.RetiredAt.Valid {
			if t.note.Seen == nil {
				t.note.Seen = map[string]int64{}
			}
			t.note.Seen[other] = max(t.note.Seen[other], r.Seq)
		}
	}
	if t.audit != nil {
		t.note.Audit = &journal.AuditHead{Seq: t.audit.Seq, Hash: t.audit.Hash}
	}
	seq, mark, err := s.journal.Append(*t.note, row.Seq, row.Mark)
	if err != nil {
		return s.journalFault(err)
	}
	t.seq = seq
	return t.exec(`UPDATE journal SET seq = ?, mark = ?, at = ? WHERE id = ?`, seq, mark, t.note.At.UnixMilli(), id)
}

// catchUp settles what another process left that ended between journal and ledger, as the next start would: a process that goes on need not start again for it.
func (s *Store) catchUp(ctx context.Context, op string, slot int) error {
	_, err := s.tryTx(ctx, op, slot, func(t *tx) error {
		v, err := s.judge(t, s.journalPath, true)
		if err != nil || v.record == nil {
			return err
		}
		_, err = s.settleRecord(t, &v)
		return err
	})
	return err
}

// noted tells the journal that the ledger has the note, and does what waited for that.
func (t *tx) noted() {
	for _, f := range t.then {
		f()
	}
	if t.seq > 0 {
		t.s.journal.Committed(t.seq)
	}
}

// journalFault says what is wrong with a journal, and what to do.
func (s *Store) journalFault(err error) error {
	e := &Error{Code: CodeJournal, Path: s.where, Err: err, Hint: "check the folder of state.journal, its rights and its disk"}
	var damage *journal.DamageError
	switch {
	case errors.Is(err, journal.ErrAhead), errors.Is(err, journal.ErrBack):
		e.Code, e.Hint = CodeRolledBack, "nothing more is sent; start again, which settles it or says what is missing"
	case errors.Is(err, journal.ErrBehind):
		e.Code, e.Hint = CodeJournalLost, newJournalHint
	case errors.Is(err, journal.ErrOther):
		e.Code, e.Hint = CodeCopied, newJournalHint
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		e.Code, e.Hint = CodeFull, "free space on the disk of the journal; "+afterRoom
	case errors.As(err, &damage):
		e.Hint = "restore the file; if it is gone, check on the platform what was sent last, and run `safrasync rebuild --new-journal --reason TEXT`"
		e.Err = fmt.Errorf("its journal cannot be trusted: %w", err)
	}
	return e
}
