package state

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// F043, I4: rows and cursor are one transaction.
func TestAPageIsRecordedWithItsCursor(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		if c, err := s.Cursor(t.Context(), "contracts"); err != nil || !cmp.Equal(c, trade.Cursor{}) {
			t.Errorf("the cursor of a new job: %+v, %v", c, err)
		}
		full := newEntry("a")
		full.State, full.Payload, full.PayloadHash, full.Cause = trade.Invalid, nil, "", "rule:payday"
		full.Flags = trade.Flags{trade.Twin}
		full.Error = &trade.EntryError{
			Kind:   trade.ValidationError,
			Fields: []trade.Problem{{Field: "payday", Rule: "required_for_COMPRA", Column: "dt"}},
			Why:    trade.Say("row.values_gone"),
		}
		full.WaitingFor = []trade.Awaited{
			{Ref: "wallets", Code: "12"},
			{Job: "x", Key: "y", ParentState: trade.Rejected},
			{Platform: "wallets", ID: "w"},
		}
		full.Warnings = []trade.Problem{{Field: "price", Rule: trade.RulePositive, Severity: trade.Warning}}
		full.Values["nulo"] = trade.Cell{}
		cursor := trade.Cursor{
			Bound: "2026-11-21 08:59:59.123456", SweptAt: at, Fingerprint: "f1",
			Sweep: &trade.Sweep{InScope: 2, Gone: 1, Unreadable: 3},
		}
		lost, err := s.Record(t.Context(), lease,
			trade.Page{New: []trade.Entry{full, newEntry("b"), newEntry("b")}, Cursor: &cursor})
		if err != nil || lost != 1 {
			t.Errorf("Record: lost %d, %v; want 1: a key twice in a page is recorded once", lost, err)
		}
		want := full
		want.Job, want.Version = "contracts", 1
		got := mustEntry(t, s, "contracts", "a")
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(trade.Entry{}, "ID"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("entry (-want +got):\n%s", diff)
		}
		c, err := s.Cursor(t.Context(), "contracts")
		if diff := cmp.Diff(cursor, c); diff != "" || err != nil {
			t.Errorf("cursor (-want +got):\n%s%v", diff, err)
		}
		known, err := s.Known(t.Context(), "contracts", []string{"a", "b", "none"})
		if err != nil || len(known) != 2 {
			t.Fatalf("Known: %v, %v", known, err)
		}
		wantKnown := trade.Known{
			ID: got.ID, Key: "a", State: trade.Invalid, SourceHash: trade.HashOf("source-a"),
			MappedWith: "m1", Flags: trade.Flags{trade.Twin}, Cause: "rule:payday", Version: 1,
		}
		if diff := cmp.Diff(wantKnown, known["a"]); diff != "" {
			t.Errorf("known (-want +got):\n%s", diff)
		}
		entries, err := s.Entries(t.Context(), []int64{got.ID, 12345})
		if err != nil || len(entries) != 1 || entries[0].Key != "a" {
			t.Errorf("Entries: %v, %v", entries, err)
		}
		if lost, err := s.Record(t.Context(), lease,
			trade.Page{New: []trade.Entry{newEntry("a"), newEntry("c")}}); lost != 1 || err != nil {
			t.Errorf("Record of a key that exists: lost %d, %v", lost, err)
		}
		mustAddUp(t, s, "contracts")
	})
}

func TestAnUpdateOfAnEntryThatHasMovedIsLeftOut(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"), newEntry("c"))
		change := func(e trade.Entry, hash trade.Hash) trade.Update {
			e.SourceHash, e.Quantity, e.State, e.Payload, e.UpdatedAt = hash, sacas("2000.25"), trade.Waiting, nil,
				at.Add(time.Hour)
			e.Key, e.FirstSeenAt = "another", at.Add(time.Hour) // what an entry is never changes
			return trade.Update{From: trade.Pending, Entry: e}
		}
		mustSend(t, s, lease, es[2])
		page := trade.Page{Updates: []trade.Update{
			change(es[0], trade.HashOf("first")),
			change(es[0], trade.HashOf("second")), change(es[2], trade.HashOf("third")),
		}}
		if lost, err := s.Record(t.Context(), lease, page); lost != 2 || err != nil {
			t.Errorf("Record: lost %d, %v; want 2", lost, err)
		}
		if lost, err := s.Record(t.Context(), lease, page); lost != 3 || err != nil {
			t.Errorf("the same page again: lost %d, %v; want 3", lost, err)
		}
		a := mustEntry(t, s, "contracts", "a")
		if a.SourceHash != trade.HashOf("first") || a.State != trade.Waiting || a.Version != 2 ||
			!a.FirstSeenAt.Equal(at) || !a.UpdatedAt.Equal(at.Add(time.Hour)) || a.Payload != nil {
			t.Errorf("entry: %+v", a)
		}
		mustAddUp(t, s, "contracts")
		counts, err := s.Counts(t.Context(), "contracts")
		want := []trade.Tally{
			{State: trade.Pending, Count: 1, Quantity: sacas("1000.5")},
			{State: trade.Waiting, Count: 1, Quantity: sacas("2000.25")},
			{State: trade.Sending, Count: 1, Quantity: sacas("1000.5")},
		}
		if diff := cmp.Diff(want, counts); diff != "" || err != nil {
			t.Errorf("counts (-want +got):\n%s%v", diff, err)
		}
	})
}

// F043: a page that fails moves no cursor.
func TestAMoveThatIsNotAllowedStoresNothingOfThePage(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"))[0]
		e.State = trade.InDoubt
		if _, err := s.Record(t.Context(), lease,
			trade.Page{
				New: []trade.Entry{newEntry("b")}, Updates: []trade.Update{{From: trade.Pending, Entry: e}},
				Cursor: &trade.Cursor{Bound: "x"},
			}); err == nil {
			t.Fatal("pending to in_doubt was stored")
		}
		if got := statesOf(t, s, "contracts"); len(got) != 1 || got["a"] != trade.Pending {
			t.Errorf("rows: %v", got)
		}
		if c, err := s.Cursor(t.Context(), "contracts"); c.Bound != "" || err != nil {
			t.Errorf("cursor: %+v, %v", c, err)
		}
		mustAddUp(t, s, "contracts")
	})
}

func TestGoingThroughTheEntriesMayWrite(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		const n = entryPage + 10
		var page []trade.Entry
		for i := range n {
			page = append(page, newEntry(fmt.Sprintf("%04d", i)))
		}
		mustRecord(t, s, lease, page...)
		mustRecord(t, s, mustLease(t, s, "others"), newEntry("x"))
		var last int64
		seen := 0
		err := s.Stale(t.Context(), "contracts", "m2", []trade.State{trade.Pending, trade.Invalid},
			func(e trade.Entry) error {
				if e.ID <= last {
					t.Errorf("entry %d after %d", e.ID, last)
				}
				last = e.ID
				seen++
				e.MappedWith = "m2"
				_, err := s.Record(t.Context(), lease, trade.Page{Updates: []trade.Update{{From: e.State, Entry: e}}})
				return err
			})
		if err != nil || seen != n {
			t.Errorf("Stale: %d entries, %v; want %d", seen, err, n)
		}
		if err := s.Stale(t.Context(), "contracts", "m2", []trade.State{trade.Pending},
			func(trade.Entry) error { return errors.New("stale again") }); err != nil {
			t.Error(err)
		}
		seen, last = 0, 0
		if err := s.EachKnown(t.Context(), "contracts", func(k trade.Known) error {
			if k.ID <= last || k.Version != 2 {
				t.Errorf("known %+v after %d", k, last)
			}
			last, seen = k.ID, seen+1
			return nil
		}); err != nil || seen != n {
			t.Errorf("EachKnown: %d, %v; want %d", seen, err, n)
		}
		stop := errors.New("enough")
		if err := s.EachKnown(t.Context(), "contracts",
			func(trade.Known) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("EachKnown: %v, want the function's own error", err)
		}
		seen = 0
		if err := s.Rows(t.Context(), trade.RowQuery{}, func(trade.Entry) error { seen++; return nil }); err != nil ||
			seen != n+1 {
			t.Errorf("Rows: %d, %v; want %d", seen, err, n+1)
		}
	})
}

func text(t *rapid.T) string {
	return rapid.StringMatching(`[a-zçãA-Z0-9|"'\\ ]{0,12}`).Draw(t, "text")
}

func moment(t *rapid.T) time.Time {
	return time.UnixMilli(rapid.Int64Range(1, 4e12).Draw(t, "ms")).UTC()
}

func anyQuantity(t *rapid.T) trade.Quantity {
	n := must.Get(trade.ParseDecimal(rapid.StringMatching(`-?[0-9]{1,15}(\.[0-9]{1,10})?`).Draw(t, "amount")))(t)
	return trade.Quantity{Amount: n, Unit: rapid.SampledFrom([]trade.Unit{"", trade.SC, trade.KG, trade.TON}).Draw(t,
		"unit")}
}

func anyHash(t *rapid.T) trade.Hash {
	return trade.HashOf(text(t))
}

func TestArrivalsAreTheEntriesAboveAMark(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		e := mustRecord(t, s, mustLease(t, s, "contracts"), newEntry("a"), newEntry("b"), newEntry("c"))
		mustRecord(t, s, mustLease(t, s, "other"), newEntry("x"))
		for after, want := range map[int64]trade.Arrivals{
			0:       {Count: 3, Last: e[2].ID, Samples: []string{"a", "b"}},
			e[0].ID: {Before: true, Count: 2, Last: e[2].ID, Samples: []string{"b", "c"}},
			e[2].ID: {Before: true},
		} {
			got, err := s.Arrivals(t.Context(), "contracts", after, 2)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("after %d (-want +got):\n%s%v", after, diff, err)
			}
		}
	})
}

// Entries that were sent are no arrivals: a rebuild adds them with new ids.
func TestArrivalsAreNotWhatWasSentBefore(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"), newEntry("b"), newEntry("c"))
		mustSettle(t, s, lease, created(mustSend(t, s, lease, e[0]), sqldb.NewID()))
		mustSend(t, s, lease, e[2])
		got, err := s.Arrivals(t.Context(), "contracts", 0, 2)
		want := trade.Arrivals{Rebuilt: true, Count: 1, Last: e[2].ID, Samples: []string{"b"}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("(-want +got):\n%s%v", diff, err)
		}
	})
}
