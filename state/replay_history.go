package state

import (
	"maps"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// journalHistory is what records of a journal leave: the newest image of each row and of each sending.
type journalHistory struct {
	dir       string
	rows      map[journal.RowRef]*pastRow
	Order     []*pastRow // in the order in which the journal first names them
	sent      []*pastSent
	origins   map[recordOrigin]*pastSent
	attempts  map[string]*pastSent // by the id of an attempt
	sightings map[journal.RowRef]*pastSighting
	answers   []pastAnswer // that are for the ledger to settle
	End       journal.End
	Mark      string
	Seen      map[string]int64 // for each other host's journal the last record that the ledger had
	Term      *journal.Term    // what this host had confirmed of the ledger's server; nil = nothing
	Jobs      map[string]journal.JobFact
	moves     []journal.Move
	seen      map[string]int64 // the highest of each other journal so far
}

// noted is by which record something is as it is.
type noted struct {
	seq  int64
	at   time.Time
	seen map[string]int64 // what the ledger had of the other hosts' journals by then
}

// pastRow is a row as the journal leaves it.
type pastRow struct {
	journal.Image
	noted
	first time.Time // when the journal first names it
	sent  []*pastSent
}

// pastSent is what was sent, as the journal leaves it.
type pastSent struct {
	journal.Sent
	noted
	began    int64         // the record that began its attempt
	finished time.Time     // when the outcome of its attempt became known
	kept     bool          // the ledger could not store its answer, so that no image has it
	former   []pastAttempt // which created nothing
	dropped  bool          // its attempt never left
	raised   bool          // its generation is its own, because another host had used the former too
}

// pastAttempt is an attempt that another has followed.
type pastAttempt struct {
	journal.AttemptImage
	finished time.Time
}

// pastSighting is which records a row may be that of, as the journal leaves it.
type pastSighting struct {
	journal.Sighting
	noted
}

// pastAnswer is an answer that the ledger could not store.
type pastAnswer struct {
	journal.Answer
	noted
}

func newHistory() *journalHistory {
	return &journalHistory{
		rows: map[journal.RowRef]*pastRow{}, Jobs: map[string]journal.JobFact{},
		origins: map[recordOrigin]*pastSent{}, attempts: map[string]*pastSent{},
		sightings: map[journal.RowRef]*pastSighting{}, seen: map[string]int64{},
	}
}

// readHistory reads a whole journal.
func readHistory(dir string) (*journalHistory, error) {
	void := map[int64]bool{}
	if _, err := journal.Read(dir, -1, func(r journal.Record, _ string) error {
		for _, seq := range r.Void {
			void[seq] = true
		}
		return nil
	}); err != nil {
		return nil, err
	}
	h := newHistory()
	h.dir = dir
	var err error
	h.End, err = journal.Read(dir, -1, func(r journal.Record, mark string) error {
		if r.Kind == journal.Head && r.Head.Form != journal.NewestForm {
			return sqldb.FormerFormat(dir)
		}
		h.Mark = mark
		h.add(r, void[r.Seq])
		return nil
	})
	return h, err
}

// add takes up the next record. Of one whose commit the ledger refused only the answers count: they
// are true all the same.
func (h *journalHistory) add(r journal.Record, void bool) {
	if r.Seen != nil {
		h.Seen, h.seen = r.Seen, maps.Clone(h.seen)
		for id, seq := range r.Seen {
			h.seen[id] = max(h.seen[id], seq)
		}
	}
	if r.Term != nil {
		h.Term = r.Term
	}
	by := noted{r.Seq, r.At, h.seen}
	if void && r.ActName != "" {
		return // it was not done
	}
	for _, m := range r.Moves {
		if !slices.Contains(h.moves, m) { // a base repeats it
			h.moves = append(h.moves, m)
		}
		if r.Kind == journal.Tx { // a base has the rows as they are after the move
			h.move(m, func(noted) bool { return true })
		}
	}
	for _, j := range r.Jobs {
		h.Jobs[j.Job] = j
	}
	for _, a := range r.Answers {
		h.answer(a, by)
	}
	if void {
		for _, s := range r.Sent {
			i := slices.IndexFunc(r.Rows, func(row journal.Image) bool { return row.RowRef == s.Row() })
			if s.Attempted && s.Outcome != outcomeOpen && i >= 0 {
				row := r.Rows[i]
				h.answer(journal.Answer{
					AttemptImage: s.AttemptImage, State: row.State, Cause: row.Cause,
					Weak: row.Weak, Flags: row.Flags, Next: row.Next,
				}, by)
			}
		}
		return
	}
	for _, image := range r.Rows {
		m := h.rows[image.RowRef]
		if m == nil {
			m = &pastRow{first: by.at}
			h.rows[image.RowRef] = m
			h.Order = append(h.Order, m)
		}
		m.Image, m.noted = image, by
	}
	for _, image := range r.Sent {
		h.image(image, by)
	}
	for _, image := range r.Sightings {
		h.sightings[image.RowRef] = &pastSighting{image, by}
	}
}

// pause returns the status in which a person, or a brake, left a job. ok is false if it was not
// paused.
func (h *journalHistory) pause(job string) (status trade.JobStatus, ok bool) {
	fact := h.Jobs[job]
	return trade.JobStatus{
		Job: job, State: trade.Paused, Since: fact.Since,
		Stop: &trade.Stop{Code: fact.Code, Why: fact.Why, Brake: fact.Brake},
	}, fact.Paused
}

// image takes up a sending as a transaction left it. The last image counts: after a rebuild the versions
// of what was refused for certain begin again.
func (h *journalHistory) image(image journal.Sent, by noted) {
	have := h.attempts[image.Attempt]
	if have == nil || have.Attempt != image.Attempt {
		have = h.origins[originOf(&image)]
	}
	again := have != nil && have.Attempt == image.Attempt
	// The ledger took this intent, so an open one before it in the same generation had created nothing
	// (I3): its commit was refused, and nothing had left.
	follows := have != nil && (have.Free() || have.Outcome == outcomeOpen && image.Outcome == outcomeOpen)
	switch {
	case again && image.Outcome != have.Outcome && have.Certain(): // by an answer that the ledger could not store
		generation := image.Generation
		image.AttemptImage = have.AttemptImage
		image.Generation = generation
	case again && image.Outcome != have.Outcome:
		have.finished = by.at
	case again:
	case follows:
		if have.Certain() {
			have.former = append(have.former, pastAttempt{have.AttemptImage, have.finished})
		}
		have.began, have.finished, have.kept = by.seq, by.at, false
	default: // also if the generation was sent from another ledger: both may exist
		have = &pastSent{began: by.seq, finished: by.at}
		h.sent = append(h.sent, have)
	}
	have.noted = by
	h.put(have, image)
}

// put sets a sending to an image.
func (h *journalHistory) put(s *pastSent, image journal.Sent) {
	if at := originOf(&s.Sent); h.origins[at] == s {
		delete(h.origins, at)
	}
	s.Sent, h.origins[originOf(&image)] = image, s
	if s.Attempt != "" {
		h.attempts[s.Attempt] = s
	}
}

func originOf(s *journal.Sent) recordOrigin { return recordOrigin{s.Job, s.Key, s.Kind, s.Generation} }

// answer takes up an answer that the ledger could not store. A row that is in flight, or in doubt,
// because of its attempt is what the answer makes of it; the others are for the ledger to settle.
func (h *journalHistory) answer(a journal.Answer, by noted) {
	if a.State == string(trade.Accepted) && a.Outcome != string(trade.OutcomeCreated) {
		a.State = string(trade.InDoubt) // another attempt had made the record, which is to be shown again
	}
	var m *pastRow
	have := h.attempts[a.Attempt]
	if have != nil && have.Attempt == a.Attempt {
		m = h.rows[have.Row()]
	}
	switch {
	case m == nil, m.Generation != have.Generation,
		m.State != string(trade.Sending) && m.State != string(trade.InDoubt):
		h.answers = append(h.answers, pastAnswer{a, by})
	case have.Changeable():
		have.Outcome, have.AnswerID, have.Status, have.Counts = a.Outcome, a.AnswerID, a.Status, a.Counts
		have.noted, have.finished, have.kept = by, by.at, true
		m.noted = by
		m.State, m.Cause, m.Weak, m.Next = a.State, a.Cause, a.Weak, a.Next
		for _, f := range a.Flags {
			m.Flags = m.Flags.With(f, true)
		}
	}
}

// move gives a job another name in its rows and in what was sent.
func (h *journalHistory) move(m journal.Move, concerns func(noted) bool) {
	renamed := func(row *journal.RowRef) bool {
		if row.Job != m.From {
			return false
		}
		row.Job = m.To
		return true
	}
	for _, r := range h.Order {
		if r.Job != m.From || !concerns(r.noted) {
			continue
		}
		delete(h.rows, r.RowRef)
		r.Job, r.Version = m.To, r.Version+1
		if r.On != nil {
			on := *r.On
			renamed(&on.RowRef)
			r.On = &on
		}
		// The journal may have sent rows under the new name that the ledger had lost when the job got it.
		if other := h.rows[r.RowRef]; other != nil && other.Version > r.Version {
			r.Image, r.noted = other.Image, other.noted
		}
		h.rows[r.RowRef] = r
	}
	h.Order = slices.DeleteFunc(h.Order, func(r *pastRow) bool { return h.rows[r.RowRef] != r })
	for at, s := range h.sightings {
		if !concerns(s.noted) {
			continue
		}
		for i := range s.Of {
			renamed(&s.Of[i].RowRef)
		}
		if renamed(&s.RowRef) {
			delete(h.sightings, at)
			h.sightings[s.RowRef] = s
		}
	}
	for _, s := range h.sent {
		if !concerns(s.noted) {
			continue
		}
		image := s.Sent
		if s.Owner != nil {
			owner := *s.Owner
			renamed(&owner)
			image.Owner = &owner
		}
		if s.Job == m.From {
			image.Job, image.Version = m.To, s.Version+1
		}
		h.put(s, image)
	}
}

// link gives each row what was sent of it.
func (h *journalHistory) link() {
	for _, m := range h.Order {
		m.sent = nil
	}
	for _, s := range h.sent {
		if m := h.rows[s.Row()]; m != nil {
			m.sent = append(m.sent, s)
		}
	}
}

// final returns the state that the journal proves. It returns "" if the journal only shows that
// nothing was created; then discovery decides. If a person ordered a second sending after a doubt,
// and no record is known to have come of it, the row stays in doubt: a rebuild must not send again.
func (m *pastRow) final() trade.State {
	doubtful, created := false, false
	for _, s := range m.sent {
		doubtful = doubtful || s.Changeable() && !s.dropped
		created = created || s.Outcome == string(trade.OutcomeCreated)
	}
	switch s := trade.State(m.State); {
	case s == trade.Accepted, s == trade.Dismissed, s == trade.Held:
		return s
	case doubtful, s == trade.InDoubt, s == trade.Sending && created:
		return trade.InDoubt
	case s == trade.Rejected && m.Weak:
		return s
	}
	return ""
}
