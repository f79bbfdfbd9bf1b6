package sync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/trade"
)

const (
	readMost = 20 // records read back in one pass, one a second
	// clockSlack is by how much the platform's clock may be behind ours.
	clockSlack = 5 * time.Second
	// readGrace is how long a record waits to be read back while the rows that it may belong to are on the wire: mostly their answers come.
	readGrace = 20 * time.Second
	// settleGrace is the same where a row is in doubt already: other rows of which the event may tell are on the wire for moments.
	settleGrace = 3 * time.Second
	// readFor is how long a record is tried that cannot be read: it may not be there yet, or not for us.
	readFor = time.Hour
	// readClaim is longer than a reading takes.
	readClaim = 5 * time.Minute
	// postponed is for how long a record waits that nobody needs.
	postponed = 15 * time.Minute
	// rivalsPage is how many records of which events told are in memory at once while doubts are compared with all of them.
	rivalsPage = 2000
	// compareEvery is how often doubts are compared with more records than that: it takes some 20 µs of CPU for each.
	compareEvery = time.Minute
	// eventLate is how long after a record was made an event may tell of it for the first time.
	eventLate = 24 * time.Hour
	// warnEvery is how often it is told that too many rows are in doubt.
	warnEvery = time.Hour
)

// readPauses grow with the tries; the last one stays.
var readPauses = []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute}

// weigh reads back the records of which events told and that may be evidence, and settles what is certain.
func (h *Hearing) weigh(ctx context.Context) (more bool, err error) {
	doubts, since, err := h.Ledger.Doubts(ctx)
	if err != nil {
		return false, err
	}
	due, more, err := h.toRead(ctx, doubts)
	if err != nil {
		return false, err
	}
	for _, c := range due {
		if err := h.readBack(ctx, c); err != nil {
			return false, err
		}
	}
	if len(due) > 0 { // events and answers have come meanwhile: what was read is compared with what was heard and is in doubt after it was read
		if err := h.hearAll(ctx); err != nil {
			return false, err
		}
		if doubts, since, err = h.Ledger.Doubts(ctx); err != nil {
			return false, err
		}
	}
	return more, h.settle(ctx, doubts, since)
}

// apart is by how much a request must have begun after another one had ended, so that no record of which an event tells can be that of the other.
func (h *Hearing) apart() time.Duration { return h.Limits.quarantine() + eventLate }

// toRead sorts the records that are due: those of ours need no reading, those that nobody needs wait. more tells whether some are to be
// looked at again soon.
func (h *Hearing) toRead(ctx context.Context, doubts []trade.Doubt) (due []trade.Candidate, more bool, err error) {
	now := h.Now()
	all, err := h.Ledger.DueCandidates(ctx, now, hearMost)
	if err != nil || len(all) == 0 {
		return nil, false, err
	}
	ids := make([]string, len(all))
	for i, c := range all {
		ids[i] = c.ID
	}
	ours, err := h.Ledger.Ours(ctx, ids)
	if err != nil {
		return nil, false, err
	}
	var known, later []string
	sent := sentIDs(doubts)
	for _, c := range all {
		switch kind := ours[c.ID]; {
		case sent[c.ID]: // the producer of a doubt, its wallet: what it names is no record of its kind
			known = append(known, c.ID)
			continue
		case c.Purpose == trade.ForDeletion && kind == orderCommitments:
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
	err = errors.Join(h.Ledger.ForgetCandidates(ctx, known), h.Ledger.PostponeCandidates(ctx, later, now.Add(postponed)))
	return due, more || len(all) == hearMost, err
}

// sentIDs are the ids that the requests in doubt name.
func sentIDs(doubts []trade.Doubt) map[string]bool {
	out := map[string]bool{}
	for _, d := range doubts {
		for _, text := range sentTexts(trade.Entry{Payload: d.Attempt.Payload, Target: d.Attempt.Target}) {
			if id, err := trade.ParseID(*text); err == nil {
				out[id] = true
			}
		}
	}
	return out
}

// wanted is how much a record is needed.
type wanted int

const (
	needNot wanted = iota
	needSoon
	needNow
)

// needed tells whether a record may be that of a doubt: it was heard of after the doubt's request began. What is no doubt of a person any more is only looked at in its own time.
func (h *Hearing) needed(c trade.Candidate, doubts []trade.Doubt, now time.Time) wanted {
	out := needNot
	for _, d := range doubts {
		if c.LastAt.Before(d.Attempt.StartedAt.Add(-clockSlack)) {
			continue
		}
		switch {
		case now.Sub(c.HeardAt) < settleGrace:
			out = max(out, needSoon)
		case d.Entry.State == trade.InDoubt, d.Entry.State != trade.Sending && !c.HeardAt.After(h.closes(d.Attempt)):
			return needNow
		case d.Entry.State == trade.Sending && now.Sub(c.HeardAt) < readGrace:
			out = max(out, needSoon)
		case d.Entry.State == trade.Sending:
			return needNow
		}
	}
	return out
}

// closes is until when the platform may have executed a request.
func (h *Hearing) closes(a trade.Attempt) time.Time {
	end := a.FinishedAt
	if end.IsZero() {
		end = h.Now()
	}
	return end.Add(h.Limits.quarantine())
}

// pace is that of the readings, whatever events tell and however many.
func (h *Hearing) pace() *rate.Limiter {
	if h.readings == nil {
		h.readings = rate.NewLimiter(rate.Every(cmp.Or(h.Pace, time.Second)), 1)
	}
	return h.readings
}

// readBack reads one record and stores what it gave. Whatever the answer is, it never says that nothing was created.
func (h *Hearing) readBack(ctx context.Context, c trade.Candidate) error {
	if err := h.pace().Wait(ctx); err != nil {
		return err
	}
	now := h.Now()
	claimed, err := h.Ledger.ClaimCandidate(ctx, c, now.Add(readClaim))
	if err != nil || !claimed {
		return err
	}
	there, err := h.Platform.GetOrderCommitment(ctx, c.ID)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.AskedAt = h.Now()
	var failure *apiclient.Error
	switch {
	case err == nil:
		return h.found(ctx, c, there)
	case !errors.As(err, &failure):
		return err
	case c.Purpose == trade.ForDeletion && failure.Answer.Status == http.StatusNotFound && failure.Answer.APIForm():
		return h.deleted(ctx, c)
	}
	if c.Status = failure.Answer.Status; c.Status == http.StatusNotFound && !failure.Answer.APIForm() {
		c.Status = 0 // something between us and the platform says so
	}
	return h.notRead(ctx, c)
}

// notRead lets a record be tried again, for an hour in all.
func (h *Hearing) notRead(ctx context.Context, c trade.Candidate) error {
	c.NextAt = h.Now().Add(readPauses[min(c.Tries, len(readPauses)-1)])
	if c.Tries++; !c.NextAt.Before(c.LastAt.Add(readFor)) && c.Tries > len(readPauses) || c.Tries > maxReadTries {
		c.NextAt = noTime
		c.State = trade.CandidateUnreadable
	}
	return h.Ledger.SaveCandidate(ctx, c)
}

// maxReadTries is what an hour of the pauses makes.
const maxReadTries = 12

// found stores a record that is there.
func (h *Hearing) found(ctx context.Context, c trade.Candidate, there apiclient.OrderCommitment) error {
	c.Status = http.StatusOK
	if c.Purpose == trade.ForDeletion { // the event says that it was deleted, the platform has it: that may take a moment
		if c.State = trade.CandidateRead; c.Tries < maxReadTries {
			return h.notRead(ctx, c)
		}
	}
	c.State, c.NextAt, c.Fields, c.Unread = trade.CandidateRead, noTime, map[string]string{}, there.Unread
	for field, text := range textsOf(there) {
		c.Fields[field] = *text
	}
	if made := typedAt(there.Raw, h.Zone); !made.from.IsZero() {
		c.TypedFrom, c.TypedTo = made.from, made.to
	}
	return h.Ledger.SaveCandidate(ctx, c)
}

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
	if err != nil { // unreachable: texts always have a JSON form
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
