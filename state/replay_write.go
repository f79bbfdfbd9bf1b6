package state

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// apply writes what was decided: new entries, attempts, generations, and states, each by
// transitions that the database allows.
func (r *replay) apply(work []replayedRow) error {
	for _, write := range []func([]replayedRow) error{
		r.insert, r.attempts, r.generations, r.records, r.states,
	} {
		if err := write(work); err != nil {
			return err
		}
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
	var added, answered [][]any
	for _, row := range work {
		for _, a := range row.remembered.attempts {
			have := r.attempt[a.ID]
			if have != nil && !changeable(have) {
				continue
			}
			attempt := trade.Attempt{
				ID: a.ID, EntryID: row.entry.ID, Generation: a.Generation, Owner: "journal",
				Payload: json.RawMessage("{}"), PayloadHash: a.Payload,
				StartedAt: a.Started, FinishedAt: a.finished, Outcome: trade.Outcome(a.Outcome), RemoteID: a.RemoteID,
				Status: a.Status, Reason: trade.Say(journalAnswer),
			}
			counts := a.Counts
			if attempt.Outcome == trade.OutcomeOpen {
				attempt.Outcome, attempt.FinishedAt, attempt.Reason, counts = trade.OutcomeUnknown, r.Now,
					trade.Say(rebuiltDoubt), true
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
			written, err := attemptRowOf(attempt, r.Now, counts)
			if err != nil {
				return err
			}
			written.Late = 1
			if have == nil || have.EntryID == row.entry.ID {
				row.entry.Attempts += written.Counts - counted
			}
			if a.Outcome == "" {
				r.doubts++
			} else {
				r.settled++
			}
			if have == nil {
				added = append(added, written.Args())
			} else {
				answered = append(answered, written.Result())
			}
		}
	}
	// The open attempts of a row that was sent twice end: the row follows what the journal has, and nobody
	// waits for the other answer.
	for _, row := range work {
		for id, have := range row.entry.attempts {
			if len(row.raised) == 0 || have.Outcome.Valid || row.remembered.attempt(id) != nil {
				continue
			}
			row.entry.Attempts++
			written, err := attemptRowOf(trade.Attempt{
				ID: id, Outcome: trade.OutcomeUnknown, FinishedAt: r.Now, Reason: trade.Say(rebuiltDoubt),
			}, r.Now, true)
			if err != nil {
				return err
			}
			answered = append(answered, written.Result())
		}
	}
	if err := r.UpdateRows("attempt", resultColumns, answered); err != nil {
		return err
	}
	return r.InsertRows("attempt", attemptColumns, added, "")
}

// generations raises the generations one by one. The act that opened them is only in the journal;
// in this ledger the act of the rebuild is recorded for them.
func (r *replay) generations(work []replayedRow) error {
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

// replayedColumns are the columns that are written for a row.
var replayedColumns = []string{
	"id", "state", "cause", "error", "weak", "waiting_for", "next_attempt_at", "record_id", "flags",
	"acknowledged", "attempts", "updated_at", "version", "source_hash", "payload_hash", "dismissal",
}

// states moves the entries to their states, in several steps if there is no direct transition.
func (r *replay) states(work []replayedRow) error {
	steps := make([][][]any, 0, 3)
	var final, kept, emptied [][]any
	var listed []trade.Entry
	for _, row := range work {
		e := row.entry
		flags, acknowledged, err := row.flags()
		if err != nil {
			return err
		}
		same := row.to == trade.State(e.State)
		decided := row.to.Created() || row.to == trade.Held || row.to == trade.Dismissed
		if same && !(row.newer && decided) {
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
		}
		if row.to.Created() && row.Payload != "" && e.PayloadHash != row.Payload {
			// its contents were of another version; the next sweep fills them in
			emptied = append(emptied, []any{e.ID, "{}", "{}", "", "", nil, ""})
			quantity, err := quantityOf(e.Amount, e.Unit)
			if err != nil {
				return phrase.Errorf("entry %d is damaged: its amount %w", e.ID, err)
			}
			listed = append(listed, bareEntry(e.ID, e.Job, e.Key, quantity))
		}
		written, err := r.finalRow(row, flags, acknowledged)
		if err != nil {
			return err
		}
		final = append(final, written)
	}
	for _, rows := range steps {
		if err := r.UpdateRows("entry", []string{"id", "state"}, rows); err != nil {
			return err
		}
	}
	if err := r.UpdateRows("entry", replayedColumns, final); err != nil {
		return err
	}
	if err := r.UpdateRows("entry", []string{"id", "flags", "acknowledged", "attempts", "version"}, kept); err != nil {
		return err
	}
	if err := r.UpdateRows("entry", []string{"id", "cells", "facts", "mapped_with", "target", "payload", "contract_id"},
		emptied); err != nil {
		return err
	}
	return writeListings(r.Tx, listed)
}

// flags returns the JSON texts of a row's flags, and of those that are acknowledged.
func (row replayedRow) flags() (flags, acknowledged string, err error) {
	set, err := flagsOf(row.entry.Flags)
	if err != nil {
		return "", "", err
	}
	known, err := flagsOf(row.entry.Acknowledged)
	if err != nil {
		return "", "", err
	}
	for _, f := range lastingFlags(trade.AllFlags) {
		set = set.With(f, row.Flags.Has(f) || !row.newer && set.Has(f))
	}
	if row.newer {
		for _, f := range row.Explained {
			set, known = set.With(f, false), known.With(f, true)
		}
	}
	set = set.With(trade.Forced, row.entry.Generation > 1).With(
		trade.DoubleAfterDecision, row.double || set.Has(trade.DoubleAfterDecision))
	text, err := json.Marshal(notNil(set))
	if err != nil {
		return "", "", err
	}
	also, err := json.Marshal(notNil(known))
	return string(text), string(also), err
}

func (r *replay) finalRow(row replayedRow, flags, acknowledged string) ([]any, error) {
	e := row.entry
	cause, text := row.Cause, journalAnswer
	var on any
	switch row.to {
	case trade.Accepted:
		cause, on = "", row.on.ID
	case trade.InDoubt:
		cause, text = trade.CauseUnknown, rebuiltDoubt
	}
	entryError := errorOf(row.to, cause, row.status, row.Weak, text)
	errorText, weak, dismissal := textOrNull(""), int64(0), e.Dismissal
	if string(row.to) == e.State && e.Cause == cause {
		errorText, weak = e.Error, e.Weak
	} else if entryError != nil {
		written, err := json.Marshal(entryError)
		if err != nil {
			return nil, err
		}
		errorText, weak = textOrNull(string(written)), weakOf(entryError)
	}
	if row.to != trade.Dismissed {
		dismissal = sql.NullString{}
	} else if row.Dismissal != nil {
		text, err := json.Marshal(row.Dismissal)
		if err != nil {
			return nil, err
		}
		dismissal = textOrNull(string(text))
	}
	var next any
	if row.Next != nil && (row.to == trade.Rejected || row.to == trade.Pending || row.to == trade.Waiting) {
		next = row.Next.UnixMilli()
	}
	source, payload := e.SourceHash, e.PayloadHash
	switch {
	case !row.to.Created() || row.Payload == "":
	case e.PayloadHash == row.Payload && e.SourceHash != row.Source:
		source = "" // a newer row of the ERP, whose contents the next reading fills in
	default:
		source, payload = row.Source, row.Payload
	}
	return []any{
		e.ID, string(row.to), cause, errorText, weak, "[]", next, on, flags, acknowledged, e.Attempts,
		r.Now.UnixMilli(), max(row.Version, e.Version+1), source, payload, dismissal,
	}, nil
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
	if err := r.All(&bare, `SELECT id FROM entry WHERE payload IS NULL AND `+r.S.D.Among("id"),
		sqldb.ListOf(r.S.D, slices.Collect(maps.Keys(g.Entries)))); err != nil {
		return err
	}
	g.Group.Settle = slices.DeleteFunc(g.Group.Settle, func(st trade.Settlement) bool {
		a := g.Attempts[st.Attempt.ID]
		return a == nil || !changeable(a)
	})
	for i := range g.Group.Settle {
		st := &g.Group.Settle[i]
		if st.State == trade.Pending && slices.Contains(bare, g.Attempts[st.Attempt.ID].EntryID) {
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
	list := make([]*narrowRow, 0, len(r.entries))
	for _, e := range r.entries {
		list = append(list, &e.narrowRow)
	}
	have, err := loadRecords(r.Tx, list, r.Now)
	if err != nil {
		return err
	}
	for _, at := range slices.SortedFunc(maps.Keys(r.History.records), compareAnswerOrigins) {
		image := r.History.records[at]
		e := r.entries[image.OwnerRow()]
		if e == nil || image.seq <= r.since {
			continue
		}
		if m := r.History.rows[image.RowRef]; m != nil && m.raised[image.Generation] > 0 {
			image.Generation = m.raised[image.Generation] // this one is another than the ledger's
		}
		have.Restore(&e.narrowRow, image.Sent, r.audit)
	}
	for _, m := range r.History.Order {
		e := r.entries[m.RowRef]
		if e == nil {
			continue
		}
		for _, a := range m.attempts {
			if a.kept || a.Outcome == string(trade.OutcomeCreated) {
				have.Prove(&e.narrowRow, trade.Settlement{
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
		work[i].on = have.accepts(&row.entry.narrowRow, on)
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
