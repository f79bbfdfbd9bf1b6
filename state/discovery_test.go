package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/internal/must"
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
			Text:   "payday is missing",
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
		if err := s.Rows(t.Context(), trade.RowFilter{}, func(trade.Entry) error { seen++; return nil }); err != nil ||
			seen != n+1 {
			t.Errorf("Rows: %d, %v; want %d", seen, err, n+1)
		}
	})
}

func TestOnlyWhatIsDueIsGiven(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		later, now := newEntry("later"), newEntry("now")
		later.NextAttemptAt, now.NextAttemptAt = at.Add(time.Millisecond), at
		waiting := newEntry("waiting")
		waiting.State = trade.Waiting
		es := mustRecord(t, s, lease, newEntry("a"), later, waiting, now, newEntry("b"))
		mustRecord(t, s, mustLease(t, s, "others"), newEntry("x"))
		due := func(after int64, limit int) (keys []string) {
			t.Helper()
			entries := must.Get(s.Due(t.Context(), "contracts", at, after, limit))(t)
			for _, e := range entries {
				keys = append(keys, e.Key)
			}
			return keys
		}
		if diff := cmp.Diff([]string{"a", "now", "b"}, due(0, 10)); diff != "" {
			t.Errorf("due (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"now"}, due(es[0].ID, 1)); diff != "" {
			t.Errorf("due after the first (-want +got):\n%s", diff)
		}
	})
}

func TestWakingByTimeAndByARecordOfThePlatform(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease, other := mustLease(t, s, "contracts"), mustLease(t, s, "fixations")
		waits := func(key string, on ...trade.Awaited) trade.Entry {
			e := newEntry(key)
			e.State, e.Cause, e.WaitingFor = trade.Waiting, "message.wallet.not-found", on
			return e
		}
		w1, w2 := trade.Awaited{Platform: "wallets", ID: "w1"}, trade.Awaited{Platform: "wallets", ID: "w2"}
		timed, future, bare := waits("timed", w2), waits("future", w2),
			waits("bare", trade.Awaited{Ref: "wallets", Code: "1"})
		timed.NextAttemptAt, future.NextAttemptAt, bare.NextAttemptAt = at, at.Add(1), at
		future.NextAttemptAt = at.Add(time.Hour)
		bare.Payload = nil
		rejected := newEntry("rejected")
		es := mustRecord(t, s, lease, waits("one", w1), waits("two", w1, w2), waits("three", w2), timed, future, bare,
			rejected, waits("kind", trade.Awaited{Platform: "producers", ID: "w1"}))
		mustRecord(t, s, other, waits("elsewhere", w1))
		st := refused(mustSend(t, s, lease, es[6]))
		st.NextAttemptAt = at
		mustSettle(t, s, lease, st)

		if n, err := s.WakeBlocked(t.Context(), lease, "wallets", "w1"); n != 2 || err != nil {
			t.Errorf("WakeBlocked: %d, %v; want 2", n, err)
		}
		if n, err := s.Wake(t.Context(), lease, at); n != 2 || err != nil {
			t.Errorf("Wake: %d, %v; want 2", n, err)
		}
		want := map[string]trade.State{
			"one": trade.Pending, "two": trade.Waiting, "three": trade.Waiting, "timed": trade.Pending,
			"future": trade.Waiting, "bare": trade.Waiting,
			"rejected": trade.Pending, "kind": trade.Waiting,
		}
		if diff := cmp.Diff(want, statesOf(t, s, "contracts")); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		if got := statesOf(t, s, "fixations")["elsewhere"]; got != trade.Pending {
			t.Errorf("the other job's entry is %s", got)
		}
		if diff := cmp.Diff([]trade.Awaited{w2}, mustEntry(t, s, "contracts", "two").WaitingFor); diff != "" {
			t.Errorf("two still waits for (-want +got):\n%s", diff)
		}
		woken := mustEntry(t, s, "contracts", "rejected")
		if woken.Cause != "" || woken.Error != nil || !woken.NextAttemptAt.IsZero() || woken.Attempts != 1 {
			t.Errorf("woken entry: %+v", woken)
		}
		mustAddUp(t, s, "contracts")
		mustAddUp(t, s, "fixations")
	})
}

func TestAnEntryAndItsRowAreTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.Custom(func(t *rapid.T) trade.Cell {
			if rapid.Bool().Draw(t, "null") {
				return trade.Cell{}
			}
			return trade.Cell{Kind: rapid.SampledFrom([]byte("tnd")).Draw(t, "kind"), Text: text(t)}
		})
		e := trade.Entry{
			ID: rapid.Int64Range(1, 1e15).Draw(t, "id"), Job: text(t), Sends: trade.OrderCommitments, Key: text(t),
			KeyParts: rapid.SliceOf(cell).Draw(t, "parts"),
			State:    rapid.SampledFrom(trade.States).Draw(t, "state"), Cause: text(t),
			Flags:      rapid.SliceOf(rapid.SampledFrom([]trade.Flag{trade.Changed, trade.Twin})).Draw(t, "flags"),
			Generation: rapid.IntRange(1, 3).Draw(t, "generation"), Attempts: rapid.IntRange(0, 9).Draw(t, "attempts"),
			FirstSeenAt: moment(t), UpdatedAt: moment(t),
			Values:     rapid.MapOf(rapid.StringMatching(`[a-z]{1,5}`), cell).Draw(t, "values"),
			SourceHash: anyHash(t), MappedWith: text(t), PayloadHash: anyHash(t), Quantity: anyQuantity(t),
			GoneSweeps: rapid.IntRange(0, 3).Draw(t, "gone"),
			Version:    rapid.Int64Range(1, 1e9).Draw(t, "version"),
		}
		if rapid.Bool().Draw(t, "next") {
			e.NextAttemptAt = moment(t)
		}
		if rapid.Bool().Draw(t, "payload") {
			e.Payload = json.RawMessage(`{"amount": 1.50, "x":"` + "ç" + `"}`)
		}
		if rapid.Bool().Draw(t, "error") {
			e.Error = &trade.EntryError{
				Kind: trade.APIError, Status: 400, Messages: []string{text(t)},
				Fields: []trade.Problem{{Field: text(t), Value: text(t)}}, Text: text(t), Weak: true,
			}
			e.WaitingFor = []trade.Awaited{{Ref: text(t), Code: text(t)}, {Platform: "wallets", ID: text(t)}}
			e.Warnings = []trade.Problem{{Field: text(t), Severity: trade.Warning}}
		}
		row := must.Get(entryRowOf(e, at))(t)
		got := must.Get(row.Entry())(t)
		if diff := cmp.Diff(e, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("entry → row → entry (-want +got):\n%s", diff)
		}
		a := trade.Attempt{
			ID: text(t), EntryID: 3, Generation: 1, No: 2, RunID: text(t), Owner: text(t), Epoch: 7,
			Payload: json.RawMessage(`{"a":1.50}`), PayloadHash: anyHash(t),
			StartedAt: moment(t), Outcome: rapid.SampledFrom([]trade.Outcome{
				"", trade.OutcomeCreated,
				trade.OutcomeUnknown,
			}).Draw(t, "outcome"),
			Status: 201, Messages: rapid.SliceOf(rapid.StringMatching(`[a-z.]{1,9}`)).Draw(t, "messages"),
			RemoteID: text(t), Reason: text(t),
			Evidence: json.RawMessage(`{"b":2}`), RequestHead: json.RawMessage(`{}`), AnswerBody: text(t),
		}
		if a.Outcome != "" {
			a.FinishedAt = moment(t)
		}
		attemptRow := must.Get(attemptRowOf(a, at, true))(t)
		back, err := attemptRow.Attempt()
		if diff := cmp.Diff(a, back, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatalf("attempt → row → attempt (-want +got):\n%s%v", diff, err)
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
