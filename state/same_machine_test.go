package state

import (
	"path/filepath"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/sqldb"
)

// A witness on a second disk of the machine, or in its own PostgreSQL, comes back with an image of it.
func TestAWitnessOnTheSameMachineIsNoticed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := must.Get(Open(t.Context(), OpenOptions{
		Driver: SQLite, DSN: filepath.Join(folder, "state.db"), Begin: true,
	}))(t)
	defer func() { must.Do(t, s.Close()) }()
	const ext, nfs = 0xEF53, 0x6969
	for _, c := range []struct {
		witness string
		magic   int64
		here    bool
	}{
		{"", ext, false},
		{folder, ext, true},
		{folder, nfs, false},
		{folder + "/a=b", ext, true},
		{folder + "/a=b", nfs, false},
		{"postgres://u:p@127.0.0.1/w", ext, true},
		{"postgres://u:p@[::1]/w", ext, true},
		{"host=localhost dbname=w", ext, true},
		{"host=/run/postgresql dbname=w", ext, true},
		{"host=10.1.2.3 dbname=w", ext, false},
		{"postgres://u:p@copies.coop.example/w", ext, false},
	} {
		s.options.Witness = c.witness
		s.db.Tune.FsMagic = func(string) (int64, bool) { return c.magic, true }
		if here := s.WitnessHere(); here != c.here {
			t.Errorf("%q on file system %#x: here = %v", c.witness, c.magic, here)
		}
	}
	s.db.D.Name, s.options.DSN, s.options.Witness = sqldb.Postgres, "host=db.coop.example dbname=l", folder
	s.db.Tune.FsMagic = func(string) (int64, bool) { return ext, true }
	if s.WitnessHere() {
		t.Error("a folder here is taken for the machine of a ledger elsewhere")
	}
}

// Two databases of one server come back together.
func TestAWitnessOnTheServerOfTheLedgerIsNoticed(t *testing.T) {
	t.Parallel()
	ledger := pgtest.Database(t)
	s := must.Get(Open(t.Context(), OpenOptions{
		Driver: Postgres, DSN: ledger, Journal: t.TempDir(), Witness: pgtest.Database(t), Begin: true,
	}))(t)
	defer func() { must.Do(t, s.Close()) }()
	if report := must.Get(s.WitnessReport(t.Context()))(t); report.Fault != nil || !report.Together {
		t.Errorf("a witness on the server of the ledger: %+v", report)
	}
	s.options.DSN = "postgres://u:p@db.coop.example/l"
	if report := must.Get(s.WitnessReport(t.Context()))(t); report.Fault != nil || report.Together {
		t.Errorf("a witness on another server: %+v", report)
	}
}
