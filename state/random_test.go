package state

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// TestI9TheSumsAddUpWhateverHappens lets random pages, groups, recoveries and wakings happen and
// compares with what the ledger must then say.
func TestI9TheSumsAddUpWhateverHappens(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		if s.db.D.Name == sqldb.SQLite { // without the flushes of a file, which this test is not about
			memory, err := OpenMemory(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = memory.Close() })
			s = memory
		}
		run := 0
		rapid.Check(t, func(rt *rapid.T) {
			run++
			m := &machine{
				s: s, job: fmt.Sprintf("job-%d", run), model: map[string]modelEntry{},
				open: map[string]trade.Attempt{},
			}
			m.takeOver(rt)
			rt.Repeat(map[string]func(*rapid.T){
				"record": m.record, "update": m.update, "send": m.send, "settle": m.settle, "take over": m.takeOver,
				"wake": m.wake, "": m.check,
			})
		})
	})
}

type modelEntry struct {
	state    trade.State
	quantity trade.Quantity
}

type machine struct {
	s     *Store
	job   string
	lease trade.Lease
	model map[string]modelEntry
	open  map[string]trade.Attempt // by key: attempts that may still be settled
	now   time.Duration
	ids   int
}

func (m *machine) at() time.Time { m.now += time.Minute; return at.Add(m.now) }

func (m *machine) some(t *rapid.T, states ...trade.State) []trade.Entry {
	var found []trade.Entry
	if err := m.s.Rows(context.Background(), trade.RowFilter{Job: m.job, States: states}, func(e trade.Entry) error {
		found = append(found, e)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		return nil
	}
	return rapid.SliceOfNDistinct(rapid.SampledFrom(found), 1, min(3, len(found)),
		func(e trade.Entry) int64 { return e.ID }).Draw(t, "some")
}

func (m *machine) record(t *rapid.T) {
	var page trade.Page
	for range rapid.IntRange(1, 4).Draw(t, "rows") {
		m.ids++
		e := newEntry(fmt.Sprint(rapid.IntRange(1, 30).Draw(t, "key")))
		e.Sends = trade.Kind("what " + m.job + " sends") // the jobs of the other histories have the same keys
		e.Quantity = anyQuantity(t)
		e.State = rapid.SampledFrom(trade.Moves[""]).Draw(t, "state")
		page.New = append(page.New, e)
	}
	lost, err := m.s.Record(context.Background(), m.lease, page)
	if err != nil {
		t.Fatal(err)
	}
	wantLost := 0
	for _, e := range page.New {
		if _, ok := m.model[e.Key]; ok {
			wantLost++
			continue
		}
		m.model[e.Key] = modelEntry{e.State, e.Quantity}
	}
	if lost != wantLost {
		t.Fatalf("lost %d, want %d", lost, wantLost)
	}
}

func (m *machine) update(t *rapid.T) {
	var updates []trade.Update
	for _, e := range m.some(t) {
		from := e.State
		to := rapid.SampledFrom(trade.States).Draw(t, "to")
		if !trade.CanMove(from, to) || from != to &&
			(from == trade.Sending || to == trade.Sending || to == trade.Accepted) {
			to = from
		}
		e.State, e.Quantity = to, anyQuantity(t)
		if rapid.Bool().Draw(t, "due by time") && (to == trade.Waiting || to == trade.Rejected) {
			e.NextAttemptAt = at.Add(m.now)
		}
		if rapid.IntRange(0, 4).Draw(t, "stale") == 0 {
			e.Version--
		} else {
			m.model[e.Key] = modelEntry{to, e.Quantity}
		}
		updates = append(updates, trade.Update{From: from, Entry: e})
	}
	if _, err := m.s.Record(context.Background(), m.lease, trade.Page{Updates: updates}); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) send(t *rapid.T) {
	g := trade.Group{At: m.at()}
	for _, e := range m.some(t, trade.Pending) {
		g.Intents = append(g.Intents, intentOf(e))
	}
	r, err := m.s.Commit(context.Background(), m.lease, g)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range g.Intents {
		spent := false
		attempts, err := m.s.Attempts(context.Background(), in.Entry.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range attempts {
			spent = spent || a.ID != in.Attempt.ID &&
				(a.Outcome == trade.OutcomeOpen || a.Outcome == trade.OutcomeUnknown ||
					a.Outcome == trade.OutcomeCreated)
		}
		if r.Claimed[in.Attempt.ID] == spent {
			t.Fatalf("claimed %v, but an earlier attempt may have created a record: %v",
				r.Claimed[in.Attempt.ID], spent)
		}
		if !spent {
			m.model[in.Entry.Key] = modelEntry{trade.Sending, in.Entry.Quantity}
			m.open[in.Entry.Key] = in.Attempt
		}
	}
}

func (m *machine) settle(t *rapid.T) {
	for key, a := range m.open {
		if rapid.IntRange(0, 2).Draw(t, "lands") == 0 {
			continue
		}
		var st trade.Settlement
		switch rapid.IntRange(0, 3).Draw(t, "answer") {
		case 0:
			m.ids++
			st = created(a, fmt.Sprintf("%s-remote-%d", m.job, m.ids))
		case 1:
			st = refused(a)
		case 2:
			st = unknown(a)
		case 3:
			st = refused(a)
			st.Attempt.Outcome, st.State, st.Counts = trade.OutcomeNotSent, trade.Pending, false
		}
		before := m.model[key]
		r, err := m.s.Commit(context.Background(), m.lease, trade.Group{At: m.at(), Settle: []trade.Settlement{st}})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Settled[a.ID] {
			continue // not sent, said of one that is unknown
		}
		late := st.State == trade.Accepted // whatever was decided
		if before.state == trade.Sending || before.state == trade.InDoubt || late {
			m.model[key] = modelEntry{st.State, before.quantity}
		}
		if st.Attempt.Outcome != trade.OutcomeUnknown {
			delete(m.open, key)
		}
	}
}

// takeOver kills the owner, as the end of its time does, and recovers.
func (m *machine) takeOver(t *rapid.T) {
	if err := byHand(m.s, `UPDATE job_lease SET expires = 1 WHERE job = ?`, m.job); err != nil {
		t.Fatal(err)
	}
	owner := sqldb.Self()
	owner.Instance = sqldb.NewID()
	var err error
	if m.lease, err = m.s.AcquireLease(context.Background(), m.job, owner); err != nil {
		t.Fatal(err)
	}
	n, err := m.s.Recover(context.Background(), m.lease, m.at())
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for key, e := range m.model {
		if e.state == trade.Sending {
			m.model[key] = modelEntry{trade.InDoubt, e.quantity}
			want++
		}
	}
	if n != want {
		t.Fatalf("recovered %d, want %d", n, want)
	}
}

func (m *machine) wake(t *rapid.T) {
	now := m.at()
	for _, e := range m.all(t) {
		if (e.State == trade.Waiting || e.State == trade.Rejected) && !e.NextAttemptAt.IsZero() &&
			!e.NextAttemptAt.After(now) {
			m.model[e.Key] = modelEntry{trade.Pending, e.Quantity}
		}
	}
	if _, err := m.s.Wake(context.Background(), m.lease, now); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) all(t *rapid.T) []trade.Entry {
	var out []trade.Entry
	if err := m.s.Rows(context.Background(), trade.RowFilter{Job: m.job}, func(e trade.Entry) error {
		out = append(out, e)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func (m *machine) check(t *rapid.T) {
	entries := m.all(t)
	if len(entries) != len(m.model) {
		t.Fatalf("%d entries, want %d", len(entries), len(m.model))
	}
	sums := ledger.TallyChange{}
	for _, e := range entries {
		want := m.model[e.Key]
		if e.State != want.state || !e.Quantity.Amount.Equal(want.quantity.Amount) ||
			e.Quantity.Unit != want.quantity.Unit {
			t.Fatalf("%s is %s with %v, want %s with %v", e.Key, e.State, e.Quantity, want.state, want.quantity)
		}
		sums.Add(m.job, string(e.State), string(e.Quantity.Unit), e.Quantity.Amount)
	}
	for name, read := range map[string]func(context.Context,
		string) ([]trade.Tally, error){"kept": m.s.Counts, "counted": m.s.Recount} {
		got, err := read(context.Background(), m.job)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(sums.List()) {
			t.Fatalf("%s sums %v, want %v", name, got, sums.List())
		}
	}
}
