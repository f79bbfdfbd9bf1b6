package sync

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

const (
	// rivalsPage is how many records of which events told are in memory at once while doubts are compared with all of them.
	rivalsPage = 2000
	// compareEvery is how often doubts are compared with more records than that: it takes some 20 µs of CPU for each.
	compareEvery = time.Minute
	// warnEvery is how often it is told that too many rows are in doubt.
	warnEvery = time.Hour
)

// settle compares what was read with what is in doubt, and does what is certain. Doubts that are not looked at had ended before since.
func (h *Hearing) settle(ctx context.Context, doubts []trade.Doubt, since time.Time) error {
	if now := h.Now(); len(doubts) == 0 || !now.Before(h.compared) && now.Before(h.compared.Add(compareEvery)) {
		return nil
	}
	oldest := slices.MinFunc(doubts, func(a, b trade.Doubt) int { return a.Attempt.StartedAt.Compare(b.Attempt.StartedAt) }).Attempt.StartedAt.Add(-clockSlack)
	m := newMatcher(doubts, h.closes)
	looked, err := h.eachRival(ctx, oldest, func(read, _ []trade.Candidate) error {
		m.compare(read)
		return nil
	})
	if err != nil {
		return err
	}
	h.compared = time.Time{}
	if looked > rivalsPage {
		h.compared = h.Now()
	}
	found := h.looked(m.pairs(), since)
	if len(found) == 0 {
		return nil
	}
	if found, err = h.withoutRivals(ctx, oldest, found); err != nil {
		return err
	}
	for _, p := range found {
		if err := h.settleOne(ctx, p); err != nil {
			return fmt.Errorf("%s %s: %w", p.doubt.Entry.Job, p.doubt.Entry.Key, err)
		}
	}
	return nil
}

// looked leaves out the pairs whose record may as well be that of a doubt that was not looked at.
func (h *Hearing) looked(found []pair, since time.Time) []pair {
	return slices.DeleteFunc(found, func(p pair) bool {
		early := p.doubt.Attempt.StartedAt.Add(-clockSlack).Before(since.Add(h.apart()))
		if early {
			h.tooMany(p.doubt.Entry)
		}
		return early
	})
}

// eachRival calls fn with all records of which events told at or after a time and that no row of ours has, some at a time: those that were read, and those that were not. It tells how many there are.
// They come in the order in which events told of them last: of which one tells meanwhile comes again behind, and none is passed over.
func (h *Hearing) eachRival(ctx context.Context, since time.Time, fn func(read, unread []trade.Candidate) error) (looked int, err error) {
	for after := ""; ; {
		page, err := h.Ledger.Rivals(ctx, since, after, rivalsPage)
		if err != nil || len(page) == 0 {
			return looked, err
		}
		last := page[len(page)-1]
		since, after, looked = last.LastAt, last.ID, looked+len(page)
		read, unread, err := h.unclaimed(ctx, page)
		if err == nil {
			err = fn(read, unread)
		}
		if err != nil {
			return looked, err
		}
	}
}

// withoutRivals leaves out the pairs of which another record may be as like the doubt, because it could not be read. It compares all once more: in the meantime records were read, told of as deleted
// and got by rows of ours, and requests began, of which a record may be.
func (h *Hearing) withoutRivals(ctx context.Context, oldest time.Time, found []pair) ([]pair, error) {
	doubts, since, err := h.Ledger.Doubts(ctx)
	if err != nil {
		return nil, err
	}
	own := make(map[string]trade.Candidate, len(found)) // by attempt; without those that have rivals
	for _, p := range found {
		own[p.doubt.Attempt.ID] = p.candidate
	}
	m := newMatcher(doubts, h.closes)
	_, err = h.eachRival(ctx, oldest, func(read, unread []trade.Candidate) error {
		m.compare(read)
		for _, c := range unread {
			rival := false
			for _, p := range found {
				if h.mayRival(c, p) {
					rival = true
					delete(own, p.doubt.Attempt.ID)
				}
			}
			if !rival {
				continue
			}
			if err := h.askOnce(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	return slices.DeleteFunc(h.looked(m.pairs(), since), func(p pair) bool {
		was, only := own[p.doubt.Attempt.ID]
		return !only || was.ID != p.candidate.ID || !was.AskedAt.Equal(p.candidate.AskedAt) || p.candidate.Purpose == trade.ForDeletion // what may not be there any more is for a person
	}), err
}

// tooMany tells, now and then, that a row in doubt is left to people, because others of its time were not looked at.
func (h *Hearing) tooMany(e trade.Entry) {
	if now := h.Now(); e.State == trade.InDoubt && now.Sub(h.warned) >= warnEvery {
		h.warned = now
		h.Log.Warn("too many rows are in doubt for events to settle the older ones; people decide", zap.String("job", e.Job))
	}
}

// unclaimed leaves out the records that rows of ours have, and gives those that were read and those that were not.
func (h *Hearing) unclaimed(ctx context.Context, candidates []trade.Candidate) (read, unread []trade.Candidate, err error) {
	var ids []string
	for _, c := range candidates {
		ids = append(ids, c.ID)
	}
	ours, err := h.Ledger.Ours(ctx, ids)
	for _, c := range candidates {
		switch {
		case ours[c.ID] != "":
		case len(c.Fields) > 0:
			read = append(read, c)
		default:
			unread = append(unread, c)
		}
	}
	return read, unread, err
}

// mayBeFor is how many readings a record counts as one that may be there, by what the last one of them gave. Where the platform says that it has none, a minute and a half is enough: events may name
// other things than records. After anything else it is some twenty minutes; one that nobody can read then keeps no others waiting.
func mayBeFor(status int) int {
	if status == http.StatusNotFound {
		return 3
	}
	return len(readPauses) + 1
}

// mayRival tells whether a record that could not be read may be as like the doubt of a pair. One of which nobody had heard when the pair's own was read does not count: others are made all the time.
func (h *Hearing) mayRival(c trade.Candidate, p pair) bool {
	switch {
	case c.HeardAt.After(p.candidate.AskedAt), timingOf(c, p.doubt.Attempt, h.closes) == TimeBefore, c.State == trade.CandidateRead: // with nothing in it that is like anything
		return false
	case c.Purpose == trade.ForDeletion: // it was made at that time, and went before anybody read it
		return c.Event == commitmentEvents[0]
	case c.State == trade.CandidateHeard && c.Tries < mayBeFor(c.Status):
		return true
	}
	// While nothing could be read, neither could the pair's own: what was not asked for since then has not had its turn.
	return c.Status != http.StatusNotFound && c.AskedAt.Before(p.candidate.AskedAt)
}

// askOnce lets a record be read once more that was given up.
func (h *Hearing) askOnce(ctx context.Context, c trade.Candidate) error {
	if c.State != trade.CandidateUnreadable || c.Purpose != trade.ForDoubts {
		return nil
	}
	c.State, c.NextAt = trade.CandidateHeard, h.Now()
	return h.Ledger.SaveCandidate(ctx, c)
}

// settleOne does what a pair proves that is the only one on both sides.
func (h *Hearing) settleOne(ctx context.Context, p pair) error {
	entry, attempt := p.doubt.Entry, p.doubt.Attempt
	after := entry
	after.UpdatedAt = h.Now()
	act := "evidence"
	switch {
	case entry.State == trade.InDoubt && attempt.Generation == entry.Generation:
		after.State, after.RemoteID, after.Cause, after.Error, after.WaitingFor, after.NextAttemptAt = trade.Accepted, p.candidate.ID, "", nil, nil, noTime
	case entry.State == trade.Pending && attempt.Generation < entry.Generation: // a person ordered a second sending, and the first one is there
		act = "evidence before resend"
		after.State, after.Cause, after.NextAttemptAt = trade.Held, trade.CauseExists, noTime
		after.Error = &trade.EntryError{Kind: trade.ConflictError, Fields: []trade.Problem{}, Text: "an earlier sending had created it: the platform has it as " + p.candidate.ID}
	case entry.State == trade.Dismissed, entry.State == trade.Accepted && attempt.Generation == entry.Generation:
		if act = "evidence against a decision"; entry.Flags.Has(trade.Contradicted) || entry.Acknowledged.Has(trade.Contradicted) {
			return nil
		}
		after.Flags = after.Flags.With(trade.Contradicted, true)
	case entry.State == trade.Accepted:
		if act = "evidence of a double"; entry.Flags.Has(trade.DoubleAfterDecision) || entry.Acknowledged.Has(trade.DoubleAfterDecision) {
			return nil
		}
		after.Flags = after.Flags.With(trade.DoubleAfterDecision, true)
	default: // on the wire, or between two decisions: nobody acts on it
		return nil
	}
	who := h.Program
	who.Reason = fmt.Sprintf("event %s named record %s, which was read back: all %d fields that were sent are the same, and no other row and no other record is like it",
		p.candidate.Event, p.candidate.ID, p.reading.Same)
	record, err := who.record(h.Now(), act, entry.Job+" "+entry.Key, evidenceDetail{viewOf(entry), viewOf(after), attempt.ID, p.candidate.Seq, p.reading})
	if err != nil {
		return err
	}
	done, err := h.Ledger.Act(ctx, []trade.Act{{Update: &trade.Update{From: entry.State, Entry: after}, Audit: record}})
	if err != nil || !done[0] {
		return err
	}
	h.Log.Info("evidence", zap.String("act", act), zap.String("job", entry.Job), zap.String("state", string(after.State)))
	c := p.candidate
	c.State, c.NextAt, c.SettledBy = trade.CandidateSettled, noTime, entry.ID
	return h.Ledger.SaveCandidate(ctx, c)
}

// evidenceDetail is what the audit keeps of an act that no person ordered.
type evidenceDetail struct {
	Before  entryView `json:"before"`
	After   entryView `json:"after"`
	Attempt string    `json:"attempt"`
	Event   int64     `json:"event"` // in the inbox; 0: it is not known any more
	Reading Readback  `json:"reading"`
}
