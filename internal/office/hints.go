package office

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/events"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Hints is what is known of a row beyond the answers to its own requests.
type Hints struct {
	trade.Hints
	Like []events.Suggestion `json:"records"`
	More bool                `json:"more"` // events named more records than were compared
	// ids of records that events named and that could not be read for an hour
	Unreadable []string `json:"unreadable"`
	Listening  bool     `json:"-"` // webhooks are registered, or events have come
	Doubtful   bool     `json:"-"` // an attempt ended without a definite answer, and a person may still decide
}

// Compared returns the number of records that were compared where events named more.
func (Hints) Compared() int { return hintsCompared }

// Listener returns the processor of the events that the ledger has. program signs its acts.
func (o *Office) Listener(platform acts.Reader, program trade.Person) *events.Processor {
	return &events.Processor{
		Inbox: o.store, Candidates: o.store, Rows: o.store, Platform: platform, Jobs: o.jobs, Now: o.now,
		Limits: o.conf.Limits(), Zone: o.conf.Zone(), Log: o.log, Program: program,
	}
}

// Replay marks events as not processed, lets all open events be processed, and returns the number of
// those that were marked.
func (o *Office) Replay(ctx context.Context, list []trade.InboxEvent, by *events.Processor, who trade.Person) (int,
	error,
) {
	seqs := trade.Map(list, func(e trade.InboxEvent) int64 { return e.Seq })
	detail := map[string]int{"events": len(seqs)}
	record, err := o.recorded(who, "webhooks replay", "inbox", detail)
	if err != nil {
		return 0, err
	}
	n, err := o.store.ReplayEvents(ctx, seqs, o.now(), record)
	if err == nil {
		_, err = by.Pass(ctx)
	}
	return n, err
}

const hintsShown = 10

// hintsCompared is with how many records a row in doubt is compared to show hints, because a page
// must not wait for a hundred thousand. What settles a row without a person compares it with all.
const hintsCompared = 2000

// Full returns how many records match everything that was sent.
func (h Hints) Full() (full int) {
	for _, s := range h.Like {
		if s.Full {
			full++
		}
	}
	return full
}

// Hints collects what events reported about a row: about its record, its producer and its farm,
// about the contract on which it depends and, while it is in doubt, about records that it may be.
func (o *Office) Hints(ctx context.Context, e trade.Entry, attempts []trade.Attempt) (Hints, error) {
	var out Hints
	ids := map[string][]string{}
	if e.RemoteID != "" {
		ids[string(e.Sends)] = []string{e.RemoteID}
	}
	for _, n := range run.NeedsOf(e) {
		if slices.Contains([]string{"producers", "farms", string(trade.OrderCommitments)}, n.Kind) {
			ids[n.Kind] = []string{n.ID}
		}
	}
	if e.Target != "" { // its payload may have been removed
		ids[string(trade.OrderCommitments)] = []string{e.Target}
	}
	var since time.Time // of the first sending whose outcome is unknown, if a person may still decide
	i := slices.IndexFunc(attempts, func(t trade.Attempt) bool { return t.Outcome == trade.OutcomeUnknown })
	if i >= 0 && slices.Contains([]trade.State{trade.InDoubt, trade.Dismissed, trade.Held}, e.State) {
		since = attempts[i].StartedAt
	}
	out.Doubtful = !since.IsZero()
	var err error
	out.Hints, err = o.store.Hints(ctx, ids, since, hintsShown)
	if err != nil || since.IsZero() {
		return out, err
	}
	silence, err := o.store.EventSilence(ctx)
	if err != nil {
		return out, err
	}
	out.Listening = !silence.Since.IsZero() || !silence.LastAt.IsZero()
	if e.Sends != trade.OrderCommitments {
		return out, nil
	}
	candidates, err := o.store.Candidates(ctx, since.Add(-time.Minute), hintsCompared+1)
	if err == nil {
		if len(candidates) > hintsCompared {
			out.More, candidates = true, candidates[:hintsCompared]
		}
		out.Like, out.Unreadable = events.Suggestions(attempts, candidates, o.conf.Limits(), o.now())
	}
	return out, err
}

// Doubt is what is known of a row that may be on the platform.
type Doubt struct {
	acts.Doubt
	Sent   map[string]*string // what was sent, or would be, by field
	Phase  string             // how far the last request got; "" = not recorded
	Since  time.Time          // when that was sent; without one since when the row is as it is
	Other  *acts.Counterpart  // what the row was compared with; nil: nothing is known
	Known  bool               // it is known what was sent of both, or would be
	Differ []string           // the fields in which the two differ then, of those that go to the platform
	Same   bool               // it may be the record of a key that is gone, and differs in none of them
}

// Doubt returns what is known of a row that may be on the platform.
func (o *Office) Doubt(ctx context.Context, entry trade.Entry) (out Doubt, err error) {
	out.Doubt, err = o.acts().Doubt(ctx, entry)
	if err != nil {
		return out, err
	}
	out.Since = entry.UpdatedAt
	for _, a := range out.Attempts {
		out.Phase, out.Since = phaseOf(a), a.StartedAt
	}
	out.Sent = mapping.SentTexts(entry)
	out.Other, err = o.acts().Counterpart(ctx, entry)
	if err != nil || out.Other == nil || out.Other.Entry.ID == 0 {
		return out, err
	}
	other := mapping.SentTexts(out.Other.Entry)
	out.Known = len(out.Sent) > 0 && len(other) > 0
	if !out.Known {
		return out, nil
	}
	for _, rule := range trade.Rules(entry.Sends) {
		a, b := out.Sent[rule.Field], other[rule.Field]
		if (a == nil) != (b == nil) || a != nil && !rule.Same(*a, *b) {
			out.Differ = append(out.Differ, rule.Field)
		}
	}
	out.Same = len(out.Differ) == 0 && out.Other.ID != "" && out.Other.Entry.RemoteID == out.Other.ID &&
		slices.Contains([]string{trade.CauseRetyped, trade.CauseOtherJob}, entry.Cause)
	return out, nil
}
