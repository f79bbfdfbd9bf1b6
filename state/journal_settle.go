package state

import (
	"fmt"
	"time"

	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// The reasons for rows about which only the journal has information.
const (
	journalAnswer = "attempt.journal" // the answer is known from the journal
	rebuiltDoubt  = "attempt.journal_only"
)

// isCrashRecord reports whether the one record that the ledger lacks is what a crash leaves between journal
// and ledger: the ledger has its rows as they were just before it. Otherwise it is an older copy.
func (s *Store) isCrashRecord(t *sqldb.Tx, record journal.Record) (bool, error) {
	if head := record.Audit; head != nil && head.Seq != 0 { // which the audit has, if it is of this ledger
		var had int
		if err := t.Get(&had, `SELECT COUNT(*) FROM audit WHERE seq = ? AND hash = ?`, head.Seq, head.Hash); err != nil ||
			had == 0 {
			return false, err
		}
	}
	if record.Kind == journal.Base || record.ActName != "" { // a person's decision applies to any earlier copy
		return record.ActName != books.RebuildName, nil
	}
	r := newReplay(t, record)
	if err := r.load(); err != nil {
		return false, err
	}
	for _, m := range r.History.Order {
		e := r.entries[m.RowRef]
		if e == nil {
			return false, nil
		}
		for _, s := range m.sent {
			have, state := r.attempts[s.Attempt], e.State
			// another host may have sent it: the ledger never had this intent, and nothing was sent
			same := e.Generation == s.Generation
			sent := state == trade.Accepted || same && (state == trade.Sending || state == trade.InDoubt)
			before := state == trade.Pending && same && e.PayloadHash == s.PayloadHash
			switch {
			case !s.Attempted:
			case s.Outcome == outcomeOpen && (have != nil || !sent && !before):
				return false, nil
			case s.Outcome != outcomeOpen && (have == nil || !have.Changeable() && have.Outcome != s.Outcome):
				return false, nil
			}
		}
	}
	return true, nil
}

// newReplay returns the replay of a record that a process left.
func newReplay(t *sqldb.Tx, record journal.Record) *replay {
	h := newHistory()
	h.add(record, false)
	return &replay{Tx: t, History: h, Plan: &RebuildPlan{}, Now: time.Now()}
}

// settleJournalled settles what a process left in the journal: the ledger becomes as the records have it.
// A row whose intent the ledger lacks is in doubt, also where a person had ordered a second sending:
// if the process ended just before the commit, nothing had left, but a ledger that was rolled back by
// one record looks the same.
func (s *Store) settleJournalled(t *sqldb.Tx, v *journalVerdict) (out Opening, err error) {
	end := v.Compare.End
	for _, record := range v.left {
		if record.Head != nil {
			err := setPlatform(t, end.Header.Platform)
			if to := record.Head.MovedTo; err == nil && to != "" {
				err = t.Do(`UPDATE ledger SET moved_to = ?`, to)
			}
			if err != nil {
				return out, err
			}
		}
		if record.Kind == journal.Base || record.Quiet() {
			continue
		}
		r := newReplay(t, record)
		r.History.End.Header.Journal, r.writes = v.row.ID, true
		r.audit, err = books.AddOwnAudit(t, "journal settle", fmt.Sprintf("record %d", record.Seq), struct {
			journal.Record
			Why trade.Sentence `json:"why"`
		}{record, trade.Say("audit.settled")})
		if err != nil {
			return out, err
		}
		if err := r.moveJobs(v.row.Seq, books.ProgramName); err != nil {
			return out, err
		}
		work, err := r.compare()
		if err == nil {
			err = r.apply(work)
		}
		switch {
		case err != nil:
			return out, err
		case record.ActName != "":
			out.Acts++
		default:
			out.Settled, out.Doubts = out.Settled+r.settled, out.Doubts+r.doubts
		}
	}
	t.Note = nil // the journal already has it
	v.row.Seq, v.row.Mark = end.Seq, v.Compare.Last
	return out, t.Do(`UPDATE journal SET seq = ?, mark = ?, at = ? WHERE id = ?`, end.Seq, v.Compare.Last,
		v.left[len(v.left)-1].At.UnixMilli(), v.row.ID)
}
