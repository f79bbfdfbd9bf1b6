package recovery

import (
	"maps"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/trade"
)

// History is what a journal has about all rows that were sent or decided about, in the order in
// which it first names them.
type History struct {
	rows  map[journal.Row]*remembered
	Order []*remembered
	sent  map[string]*remembered // by the id of an attempt
	End   journal.End
	Mark  string
	Seen  map[string]int64 // for each other host's journal the last record that the ledger had
	Term  *journal.Term    // what this host had confirmed of the ledger's server; nil = nothing
	Jobs  map[string]journal.JobFact
	moves []journal.Move
	// the newest image of each record
	records map[origin]journal.Sent
}

// remembered is one row as the journal leaves it.
type remembered struct {
	journal.Fact
	first, last time.Time
	status      int
	next        *time.Time
	attempts    []*rememberedAttempt
	double      bool // another attempt of a generation was sent too, by a host that did not know of it
}

type rememberedAttempt struct {
	journal.FactAttempt
	counts   bool
	finished time.Time
}

// ReadHistory reads a whole journal.
func ReadHistory(dir string) (*History, error) {
	void := map[int64]bool{}
	if _, err := journal.Read(dir, -1, func(r journal.Record, _ string) error {
		for _, seq := range r.Void {
			void[seq] = true
		}
		return nil
	}); err != nil {
		return nil, err
	}
	h := &History{
		rows: map[journal.Row]*remembered{}, sent: map[string]*remembered{},
		Jobs: map[string]journal.JobFact{}, records: map[origin]journal.Sent{},
	}
	var err error
	h.End, err = journal.Read(dir, -1, func(r journal.Record, mark string) error {
		h.Mark = mark
		if r.Seen != nil {
			h.Seen = r.Seen
		}
		if r.Term != nil {
			h.Term = r.Term
		}
		if r.Kind == journal.Act && void[r.Seq] {
			return nil // the ledger refused the act: it was not done
		}
		for _, m := range r.Moves {
			if !slices.Contains(h.moves, m) { // a snapshot repeats it
				h.moves = append(h.moves, m)
			}
			if r.Kind == journal.Act { // a snapshot has the rows as they are after the move
				h.move(m)
			}
		}
		for _, f := range r.Facts {
			h.fact(r, f)
		}
		for _, j := range r.Jobs {
			h.Jobs[j.Job] = j
		}
		// an answer is true, whether or not the ledger stored the record
		for _, o := range r.Outcomes {
			h.outcome(r, o)
		}
		if !void[r.Seq] {
			for _, in := range r.Intents {
				h.intent(r, in)
			}
			for _, image := range r.Records {
				h.record(image)
			}
		}
		return nil
	})
	return h, err
}

// JobNames returns the jobs of the rows, and those that were paused.
func (h *History) JobNames() []string {
	names := slices.Collect(maps.Keys(h.Jobs))
	for _, m := range h.Order {
		names = append(names, m.Job)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Pause returns the status in which a person, or a brake, left a job. ok is false if it was not
// paused.
func (h *History) Pause(job string) (status trade.JobStatus, ok bool) {
	fact := h.Jobs[job]
	return trade.JobStatus{
		Job: job, State: trade.Paused, Since: fact.Since,
		Stop: &trade.Stop{Code: fact.Code, Text: fact.Text, Brake: fact.Brake},
	}, fact.Paused
}

// only keeps the rows and jobs that one record names.
func (h *History) only(r journal.Record) {
	h.Order = slices.DeleteFunc(h.Order, func(m *remembered) bool {
		return !slices.ContainsFunc(r.Facts, func(f journal.Fact) bool { return f.Row == m.Row })
	})
	maps.DeleteFunc(h.records, func(at origin, _ journal.Sent) bool {
		return !slices.ContainsFunc(r.Records, func(s journal.Sent) bool { return originOf(s) == at })
	})
	maps.DeleteFunc(h.Jobs, func(job string, _ journal.JobFact) bool {
		return !slices.ContainsFunc(r.Jobs, func(j journal.JobFact) bool { return j.Job == job })
	})
}

func (h *History) row(row journal.Row, at time.Time) *remembered {
	m := h.rows[row]
	if m == nil {
		m = &remembered{Fact: journal.Fact{Row: row, Generation: 1}, first: at}
		h.rows[row] = m
		h.Order = append(h.Order, m)
	}
	m.last = at
	return m
}

// move assigns the rows of a job to another one. The rows that were withdrawn by the move are in
// the facts of the same record.
func (h *History) move(m journal.Move) {
	for _, r := range h.Order {
		if r.Job == m.From {
			h.rename(r, m.To)
		}
	}
	h.tidy()
	h.moveRecords(m)
}

func (h *History) tidy() {
	h.Order = slices.DeleteFunc(h.Order, func(r *remembered) bool { return h.rows[r.Row] != r })
}

// rename assigns a row to another job. If that job has a row with the same key, the row that was
// sent is kept, with the attempts of both.
func (h *History) rename(r *remembered, job string) {
	delete(h.rows, r.Row)
	r.Job = job
	other := h.rows[r.Row]
	if other != nil && (other.created() || other.doubtful() || other.Weak || other.State == string(trade.Dismissed)) {
		r, other = other, r
	}
	h.rows[r.Row] = r
	if other == nil {
		return
	}
	for _, a := range other.attempts { // a late answer to one of them must find the row
		if r.attempt(a.ID) == nil {
			r.attempts = append(r.attempts, a)
		}
		h.sent[a.ID] = r
	}
}

func (m *remembered) attempt(id string) *rememberedAttempt {
	for _, a := range m.attempts {
		if a.ID == id {
			return a
		}
	}
	return nil
}

func (h *History) fact(r journal.Record, f journal.Fact) {
	m := h.row(f.Row, r.At)
	for _, a := range f.Attempts {
		if have := m.attempt(a.ID); have != nil {
			have.settle(a.Outcome, a.RemoteID, true, r.At)
		} else {
			m.attempts = append(m.attempts, &rememberedAttempt{FactAttempt: a, counts: a.Outcome != "", finished: r.At})
			h.sent[a.ID] = m
		}
	}
	for _, image := range f.Records {
		h.record(image)
	}
	f.Attempts, f.Records = nil, nil
	if f.Source == "" && f.Payload == m.Payload {
		f.Source = m.Source
	}
	m.Fact = f
}

func (h *History) intent(r journal.Record, in journal.Intent) {
	m := h.row(in.Row, r.At)
	if m.attempt(in.Attempt) != nil {
		return
	}
	// The ledger accepted this intent, so an open one before it in the same generation had created
	// nothing (I3): its process ended before the ledger had the intent, and its marks showed that
	// nothing had left.
	m.attempts = slices.DeleteFunc(m.attempts, func(a *rememberedAttempt) bool {
		never := a.Outcome == "" && a.Generation == in.Generation
		if never {
			delete(h.sent, a.ID)
		}
		return never
	})
	m.Sends, m.Generation, m.Payload, m.Source = in.Sends, in.Generation, in.Payload, in.Source
	m.State, m.Cause, m.Weak, m.next = string(trade.Sending), "", false, nil
	h.sent[in.Attempt] = m
	m.attempts = append(m.attempts, &rememberedAttempt{FactAttempt: journal.FactAttempt{
		ID: in.Attempt, Generation: in.Generation, Payload: in.Payload, Started: r.At,
	}})
}

func (h *History) outcome(r journal.Record, o journal.Outcome) {
	m := h.sent[o.Attempt]
	if m == nil {
		return // its intent was void: nothing had left
	}
	a := m.attempt(o.Attempt)
	a.settle(o.Outcome, o.RemoteID, o.Counts, r.At)
	m.last = r.At
	if o.State == "" || a.Generation != m.Generation || a.Outcome != o.Outcome {
		return
	}
	m.State, m.Cause, m.Weak, m.status, m.next = o.State, o.Cause, o.Weak, o.Status, o.Next
	if m.State == string(trade.Accepted) {
		m.RemoteID = o.RemoteID
	}
}

// settle applies an outcome as the ledger would: a certain one never changes.
func (a *rememberedAttempt) settle(outcome, remote string, counts bool, at time.Time) {
	if outcome == "" || a.Outcome != "" && a.Outcome != string(trade.OutcomeUnknown) {
		return
	}
	a.Outcome, a.RemoteID, a.counts, a.finished = outcome, remote, counts, at
}

// doubtful reports whether one of its attempts may have created a record that nobody knows of.
func (m *remembered) doubtful() bool {
	for _, a := range m.attempts {
		if a.Outcome == "" || a.Outcome == string(trade.OutcomeUnknown) {
			return true
		}
	}
	return false
}

// created reports whether one of its attempts created a record.
func (m *remembered) created() bool {
	for _, a := range m.attempts {
		if a.Outcome == string(trade.OutcomeCreated) {
			return true
		}
	}
	return false
}

// Final returns the state that the journal proves. It returns "" if the journal only shows that
// nothing was created; then discovery decides. If a person ordered a second sending after a doubt,
// and no record is known to have come of it, the row stays in doubt: a rebuild must not send again.
func (m *remembered) Final() trade.State {
	switch s := trade.State(m.State); {
	case s == trade.Accepted, s == trade.Dismissed, s == trade.Held:
		return s
	case m.doubtful(), s == trade.InDoubt, s == trade.Sending && m.created():
		return trade.InDoubt
	case s == trade.Rejected && m.Weak:
		return s
	}
	return ""
}
