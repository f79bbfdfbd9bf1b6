package state

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// One person at a time takes care of a cause, the audit says who said so, and a copy of the ledger
// has it.
func TestACauseHasOneOwner(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		want := trade.CauseOwner{
			Key: "ref:wallets", Cause: "ref:wallets", Owner: "Maria", Note: "chamado 4711",
			Until: at.Truncate(time.Millisecond).Add(72 * time.Hour), Rows: map[string]int{"contracts": 3},
		}
		record := trade.AuditRecord{
			At: at.Truncate(time.Millisecond), Who: "ana", Act: "cause own", Target: "ref:wallets",
		}
		must.Do(t, s.OwnCause(ctx, trade.CauseOwner{Key: want.Key, Owner: "José"}, record))
		must.Do(t, s.OwnCause(ctx, want, record))
		must.Do(t, s.OwnCause(ctx, trade.CauseOwner{Key: "rule:price", Cause: "rule:price", Owner: "José"}, record))
		want.Who, want.At = "ana", record.At
		got := must.Get(s.CauseOwners(ctx))(t)
		diff := cmp.Diff(want, got["ref:wallets"])
		if diff != "" || len(got) != 2 || !got["rule:price"].Until.IsZero() {
			t.Errorf("%d owners (-want +got):\n%s", len(got), diff)
		}
		fewer := got["ref:wallets"]
		fewer.Rows = map[string]int{"contracts": 2}
		must.Do(t, s.LowerCause(ctx, fewer))
		other := fewer
		other.At, other.Rows = fewer.At.Add(-time.Second), map[string]int{} // somebody took it meanwhile
		must.Do(t, s.LowerCause(ctx, other))
		if diff := cmp.Diff(fewer, must.Get(s.CauseOwners(ctx))(t)["ref:wallets"]); diff != "" {
			t.Errorf("with fewer rows (-want +got):\n%s", diff)
		}
		must.Do(t, s.OwnCause(ctx, trade.CauseOwner{Key: want.Key}, record))
		if got := must.Get(s.CauseOwners(ctx))(t); len(got) != 1 {
			t.Errorf("after the end: %v", got)
		}
	})
}

// Rows that wait for what somebody takes care of can be left out of the ages; those of another
// cause cannot hide behind them.
func TestAgesLeaveOutCauses(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		for i, cause := range []string{"ref:wallets", "ref:producers"} {
			e := newEntry(cause)
			e.State, e.Cause, e.Payload, e.PayloadHash = trade.Waiting, cause, nil, ""
			e.WaitingFor = []trade.Awaited{{Ref: cause[4:], Code: "1"}}
			e.FirstSeenAt = at.Add(time.Duration(i) * time.Minute)
			mustRecord(t, s, lease, e)
		}
		for want, without := range map[time.Duration][]string{
			0: nil, time.Minute: {"ref:wallets"}, -1: {"ref:wallets", "ref:producers"},
		} {
			var waiting time.Time
			if want >= 0 {
				waiting = at.Add(want).Truncate(time.Millisecond)
			}
			got := must.Get(s.Ages(t.Context(), "contracts", without...))(t)
			if !got.Waiting.Equal(waiting) || !got.Unsent.Equal(waiting) {
				t.Errorf("without %v: %v, want %v", without, got.Waiting, waiting)
			}
		}
		counts := must.Get(s.StuckStates(t.Context(), "contracts"))(t)
		want := map[trade.State]map[string]int{trade.Waiting: {"ref:wallets": 1, "ref:producers": 1}}
		if diff := cmp.Diff(want, counts); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
