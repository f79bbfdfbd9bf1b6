package state

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/state/witness"
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
		if here := s.witnessHere(); here != c.here {
			t.Errorf("%q on file system %#x: here = %v", c.witness, c.magic, here)
		}
	}
	s.db.D.Name, s.options.DSN, s.options.Witness = sqldb.Postgres, "host=db.coop.example dbname=l", folder
	s.db.Tune.FsMagic = func(string) (int64, bool) { return ext, true }
	if s.witnessHere() {
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

// A witness on a server that is away hangs in each call of the system. A check asks nothing of it without
// a limit of time.
func TestACheckOfAWitnessThatHangsEnds(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := must.Get(Open(t.Context(), OpenOptions{
		Driver: SQLite, DSN: filepath.Join(folder, "state.db"), Begin: true,
	}))(t)
	defer func() { must.Do(t, s.Close()) }()
	s.options.Witness = t.TempDir()
	away := filepath.Join(s.options.Witness, "witness-"+s.db.ID+".txt") // whoever reads it waits
	must.Do(t, syscall.Mkfifo(away, 0o600))
	s.db.Tune.FsMagic = func(string) (int64, bool) {
		t.Error("the file system of a witness that hangs was looked at")
		return 0, false
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	type opened struct {
		pipe io.Closer
		err  error
	}
	reads := make(chan opened, 1)
	go func() {
		pipe, err := os.OpenFile(away, os.O_WRONLY, 0) // waits for the reader
		reads <- opened{pipe, err}
		cancel() // time is up
	}()
	report, err := s.WitnessReport(ctx)
	if err != nil || !errors.Is(report.Fault, witness.ErrSilent) || report.Together {
		t.Errorf("a check of a witness that hangs: %+v, %v", report, err)
	}
	o := <-reads
	must.Do(t, o.err)
	must.Do(t, o.pipe.Close())
}

// Nor is it asked without a limit whether it is on this machine.
func TestACheckOfAFileSystemThatHangsEnds(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := must.Get(Open(t.Context(), OpenOptions{
		Driver: SQLite, DSN: filepath.Join(folder, "state.db"), Begin: true,
	}))(t)
	defer func() { must.Do(t, s.Close()) }()
	s.options.Witness = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	back := make(chan struct{})
	s.db.Tune.FsMagic = func(string) (int64, bool) {
		cancel() // time is up
		<-back
		return 0, false
	}
	report, err := s.WitnessReport(ctx)
	close(back)
	if err != nil || !errors.Is(report.Fault, witness.ErrSilent) {
		t.Errorf("a check of a file system that hangs: %+v, %v", report, err)
	}
}
