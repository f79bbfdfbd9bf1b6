package ledgertest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// Ledger is an open ledger of a test. It holds the leases of its jobs. Any error ends the test.
type Ledger struct {
	*state.Store
	t      testing.TB
	leases map[string]trade.Lease
}

// Both runs a test with SQLite and with PostgreSQL, in parallel.
func Both(t *testing.T, test func(t *testing.T, driver string)) {
	t.Helper()
	t.Parallel()
	for _, driver := range []string{state.SQLite, state.Postgres} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			test(t, driver)
		})
	}
}

// Open opens a new ledger, which is closed when the test ends.
func Open(t testing.TB, driver string) *Ledger {
	t.Helper()
	store, err := state.Open(t.Context(), state.OpenOptions{
		Driver: driver, DSN: New(t, driver, filepath.Join(t.TempDir(), "state.db")),
		Begin: true, Version: "1.0.0-test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if odd, err := store.Unrecorded(context.Background()); err == nil && len(odd) > 0 && !t.Failed() {
			t.Errorf("rows and records contradict each other: %v", odd)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Ledger{Store: store, t: t, leases: map[string]trade.Lease{}}
}

// LeaseOf returns the lease of a job. It acquires the lease first if the test has none.
func (l *Ledger) LeaseOf(job string) trade.Lease {
	l.t.Helper()
	if lease, ok := l.leases[job]; ok {
		return lease
	}
	lease, err := l.AcquireLease(l.t.Context(), job, state.Self())
	if err != nil {
		l.t.Fatal(err)
	}
	l.leases[job] = lease
	return lease
}

// RecordPage records a page of discovery. None of its rows may be lost.
func (l *Ledger) RecordPage(job string, page trade.Page) {
	l.t.Helper()
	if lost, err := l.Record(l.t.Context(), l.LeaseOf(job), page); err != nil || lost > 0 {
		l.t.Fatalf("lost %d, %v", lost, err)
	}
}

// Read returns an entry, which must exist.
func (l *Ledger) Read(job, key string) trade.Entry {
	l.t.Helper()
	e, err := l.Entry(l.t.Context(), job, key)
	if err != nil {
		l.t.Fatal(err)
	}
	return e
}

// CommitGroup stores intents, all of which must be claimed, and results.
func (l *Ledger) CommitGroup(job string, g trade.Group) {
	l.t.Helper()
	r, err := l.Commit(l.t.Context(), l.LeaseOf(job), g)
	if err != nil || r.LeaseLost || len(r.Claimed) != len(g.Intents) {
		l.t.Fatalf("%+v, %v", r, err)
	}
}
