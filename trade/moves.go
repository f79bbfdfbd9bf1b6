package trade

import (
	"slices"
	"time"
)

// Moves are the allowed changes of state; the empty state means "not in the ledger yet". The
// database has the same table and refuses every other change. From states that
// are not in Decided only a late answer of an earlier attempt or a person's adoption leads to
// accepted, which the database checks too.
var Moves = map[State][]State{
	"":        {Pending, Waiting, Invalid, Held},
	Pending:   {Waiting, Invalid, Sending, Held, Dismissed, Withdrawn, Accepted},
	Waiting:   {Pending, Invalid, Held, Dismissed, Withdrawn, Accepted},
	Invalid:   {Pending, Waiting, Held, Dismissed, Withdrawn, Accepted},
	Sending:   {Pending, Accepted, Rejected, InDoubt, Held},
	Rejected:  {Pending, Waiting, Invalid, Held, Dismissed, Withdrawn, Accepted},
	InDoubt:   {Pending, Accepted, Rejected, Held, Dismissed},
	Held:      {Pending, Waiting, Invalid, Accepted, Dismissed, Withdrawn},
	Dismissed: {Pending, Waiting, Invalid, Accepted, Rejected, InDoubt, Held},
	Withdrawn: {Pending, Waiting, Invalid, Held, Accepted},
	Accepted:  {},
}

// Decided are the states from which an entry is accepted by its own answer, or by a person's decision
// about what may be on the platform.
var Decided = []State{Sending, InDoubt, Held, Dismissed}

// CanMove reports whether the table allows the change. Staying in a state is always allowed.
func CanMove(from, to State) bool { return from == to || slices.Contains(Moves[from], to) }

// Decidable are the states of the rows about which a person may decide: to leave them out, or that the
// platform has them. They are in doubt, held, or not sent.
var Decidable = []State{Pending, Waiting, Invalid, Rejected, InDoubt, Held}

// Stuck are the states of rows that do not go by themselves; an index of the ledger has the same.
var Stuck = []State{Waiting, Invalid, Rejected, InDoubt, Held}

// Undecided are the states of the rows of which only a person can say whether the platform has them,
// or whether they are the document that it has.
var Undecided = []State{InDoubt, Held}

// judged are the states of the rows that the engine judges: they were certainly not created, and no
// person has taken them out. The empty state is that of a row which is not in the ledger yet.
var judged = []State{"", Pending, Waiting, Invalid, Rejected, Held, Withdrawn}

// The methods from here on are all that changes the state of an entry. Each method reports whether
// the row may make the move; a row that may not is left as it is. What belonged to the former
// state is cleared: the cause, the error, what the row waited for and when it was due. Everything
// else is kept, and UpdatedAt is left to the caller.

// move moves a row that is in one of the states from.
func (e *Entry) move(from []State, to Entry) bool {
	may := slices.Contains(from, e.State)
	if may {
		e.TakeState(to)
	}
	return may
}

// Pend makes a row that the engine judges due now.
func (e *Entry) Pend() bool { return e.move(judged, Entry{State: Pending}) }

// Refuse makes a row that the engine judges invalid, because of these problems. It may also lack
// something.
func (e *Entry) Refuse(problems []Problem, awaited ...Awaited) bool {
	why := EntryError{Kind: ValidationError, Fields: problems}
	if slices.ContainsFunc(problems, func(p Problem) bool { return p.Mapping }) {
		why.Kind = MappingError
	}
	return e.move(judged, Entry{State: Invalid, Cause: Cause(problems), Error: &why, WaitingFor: awaited})
}

// Wait makes a row that the engine judges wait for something. It is looked at again at next, or
// only when that is there if next is zero.
func (e *Entry) Wait(cause string, next time.Time, awaited ...Awaited) bool {
	return e.move(judged, Entry{State: Waiting, Cause: cause, WaitingFor: awaited, NextAttemptAt: next})
}

// Hold holds a row that the engine judges, with a reason for the person who decides, and what the row
// was compared with; nil: nothing.
func (e *Entry) Hold(cause string, why Sentence, other *Counterpart) bool {
	return e.move(judged, Entry{
		State: Held, Cause: cause, Error: &EntryError{Kind: ConflictError, Why: why, Counterpart: other},
	})
}

// HoldDouble holds a row that the engine judges, because its key stands several times in the ERP.
func (e *Entry) HoldDouble(rows int) bool {
	return e.Hold(CauseDuplicateKey, Double(e.Key, rows), &Counterpart{Job: e.Job, Key: e.Key, Rows: rows})
}

// Double returns what is said of a key that stands several times in the ERP.
func Double(key string, rows int) Sentence { return Say("held.double", "key", key, "rows", rows) }

// Withdraw takes out a row that was not created and has left the ERP. It is not for rows which only a
// person may move, because their return would undo that: a refusal in no form of the API, a record
// that exists already, an earlier generation that is in doubt.
func (e *Entry) Withdraw() bool {
	if e.Weak() || e.State == Held && e.Cause == CauseExists || e.Generation > 1 {
		return false
	}
	return e.move([]State{Pending, Waiting, Invalid, Rejected, Held}, Entry{State: Withdrawn})
}

// Begin makes a row that is due one that is being sent: the intent of an attempt is durable.
func (e *Entry) Begin() bool { return e.move([]State{Pending}, Entry{State: Sending}) }

// Settle makes a row what the end of an attempt says, with its error: what the platform answered, or
// why nothing is known.
func (e *Entry) Settle(s Settlement) bool {
	if s.State != "" && !CanMove(e.State, s.State) {
		return false
	}
	if s.State != "" {
		to := Entry{State: s.State, Cause: s.Cause, NextAttemptAt: s.NextAttemptAt}
		if s.Kind != "" {
			a := s.Attempt
			to.Error = &EntryError{Kind: s.Kind, Status: a.Status, Messages: a.Messages, Why: a.Reason, Weak: s.Weak}
		}
		e.TakeState(to)
	}
	for _, f := range s.Flags {
		e.Flags = e.Flags.With(f, true)
	}
	return true
}

// SenderGone is the error of a row whose process ended while it was sending, and why its attempt is unknown.
func SenderGone() Sentence { return Say("attempt.sender_gone") }

// Doubt makes a row in doubt whose process ended while it was sending.
func (e *Entry) Doubt() bool {
	why := EntryError{Kind: TransportError, Fields: []Problem{}, Why: SenderGone()}
	return e.move([]State{Sending}, Entry{State: InDoubt, Cause: CauseUnknown, Error: &why})
}

// Wake makes a row due that was refused or waited, and whose time or whose record of the platform has
// come.
func (e *Entry) Wake() bool { return e.move([]State{Rejected, Waiting}, Entry{State: Pending}) }

// Accept makes a decidable row accepted with the id of its record; "" if a person knows that the
// record is there and not its id.
func (e *Entry) Accept(id string) bool {
	moved := e.move(Decidable, Entry{State: Accepted})
	if moved {
		e.RemoteID = id
	}
	return moved
}

// Dismiss leaves out a decidable row. Its cause, its error and what it waited for are kept, and so is
// its state, for [Entry.Reopen].
func (e *Entry) Dismiss() bool {
	if !slices.Contains(Decidable, e.State) {
		return false
	}
	e.Dismissal = &Dismissal{From: e.State, NextAttemptAt: e.NextAttemptAt}
	e.State, e.NextAttemptAt = Dismissed, time.Time{}
	return true
}

// Reopen brings a dismissed row back to the state from which it was dismissed, with its cause, its
// error and what it waited for. Its attempts may have decided otherwise meanwhile: what is unknown is
// in doubt, and what was in doubt and turned out not to be created is rejected. All others but the held
// ones are mapped again by the next run. One that waited for a record of the platform is due now, to
// ask for it.
func (e *Entry) Reopen(attempts []Attempt, now time.Time) bool {
	if e.State != Dismissed {
		return false
	}
	was := Dismissal{From: Held}
	if e.Dismissal != nil {
		was = *e.Dismissal
	}
	e.State, e.NextAttemptAt, e.Dismissal = was.From, was.NextAttemptAt, nil
	switch {
	case slices.ContainsFunc(attempts, func(a Attempt) bool { return a.Generation == e.Generation && a.Undecided() }):
		e.State, e.NextAttemptAt = InDoubt, time.Time{}
		return true
	case was.From == InDoubt:
		out := EntryError{Kind: APIError, Fields: []Problem{}, Why: Say("row.late_refusal"), Weak: true}
		if len(attempts) > 0 {
			last := attempts[len(attempts)-1]
			out.Status, out.Messages = last.Status, last.Messages
			if last.Reason.Code != "" {
				out.Why = Say("row.late_refusal.why", "why", last.Reason)
			}
		}
		e.State, e.Cause, e.Error = Rejected, "", &out
		return true
	case was.From == Held:
		return true
	// it was dismissed for so long that retention has removed its payload
	case was.From == Pending && e.Payload == nil:
		e.State, e.NextAttemptAt = Invalid, time.Time{}
		e.Error = &EntryError{
			Kind: MappingError, Fields: []Problem{}, Why: Say("row.values_gone"),
		}
	case was.From == Waiting && e.WaitsForPlatform():
		e.NextAttemptAt = now
	}
	e.MappedWith = ""
	return true
}

// Again opens the next generation of a row that is in doubt, or held beside a doubt: a person orders
// that it goes once more, as fresh, which is the row as it is in the ERP now. What was flagged or
// acknowledged of the earlier generation is cleared.
func (e *Entry) Again(fresh Entry) bool {
	if e.State != InDoubt && e.State != Held || fresh.State != Pending {
		return false
	}
	fresh.Generation, fresh.Acknowledged = e.Generation+1, nil
	for _, flag := range []Flag{Changed, Cancelled, MissingInERP, Contradicted, Recoded} {
		fresh.Flags = fresh.Flags.With(flag, false)
	}
	fresh.Flags = fresh.Flags.With(Forced, true)
	*e = fresh
	return true
}

// TakePayload gives the row the payload of another version of it.
func (e *Entry) TakePayload(of Entry) {
	e.Target, e.Payload = of.Target, of.Payload
	e.PayloadHash, e.Content, e.Printed = of.PayloadHash, of.Content, of.Printed
}

// TakeState gives the row the state of another version of it, with its reasons.
func (e *Entry) TakeState(of Entry) {
	e.State, e.Cause, e.Error = of.State, of.Cause, of.Error
	e.WaitingFor, e.NextAttemptAt = of.WaitingFor, of.NextAttemptAt
}

// As returns the row as if it were in another state, to compare or show it; it is not stored.
func (e Entry) As(state State) Entry {
	e.State = state
	return e
}
