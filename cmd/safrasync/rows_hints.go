package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// rowHints is what is known of a row beyond the answers to its own requests.
type rowHints struct {
	trade.Hints
	like       []engine.Suggestion
	unreadable []trade.Candidate
	more       bool // events told of more records than were compared
	listening  bool // webhooks are registered, or events came
	doubtful   bool // an attempt ended without a definite answer, and a person may still decide
}

const hintsShown = 10

// hintsCompared is with how many records a row in doubt is compared for people to see: a page must
// not wait for a hundred thousand. What settles it by itself is compared with all.
const hintsCompared = 2000

// several tells whether more than one record has all that was sent.
func (h rowHints) several() bool {
	full := 0
	for _, s := range h.like {
		if s.Full {
			full++
		}
	}
	return full > 1
}

// hints gathers what events told of a row: of its record, its producer and its farm, of the
// contract that it hangs on and, while it is in doubt, of records that it may be.
func (a *App) hints(ctx context.Context, store *state.Store, e trade.Entry,
	attempts []trade.Attempt,
) (rowHints, error) {
	var out rowHints
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
	out.doubtful = !since.IsZero()
	var err error
	if out.Hints, err = store.Hints(ctx, ids, since, hintsShown); err != nil || since.IsZero() {
		return out, err
	}
	silence, err := store.EventSilence(ctx)
	if err != nil {
		return out, err
	}
	out.listening = !silence.Since.IsZero() || !silence.LastAt.IsZero()
	if e.Sends != trade.OrderCommitments {
		return out, nil
	}
	candidates, err := store.Candidates(ctx, since.Add(-time.Minute), hintsCompared+1)
	if err == nil {
		out.more = len(candidates) > hintsCompared
		candidates = candidates[:min(len(candidates), hintsCompared)]
		out.like, out.unreadable = engine.Suggestions(attempts, candidates, a.config.Limits(), now())
	}
	return out, err
}

// hintsJSON is `hints` of `rows show --json`.
type hintsJSON struct {
	Events  int              `json:"events"` // that came since the request in doubt; of any kind
	Own     int              `json:"order_commitment_events"`
	Heard   []heardJSON      `json:"heard"`
	Records []suggestionJSON `json:"records"`
	More    bool             `json:"more"` // events told of more records than these were chosen from
	// ids of records of which events told, and that could not be read for an hour
	Unreadable []string `json:"unreadable"`
}

type heardJSON struct {
	Event  string    `json:"event"`
	Kind   string    `json:"kind"`
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Status string    `json:"status"` // that the event named; "" = none that could be read
	Seq    int64     `json:"seq"`    // in `webhooks inbox`
}

type suggestionJSON struct {
	ID      string          `json:"id"`
	Event   string          `json:"event"`
	HeardAt time.Time       `json:"heard_at"`
	Full    bool            `json:"full"`   // everything that was sent is the same
	Timing  engine.Timing   `json:"timing"` // fits, unclear
	Attempt int             `json:"attempt"`
	Reading engine.Readback `json:"reading"`
}

func hintsOf(h rowHints) hintsJSON {
	out := hintsJSON{
		Events: h.Events, Own: h.Own, Heard: []heardJSON{}, Records: []suggestionJSON{}, More: h.more,
		Unreadable: []string{},
	}
	for _, o := range h.Heard {
		out.Heard = append(out.Heard, heardJSON{o.Event, o.Kind, o.ID, o.At, o.Word, o.Seq})
	}
	for _, s := range h.like {
		out.Records = append(out.Records,
			suggestionJSON{
				s.Candidate.ID, s.Candidate.Event, s.Candidate.HeardAt, s.Full, s.Timing, s.Attempt,
				s.Reading,
			})
	}
	for _, c := range h.unreadable {
		out.Unreadable = append(out.Unreadable, c.ID)
	}
	return out
}

// printHints shows people what events told.
func (a *App) printHints(e trade.Entry, h rowHints) {
	v := a.voice()
	for _, o := range h.Heard {
		word := ""
		if o.Word != "" {
			word = ": " + o.Word
		}
		a.show("hint.heard", v.moment(o.At), trade.EventLabel(o.Event, v.lang), word)
	}
	if e.State != trade.InDoubt {
		return
	}
	if e.Sends != trade.OrderCommitments {
		a.show("hint.no_event")
	}
	for _, s := range h.like {
		a.show("hint.record", s.Candidate.ID, s.Reading.Same, s.Reading.Differ, len(s.Reading.Unseen))
		for _, f := range s.Reading.Fields {
			if !f.Same {
				a.show("hint.field", trade.FieldLabel(f.Field, v.lang), v.orAbsent(f.Sent), v.orAbsent(f.There))
			}
		}
		a.show("hint.adopt", e.Job, e.Key, s.Candidate.ID)
	}
	for _, c := range h.unreadable {
		a.show("hint.unreadable", c.ID)
	}
	if h.more {
		a.show("hint.more", hintsCompared)
	}
	if h.listening && len(h.like) == 0 && !h.more {
		a.show("hint.events", h.Events, h.Own)
	}
	if h.several() {
		a.show("hint.several")
	}
}
