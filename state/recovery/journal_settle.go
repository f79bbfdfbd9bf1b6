package recovery

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/jobs"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// The reasons for rows about which only the journal has information.
const (
	journalAnswer = "the answer is known from the journal: the process ended before the ledger had it"
	journalDoubt  = "the process that was about to send it ended between journal and ledger; whether it left is not known"
	rebuiltDoubt  = "known from the journal only: the ledger was rolled back or lost, and no answer is known"
)

// groupOf reconstructs the group that a record describes. fits is false if the ledger is not in the
// state just before that group: then it is an older copy, and not the result of a crash.
func (s *Journals) groupOf(t *sqldb.Tx, r journal.Record) (g *ledger.GroupTx, fits bool, err error) {
	g = ledger.NewGroupTx(t, trade.Lease{}, trade.Group{})
	for _, o := range r.Outcomes {
		g.Group.Settle = append(g.Group.Settle, settlementOf(o, r.At))
	}
	for _, in := range r.Intents {
		var row ledger.ReadRow
		if err := t.Get(&row, ledger.SelectEntry+`WHERE e.job = ? AND e.key = ?`, in.Job, in.Key); err != nil {
			return g, false, ignoreNoRows(err)
		}
		e, err := row.Entry()
		if err != nil {
			return g, false, err
		}
		if e.State == trade.Accepted ||
			e.Generation == in.Generation && (e.State == trade.Sending || e.State == trade.InDoubt) {
			continue // another host has sent it: the ledger never had this intent, and nothing was sent
		}
		if e.State != trade.Pending || e.Generation != in.Generation || e.PayloadHash != in.Payload {
			return g, false, nil
		}
		g.Group.Intents = append(g.Group.Intents, trade.Intent{Entry: e, Attempt: trade.Attempt{
			ID: in.Attempt, EntryID: e.ID, Generation: e.Generation, Owner: "journal", Target: e.Target,
			Payload: e.Payload, PayloadHash: e.PayloadHash,
			StartedAt: r.At,
		}})
	}
	if err := g.Load(); err != nil {
		return g, false, err
	}
	for _, o := range r.Outcomes {
		a := g.Attempts[o.Attempt]
		if a == nil || a.Outcome.Valid && a.Outcome.String != o.Outcome &&
			a.Outcome.String != string(trade.OutcomeUnknown) {
			return g, false, nil
		}
	}
	if _, err := g.History(); err != nil {
		return g, false, err
	}
	for _, in := range r.Intents {
		if g.Attempts[in.Attempt] != nil {
			return g, false, nil
		}
	}
	return g, true, nil
}

func ignoreNoRows(err error) error {
	if err == sql.ErrNoRows { //nolint:errorlint // database/sql gives it as it is
		return nil
	}
	return err
}

// fits reports whether the one record that the ledger lacks is what a crash leaves between journal
// and ledger.
func (s *Journals) fits(t *sqldb.Tx, r journal.Record) (bool, error) {
	if r.Audit != nil {
		if was, err := audit.WasHead(t.All, *r.Audit); err != nil || !was {
			return false, err
		}
	}
	if r.Kind == journal.Act { // a person's decision applies to any earlier copy
		return r.ActName != audit.RebuildName, nil
	}
	_, fits, err := s.groupOf(t, r)
	return fits, err
}

// settleLeft settles what a process left in the journal.
func (s *Journals) settleLeft(t *sqldb.Tx, v *Verdict) (out Opening, err error) {
	if v.Record != nil {
		return s.settleRecord(t, v)
	}
	for _, r := range v.Answers {
		n, err := s.settleAnswers(t, r)
		if err != nil {
			return out, err
		}
		out.Settled += n
	}
	last := v.Answers[len(v.Answers)-1]
	t.Note = nil // the journal already has it
	v.row.Seq, v.row.Mark = v.Compare.End.Seq, v.Compare.End.Mark
	return out, t.Do(`UPDATE journal SET seq = ?, mark = ?, at = ? WHERE id = ?`, v.row.Seq, v.row.Mark,
		last.At.UnixMilli(), v.row.ID)
}

// settleAnswers stores the answers of a record that the ledger can still take: a certain outcome
// never changes.
func (s *Journals) settleAnswers(t *sqldb.Tx, r journal.Record) (settled int, err error) {
	if len(r.Outcomes) == 0 {
		return 0, nil
	}
	g := ledger.NewGroupTx(t, trade.Lease{}, trade.Group{})
	for _, o := range r.Outcomes {
		g.Group.Settle = append(g.Group.Settle, settlementOf(o, r.At))
	}
	if err := g.Load(); err != nil {
		return 0, err
	}
	g.Group.Settle = slices.DeleteFunc(g.Group.Settle, func(st trade.Settlement) bool {
		a := g.Attempts[st.Attempt.ID]
		return a == nil || !changeable(a)
	})
	if err := g.Settle(); err != nil {
		return 0, err
	}
	if err := g.Sums.Apply(t); err != nil {
		return 0, err
	}
	_, err = s.auditSettled(t, r)
	return len(g.Result.Settled), err
}

// settleRecord stores what a crash left between journal and ledger: the answers of the record, and
// doubts for its intents. If the process ended just before the commit, nothing had left; but a
// ledger that was rolled back by one group looks the same, so an intent is certainly unsent only if
// the marks of the process show it. A person's act is done, except for a second sending: of that
// only the generation is stored, and the row stays in doubt.
func (s *Journals) settleRecord(t *sqldb.Tx, v *Verdict) (out Opening, err error) {
	r := *v.Record
	switch r.Kind {
	case journal.Group:
		g, fits, err := s.groupOf(t, r)
		if err != nil || !fits {
			return out, err
		}
		if err := g.Settle(); err != nil {
			return out, err
		}
		leaveUnsent(g, s.ledger.Traces(v.row.ID, v.row.Seq), r)
		if err := doubt(g, journalDoubt); err != nil {
			return out, err
		}
		if err := g.Sums.Apply(t); err != nil {
			return out, err
		}
		out = Opening{Settled: len(g.Result.Settled), Doubts: len(g.Group.Intents)}
		if _, err := s.auditSettled(t, r); err != nil {
			return out, err
		}
	case journal.Act:
		if err := s.settleAct(t, v); err != nil {
			return out, err
		}
		out.Acts = 1
	case journal.Moved:
		if err := jobs.SetPlatform(t, v.Compare.End.Header.Platform); err != nil {
			return out, err
		}
		if to := r.Head.MovedTo; to != "" {
			if err := t.Do(`UPDATE ledger SET moved_to = ? WHERE moved_to IS NULL`, to); err != nil {
				return out, err
			}
		}
	}
	t.Note = nil // the journal already has it
	v.row.Seq, v.row.Mark = r.Seq, v.Compare.FirstMark
	return out, t.Do(`UPDATE journal SET seq = ?, mark = ?, at = ? WHERE id = ?`, v.row.Seq, v.row.Mark,
		r.At.UnixMilli(), v.row.ID)
}

// leaveUnsent removes the intents from a group that certainly have not left: their entries stay as
// before.
func leaveUnsent(g *ledger.GroupTx, traces ledger.Trace, r journal.Record) {
	g.Group.Intents = slices.DeleteFunc(g.Group.Intents, func(in trade.Intent) bool {
		st, ok := traces.Of(r.By, in.Attempt.ID)
		return ok && st.Attempt.Outcome == trade.OutcomeNotSent
	})
}

// settleAct does an act that only the journal has, as a rebuild would, for the rows and jobs of the
// act.
func (s *Journals) settleAct(t *sqldb.Tx, v *Verdict) error {
	h, err := ReadHistory(v.dir)
	if err != nil {
		return s.db.JournalFault(err)
	}
	h.only(*v.Record)
	r := &Rebuilding{Tx: t, History: h, Plan: &RebuildPlan{}, Now: time.Now(), Sums: ledger.TallyChange{}}
	if err := r.moveJobs(v.row.Seq, audit.Program); err != nil {
		return err
	}
	work, err := r.Compare()
	if err != nil {
		return err
	}
	if r.audit, err = s.auditSettled(t, *v.Record); err != nil {
		return err
	}
	return r.apply(work)
}

// auditSettled records in the audit what a crash had left.
func (s *Journals) auditSettled(t *sqldb.Tx, r journal.Record) (seq int64, err error) {
	detail, err := json.Marshal(r)
	if err != nil {
		return 0, err
	}
	host, _, _ := sqldb.HostIdentity()
	return audit.AddNumbered(t, trade.AuditRecord{
		Who: audit.Program, From: host, Act: "journal settle", Target: fmt.Sprintf("record %d", r.Seq),
		Detail: string(detail),
		Reason: "a process ended between journal and ledger",
	})
}

// settlementOf returns the settlement for an outcome of the journal.
func settlementOf(o journal.Outcome, at time.Time) trade.Settlement {
	st := trade.Settlement{
		Attempt: trade.Attempt{
			ID: o.Attempt, Outcome: trade.Outcome(o.Outcome), RemoteID: o.RemoteID, Status: o.Status, FinishedAt: at,
			Reason: journalAnswer,
		},
		State: trade.State(o.State), Cause: o.Cause, Counts: o.Counts,
	}
	if o.Next != nil {
		st.NextAttemptAt = *o.Next
	}
	switch st.State {
	case trade.Rejected, trade.Held:
		st.Error = &trade.EntryError{
			Kind: trade.APIError, Status: o.Status, Messages: messagesOf(o.Cause),
			Fields: []trade.Problem{}, Text: journalAnswer, Weak: o.Weak,
		}
	case trade.InDoubt:
		st.Error = &trade.EntryError{
			Kind: trade.TransportError, Status: o.Status, Fields: []trade.Problem{},
			Text: journalAnswer,
		}
	}
	return st
}

func messagesOf(cause string) []string {
	if cause == "" {
		return nil
	}
	return []string{cause}
}

// doubt stores the intents of the group as attempts that may have left. The entries pass through
// sending, which is the only way to in doubt.
func doubt(g *ledger.GroupTx, text string) error {
	history, err := g.History()
	if err != nil {
		return err
	}
	reason, err := json.Marshal(trade.EntryError{Kind: trade.TransportError, Fields: []trade.Problem{}, Text: text})
	if err != nil {
		return err
	}
	var attempts, sending, ended, doubts [][]any
	for _, in := range g.Group.Intents {
		e := g.Entries[in.Entry.ID]
		a := in.Attempt
		a.No = history[e.ID].Last + 1
		row, err := ledger.AttemptRowOf(a, g.Now, false)
		if err != nil {
			return err
		}
		attempts = append(attempts, row.Args())
		g.Records.Intend(e, a, in.Entry)
		sending = append(sending, []any{e.ID, string(trade.Sending)})
		a.Outcome, a.Reason, a.FinishedAt = trade.OutcomeUnknown, text, g.Now
		if row, err = ledger.AttemptRowOf(a, g.Now, true); err != nil {
			return err
		}
		ended = append(ended, row.Result())
		if err := g.Sums.Move(e, string(trade.InDoubt)); err != nil {
			return err
		}
		e.State, e.Version, e.Attempts = string(trade.InDoubt), e.Version+1, e.Attempts+1
		doubts = append(doubts, []any{
			e.ID, e.State, trade.CauseUnknown, string(reason), nil, e.Attempts,
			g.Now.UnixMilli(), e.Version,
		})
	}
	if err := g.Records.Write(); err != nil {
		return err
	}
	if err := g.InsertRows("attempt", ledger.AttemptColumns, attempts, ""); err != nil {
		return err
	}
	if err := g.UpdateRows("entry", []string{"id", "state"}, sending); err != nil {
		return err
	}
	if err := g.UpdateRows("attempt", ledger.ResultColumns, ended); err != nil {
		return err
	}
	return g.UpdateRows("entry", []string{
		"id", "state", "cause", "error", "next_attempt_at", "attempts", "updated_at",
		"version",
	}, doubts)
}
