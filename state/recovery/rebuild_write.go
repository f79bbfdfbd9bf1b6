package recovery

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/safrasync/safrasync/state/discovery"
	"github.com/safrasync/safrasync/state/jobs"
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// apply writes what was decided: new entries, attempts, generations, and states, each by
// transitions that the database allows.
func (r *Rebuilding) apply(work []RebuiltRow) error {
	if err := r.insert(work); err != nil {
		return err
	}
	if err := r.attempts(work); err != nil {
		return err
	}
	if err := r.generations(work); err != nil {
		return err
	}
	if err := r.records(work); err != nil {
		return err
	}
	if err := r.states(work); err != nil {
		return err
	}
	for _, job := range r.Plan.Paused {
		status, _ := r.History.Pause(job)
		if err := jobs.PutStatus(r.Tx, status, ""); err != nil {
			return err
		}
	}
	return r.Sums.Apply(r.Tx)
}

// insert adds the rows that the ledger lacks, in state held for the moment.
func (r *Rebuilding) insert(work []RebuiltRow) error {
	fresh := map[string][]trade.Entry{}
	for _, row := range work {
		if row.entry == nil {
			fresh[row.Job] = append(fresh[row.Job], trade.Entry{
				Sends: trade.Kind(row.Sends), Key: row.Key, State: trade.Held, Generation: 1, FirstSeenAt: row.first,
				UpdatedAt:  row.last,
				SourceHash: row.Source, PayloadHash: row.Payload,
			})
		}
	}
	for job, entries := range fresh {
		lost, err := discovery.InsertEntries(r.Tx, job, entries, r.Now, r.Sums)
		if err != nil {
			return err
		}
		if lost > 0 {
			return fmt.Errorf("%s of job %s came into the ledger meanwhile: run it again",
				sqldb.Counted(lost, "row", "rows"), job)
		}
		for chunk := range slices.Chunk(entries, sqldb.InList) {
			keys := make([]string, len(chunk))
			for i, e := range chunk {
				keys[i] = e.Key
			}
			if err := r.loadKeys(job, keys); err != nil {
				return err
			}
		}
	}
	for i := range work {
		work[i].entry = r.entries[work[i].Row]
		if work[i].entry == nil {
			return fmt.Errorf("row %s of job %s is in the ledger and cannot be read back: run `safrasync doctor`",
				work[i].Key, work[i].Job)
		}
	}
	return nil
}

// attempts adds the attempts that the ledger lacks, and the answers to those that it has. An
// attempt without an answer becomes unknown, because nobody waits for it any more.
func (r *Rebuilding) attempts(work []RebuiltRow) error {
	var added, answered [][]any
	for _, row := range work {
		for _, a := range row.remembered.attempts {
			have := row.entry.attempts[a.ID]
			if have != nil && !changeable(have) {
				continue
			}
			attempt := trade.Attempt{
				ID: a.ID, EntryID: row.entry.ID, Generation: a.Generation, Owner: "journal",
				Payload: json.RawMessage("{}"), PayloadHash: a.Payload,
				StartedAt: a.Started, FinishedAt: a.finished, Outcome: trade.Outcome(a.Outcome), RemoteID: a.RemoteID,
				Reason: journalAnswer,
			}
			counts := a.counts
			if attempt.Outcome == trade.OutcomeOpen {
				attempt.Outcome, attempt.FinishedAt, attempt.Reason, counts = trade.OutcomeUnknown, r.Now,
					rebuiltDoubt, true
			}
			if have != nil && have.Outcome.String == string(attempt.Outcome) {
				continue
			}
			counted := 0
			if have == nil {
				row.entry.no++
				attempt.No = row.entry.no
			} else {
				counted = have.Counts
			}
			written, err := ledger.AttemptRowOf(attempt, r.Now, counts)
			if err != nil {
				return err
			}
			if have == nil || have.EntryID == row.entry.ID {
				row.entry.Attempts += written.Counts - counted
			}
			if have == nil {
				added = append(added, written.Args())
			} else {
				answered = append(answered, written.Result())
			}
		}
	}
	for _, row := range work {
		open, err := r.openBeside(row)
		if err != nil {
			return err
		}
		answered = append(answered, open...)
	}
	if err := r.UpdateRows("attempt", ledger.ResultColumns, answered); err != nil {
		return err
	}
	return r.InsertRows("attempt", ledger.AttemptColumns, added, "")
}

// openBeside ends the open attempts of a row that was sent twice: the row follows what the journal
// has, and nobody waits for the other answer.
func (r *Rebuilding) openBeside(row RebuiltRow) (ended [][]any, err error) {
	for id, have := range row.entry.attempts {
		if !row.double || have.Outcome.Valid || row.remembered.attempt(id) != nil {
			continue
		}
		row.entry.Attempts++
		written, err := ledger.AttemptRowOf(trade.Attempt{
			ID: id, Outcome: trade.OutcomeUnknown, FinishedAt: r.Now, Reason: rebuiltDoubt,
		}, r.Now, true)
		if err != nil {
			return nil, err
		}
		ended = append(ended, written.Result())
	}
	return ended, nil
}

// generations raises the generations one by one. The act that opened them is only in the journal;
// in this ledger the act of the rebuild is recorded for them.
func (r *Rebuilding) generations(work []RebuiltRow) error {
	for {
		var rows [][]any
		for _, row := range work {
			if row.entry.Generation < row.Generation {
				row.entry.Generation++
				rows = append(rows, []any{row.entry.ID, row.entry.Generation, r.audit})
			}
		}
		if len(rows) == 0 {
			return nil
		}
		if err := r.UpdateRows("entry", []string{"id", "generation", "resend_audit_id"}, rows); err != nil {
			return err
		}
	}
}

// rebuiltColumns are the columns that are written for a rebuilt entry.
var rebuiltColumns = []string{
	"id", "state", "cause", "error", "waiting_for", "next_attempt_at", "record_id", "flags",
	"acknowledged", "attempts", "updated_at", "version", "source_hash", "payload_hash",
}

// states moves the entries to their states, in several steps if there is no direct transition.
func (r *Rebuilding) states(work []RebuiltRow) error {
	steps := make([][][]any, 0, 3)
	var final, kept, emptied [][]any
	for _, row := range work {
		e := row.entry
		flags, acknowledged, err := row.flags()
		if err != nil {
			return err
		}
		same := row.to == trade.State(e.State)
		if same && row.Newest == "" && (row.to != trade.Held || row.Cause == "" || row.Cause == e.Cause) {
			kept = append(kept, []any{e.ID, flags, acknowledged, e.Attempts, e.Version + 1})
			continue
		}
		if !same {
			for i, via := range pathTo(trade.State(e.State), row.to) {
				if i == len(steps) {
					steps = append(steps, nil)
				}
				steps[i] = append(steps[i], []any{e.ID, string(via)})
			}
			if err := r.Sums.Move(&e.NarrowRow, string(row.to)); err != nil {
				return err
			}
		}
		written, err := r.finalRow(row, flags, acknowledged)
		if err != nil {
			return err
		}
		final = append(final, written)
		if row.to.Created() && row.Payload != "" && e.PayloadHash != row.Payload {
			// its contents were of another version; the next sweep fills them in
			emptied = append(emptied, []any{e.ID, "{}", "", nil})
		}
	}
	for _, rows := range steps {
		if err := r.UpdateRows("entry", []string{"id", "state"}, rows); err != nil {
			return err
		}
	}
	if err := r.UpdateRows("entry", rebuiltColumns, final); err != nil {
		return err
	}
	if err := r.UpdateRows("entry", []string{"id", "flags", "acknowledged", "attempts", "version"}, kept); err != nil {
		return err
	}
	return r.UpdateRows("entry", []string{"id", "cells", "mapped_with", "payload"}, emptied)
}

// flags returns the JSON texts of a row's flags, and of those that are acknowledged.
func (row RebuiltRow) flags() (flags, acknowledged string, err error) {
	set, err := ledger.FlagsOf(row.entry.Flags)
	if err != nil {
		return "", "", err
	}
	known, err := ledger.FlagsOf(row.entry.Acknowledged)
	if err != nil {
		return "", "", err
	}
	if row.to.Created() {
		set = set.With(trade.Changed, row.Newest != "" ||
			set.Has(trade.Changed)).With(trade.Replaced, row.Replaced || set.Has(trade.Replaced))
		for _, f := range row.Explained {
			set, known = set.With(f, false), known.With(f, true)
		}
	}
	set = set.With(trade.Forced, row.entry.Generation > 1).With(trade.Moved, row.MovedID != "").With(
		trade.DoubleAfterDecision, row.double || set.Has(trade.DoubleAfterDecision))
	text, err := json.Marshal(ledger.List(set))
	if err != nil {
		return "", "", err
	}
	also, err := json.Marshal(ledger.List(known))
	return string(text), string(also), err
}

func (r *Rebuilding) finalRow(row RebuiltRow, flags, acknowledged string) ([]any, error) {
	e, cause := row.entry, row.Cause
	var on any
	var entryError *trade.EntryError
	switch row.to {
	case trade.Accepted:
		cause, on = "", row.on.ID
	case trade.InDoubt:
		cause = trade.CauseUnknown
		entryError = &trade.EntryError{
			Kind: trade.TransportError, Status: row.status, Fields: []trade.Problem{},
			Text: rebuiltDoubt,
		}
	case trade.Rejected, trade.Held:
		entryError = &trade.EntryError{
			Kind: trade.APIError, Status: row.status, Messages: messagesOf(cause),
			Fields: []trade.Problem{}, Text: journalAnswer, Weak: row.Weak,
		}
	}
	errorText := jobs.OrNull("")
	if entryError != nil {
		text, err := json.Marshal(entryError)
		if err != nil {
			return nil, err
		}
		errorText = jobs.OrNull(string(text))
	}
	var next any
	if row.next != nil && (row.to == trade.Rejected || row.to == trade.Pending) {
		next = row.next.UnixMilli()
	}
	source, payload := e.SourceHash, e.PayloadHash
	if row.to.Created() && row.Payload != "" {
		source, payload = cmp.Or(row.Newest, row.Source), row.Payload
	}
	return []any{
		e.ID, string(row.to), cause, errorText, "[]", next, on, flags, acknowledged, e.Attempts,
		r.Now.UnixMilli(), e.Version + 1, source, payload,
	}, nil
}

// pathTo returns the states between two states, without the first and the last, by transitions that
// the database allows. The path avoids pending and sending, which need a payload or an attempt. The
// last step to accepted is only from a state in trade.Decided: from any other state the database
// requires an attempt that created the record, or the act of a person.
func pathTo(from, to trade.State) []trade.State {
	type step struct {
		at   trade.State
		path []trade.State
	}
	seen := map[trade.State]bool{from: true}
	for queue := []step{{at: from}}; len(queue) > 0; queue = queue[1:] {
		for _, next := range trade.Moves[queue[0].at] {
			if next == to && (next != trade.Accepted || slices.Contains(trade.Decided, queue[0].at)) {
				return queue[0].path
			}
			if seen[next] || next == trade.Pending || next == trade.Sending || next == trade.Accepted {
				continue
			}
			seen[next] = true
			queue = append(queue, step{next, append(slices.Clone(queue[0].path), next)})
		}
	}
	return nil
}
