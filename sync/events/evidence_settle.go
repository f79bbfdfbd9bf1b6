// Decide: a doubt is settled if one record proves it.

package events

import (
	"context"
	"net/http"
	"slices"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/identity"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// comparedMost is with how many of the records read back, the newest, doubts are compared.
const comparedMost = 10_000

// notFoundAfter is the number of 404s after which a record counts as nonexistent, because events may contain
// ids of other things. Other failures are tried again for an hour.
const notFoundAfter = 3

// settle compares the doubts with the records read back, and settles those that are proven.
func (h *Processor) settle(ctx context.Context) error {
	doubts, err := h.Rows.Doubts(ctx)
	if err != nil || len(doubts) == 0 {
		return err
	}
	oldest := doubts[0].Attempt.StartedAt
	for _, d := range doubts {
		if d.Attempt.StartedAt.Before(oldest) {
			oldest = d.Attempt.StartedAt
		}
	}
	read, err := h.Candidates.ReadBack(ctx, oldest.Add(-clockSlack), comparedMost)
	if err != nil {
		return err
	}
	for _, d := range doubts {
		if len(read) == comparedMost && !d.Attempt.StartedAt.Add(-clockSlack).After(read[len(read)-1].LastAt) {
			continue // an older record may equal it: a person decides
		}
		if err := h.settleOne(ctx, d, doubts, read); err != nil {
			return phrase.Errorf("%s %s: %w", d.Entry.Job, d.Entry.Key, err)
		}
	}
	return nil
}

// settleOne settles a doubt if exactly one record that was read back equals what was sent, was
// certainly created while the request could be executed, and can belong to no other row. It waits
// while another record that was named by the time of that reading is still unread.
func (h *Processor) settleOne(ctx context.Context, d trade.Doubt, doubts []trade.Doubt, read []trade.Candidate) error {
	sent, ends := sentOf(d.Attempt), closes(d.Attempt, h.Limits, h.Now())
	fits := func(c trade.Candidate) bool {
		return timingOf(c, d.Attempt, ends) == TimeFits && c.Purpose != trade.ForDeletion && agrees(c, sent)
	}
	fit, prints := slices.IndexFunc(read, fits), printsOf(d.Attempt)
	if fit < 0 || slices.ContainsFunc(doubts, func(o trade.Doubt) bool {
		return o.Attempt.ID != d.Attempt.ID && prints.Differ(printsOf(o.Attempt)) == 0
	}) {
		return nil
	}
	var like []trade.Candidate
	var ids []string
	for _, c := range read {
		if len(c.Fields) == 0 && timingOf(c, d.Attempt, ends) != TimeBefore &&
			!c.HeardAt.After(read[fit].AskedAt) && (c.Status != http.StatusNotFound || c.Tries < notFoundAfter) {
			return nil // it may be the doubt's record
		}
		if timingOf(c, d.Attempt, ends) != TimeBefore && agrees(c, sent) {
			like, ids = append(like, c), append(ids, c.ID)
		}
	}
	ours, err := h.Rows.Ours(ctx, ids)
	if err != nil {
		return err
	}
	like = slices.DeleteFunc(like, func(c trade.Candidate) bool { return ours[c.ID] != "" })
	if len(like) != 1 || !fits(like[0]) {
		return nil
	}
	query := trade.RecordQuery{Kind: trade.OrderCommitments, Prints: []trade.Prints{prints}}
	elsewhere, _, err := h.Rows.Records(ctx, query)
	if err != nil || slices.ContainsFunc(elsewhere, func(o trade.Record) bool {
		return o.Row.ID != d.Entry.ID && o.Row.State != trade.Accepted && identity.Same(&o, prints)
	}) {
		return err
	}
	c := like[0]
	entry, attempt := d.Entry, d.Attempt
	reading := acts.CompareReading(c.ID, sent, c.Fields)
	after := entry
	act := "evidence"
	switch {
	case entry.State == trade.InDoubt && attempt.Generation == entry.Generation:
		after.Accept(c.ID)
	// a person ordered a second sending, but the first one had created the record
	case waitsToLeave(d):
		act = "evidence before resend"
		after.Hold(trade.CauseExists, trade.Say("held.earlier", "id", c.ID), nil)
	case entry.State == trade.Dismissed, entry.State == trade.Accepted && attempt.Generation == entry.Generation:
		act = "evidence against a decision"
		if entry.Flags.Has(trade.Contradicted) || entry.Acknowledged.Has(trade.Contradicted) {
			return nil
		}
		after.Flags = after.Flags.With(trade.Contradicted, true)
	case entry.State == trade.Accepted:
		act = "evidence of a double"
		if entry.Flags.Has(trade.DoubleAfterDecision) || entry.Acknowledged.Has(trade.DoubleAfterDecision) {
			return nil
		}
		after.Flags = after.Flags.With(trade.DoubleAfterDecision, true)
	default: // in flight, or between two decisions: left alone
		return nil
	}
	done, err := h.decided(ctx, act, entry, after, evidenceDetail{
		Attempt: attempt.ID, Event: c.Seq, Reading: reading,
		Why: trade.Say("audit.evidence", "event", c.Event, "id", c.ID, "fields", reading.Same),
	})
	if err != nil || !done {
		return err
	}
	h.Log.Info("evidence", zap.String("act", act), zap.String("job", entry.Job),
		zap.String("state", string(after.State)))
	c.State, c.NextAt, c.SettledBy = trade.CandidateSettled, mapping.NoTime, entry.ID
	return h.Candidates.SaveCandidate(ctx, c)
}

// waitsToLeave reports whether a person has ordered a second sending, and nothing of it has left.
func waitsToLeave(d trade.Doubt) bool {
	switch d.Entry.State {
	case trade.Pending, trade.Waiting, trade.Invalid, trade.Rejected:
		return d.Attempt.Generation < d.Entry.Generation
	}
	return false
}

// printsOf returns the fingerprints of what an attempt sent, without those of its row.
func printsOf(a trade.Attempt) trade.Prints {
	return trade.PrintsOf(trade.OrderCommitments, "", a.Target, a.Payload)
}

// evidenceDetail is what the audit stores about an act that no person ordered.
type evidenceDetail struct {
	Before  acts.EntryView `json:"before"`
	After   acts.EntryView `json:"after"`
	Attempt string         `json:"attempt"`
	Event   int64          `json:"event"` // its number in the inbox; 0 if no longer known
	Reading acts.Readback  `json:"reading"`
	Why     trade.Sentence `json:"why"`
}
