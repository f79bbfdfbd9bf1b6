package state

import (
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/sqldb"
)

// A plan of PostgreSQL for tables that are empty reads all of them when they are large.
func TestThePlansOfPostgresAreMadeAnewWhileTheLedgerGrows(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: pgtest.Database(t)})
	made := map[string]bool{}
	for range 70 {
		must.Do(t, s.db.InHotTx(t.Context(), "look", func(tx *sqldb.Tx) error {
			var at []string
			err := tx.All(&at, `SELECT CAST(prepare_time AS TEXT) FROM pg_prepared_statements WHERE statement LIKE '%prepare_time%'`)
			for _, moment := range at {
				made[moment] = true
			}
			return err
		}))
	}
	if len(made) < 3 || len(made) > 10 { // first, and after 16, 32 and 64 transactions, on one connection or two
		t.Errorf("in 70 transactions a statement was prepared %d times", len(made))
	}
}
