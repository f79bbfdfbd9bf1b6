// The comparison of a record that was read back with what was sent.

package events

import (
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Timing is how the time of a record relates to that of a request.
type Timing string

// The timings. A record is evidence by itself only if it was certainly created while the request
// could be executed.
const (
	TimeFits Timing = "fits"
	// it existed before the request began: a person or another program created it
	TimeBefore  Timing = "before"
	TimeUnclear Timing = "unclear" // it cannot be told
)

// sentOf returns the fields that a request in doubt sent.
func sentOf(a trade.Attempt) map[string]*string {
	return mapping.SentTexts(trade.Entry{Payload: a.Payload, Target: a.Target})
}

// closes returns until when the platform may have executed a request.
func closes(a trade.Attempt, limits run.Limits, now time.Time) time.Time {
	if a.FinishedAt.IsZero() {
		a.FinishedAt = now
	}
	return a.FinishedAt.Add(limits.LeastQuarantine())
}

// agrees reports whether a record equals what was sent in every field, has no other fields, and was
// read completely.
func agrees(c trade.Candidate, sent map[string]*string) bool {
	same := 0
	for _, rule := range trade.Rules(trade.OrderCommitments) {
		text, there := c.Fields[rule.Field]
		switch mine := sent[rule.Field]; {
		case mine == nil && !there:
			continue
		case mine == nil || !there || !rule.Same(*mine, text):
			return false
		}
		same++
	}
	return same > 0 && len(c.Unread) == 0
}

// timingOf compares the creation time of a record, according to the platform, with the time of a
// request. Without a creation time the result is unclear, because the event of an older record may
// come late, even its first one. A record that was named before the request began is older,
// whatever the platform says.
func timingOf(c trade.Candidate, a trade.Attempt, closes time.Time) Timing {
	begins := a.StartedAt.Add(-clockSlack)
	switch {
	case c.HeardAt.Before(begins), !c.TypedTo.IsZero() && c.TypedTo.Before(begins):
		return TimeBefore
	case c.TypedFrom.IsZero(), c.TypedFrom.Before(begins), c.TypedTo.After(closes):
		return TimeUnclear
	}
	return TimeFits
}

// Suggestion is a record that an event named and that may be the record of a row in doubt. A person
// decides: `adopt` reads it back again.
type Suggestion struct {
	ID      string        `json:"id"`    // the platform's
	Event   string        `json:"event"` // that named it first
	HeardAt time.Time     `json:"heard_at"`
	Full    bool          `json:"full"` // everything that was sent is equal
	Timing  Timing        `json:"timing"`
	Attempt int           `json:"attempt"` // number of the attempt with which it was compared
	Reading acts.Readback `json:"reading"`
}

// suggestionsMost is the largest number of records that a person is shown.
const suggestionsMost = 5

// Suggestions returns the records that are most similar to what was sent, the most similar first,
// and those that could not be read. It leaves out records that were created before the request.
func Suggestions(attempts []trade.Attempt, candidates []trade.Candidate, limits run.Limits,
	now time.Time,
) (like []Suggestion, unreadable []string) {
	for _, a := range attempts {
		if !a.Undecided() {
			continue
		}
		sent, ends := sentOf(a), now
		if !a.FinishedAt.IsZero() {
			ends = closes(a, limits, now)
		}
		for _, c := range candidates {
			if c.LastAt.Before(a.StartedAt.Add(-clockSlack)) || c.State == trade.CandidateSettled {
				continue
			}
			if len(c.Fields) == 0 {
				if c.State == trade.CandidateUnreadable && !slices.Contains(unreadable, c.ID) {
					unreadable = append(unreadable, c.ID)
				}
				continue
			}
			s := Suggestion{
				ID: c.ID, Event: c.Event, HeardAt: c.HeardAt, Full: agrees(c, sent), Timing: timingOf(c, a, ends),
				Attempt: a.No, Reading: acts.CompareReading(c.ID, sent, c.Fields),
			}
			again := slices.ContainsFunc(like, func(o Suggestion) bool { return o.ID == c.ID })
			if s.Timing != TimeBefore && !again && s.Reading.Same > 2*s.Reading.Differ {
				like = append(like, s)
			}
		}
	}
	slices.SortStableFunc(like, func(a, b Suggestion) int {
		if d := a.Reading.Differ - b.Reading.Differ; d != 0 {
			return d
		}
		return len(a.Reading.Unseen) - len(b.Reading.Unseen)
	})
	return like[:min(len(like), suggestionsMost)], unreadable[:min(len(unreadable), suggestionsMost)]
}
