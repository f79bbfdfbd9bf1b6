package state

import (
	"maps"
	"slices"
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
		r.insert, r.putAttempts, r.generations, r.putSent, r.states,
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

// putAttempts adds the attempts that the ledger lacks, and the answers to those that it has. An
// attempt without an answer becomes unknown, because nobody waits for it any more.
func (r *replay) putAttempts(work []replayedRow) error {
	var exchanges []*exchangeRow
	end := func(e *replayedEntry, to *attemptRow, a journal.AttemptImage, finished time.Time) error {
		answer := trade.Attempt{
			FinishedAt: finished, Outcome: trade.Outcome(a.Outcome), RemoteID: a.AnswerID, Status: a.Status,
			Reason: trade.Say(journalAnswer),
		}
		counts := a.Counts == 1
		if a.Outcome == outcomeOpen {
			answer.Outcome, answer.FinishedAt = trade.OutcomeUnknown, r.Now
			answer.Reason, counts = trade.Say(rebuiltDoubt), true
		}
		exchanges = append(exchanges, &exchangeRow{Attempt: to.Attempt})
		before := to.Counts
		err := to.ended(answer, r.Now, counts)
		if to.Origin == e.ID {
			e.Attempts += to.Counts - before
		}
		return err
	}
	put := func(e *replayedEntry, a journal.AttemptImage, finished time.Time) error {
		have := r.attempts[a.Attempt]
		outcome := a.Outcome
		if outcome == outcomeOpen {
			outcome = string(trade.OutcomeUnknown)
		}
		if have != nil && (!have.Changeable() || have.Outcome == outcome) {
			return nil
		}
		if a.Outcome == outcomeOpen {
			r.doubts++
		} else {
			r.settled++
		}
		if have != nil {
			of := r.sent.byAttempt[a.Attempt]
			of.Late, r.sent.changed[of] = 1, true
			return end(e, &of.attemptRow, a, finished)
		}
		e.no++
		added := attemptRow{
			Origin: e.ID, Owner: "journal", No: e.no, Late: 1,
			AttemptImage: journal.AttemptImage{
				Attempt: a.Attempt, Generation: a.Generation, PayloadHash: a.PayloadHash, StartedAt: a.StartedAt,
			},
		}
		err := end(e, &added, a, finished)
		r.attempts[a.Attempt] = &added
		r.sent.addJournalAttempt(&e.Entry, added)
		return err
	}
	for _, row := range work {
		for _, s := range row.sent {
			for _, a := range s.former {
				if err := put(row.entry, a.AttemptImage, a.finished); err != nil {
					return err
				}
			}
			if s.Attempt == "" || s.dropped {
				continue
			}
			if err := put(row.entry, s.AttemptImage, s.finished); err != nil {
				return err
			}
		}
	}
	// Open attempts of a row that was sent twice end as unknown: nobody waits for their answers.
	for _, row := range work {
		for _, have := range row.entry.sent {
			if !row.double || !have.isOpen() || row.attempt(have.Attempt) != nil {
				continue
			}
			r.sent.changed[have] = true
			if err := end(row.entry, &have.attemptRow, have.AttemptImage, r.Now); err != nil {
				return err
			}
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

// states gives the entries their flags and states.
func (r *replay) states(work []replayedRow) error {
	var final, kept, emptied, bodies [][]any
	var listed []trade.Entry
	for _, row := range work {
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
		decided := row.to.MayBeOnPlatform() || row.to == trade.Held || row.to == trade.Dismissed
		if row.to == e.State && !(row.newer && decided) {
			e.Version++
			kept = append(kept, movedValues(e, keptColumns))
			continue
		}
		if row.to.MayBeOnPlatform() && row.Payload != "" && e.PayloadHash != row.Payload {
			// its contents were of another version; the next sweep fills them in
			bare := entryRow{Entry: trade.Entry{ID: e.ID}, EntryID: e.ID}
			emptied = append(emptied, sqldb.Pick(&bare, emptiedColumns))
			bodies = append(bodies, sqldb.Pick(&bare, emptiedBody))
			listed = append(listed, trade.Entry{ID: e.ID, Job: e.Job, Key: e.Key, Quantity: e.Quantity})
		}
		cause, text := row.Cause, journalAnswer
		e.RecordID = 0
		switch row.to {
		case trade.Accepted:
			cause, e.RecordID = "", row.on.ID
		case trade.InDoubt:
			cause, text = trade.CauseUnknown, rebuiltDoubt
		}
		status := 0
		for _, s := range row.sent {
			if s.Attempt != "" && s.Outcome != outcomeOpen {
				status = s.Status
			}
		}
		why, next := e.Error, time.Time{}
		if row.to != e.State || e.Cause != cause {
			why = errorOf(row.to, cause, status, row.Weak, text)
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
		case !row.to.MayBeOnPlatform() || row.Payload == "":
		case e.PayloadHash == row.Payload && e.SourceHash != row.Source:
			e.SourceHash = "" // a newer row of the ERP, whose contents the next reading fills in
		default:
			e.SourceHash, e.PayloadHash = row.Source, row.Payload
		}
		e.TakeState(trade.Entry{State: row.to, Cause: cause, Error: why, NextAttemptAt: next})
		e.Version, e.UpdatedAt = max(row.Version, e.Version+1), r.Now
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
				ID: a.Attempt, Outcome: trade.Outcome(a.Outcome), RemoteID: a.AnswerID, Status: a.Status,
				FinishedAt: a.at, Reason: trade.Say(journalAnswer),
			},
			State: trade.State(a.State), Cause: a.Cause, Weak: a.Weak, Counts: a.Counts == 1, Flags: a.Flags,
		}
		if a.Next != nil {
			st.NextAttemptAt = *a.Next
		}
		if of := errorOf(st.State, a.Cause, a.Status, a.Weak, journalAnswer); of != nil {
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
		return have == nil || !have.Changeable()
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

// putSent brings what was sent up to the journal: the images first, then what the answers prove that only
// the journal has. It finds the record by which each accepted row is accepted.
func (r *replay) putSent(work []replayedRow) error {
	for _, s := range r.History.sent {
		e, origin := r.entries[s.OwnerRow()], r.entries[s.Row()]
		if e == nil || s.dropped || s.seq <= r.since {
			continue
		}
		if origin == nil {
			origin = e
		}
		r.sent.restore(&e.Entry, &origin.Entry, s.Sent, r.audit)
	}
	for _, m := range r.History.Order {
		e := r.entries[m.RowRef]
		for _, s := range m.sent {
			if e == nil || !s.kept && s.Outcome != string(trade.OutcomeCreated) {
				continue
			}
			have := r.sent.byAttempt[s.Attempt]
			if have == nil || have.Attempt != s.Attempt ||
				have.Certainty != string(trade.Maybe) && have.Certainty != string(trade.Stated) {
				continue
			}
			r.sent.settle(&e.Entry, have, trade.Settlement{
				Attempt: trade.Attempt{Outcome: trade.Outcome(s.Outcome), RemoteID: s.AnswerID},
				State:   trade.State(m.State), Cause: m.Cause, Weak: m.Weak,
			})
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
		work[i].on = r.sent.acceptedBy(&row.entry.Entry, on)
		if work[i].on == nil {
			return phrase.Errorf("row %s of job %s was sent, and the journal lacks its record", row.Key, row.Job)
		}
	}
	if err := r.sent.Write(); err != nil { // the journal has them
		return err
	}
	// what the journal says that rows may be, where the ledger has these records
	for at, s := range r.History.sightings {
		e := r.entries[at]
		if e == nil || s.seq <= r.since {
			continue
		}
		var seen []trade.Sighting
		for _, of := range s.Of {
			if record := r.sent.origins[recordOrigin{of.Job, of.Key, s.Sends, of.Generation}]; record != nil {
				seen = append(seen, trade.Sighting{Record: record.ID, Prints: of.Prints})
			}
		}
		r.sent.see(&e.Entry, seen)
	}
	return r.sent.writeSightings()
}
