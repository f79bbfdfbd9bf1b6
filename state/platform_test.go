package state

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

const (
	fromTests  = "https://test.example.com"
	production = "https://api.example.com/v1"
)

var rebindAct = trade.AuditRecord{
	At: at, Who: "ana", From: "ana@srv", Act: "state rebind", Target: "ledger",
	Reason: "the platform has a new name",
}

// sendsTo is a process of another machine that sends to an address.
func sendsTo(host, platform string) trade.Owner {
	owner := onMachine(host)
	owner.Platform = platform
	return owner
}

func wantOther(t *testing.T, err error, ledger, now string) {
	t.Helper()
	var other *trade.OtherPlatformError
	if !errors.As(err, &other) || other.Ledger != ledger || other.Now != now {
		t.Fatalf("error = %v, want that the ledger has sent to %s and not to %s", err, ledger, now)
	}
	for _, part := range []string{ledger, now, "state new", "state rebind"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
}

func mustBelong(t *testing.T, s *Store, want string) {
	t.Helper()
	got, err := s.Platform(t.Context())
	if err != nil || got != want {
		t.Errorf("the ledger belongs to %q, want %q (%v)", got, want, err)
	}
}

// sendTo takes a lease for an address and gives it back.
func (k *kept) sendTo(platform string) error {
	k.t.Helper()
	lease, err := k.s.AcquireLease(k.t.Context(), "contracts", sendsTo("a", platform))
	if err != nil {
		return err
	}
	return k.s.ReleaseLease(k.t.Context(), lease)
}

func TestALedgerThatHasSentBelongsToThatPlatform(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		must.Do(t, k.sendTo(fromTests))
		if err := k.sendTo(production); err != nil { // nothing was sent: it may change freely
			t.Fatal(err)
		}
		must.Do(t, k.sendTo(fromTests))
		k.send("a", 2) // one accepted, one in flight
		mustBelong(t, k.s, fromTests)
		wantOther(t, k.sendTo(production), fromTests, production)
		wantOther(t, k.s.Belongs(t.Context(), production), fromTests, production)
		if err := k.s.Belongs(t.Context(), fromTests); err != nil {
			t.Error(err)
		}
		k.close()

		plan, err := Rebind(t.Context(), k.o, RebindOrder{Platform: production}, trade.AuditRecord{})
		if err != nil || plan.Platform == nil || plan.Platform.Was != fromTests || plan.Accepted != 1 ||
			plan.Doubts != 1 || plan.Server != nil || plan.Journal != "" {
			t.Errorf("plan %+v, %v", plan, err)
		}
		k.open()
		wantOther(t, k.sendTo(production), fromTests, production)
		k.close()
		must.Get(Rebind(t.Context(), k.o, RebindOrder{Platform: production, Apply: true}, rebindAct))(t)
		k.open()
		if err := k.sendTo(production); err != nil {
			t.Error(err)
		}
		wantOther(t, k.sendTo(fromTests), production, fromTests)
		records, err := k.s.Audit(t.Context(), 1)
		if err != nil || records[0].Act != "state rebind" || !strings.Contains(records[0].Detail, fromTests) {
			t.Errorf("audit: %+v, %v", records, err)
		}
	})
}

func TestWhoIsAboutToSendKeepsTheLedgerAtItsPlatform(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		lease := must.Get(k.s.AcquireLease(t.Context(), "contracts", sendsTo("a", fromTests)))(t)
		var leased *trade.LeasedError
		if _, err := k.s.AcquireLease(t.Context(), "deliveries", sendsTo("b", production)); !errors.As(err, &leased) {
			t.Errorf("another process may send to another address beside one that is about to send: %v", err)
		}
		order := RebindOrder{Platform: production, Apply: true}
		if _, err := Rebind(t.Context(), k.o, order, rebindAct); !errors.As(err, &leased) {
			t.Errorf("rebound under a run: %v", err)
		}
		if _, err := k.s.AcquireLease(t.Context(), "deliveries", sendsTo("b", fromTests)); err != nil {
			t.Error(err)
		}
		mustSend(t, k.s, lease, mustRecord(t, k.s, lease, newEntry("a"))[0])
		mustBelong(t, k.s, fromTests)
	})
}

func TestTheJournalKnowsThePlatform(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		must.Do(t, k.sendTo(fromTests))
		k.send("a", 3)
		if k.o.Driver == sqldb.Postgres {
			for _, query := range []string{`DROP SCHEMA public CASCADE`, `CREATE SCHEMA public`} {
				must.Do(t, byHand(k.s, query))
			}
		}
		k.close()
		if k.o.Driver == sqldb.SQLite {
			must.Do(t, os.Remove(k.o.DSN))
		}
		wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeEmptied)
		must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
		k.open()
		mustBelong(t, k.s, fromTests)
		wantOther(t, k.sendTo(production), fromTests, production)
	})
}

func TestAProcessThatEndedBetweenJournalAndLedgerLeavesThePlatformKnown(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		must.Do(t, k.sendTo(fromTests))
		// As if the commit that took the address had not been: the journal has one record more.
		for _, query := range []string{`UPDATE ledger SET platform = ''`, `UPDATE journal SET seq = 0, mark = ''`} {
			must.Do(t, byHand(k.s, query))
		}
		k.close()
		k.open()
		mustBelong(t, k.s, fromTests)
	})
}

func TestAMovedLedgerBelongsToItsPlatform(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		must.Do(t, k.sendTo(fromTests))
		k.send("a", 3)
		mustExec(t, k.s, `DELETE FROM job_lease`)
		k.close()
		to := backends[0].empty(t)
		to.Journal, to.Version = k.o.Journal, k.o.Version
		must.Get(Move(t.Context(), k.o, to, true,
			trade.AuditRecord{
				At: at, Who: "ana", Act: "state copy", Target: "ledger",
				Reason: "another disk",
			}))(t)
		mustBelong(t, mustOpen(t, to), fromTests)
	})
}

// A process that was suspended while the ledger was rebound stores no intent afterwards: it
// would send to the former address.
func TestAProcessThatWasSuspendedOverARebindSendsNothing(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		lease := must.Get(k.s.AcquireLease(t.Context(), "contracts", sendsTo("a", fromTests)))(t)
		rows := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"))
		mustSettle(t, k.s, lease, created(mustSend(t, k.s, lease, rows[0]), "remote-a"))
		order := RebindOrder{Platform: production, Apply: true}
		if _, err := Rebind(t.Context(), k.o, order, rebindAct); !errors.As(err, new(*trade.LeasedError)) {
			t.Fatalf("rebound while a process holds a lease: %v", err)
		}
		// it was suspended for longer than its lease
		must.Do(t, byHand(k.s, `UPDATE job_lease SET expires = 1`))
		must.Get(Rebind(t.Context(), k.o, RebindOrder{Platform: production, Apply: true}, rebindAct))(t)
		late := intentOf(rows[1])
		if r, err := k.s.Commit(t.Context(), lease, trade.Group{At: at, Intents: []trade.Intent{late}}); err != nil ||
			!r.LeaseLost || r.Claimed[late.Attempt.ID] {
			t.Errorf("an intent after the rebind: %+v, %v", r, err)
		}
		if err := k.s.RenewLease(t.Context(), lease); !errors.Is(err, trade.ErrLeaseLost) {
			t.Errorf("the lease goes on: %v", err)
		}
		if err := k.sendTo(production); err != nil {
			t.Error(err)
		}
	})
}
