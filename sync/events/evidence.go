// Fetch: the records that events named are read back.

package events

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

const (
	readMost = 20 // records read back in one pass, at one per second
	// clockSlack is how far the platform's clock may be behind ours.
	clockSlack = 5 * time.Second
	// readGrace is how long reading back a record waits while the rows to which it may belong are
	// in flight: usually their answers arrive.
	readGrace = 20 * time.Second
	// settleGrace is the same if a row is in doubt already: other rows that the event may be about
	// are in flight only for moments.
	settleGrace = 3 * time.Second
	// readFor is how long reading a record is tried: it may not exist yet, or not for us.
	readFor = time.Hour
	// readClaim is how long a process may take to read a record before another one may read it.
	readClaim = 5 * time.Minute
	// postponed is how long a record waits that no doubt needs.
	postponed = 15 * time.Minute
)

// readPauses are the pauses between tries; the last one repeats.
var readPauses = []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute}

// toRead returns the due records that must be read back. It removes those that are known to be
// ours, and postpones those that no doubt needs. more reports whether some must be looked at again
// soon.
func (h *Processor) toRead(ctx context.Context, doubts []trade.Doubt) (due []trade.Candidate, more bool, err error) {
	now := h.Now()
	all, err := h.Candidates.DueCandidates(ctx, now, batchMost)
	if err != nil || len(all) == 0 {
		return nil, false, err
	}
	ids := make([]string, len(all))
	for i, c := range all {
		ids[i] = c.ID
	}
	ours, err := h.Rows.Ours(ctx, ids)
	if err != nil {
		return nil, false, err
	}
	var known, later []string
	sent := map[string]bool{}
	for _, d := range doubts {
		for _, text := range sentOf(d.Attempt) {
			if id, err := trade.ParseID(*text); err == nil {
				sent[id] = true
			}
		}
	}
	for _, c := range all {
		switch kind := ours[c.ID]; {
		case sent[c.ID]: // a doubt's producer, wallet and so on: not an order commitment
			known = append(known, c.ID)
			continue
		case c.Purpose == trade.ForDeletion && kind == outcome.OrderCommitments:
		case c.Purpose == trade.ForDeletion:
			later = append(later, c.ID)
			continue
		case kind != "":
			known = append(known, c.ID)
			continue
		default:
			switch h.needed(c, doubts, now) {
			case needNot:
				later = append(later, c.ID)
				continue
			case needSoon:
				more = true
				continue
			}
		}
		if len(due) < readMost {
			due = append(due, c)
		} else {
			more = true
		}
	}
	err = errors.Join(h.Candidates.ForgetCandidates(ctx, known),
		h.Candidates.PostponeCandidates(ctx, later, now.Add(postponed)))
	return due, more || len(all) == batchMost, err
}

// urgency is how urgently a record is needed.
type urgency int

const (
	needNot urgency = iota
	needSoon
	needNow
)

// needed returns how urgently a record is needed, because it may be that of a doubt: it was named
// after the doubt's request began. For a row that is no longer in doubt, only records count that
// were named while its request could still be executed; but while a second sending waits to leave,
// every record does.
func (h *Processor) needed(c trade.Candidate, doubts []trade.Doubt, now time.Time) urgency {
	out := needNot
	for _, d := range doubts {
		if c.LastAt.Before(d.Attempt.StartedAt.Add(-clockSlack)) {
			continue
		}
		switch {
		case now.Sub(c.HeardAt) < settleGrace:
			out = max(out, needSoon)
		case d.Entry.State == trade.InDoubt, waitsToLeave(d),
			d.Entry.State != trade.Sending && !c.HeardAt.After(closes(d.Attempt, h.Limits, now)):
			return needNow
		case d.Entry.State == trade.Sending && now.Sub(c.HeardAt) < readGrace:
			out = max(out, needSoon)
		case d.Entry.State == trade.Sending:
			return needNow
		}
	}
	return out
}

// limiter returns the rate limiter of the readings, which is independent of the events and their
// number.
func (h *Processor) limiter() *rate.Limiter {
	if h.readings == nil {
		h.readings = rate.NewLimiter(rate.Every(cmp.Or(h.Pace, time.Second)), 1)
	}
	return h.readings
}

// readBack reads one record and stores the result. No answer ever proves that nothing was created.
func (h *Processor) readBack(ctx context.Context, c trade.Candidate) error {
	if err := h.limiter().Wait(ctx); err != nil {
		return err
	}
	now := h.Now()
	claimed, err := h.Candidates.ClaimCandidate(ctx, c, now.Add(readClaim))
	if err != nil || !claimed {
		return err
	}
	there, err := h.Platform.GetOrderCommitment(ctx, c.ID)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.AskedAt = h.Now()
	var failure *apiclient.CallError
	switch {
	case err == nil:
		c.Status = http.StatusOK
		// the event reported a deletion, but the platform has the record: deleting may take a moment
		if c.Purpose == trade.ForDeletion {
			c.State = trade.CandidateRead
			if c.Tries < maxReadTries {
				return h.notRead(ctx, c)
			}
		}
		c.State, c.NextAt = trade.CandidateRead, mapping.NoTime
		c.Fields, c.Unread = there.Fields, there.Unread
		if made := typedAt(there.Raw, h.Zone); !made.From.IsZero() {
			c.TypedFrom, c.TypedTo = made.From, made.to
		}
		return h.Candidates.SaveCandidate(ctx, c)
	case !errors.As(err, &failure):
		return err
	case c.Purpose == trade.ForDeletion && failure.Answer.NotFound():
		return h.deleted(ctx, c)
	}
	c.Status = failure.Answer.Status
	if c.Status == http.StatusNotFound && !failure.Answer.NotFound() {
		c.Status = 0 // something between us and the platform has answered
	}
	return h.notRead(ctx, c)
}

// notRead schedules the next try; after an hour in all the record counts as unreadable.
func (h *Processor) notRead(ctx context.Context, c trade.Candidate) error {
	c.NextAt = h.Now().Add(readPauses[min(c.Tries, len(readPauses)-1)])
	c.Tries++
	if !c.NextAt.Before(c.LastAt.Add(readFor)) && c.Tries > len(readPauses) || c.Tries > maxReadTries {
		c.NextAt = mapping.NoTime
		c.State = trade.CandidateUnreadable
	}
	return h.Candidates.SaveCandidate(ctx, c)
}

// maxReadTries is how many tries the pauses allow in an hour.
const maxReadTries = 12
