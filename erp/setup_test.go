package erp_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/internal/throwaway"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Run(throwaway.M{M: m}, func() error { return goleak.Find() }))
}

// postgres creates a database with these statements, and opens it for reading.
func postgres(t testing.TB, statements ...string) (*erp.Source, *sql.DB) {
	t.Helper()
	dsn := pgtest.Database(t)
	db := erptest.Admin(t, "postgres", dsn, statements...)
	return erptest.Open(t, erp.SourceOptions{Driver: "postgres", DSN: erp.Secret(dsn)}), db
}

func testdata(t testing.TB, name string) string {
	t.Helper()
	b := must.Get(os.ReadFile(filepath.Join("..", "testdata", "erp", name)))(t)
	return string(b)
}
