package state

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// apply writes what was decided: new entries, attempts, generations, records and states.
func (r *replay) apply(work []replayedRow) error {
	if err := r.Do(`UPDATE ledger SET replaying = 1`); err != nil {
		return err
	}
	for _, write := range []func([]replayedRow) error{
		r.insert, r.attempts, r.generations, r.records, r.states,
	} {
		if err := write(work); err != nil {
			return err
		}
	}
	if err := r.Do(`UPDATE ledger SET replaying = 0`); err != nil {
		return err
	}
	if err := r.answers(); err != nil {
		return err
	}
	for _, job := range r.pauses {
		status, _ := r.History.pause(job)
		if err := putStatus(r.Tx, status); err != nil {
			return err
		}
	}
	return nil
}

// insert adds the rows that the ledger lacks, in state held for the moment.
func (r *replay) insert(work []replayedRow) error {
	fresh := map[string][]trade.Entry{}
	for _, row := range work {
		if row.entry == nil {
			fresh[row.Job] = append(fresh[row.Job], trade.Entry{
				Sends: trade.Kind(row.Sends), Key: row.Key, State: trade.Held, Generation: 1, FirstSeenAt: row.first,
				UpdatedAt:  row.at,
				SourceHash: row.Source, PayloadHash: row.Payload,
			})
		}
	}
	for job, entries := range fresh {
		lost, err := insertEntries(r.Tx, job, entries, r.Now)
		if err != nil {
			return err
		}
		if lost > 0 {
			return phrase.Errorf("%s of job %s came into the ledger meanwhile: run it again",
				sqldb.Counted(lost, "row", "rows"), job)
		}
		for chunk := range slices.Chunk(entries, sqldb.InList) {
			if err := r.loadKeys(job, trade.Map(chunk, func(e trade.Entry) string { return e.Key })); err != nil {
				return err
			}
		}
	}
	for i := range work {
		work[i].entry = r.entries[work[i].RowRef]
		if work[i].entry == nil {
			return phrase.Errorf("row %s of job %s is in the ledger and cannot be read back: run `safrasync doctor`",
				work[i].Key, work[i].Job)
		}
	}
	return nil
}

// attempts adds the attempts that the ledger lacks, and the answers to those that it has. An
// attempt without an answer becomes unknown, because nobody waits for it any more.
func (r *replay) attempts(work []replayedRow) error {
	list := make([]*trade.Entry, 0, len(r.entries))
	for _, e := range r.entries {
		list = append(list, &e.Entry)
	}
	var err error
	r.sent, err = loadRecords(r.Tx, list, r.Now)
	if err != nil {
		return err
	}
	var exchanges []*exchangeRow
	end := func(a *attemptRow, to trade.Attempt, counts bool) (counted int, err error) {
		exchanges = append(exchanges, &exchangeRow{Attempt: a.Attempt})
		before := a.Counts
		err = a.ended(to, r.Now, counts)
		return a.Counts - before, err
	}
	for _, row := range work {
		for _, a := range row.remembered.attempts {
			have := r.attempt[a.ID]
			if have != nil && !changeable(have) {
				continue
			}
			to := trade.Attempt{
				FinishedAt: a.finished, Outcome: trade.Outcome(a.Outcome), RemoteID: a.RemoteID, Status: a.Status,
				Reason: trade.Say(journalAnswer),
			}
			counts := a.Counts
			if to.Outcome == trade.OutcomeOpen {
				to.Outcome, to.FinishedAt = trade.OutcomeUnknown, r.Now
				to.Reason, counts = trade.Say(rebuiltDoubt), true
			}
			if have != nil && have.outcome() == to.Outcome {
				continue
			}
			if a.Outcome == "" {
				r.doubts++
			} else {
				r.settled++
			}
			if have != nil {
				of := r.sent.byAttempt[a.ID]
				of.Late, r.sent.changed[of] = 1, true
				counted, err := end(&of.attemptRow, to, counts)
				if err != nil {
					return err
				}
				if of.Origin == row.entry.ID {
					row.entry.Attempts += counted
				}
				continue
			}
			row.entry.no++
			added := attemptRow{
				Attempt: a.ID, Origin: row.entry.ID, Generation: a.Generation, No: row.entry.no, Owner: "journal",
				PayloadHash: a.Payload, StartedAt: sqldb.AtOr(a.Started, r.Now), Late: 1,
			}
			counted, err := end(&added, to, counts)
			if err != nil {
				return err
			}
			row.entry.Attempts += counted
			r.sent.place(&row.entry.Entry, added)
		}
	}
	// The open attempts of a row that was sent twice end: the row follows what the journal has, and nobody
	// waits for the other answer.
	for _, row := range work {
		for id, have := range row.entry.attempts {
			if len(row.raised) == 0 || !have.isOpen() || row.remembered.attempt(id) != nil {
				continue
			}
			of := r.sent.byAttempt[id]
			r.sent.changed[of] = true
			unknown := trade.Attempt{Outcome: trade.OutcomeUnknown, FinishedAt: r.Now, Reason: trade.Say(rebuiltDoubt)}
			if _, err := end(&of.attemptRow, unknown, true); err != nil {
				return err
			}
			row.entry.Attempts++
		}
	}
	return writeExchanges(r.Tx, exchanges)
}

// generations raises the generations. The act that opened them is only in the journal; in this ledger
// the act of the replay is recorded for them.
func (r *replay) generations(work []replayedRow) error {
	var rows [][]any
	for _, row := range work {
		if row.entry.Generation < row.Generation {
			row.entry.Generation = row.Generation
			rows = append(rows, []any{row.entry.ID, row.Generation, r.audit})
		}
	}
	return r.UpdateRows("entry", []string{"id", "generation", "resend_audit_id"}, rows)
}

// The columns that are written for a row, for one whose state stays, and for one whose contents were
// of another version.
var (
	replayedColumns = append(slices.Clone(settledColumns), "acknowledged", "source_hash", "payload_hash", "dismissal")
	keptColumns     = []string{"id", "flags", "acknowledged", "attempts", "version"}
	emptiedColumns  = []string{"id", "mapped_with", "sendable", "contract_id"}
	emptiedBody     = []string{"entry_id", "cells", "facts", "target", "payload"}
)

// states gives the entries their states.
func (r *replay) states(work []replayedRow) error {
	var final, kept, emptied, bodies [][]any
	var listed []trade.Entry
	for _, row := range work {
		e := &row.entry.Entry
		row.flag()
		decided := row.to.Created() || row.to == trade.Held || row.to == trade.Dismissed
		if row.to == e.State && !(row.newer && decided) {
			e.Version++
			kept = append(kept, movedValues(e, keptColumns))
			continue
		}
		if row.to.Created() && row.Payload != "" && e.PayloadHash != row.Payload {
			// its contents were of another version; the next sweep fills them in
			bare := entryRow{Entry: trade.Entry{ID: e.ID}, EntryID: e.ID}
			emptied = append(emptied, sqldb.Pick(&bare, emptiedColumns))
			bodies = append(bodies, sqldb.Pick(&bare, emptiedBody))
			listed = append(listed, trade.Entry{ID: e.ID, Job: e.Job, Key: e.Key, Quantity: e.Quantity})
		}
		r.finish(row)
		final = append(final, movedValues(e, replayedColumns))
	}
	if err := r.UpdateRows("entry", replayedColumns, final); err != nil {
		return err
	}
	if err := r.UpdateRows("entry", keptColumns, kept); err != nil {
		return err
	}
	if err := r.UpdateRows("entry", emptiedColumns, emptied); err != nil {
		return err
	}
	if err := r.UpdateRows("body", emptiedBody, bodies); err != nil {
		return err
	}
	return writeListings(r.Tx, listed)
}

// flag sets a row's flags, and those that are acknowledged.
func (row replayedRow) flag() {
	e := &row.entry.Entry
	set := e.Flags
	for _, f := range lastingFlags(trade.AllFlags) {
		set = set.With(f, row.Flags.Has(f) || !row.newer && set.Has(f))
	}
	if row.newer {
		for _, f := range row.Explained {
			set, e.Acknowledged = set.With(f, false), e.Acknowledged.With(f, true)
		}
	}
	e.Flags = set.With(trade.Forced, e.Generation > 1).With(
		trade.DoubleAfterDecision, row.double || set.Has(trade.DoubleAfterDecision))
}

// finish gives the entry of a row the state that it gets.
func (r *replay) finish(row replayedRow) {
	e := &row.entry.Entry
	cause, text := row.Cause, journalAnswer
	e.RecordID = 0
	switch row.to {
	case trade.Accepted:
		cause, e.RecordID = "", row.on.ID
	case trade.InDoubt:
		cause, text = trade.CauseUnknown, rebuiltDoubt
	}
	why, next := e.Error, time.Time{}
	if row.to != e.State || e.Cause != cause {
		why = errorOf(row.to, cause, row.status, row.Weak, text)
	}
	if row.to == trade.Dismissed && row.Dismissal != nil {
		e.Dismissal = row.Dismissal
	}
	if row.to != trade.Dismissed {
		e.Dismissal = nil
	}
	if row.Next != nil && (row.to == trade.Rejected || row.to == trade.Pending || row.to == trade.Waiting) {
		next = *row.Next
	}
	switch {
	case !row.to.Created() || row.Payload == "":
	case e.PayloadHash == row.Payload && e.SourceHash != row.Source:
		e.SourceHash = "" // a newer row of the ERP, whose contents the next reading fills in
	default:
		e.SourceHash, e.PayloadHash = row.Source, row.Payload
	}
	e.TakeState(trade.Entry{State: row.to, Cause: cause, Error: why, NextAttemptAt: next})
	e.Version, e.UpdatedAt = max(row.Version, e.Version+1), r.Now
}

// errorOf returns the error of a row in a state; nil if it has none.
func errorOf(state trade.State, cause string, status int, weak bool, why string) *trade.EntryError {
	out := &trade.EntryError{Kind: trade.TransportError, Status: status, Fields: []trade.Problem{}, Why: trade.Say(why)}
	switch state {
	case trade.Rejected, trade.Held:
		out.Kind, out.Weak = trade.APIError, weak
		if cause != "" {
			out.Messages = []string{cause}
		}
	case trade.InDoubt:
	default:
		return nil
	}
	return out
}

// answers settles the answers of which only the journal knows, as far as the ledger still waits for
// them.
func (r *replay) answers() error {
	g := newGroupTx(r.Tx, trade.Lease{}, trade.Group{At: r.Now})
	for _, a := range r.History.answers {
		st := trade.Settlement{
			Attempt: trade.Attempt{
				ID: a.attempt.ID, Outcome: trade.Outcome(a.attempt.Outcome), RemoteID: a.attempt.RemoteID,
				Status: a.attempt.Status, FinishedAt: a.at, Reason: trade.Say(journalAnswer),
			},
			State: trade.State(a.row.State), Cause: a.row.Cause, Weak: a.row.Weak, Counts: a.attempt.Counts,
			Flags: a.row.Flags,
		}
		if a.row.Next != nil {
			st.NextAttemptAt = *a.row.Next
		}
		if of := errorOf(st.State, a.row.Cause, a.attempt.Status, a.row.Weak, journalAnswer); of != nil {
			st.Kind, st.Attempt.Messages = of.Kind, of.Messages
		}
		g.Group.Settle = append(g.Group.Settle, st)
	}
	if len(g.Group.Settle) == 0 {
		return nil
	}
	if err := g.Load(); err != nil {
		return err
	}
	var bare []int64 // they have nothing to send: the next reading fills it in
	if err := r.All(&bare, `SELECT id FROM entry WHERE sendable = 0 AND `+r.S.D.Among("id"),
		sqldb.ListOf(r.S.D, slices.Collect(maps.Keys(g.Entries)))); err != nil {
		return err
	}
	g.Group.Settle = slices.DeleteFunc(g.Group.Settle, func(st trade.Settlement) bool {
		have := g.Records.byAttempt[st.Attempt.ID]
		return have == nil || !changeable(&have.attemptRow)
	})
	for i := range g.Group.Settle {
		st := &g.Group.Settle[i]
		if st.State == trade.Pending && slices.Contains(bare, g.Records.byAttempt[st.Attempt.ID].Origin) {
			st.State = trade.Held
		}
	}
	if err := g.Settle(); err != nil {
		return err
	}
	r.settled += len(g.Result.Settled)
	return nil
}

// records brings the records of the platform up to the journal: the images first, then what the
// answers prove that only the journal has. It finds the record by which each accepted row is accepted.
func (r *replay) records(work []replayedRow) error {
	have := r.sent
	for _, at := range slices.SortedFunc(maps.Keys(r.History.records), compareAnswerOrigins) {
		image := r.History.records[at]
		e := r.entries[image.OwnerRow()]
		if e == nil || image.seq <= r.since {
			continue
		}
		if m := r.History.rows[image.RowRef]; m != nil && m.raised[image.Generation] > 0 {
			image.Generation = m.raised[image.Generation] // this one is another than the ledger's
		}
		origin := &e.Entry
		if went := r.entries[image.RowRef]; went != nil {
			origin = &went.Entry
		}
		have.Restore(&e.Entry, origin, image.Sent, r.audit)
	}
	for _, m := range r.History.Order {
		e := r.entries[m.RowRef]
		if e == nil {
			continue
		}
		for _, a := range m.attempts {
			if a.kept || a.Outcome == string(trade.OutcomeCreated) {
				have.Prove(&e.Entry, trade.Settlement{
					Attempt: trade.Attempt{
						Generation: a.Generation, Outcome: trade.Outcome(a.Outcome), RemoteID: a.RemoteID,
					},
					State: trade.State(m.State), Cause: m.Cause, Weak: m.Weak,
				})
			}
		}
	}
	for i, row := range work {
		if row.to != trade.Accepted {
			continue
		}
		on := journal.Origin{RowRef: row.RowRef, Generation: row.Generation}
		if row.On != nil {
			on = *row.On
		}
		work[i].on = have.accepts(&row.entry.Entry, on)
		if work[i].on == nil {
			return phrase.Errorf("row %s of job %s was sent, and the journal lacks its record", row.Key, row.Job)
		}
	}
	if err := have.Write(); err != nil { // the journal has them
		return err
	}
	return r.restoreSightings(have)
}

func compareAnswerOrigins(a, b answerOrigin) int {
	return cmp.Or(strings.Compare(a.Job, b.Job), strings.Compare(a.Key, b.Key), strings.Compare(a.sends, b.sends),
		cmp.Compare(a.generation, b.generation))
}
