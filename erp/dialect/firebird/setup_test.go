package firebird_test

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/fbtest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/throwaway"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(throwaway.M{M: m})
}

func TestF005_F006_FirebirdPassesTheBattery(t *testing.T) {
	erptest.Battery(t, erptest.Engine{
		Name: "firebird", Start: firebird, Timestamp: "TIMESTAMP", Float: "DOUBLE PRECISION",
		Folded:  strings.ToUpper,
		Running: `SELECT count(*) FROM MON$STATEMENTS WHERE MON$STATE = 1 AND MON$ATTACHMENT_ID <> CURRENT_CONNECTION`,
		Numbers: func(n int) string {
			return strings.Replace(erptest.Recursive(n), "SELECT 1 UNION", "SELECT 1 FROM RDB$DATABASE UNION", 1)
		},
	})
}

// firebird creates a UTF8 database with these statements, and opens it as a user who may only read.
func firebird(t testing.TB, statements ...string) (*erp.Source, *sql.DB) {
	t.Helper()
	server, path := fbtest.Database(t, "UTF8")
	db := erptest.Admin(t, "firebirdsql", server.AdminDSN(path, "UTF8"), statements...)
	return erptest.Open(t, erp.SourceOptions{Driver: "firebird", DSN: erp.Secret(firebirdReader(t, server, path,
		db))}), db
}

// firebirdReader creates a user who may read every table, and returns the user's data source name.
func firebirdReader(t testing.TB, server *fbtest.Server, path string, db *sql.DB) (dsn string) {
	t.Helper()
	reader := "LE_" + strings.ToUpper(strings.TrimSuffix(filepath.Base(path), ".fdb"))
	erptest.Exec(t, db, "CREATE USER "+reader+" PASSWORD 'leitura'")
	var tables []string
	must.Do(t, sqlx.NewDb(db, "firebirdsql").Select(&tables,
		"SELECT TRIM(RDB$RELATION_NAME) FROM RDB$RELATIONS WHERE RDB$SYSTEM_FLAG = 0"))
	for _, table := range tables {
		erptest.Exec(t, db, `GRANT SELECT ON "`+table+`" TO USER `+reader)
	}
	u := url.URL{Scheme: "firebird", User: url.UserPassword(reader, "leitura"), Host: server.Address(), Path: path}
	return u.String()
}
