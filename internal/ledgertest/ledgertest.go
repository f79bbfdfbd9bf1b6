package ledgertest

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
)

// New returns the data source name of a ledger that nobody has opened yet: a copy in the file for
// SQLite, or in the test's own database for PostgreSQL.
func New(t testing.TB, driver, file string) string {
	t.Helper()
	if driver == state.Postgres {
		return pgtest.Copy(t, "ledger", func(dsn string) error { return makeTables(driver, dsn) })
	}
	tables, err := sqliteTables()
	if err != nil {
		t.Fatalf("ledgertest: making the ledger that is copied: %v", err)
	}
	if err := os.WriteFile(file, tables, 0o600); err != nil {
		t.Fatalf("ledgertest: %v", err)
	}
	return file
}

var sqliteTables = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "safrasync-ledgertest-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "state.db")
	if err := makeTables(state.SQLite, path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// makeTables creates a ledger and removes its identity, so that it looks like one whose first
// opening got as far as the tables.
func makeTables(driver, dsn string) error {
	store, err := state.Open(context.Background(), state.OpenOptions{Driver: driver, DSN: dsn, Begin: true})
	if err != nil {
		return err
	}
	if err := store.Close(); err != nil {
		return err
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return err
	}
	_, err = db.Exec("DELETE FROM ledger; DELETE FROM tx_mark")
	return errors.Join(err, db.Close())
}
