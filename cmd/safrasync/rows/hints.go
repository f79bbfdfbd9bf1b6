package rows

import (
	"context"
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/events"
	"github.com/safrasync/safrasync/trade"
)

// RowHints is what is known of a row beyond the answers to its own requests.
type RowHints struct {
	trade.Hints
	Like       []events.Suggestion
	Unreadable []trade.Candidate
	More       bool // events named more records than were compared
	Listening  bool // webhooks are registered, or events have come
	Doubtful   bool // an attempt ended without a definite answer, and a person may still decide
}

const hintsShown = 10

// HintsCompared is with how many records a row in doubt is compared to show hints, because a page
// must not wait for a hundred thousand. What settles a row without a person compares it with all.
const HintsCompared = 2000

// Several reports whether more than one record matches everything that was sent.
func (h RowHints) Several() bool {
	full := 0
	for _, s := range h.Like {
		if s.Full {
			full++
		}
	}
	return full > 1
}

// Hints collects what events reported about a row: about its record, its producer and its farm,
// about the contract on which it depends and, while it is in doubt, about records that it may be.
func Hints(ctx context.Context, a *cli.App, store *state.Store, e trade.Entry,
	attempts []trade.Attempt,
) (RowHints, error) {
	var out RowHints
	ids := map[string][]string{}
	if e.RemoteID != "" {
		ids[string(e.Sends)] = []string{e.RemoteID}
	}
	var names map[string]any
	if json.Unmarshal(e.Payload, &names) == nil {
		for field, kind := range map[string]string{
			"producer_id": "producers", "farm_id": "farms",
			"contract_id": string(trade.OrderCommitments),
		} {
			if id, ok := names[field].(string); ok {
				ids[kind] = []string{id}
			}
		}
	}
	if e.Sends == trade.Traceability && e.Target != "" {
		ids[string(trade.OrderCommitments)] = []string{e.Target}
	}
	var since time.Time
	for _, t := range attempts {
		if t.Outcome == trade.OutcomeUnknown && since.IsZero() {
			since = t.StartedAt
		}
	}
	if e.State != trade.InDoubt && e.State != trade.Dismissed && e.State != trade.Held {
		since = time.Time{}
	}
	out.Doubtful = !since.IsZero()
	var err error
	if out.Hints, err = store.Hints(ctx, ids, since, hintsShown); err != nil || since.IsZero() {
		return out, err
	}
	silence, err := store.EventSilence(ctx)
	if err != nil {
		return out, err
	}
	out.Listening = !silence.Since.IsZero() || !silence.LastAt.IsZero()
	if e.Sends != trade.OrderCommitments {
		return out, nil
	}
	candidates, err := store.Candidates(ctx, since.Add(-time.Minute), HintsCompared+1)
	if err == nil {
		out.More = len(candidates) > HintsCompared
		candidates = candidates[:min(len(candidates), HintsCompared)]
		out.Like, out.Unreadable = events.Suggestions(attempts, candidates, a.Config.Limits(), cli.Now())
	}
	return out, err
}

// hintsJSON is the value of `hints` in `rows show --json`.
type hintsJSON struct {
	Events  int              `json:"events"` // of any kind, since the request in doubt
	Own     int              `json:"order_commitment_events"`
	Heard   []heardJSON      `json:"heard"`
	Records []suggestionJSON `json:"records"`
	More    bool             `json:"more"` // events named more records than were compared
	// ids of records that events named and that could not be read for an hour
	Unreadable []string `json:"unreadable"`
}

type heardJSON struct {
	Event  string    `json:"event"`
	Kind   string    `json:"kind"`
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Status string    `json:"status"` // named by the event; "" = none that could be read
	Seq    int64     `json:"seq"`    // number in `webhooks inbox`
}

type suggestionJSON struct {
	ID      string        `json:"id"`
	Event   string        `json:"event"`
	HeardAt time.Time     `json:"heard_at"`
	Full    bool          `json:"full"`   // everything that was sent matches
	Timing  events.Timing `json:"timing"` // fits, unclear
	Attempt int           `json:"attempt"`
	Reading acts.Readback `json:"reading"`
}

func hintsOf(h RowHints) hintsJSON {
	out := hintsJSON{
		Events: h.Events, Own: h.Own, Heard: []heardJSON{}, Records: []suggestionJSON{}, More: h.More,
		Unreadable: []string{},
	}
	for _, o := range h.Heard {
		out.Heard = append(out.Heard, heardJSON{o.Event, o.Kind, o.ID, o.At, o.Word, o.Seq})
	}
	for _, s := range h.Like {
		out.Records = append(out.Records,
			suggestionJSON{
				s.Candidate.ID, s.Candidate.Event, s.Candidate.HeardAt, s.Full, s.Timing, s.Attempt,
				s.Reading,
			})
	}
	for _, c := range h.Unreadable {
		out.Unreadable = append(out.Unreadable, c.ID)
	}
	return out
}

// printHints prints what events reported.
func printHints(a *cli.App, e trade.Entry, h RowHints) {
	v := a.Voice()
	for _, o := range h.Heard {
		word := ""
		if o.Word != "" {
			word = ": " + o.Word
		}
		a.Show("hint.heard", v.Moment(o.At), trade.EventLabel(o.Event, v.Lang), word)
	}
	if e.State != trade.InDoubt {
		return
	}
	if e.Sends != trade.OrderCommitments {
		a.Show("hint.no_event")
	}
	for _, s := range h.Like {
		a.Show("hint.record", s.Candidate.ID, s.Reading.Same, s.Reading.Differ, len(s.Reading.Unseen))
		for _, f := range s.Reading.Fields {
			if !f.Same {
				a.Show("hint.field", trade.FieldLabel(f.Field, v.Lang), v.OrAbsent(f.Sent), v.OrAbsent(f.There))
			}
		}
		a.Show("hint.adopt", e.Job, e.Key, s.Candidate.ID)
	}
	for _, c := range h.Unreadable {
		a.Show("hint.unreadable", c.ID)
	}
	if h.More {
		a.Show("hint.more", HintsCompared)
	}
	if h.Listening && len(h.Like) == 0 && !h.More {
		a.Show("hint.events", h.Events, h.Own)
	}
	if h.Several() {
		a.Show("hint.several")
	}
}
