package postgres_test

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/internal/throwaway"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Run(throwaway.M{M: m}, func() error { return goleak.Find() }))
}

func TestF005_F006_PostgresPassesTheBattery(t *testing.T) {
	erptest.Battery(t, erptest.Engine{
		Name: "postgres", Start: postgres, Timestamp: "timestamp", Float: "float8", Folded: strings.Clone,
		Numbers: erptest.Recursive, Words: "SELECT word FROM pg_get_keywords()",
		Running: `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`,
	})
}

// postgres creates a database with these statements, and opens it for reading.
func postgres(t testing.TB, statements ...string) (*erp.Source, *sql.DB) {
	t.Helper()
	dsn := pgtest.Database(t)
	db := erptest.Admin(t, "postgres", dsn, statements...)
	return erptest.Open(t, erp.SourceOptions{Driver: "postgres", DSN: erp.Secret(dsn)}), db
}
