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

// Timing is how well the time of a record fits to a request.
type Timing string

// The timings. Only a record that was certainly made while the request could be executed is
// evidence by itself.
const (
	TimeFits Timing = "fits"
	// it was there before the request began: somebody typed it, or another program sent it
	TimeBefore  Timing = "before"
	TimeUnclear Timing = "unclear" // nobody can tell
)

// sentOf is what a request in doubt sent.
func sentOf(a trade.Attempt) map[string]*string {
	return mapping.SentTexts(trade.Entry{Payload: a.Payload, Target: a.Target})
}

// closes is until when the platform may have executed a request.
func closes(a trade.Attempt, limits run.Limits, now time.Time) time.Time {
	if a.FinishedAt.IsZero() {
		a.FinishedAt = now
	}
	return a.FinishedAt.Add(limits.LeastQuarantine())
}

// readingOf compares what was sent with what was read.
func readingOf(c trade.Candidate, sent map[string]*string) acts.Readback {
	there := make(map[string]*string, len(c.Fields))
	for field, text := range c.Fields {
		there[field] = &text
	}
	return acts.CompareReading(c.ID, sent, there)
}

// full reports whether a record agrees in everything that was sent, has nothing that was not, and
// was read whole.
func full(r acts.Readback, c trade.Candidate) bool {
	return r.Same > 0 && r.Differ == 0 && len(r.Unseen) == 0 && len(c.Unread) == 0
}

// agrees reports what [full] tells of a reading, and stops at the first field that differs.
func agrees(c trade.Candidate, sent map[string]*string) bool {
	same := 0
	for _, rule := range trade.Rules(trade.OrderCommitments) {
		text, there := c.Fields[rule.Field]
		switch mine := sent[rule.Field]; {
		case mine == nil && !there:
			continue
		case mine == nil || !there || !acts.EqualTexts(rule, *mine, text):
			return false
		}
		same++
	}
	return same > 0 && len(c.Unread) == 0
}

// timingOf compares the time that the platform gives a record with that of a request. Without one
// nobody can tell: the event of an older record may come late, even for the first time. A record
// that was heard of before the request is older, whatever the platform says.
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

// Suggestion is a record of which an event told and that a row in doubt may be. A person decides:
// `adopt` reads it back again.
type Suggestion struct {
	Candidate trade.Candidate
	Attempt   int // number of the attempt that it was compared with
	Reading   acts.Readback
	Full      bool // everything that was sent is the same
	Timing    Timing
}

// suggestionsMost is how many records a person is shown.
const suggestionsMost = 5

// Suggestions returns the records that come nearest to what was sent, the nearest first, and those
// that could not be read. What was made before the request is not among them.
func Suggestions(attempts []trade.Attempt, candidates []trade.Candidate, limits run.Limits,
	now time.Time,
) (like []Suggestion, unreadable []trade.Candidate) {
	for _, a := range attempts {
		if !acts.Undecided(a) {
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
				if c.State == trade.CandidateUnreadable &&
					!slices.ContainsFunc(unreadable, func(u trade.Candidate) bool { return u.ID == c.ID }) {
					unreadable = append(unreadable, c)
				}
				continue
			}
			s := Suggestion{Candidate: c, Attempt: a.No, Reading: readingOf(c, sent), Timing: timingOf(c, a, ends)}
			s.Full = full(s.Reading, c)
			again := slices.ContainsFunc(like, func(o Suggestion) bool { return o.Candidate.ID == c.ID })
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
