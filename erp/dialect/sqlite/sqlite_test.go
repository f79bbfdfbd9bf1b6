package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestF005_F006_SQLitePassesTheBattery(t *testing.T) {
	erptest.Battery(t, erptest.Engine{
		Name: "sqlite", Start: sqlite, Timestamp: "TIMESTAMP", Float: "REAL", Folded: strings.Clone,
		Numbers: erptest.Recursive,
	})
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
