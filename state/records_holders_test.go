package state

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// delivery is a row of another job that sends deliveries of a contract.
func delivery(key, contract string) trade.Entry {
	e := newEntry(key)
	e.Job, e.Sends = "deliveries", trade.Deliveries
	e.Payload, _ = json.Marshal(map[string]string{"contract_id": contract})
	e.PayloadHash = trade.PayloadHash("", e.Payload)
	return e
}

// A platform may count the deliveries of each contract from 1. Within a contract an id is
// still the only one, and a UUID is so among all.
func TestADeliverysIDIsTheOnlyOneOfItsContract(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "deliveries")
		accept := func(key, contract, id string, conflict bool) {
			t.Helper()
			a := mustSend(t, s, lease, mustRecord(t, s, lease, delivery(key, contract))[0])
			r := mustSettle(t, s, lease, created(a, id))
			if _, is := r.Conflicts[a.ID]; is != conflict {
				t.Errorf("%s with id %s of contract %s: conflict %v, want %t", key, id, contract, r.Conflicts, conflict)
			}
			if conflict {
				mustSettle(t, s, lease, unknown(a))
			}
		}
		for c := range 3 {
			for n := range 3 {
				accept(fmt.Sprintf("%d/%d", c, n), fmt.Sprintf("contract %d", c), fmt.Sprint(n+1), false)
			}
		}
		accept("again", "contract 1", "2", true)
		const uuid = "0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a"
		accept("uuid", "contract 1", uuid, false)
		accept("uuid of another contract", "contract 2", uuid, true)

		// In one group too.
		var in []trade.Settlement
		for i, contract := range []string{"x", "y", "x"} {
			in = append(in,
				created(mustSend(t, s, lease, mustRecord(t, s, lease, delivery(fmt.Sprint("group ", i), contract))[0]),
					"7"))
		}
		if r := mustCommit(t, s, lease, trade.Group{Settle: in}); len(r.Conflicts) != 1 || len(r.Settled) != 2 {
			t.Errorf("conflicts %v, settled %v", r.Conflicts, r.Settled)
		}

		for contract, want := range map[string]string{"contract 0": "0/1", "contract 9": ""} {
			mine := mustRecord(t, s, lease, delivery("adopts "+contract, contract))[0]
			holder, err := s.Holder(t.Context(), trade.Deliveries, "2", mine.ID)
			if err != nil || holder.Key != want {
				t.Errorf("id 2 of %s is held by %q, %v; want %q", contract, holder.Key, err, want)
			}
		}
		// Where nobody knows a contract, an id has a holder.
		bare := delivery("bare", "x")
		bare.State, bare.Payload = trade.Waiting, nil
		if holder, err := s.Holder(t.Context(), trade.Deliveries, "2",
			mustRecord(t, s, lease, bare)[0].ID); err != nil || holder.Key == "" {
			t.Errorf("%v, %v", holder, err)
		}
		mustAddUp(t, s, "deliveries")
	})
}

// Rebuilding gives each of them its id again, from the journal alone and beside an older copy.
func TestRebuildingKeepsIDsThatContractsShare(t *testing.T) {
	t.Parallel()
	for _, older := range []bool{false, true} {
		k := keep(t, backends[0].open(t))
		lease := mustLease(t, k.s, "deliveries")
		one, two := mustRecord(t, k.s, lease, delivery("a", "x"))[0], mustRecord(t, k.s, lease, delivery("b", "y"))[0]
		must.Do(t, k.s.ReleaseLease(t.Context(), lease))
		backup := filepath.Join(t.TempDir(), "older")
		must.Do(t, k.s.Backup(t.Context(), backup))
		lease = mustLease(t, k.s, "deliveries")
		mustSettle(t, k.s, lease, created(mustSend(t, k.s, lease, one), "1"))
		mustSettle(t, k.s, lease, created(mustSend(t, k.s, lease, two), "1"))
		want := provenOf(t, k.s)
		must.Do(t, k.s.ReleaseLease(t.Context(), lease))
		k.close()
		removeLedger(t, k.o.DSN)
		if older {
			copyFile(t, backup, k.o.DSN)
		}
		k.noticedAndRebuilt(0, want, nil)
	}
}
