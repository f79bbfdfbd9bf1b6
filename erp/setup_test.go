package erp_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/internal/throwaway"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Run(throwaway.M{M: m}, func() error { return goleak.Find() }))
}

// postgres makes a database with these statements, and a reader on it.
func postgres(t testing.TB, statements ...string) (*erp.Source, *sql.DB) {
	t.Helper()
	dsn := pgtest.Database(t)
	db := erptest.Admin(t, "postgres", dsn, statements...)
	return erptest.Open(t, erp.Options{Driver: erp.DriverPostgres, DSN: erp.Secret(dsn)}), db
}

func sqliteFile(t testing.TB, statements ...string) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "erp %23?.db") // a name that must be escaped
	return path, erptest.Admin(t, "sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", " ",
		"%20").Replace(path),
		statements...)
}

func sqlite(t testing.TB, statements ...string) (*erp.Source, *sql.DB) {
	t.Helper()
	path, db := sqliteFile(t, statements...)
	return erptest.Open(t, erp.Options{Driver: erp.DriverSQLite, DSN: erp.Secret(path)}), db
}

func testdata(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "erp", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
