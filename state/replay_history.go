package state

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// journalHistory is what records of a journal leave of rows, attempts and records of the platform: the
// newest image of each.
type journalHistory struct {
	dir     string
	rows    map[journal.RowRef]*remembered
	Order   []*remembered          // in the order in which the journal first names them
	sent    map[string]*remembered // by the id of an attempt
	records map[answerOrigin]*rememberedRecord
	// what rows may be
	sightings map[journal.RowRef]*rememberedSighting
	answers   []answer // that are for the ledger to settle
	End       journal.End
	Mark      string
	Seen      map[string]int64 // for each other host's journal the last record that the ledger had
	Term      *journal.Term    // what this host had confirmed of the ledger's server; nil = nothing
	Jobs      map[string]journal.JobFact
	moves     []journal.Move
	seen      map[string]int64 // the highest of each other journal so far
}

// told is by which record something is as it is.
type told struct {
	seq  int64
	at   time.Time
	seen map[string]int64 // what the ledger had of the other hosts' journals by then
}

// remembered is one row as the journal leaves it.
type remembered struct {
	journal.Image
	told
	first    time.Time
	status   int
	attempts []*rememberedAttempt
	raised   map[int]int // generations that attempts got because another host had used theirs too
}

type rememberedAttempt struct {
	journal.Attempt
	seq      int64 // of the record that began it
	by       string
	finished time.Time
	kept     bool // the ledger could not store its answer, so that no image of row or record has it
}

// rememberedRecord is a record of the platform as the journal leaves it.
type rememberedRecord struct {
	journal.Sent
	told
}

// rememberedSighting is which records a row may be that of, as the journal leaves it.
type rememberedSighting struct {
	journal.Sighting
	told
}

// answer is an answer that the ledger could not store, with what its row would be.
type answer struct {
	row     journal.Image
	attempt journal.Attempt
	told
}

// answerOrigin identifies a record of the platform: the row under which it went, and the generation.
type answerOrigin struct {
	journal.RowRef
	sends      string
	generation int
}

func newHistory() *journalHistory {
	return &journalHistory{
		rows: map[journal.RowRef]*remembered{}, sent: map[string]*remembered{}, Jobs: map[string]journal.JobFact{},
		records:   map[answerOrigin]*rememberedRecord{},
		sightings: map[journal.RowRef]*rememberedSighting{}, seen: map[string]int64{},
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
	by := told{r.Seq, r.At, h.seen}
	if void && r.ActName != "" {
		return // it was not done
	}
	for _, m := range r.Moves {
		if !slices.Contains(h.moves, m) { // a base repeats it
			h.moves = append(h.moves, m)
		}
		if r.Kind == journal.Tx { // a base has the rows as they are after the move
			h.move(m, func(told) bool { return true })
		}
	}
	for _, image := range r.Rows {
		if void || image.Version == 0 {
			h.answer(image, by)
		} else {
			h.image(image, by, r.By)
		}
	}
	for _, j := range r.Jobs {
		h.Jobs[j.Job] = j
	}
	if !void {
		for _, image := range r.Records {
			// The last one counts: after a rebuild the versions of what was refused for certain begin again.
			h.records[originOf(image)] = &rememberedRecord{image, by}
		}
		for _, image := range r.Sightings {
			h.sightings[image.RowRef] = &rememberedSighting{image, by}
		}
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

func (h *journalHistory) row(row journal.RowRef, by told) *remembered {
	m := h.rows[row]
	if m == nil {
		m = &remembered{first: by.at}
		h.rows[row] = m
		h.Order = append(h.Order, m)
	}
	m.told = by
	return m
}

// image takes up a row as a transaction left it, with the attempts that it changed.
func (h *journalHistory) image(image journal.Image, by told, sender string) {
	m := h.row(image.RowRef, by)
	for _, a := range image.Attempts {
		have := m.attempt(a.ID)
		if a.Outcome != "" {
			m.status = a.Status
		}
		if have != nil {
			have.settle(a, by)
			continue
		}
		if a.Outcome == "" {
			// The ledger accepted this intent, so an open one before it in the same generation had created
			// nothing (I3): its commit was refused, and nothing had left.
			m.attempts = slices.DeleteFunc(m.attempts, func(old *rememberedAttempt) bool {
				return old.Outcome == "" && old.Generation == a.Generation
			})
		}
		a.Payload = cmp.Or(a.Payload, image.Payload)
		if a.Started.IsZero() {
			a.Started = by.at
		}
		m.attempts = append(m.attempts, &rememberedAttempt{Attempt: a, seq: by.seq, by: sender, finished: by.at})
		h.sent[a.ID] = m
	}
	image.Attempts = nil
	m.Image = image
}

// answer takes up answers that the ledger could not store. A row that is in flight, or in doubt,
// because of the attempt is what the answer makes of it; the others are for the ledger to settle.
func (h *journalHistory) answer(image journal.Image, by told) {
	for _, a := range image.Attempts {
		m := h.sent[a.ID]
		if a.Outcome == "" {
			continue
		}
		if image.State == string(trade.Accepted) && a.Outcome != string(trade.OutcomeCreated) {
			image.State = string(trade.InDoubt) // another attempt had made the record, which is to be shown again
		}
		if m == nil || m.Generation != m.attempt(a.ID).Generation ||
			m.State != string(trade.Sending) && m.State != string(trade.InDoubt) {
			h.answers = append(h.answers, answer{image, a, by})
			continue
		}
		if have := m.attempt(a.ID); have.settle(a, by) {
			m.told, have.kept = by, true
			m.State, m.Cause, m.Weak, m.Next, m.status = image.State, image.Cause, image.Weak, image.Next, a.Status
			for _, f := range image.Flags {
				m.Flags = m.Flags.With(f, true)
			}
		}
	}
}

// settle applies an outcome as the ledger would: a certain one never changes.
func (a *rememberedAttempt) settle(to journal.Attempt, by told) bool {
	if to.Outcome == "" || a.Outcome != "" && a.Outcome != string(trade.OutcomeUnknown) {
		return false
	}
	a.Outcome, a.RemoteID, a.Status, a.Counts, a.finished = to.Outcome, to.RemoteID, to.Status, to.Counts, by.at
	return true
}

func (m *remembered) attempt(id string) *rememberedAttempt {
	for _, a := range m.attempts {
		if a.ID == id {
			return a
		}
	}
	return nil
}

func originOf(image journal.Sent) answerOrigin {
	return answerOrigin{image.RowRef, image.Sends, image.Generation}
}

// move gives a job another name in its rows and records.
func (h *journalHistory) move(m journal.Move, concerns func(told) bool) {
	for _, r := range h.Order {
		if r.Job != m.From || !concerns(r.told) {
			continue
		}
		delete(h.rows, r.RowRef)
		r.Job, r.Version = m.To, r.Version+1
		if r.On != nil && r.On.Job == m.From {
			r.On = &journal.Origin{RowRef: journal.RowRef{Job: m.To, Key: r.On.Key}, Generation: r.On.Generation}
		}
		// The journal may have sent rows under the new name that the ledger had lost when the job got it.
		if other := h.rows[r.RowRef]; other != nil {
			if other.Version > r.Version {
				r.Image, r.told = other.Image, other.told
			}
			for _, a := range other.attempts {
				r.attempts, h.sent[a.ID] = append(r.attempts, a), r
			}
		}
		h.rows[r.RowRef] = r
	}
	h.Order = slices.DeleteFunc(h.Order, func(r *remembered) bool { return h.rows[r.RowRef] != r })
	for at, s := range h.sightings {
		if !concerns(s.told) {
			continue
		}
		for i, of := range s.Of {
			if of.Job == m.From {
				s.Of[i].Job = m.To
			}
		}
		if at.Job == m.From {
			delete(h.sightings, at)
			s.Job = m.To
			h.sightings[s.RowRef] = s
		}
	}
	for at, image := range h.records {
		if !concerns(image.told) {
			continue
		}
		if image.Owner != nil && image.Owner.Job == m.From {
			image.Owner = &journal.RowRef{Job: m.To, Key: image.Owner.Key}
		}
		if at.Job == m.From {
			delete(h.records, at)
			image.Job, image.Version = m.To, image.Version+1
			to := originOf(image.Sent)
			if have := h.records[to]; have == nil || image.Version >= have.Version {
				h.records[to] = image
			}
		}
	}
}

// final returns the state that the journal proves. It returns "" if the journal only shows that
// nothing was created; then discovery decides. If a person ordered a second sending after a doubt,
// and no record is known to have come of it, the row stays in doubt: a rebuild must not send again.
func (m *remembered) final() trade.State {
	doubtful := slices.ContainsFunc(m.attempts, func(a *rememberedAttempt) bool {
		return a.Outcome == "" || a.Outcome == string(trade.OutcomeUnknown)
	})
	created := slices.ContainsFunc(m.attempts, func(a *rememberedAttempt) bool {
		return a.Outcome == string(trade.OutcomeCreated)
	})
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
