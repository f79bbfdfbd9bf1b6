package trade

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var dueAt = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// rowIn returns a row in a state, with everything that a state may leave behind.
func rowIn(state State) Entry {
	e := Entry{
		ID: 7, Job: "contracts", Key: "01|7", State: state, Cause: "wallet-not-found", Generation: 1, Attempts: 1,
		NextAttemptAt: dueAt, UpdatedAt: dueAt.Add(-time.Hour), Error: &EntryError{Kind: APIError, Why: Say("refused")},
		WaitingFor: []Awaited{{Platform: "wallets", ID: "w-1"}}, Flags: Flags{Changed}, Acknowledged: Flags{Recoded},
		MappedWith: "m1", Payload: json.RawMessage(`{"amount":1}`), PayloadHash: "h", GoneSweeps: 2,
	}
	if state == Dismissed {
		e.Dismissal = &Dismissal{From: Waiting, NextAttemptAt: dueAt}
	}
	return e
}

// A method moves a row from the states that it is for, clears what belonged to the former state and
// keeps all else. From every other state it changes nothing.
func TestEachMoveOfARow(t *testing.T) {
	t.Parallel()
	judged := []State{"", Pending, Waiting, Invalid, Rejected, Held, Withdrawn}
	decidable := []State{Pending, Waiting, Invalid, Rejected, InDoubt, Held}
	later := dueAt.Add(time.Hour)
	problem := Problem{Field: "payday", Rule: "required", Column: "dt_pagto"}
	parent := Awaited{Job: "contracts", Key: "01|6"}
	another := &Counterpart{Job: "contracts", Key: "01|5", RemoteID: "r-5"}
	newest := rowIn(Pending)
	newest.Payload, newest.Flags, newest.Generation = json.RawMessage(`{"amount":2}`),
		Flags{Cancelled, Changed, MissingInERP, Contradicted, Recoded, Twin}, 1
	// left returns the row in another state, without what the former one left behind
	left := func(e Entry, to State, cause string) Entry {
		e.State, e.Cause, e.Error, e.WaitingFor, e.NextAttemptAt = to, cause, nil, nil, time.Time{}
		return e
	}
	made := map[[2]State]bool{}
	for name, m := range map[string]struct {
		from []State
		do   func(*Entry) bool
		want func(Entry) Entry
	}{
		"Pend": {judged, (*Entry).Pend, func(e Entry) Entry { return left(e, Pending, "") }},
		"Refuse": {
			judged, func(e *Entry) bool { return e.Refuse([]Problem{problem}, parent) },
			func(e Entry) Entry {
				e = left(e, Invalid, "rule:payday")
				e.Error = &EntryError{
					Kind: ValidationError, Fields: []Problem{problem},
				}
				e.WaitingFor = []Awaited{parent}
				return e
			},
		},
		"Wait": {
			judged, func(e *Entry) bool { return e.Wait(CauseParent, later, parent) },
			func(e Entry) Entry {
				e = left(e, Waiting, CauseParent)
				e.WaitingFor, e.NextAttemptAt = []Awaited{parent}, later
				return e
			},
		},
		"Hold": {
			judged, func(e *Entry) bool { return e.Hold(CauseRetyped, Say("held.gone"), another) },
			func(e Entry) Entry {
				e = left(e, Held, CauseRetyped)
				e.Error = &EntryError{Kind: ConflictError, Why: Say("held.gone"), Counterpart: another}
				return e
			},
		},
		"HoldDouble": {
			judged, func(e *Entry) bool { return e.HoldDouble(2) },
			func(e Entry) Entry {
				e = left(e, Held, CauseDuplicateKey)
				e.Error = &EntryError{
					Kind: ConflictError, Why: Double("01|7", 2),
					Counterpart: &Counterpart{Job: "contracts", Key: "01|7", Rows: 2},
				}
				return e
			},
		},
		"Withdraw": {
			[]State{Pending, Waiting, Invalid, Rejected, Held},
			(*Entry).Withdraw,
			func(e Entry) Entry { return left(e, Withdrawn, "") },
		},
		"Accept": {
			decidable, func(e *Entry) bool { return e.Accept("r-7") },
			func(e Entry) Entry {
				e = left(e, Accepted, "")
				e.RemoteID = "r-7"
				return e
			},
		},
		"Dismiss": {
			decidable, (*Entry).Dismiss,
			func(e Entry) Entry {
				e.Dismissal = &Dismissal{From: e.State, NextAttemptAt: dueAt}
				e.State, e.NextAttemptAt = Dismissed, time.Time{}
				return e
			},
		},
		"Reopen": {
			[]State{Dismissed},
			func(e *Entry) bool { return e.Reopen(nil, later) },
			func(e Entry) Entry {
				e.State, e.NextAttemptAt, e.Dismissal, e.MappedWith = Waiting, later, nil, ""
				return e
			},
		},
		"Again": {
			[]State{InDoubt, Held},
			func(e *Entry) bool { return e.Again(newest) },
			func(Entry) Entry {
				e := newest
				e.Generation, e.Flags, e.Acknowledged = 2, Flags{Forced, Twin}, nil
				return e
			},
		},
		"Settle": {
			[]State{Sending, InDoubt, Dismissed, Rejected},
			func(e *Entry) bool { return e.Settle(Settlement{State: Rejected, Flags: Flags{Twin}}) },
			func(e Entry) Entry {
				e = left(e, Rejected, "")
				e.Flags = e.Flags.With(Twin, true)
				return e
			},
		},
	} {
		for _, state := range append([]State{""}, States...) {
			row := rowIn(state)
			want, may := row, slices.Contains(m.from, state)
			if may {
				want = m.want(row)
				made[[2]State{state, want.State}] = true
			}
			if moved := m.do(&row); moved != may {
				t.Errorf("%s of a row that is %q: %t, want %t", name, state, moved, may)
			}
			if diff := cmp.Diff(want, row, cmp.AllowUnexported(Decimal{})); diff != "" {
				t.Errorf("%s of a row that is %q (-want +got):\n%s", name, state, diff)
			}
		}
	}
	for _, from := range decidable { // what a dismissed row may go back to
		made[[2]State{Dismissed, from}] = true
	}
	// the ledger's own: intents, settlements, and late answers of earlier attempts
	for _, m := range [][2]State{
		{Pending, Sending},
		{Sending, Pending},
		{Sending, Accepted},
		{Sending, Rejected},
		{Sending, InDoubt},
		{Sending, Held},
		{InDoubt, Rejected},
		{InDoubt, Held},
		{Dismissed, Accepted},
		{Withdrawn, Accepted},
	} {
		made[m] = true
	}
	for _, from := range append([]State{""}, States...) {
		for _, to := range States {
			if from != to && made[[2]State{from, to}] != slices.Contains(Moves[from], to) {
				t.Errorf("from %q to %q: the table says %t, the methods and the ledger %t", from, to,
					slices.Contains(Moves[from], to), made[[2]State{from, to}])
			}
		}
	}
}

func TestARowThatOnlyAPersonMayMoveIsNotWithdrawn(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Entry){
		"a refusal in no form of the API":   func(e *Entry) { e.State, e.Error.Weak = Rejected, true },
		"it exists already":                 func(e *Entry) { e.Cause = CauseExists },
		"an earlier generation is in doubt": func(e *Entry) { e.Generation = 2 },
	} {
		row := rowIn(Held)
		change(&row)
		if state := row.State; row.Withdraw() || row.State != state {
			t.Errorf("%s: the row is %s", name, row.State)
		}
	}
}

// A reopened row is what it was before, unless its attempts or retention have decided otherwise.
func TestAReopenedRowIsWhatItWasUnlessItsAttemptsSayOtherwise(t *testing.T) {
	t.Parallel()
	unknown, not := Attempt{Generation: 1, Outcome: OutcomeUnknown},
		Attempt{Generation: 1, Outcome: OutcomeNotCreated, Status: 422, Messages: []string{"m"}, Reason: Say("refused")}
	for name, c := range map[string]struct {
		from     State
		attempts []Attempt
		change   func(*Entry)
		state    State
		due      time.Time
		mapped   string
		text     string
	}{
		"pending":       {Pending, nil, nil, Pending, dueAt, "", "refused"},
		"invalid":       {Invalid, nil, nil, Invalid, dueAt, "", "refused"},
		"rejected":      {Rejected, []Attempt{not}, nil, Rejected, dueAt, "", "refused"},
		"held":          {Held, nil, nil, Held, dueAt, "m1", "refused"},
		"in doubt":      {InDoubt, []Attempt{unknown}, nil, InDoubt, time.Time{}, "m1", "refused"},
		"known by then": {InDoubt, []Attempt{not}, nil, Rejected, dueAt, "m1", "it turned out late that nothing was created: refused"},
		"of an earlier generation": {
			Pending, []Attempt{unknown}, func(e *Entry) { e.Generation = 2 }, Pending, dueAt, "", "refused",
		},
		"in doubt although it was rejected": {Rejected, []Attempt{unknown}, nil, InDoubt, time.Time{}, "m1", "refused"},
		"without its payload": {
			Pending, nil, func(e *Entry) { e.Payload = nil }, Invalid,
			time.Time{},
			"",
			"its values are no longer kept; the next run reads it again",
		},
		"waiting for a parent": {
			Waiting, nil, func(e *Entry) { e.WaitingFor = []Awaited{{Job: "contracts", Key: "1"}} },
			Waiting, dueAt, "", "refused",
		},
	} {
		row := rowIn(c.from)
		if c.change != nil {
			c.change(&row)
		}
		if !row.Dismiss() {
			t.Fatalf("%s: not dismissed", name)
		}
		if !row.Reopen(c.attempts, dueAt.Add(time.Hour)) || row.Dismissal != nil {
			t.Errorf("%s: not reopened", name)
		}
		if due := row.NextAttemptAt; row.State != c.state || !due.Equal(c.due) || row.MappedWith != c.mapped ||
			row.Error.Text() != c.text {
			t.Errorf("%s: %s due %v mapped with %q: %s", name, row.State, due, row.MappedWith, row.Error.Text())
		}
	}
}

// Of a row that was dismissed nobody knows how, only a person can say what is to become of it.
func TestAReopenedRowIsHeldIfItsFormerStateIsNotKnown(t *testing.T) {
	t.Parallel()
	row := rowIn(Dismissed)
	row.Dismissal = nil
	if !row.Reopen(nil, dueAt) || row.State != Held || !row.NextAttemptAt.IsZero() || row.MappedWith != "m1" {
		t.Errorf("it is %s, due %v", row.State, row.NextAttemptAt)
	}
}

// Only a valid row goes again.
func TestARowGoesAgainOnlyAsItWouldBeSentNow(t *testing.T) {
	t.Parallel()
	for _, state := range States {
		row := rowIn(InDoubt)
		if moved := row.Again(rowIn(state)); moved != (state == Pending) {
			t.Errorf("a row that is %s now: %t", state, moved)
		}
	}
}
