package mysql_test

import (
	"database/sql"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/mariatest"
	"github.com/safrasync/safrasync/internal/throwaway"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(throwaway.M{M: m})
}

func TestF005_F006_MySQLPassesTheBattery(t *testing.T) {
	erptest.Battery(t, erptest.Engine{
		Name: "mysql", Start: mysql, Timestamp: "DATETIME(6)", Float: "DOUBLE", Folded: strings.Clone,
		Numbers: erptest.Recursive,
		Running: `SELECT COUNT(*) FROM information_schema.PROCESSLIST
			WHERE DB = DATABASE() AND COMMAND IN ('Query', 'Execute') AND ID <> CONNECTION_ID()`,
		Words: "SELECT WORD FROM information_schema.KEYWORDS WHERE WORD RLIKE '^[a-z][a-z0-9_]*$'",
	})
}

func mysqlURL(s *mariatest.Server, database, user, password string) string {
	u := url.URL{Scheme: "mysql", User: url.UserPassword(user, password), Host: s.Address(), Path: "/" + database}
	return u.String()
}

// mysql creates a database with these statements, and opens it as a user who may only read.
func mysql(t testing.TB, statements ...string) (*erp.Source, *sql.DB) {
	t.Helper()
	dsn, db := mysqlDatabase(t, statements...)
	return erptest.Open(t, erp.SourceOptions{Driver: "mysql", DSN: erp.Secret(dsn)}), db
}

func mysqlDatabase(t testing.TB, statements ...string) (dsn string, db *sql.DB) {
	t.Helper()
	server, name := mariatest.Database(t)
	db = erptest.Admin(t, "mysql", server.AdminDSN(name), statements...)
	reader := "le_" + name
	erptest.Exec(t, db, "CREATE USER "+reader+"@'127.0.0.1' IDENTIFIED BY 'só leitura'",
		"GRANT SELECT, EXECUTE, SHOW VIEW ON "+name+".* TO "+reader+"@'127.0.0.1'")
	t.Cleanup(func() {
		if _, err := db.Exec("DROP USER " + reader + "@'127.0.0.1'"); err != nil { // the test's context has ended
			t.Error(err)
		}
	})
	return mysqlURL(server, name, reader, "só leitura"), db
}
