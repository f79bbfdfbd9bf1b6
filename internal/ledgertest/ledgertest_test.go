package ledgertest

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// A copy has what a ledger has that was made by opening it, and an id of its own.
func TestACopyIsAsGoodAsNew(t *testing.T) {
	t.Parallel()
	for _, driver := range []string{state.SQLite, state.Postgres} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			empty := filepath.Join(t.TempDir(), "made.db")
			if driver == state.Postgres {
				empty = pgtest.Database(t)
			}
			made, want := look(t, driver, empty)
			ids := map[string]bool{made: true}
			for range 2 {
				id, got := look(t, driver, New(t, driver, filepath.Join(t.TempDir(), "copy.db")))
				if ids[id] {
					t.Errorf("two ledgers have the id %s", id)
				}
				ids[id] = true
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("the rows of the tables (-made +copied):\n%s", diff)
				}
			}
		})
	}
}

// look opens a ledger, and gives its id and how many rows each table has.
func look(t *testing.T, driver, dsn string) (id string, rows map[string]int) {
	t.Helper()
	store, err := state.Open(t.Context(), state.OpenOptions{Driver: driver, DSN: dsn, Begin: true})
	if err != nil {
		t.Fatal(err)
	}
	id = store.LedgerID()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows = map[string]int{}
	for _, table := range tables(t, db, driver) {
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM " + table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		rows[table] = n
	}
	if len(rows) < 20 {
		t.Fatalf("only %d tables: does the test still look at a ledger?", len(rows))
	}
	return id, rows
}

func tables(t *testing.T, db *sql.DB, driver string) (names []string) {
	t.Helper()
	query := "SELECT name FROM sqlite_master WHERE type = 'table'"
	if driver == state.Postgres {
		query = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
	}
	list, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = list.Close() }()
	for list.Next() {
		var name string
		if err := list.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}
