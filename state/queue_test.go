package state

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// What is told of due entries without reading them whole is what they hold.
func TestTheContentsOfWhatIsDueAreThoseOfTheEntries(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		later, waits := newEntry("3"), newEntry("4")
		later.NextAttemptAt, waits.State = at.Add(time.Hour), trade.Waiting
		mustRecord(t, s, lease, newEntry("1"), newEntry("2"), later, waits)
		for after, want := range map[int64]int{0: 2, 1: 1} {
			due, err := s.Due(t.Context(), "contracts", at, after, 10)
			if err != nil || len(due) != want {
				t.Fatal(len(due), err)
			}
			for i, e := range due {
				due[i] = trade.Entry{
					ID: e.ID, Job: e.Job, Sends: e.Sends, Key: e.Key, SourceHash: e.SourceHash,
					PayloadHash: e.PayloadHash, Target: e.Target, Payload: e.Payload,
				}
			}
			got := must.Get(s.NewContents(t.Context(), "contracts", trade.Pending, after, 10))(t)
			if diff := cmp.Diff(due, got[:want]); diff != "" || len(got) != want+1 {
				t.Errorf("after %d: %d contents (-entries +told)\n%s", after, len(got), diff)
			}
		}
		if got, err := s.NewContents(t.Context(), "contracts", trade.Pending, 0, 1); err != nil || len(got) != 1 {
			t.Errorf("%d of one, %v", len(got), err)
		}
		if got, err := s.NewContents(t.Context(), "contracts", trade.Waiting, 0, 9); err != nil || len(got) != 1 {
			t.Errorf("%d of one that waits, %v", len(got), err)
		}
	})
}

func TestOnlyWhatIsDueIsGiven(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		later, now := newEntry("later"), newEntry("now")
		later.NextAttemptAt, now.NextAttemptAt = at.Add(time.Millisecond), at
		waiting, woken := newEntry("waiting"), newEntry("woken")
		waiting.State, woken.State, woken.NextAttemptAt = trade.Waiting, trade.Waiting, at
		es := mustRecord(t, s, lease, newEntry("a"), later, waiting, now, newEntry("b"), woken)
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
		for _, one := range []struct{ keys, want []string }{
			{nil, []string{"a", "b", "now", "woken"}}, {[]string{"woken", "later", "a", "x"}, []string{"a", "woken"}},
		} {
			got := must.Get(s.DueKeys(t.Context(), "contracts", one.keys, at))(t)
			slices.Sort(got)
			if diff := cmp.Diff(one.want, got); diff != "" {
				t.Errorf("due of %q (-want +got):\n%s", one.keys, diff)
			}
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
		wantStates(t, s, "contracts", want)
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
