package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
)

// sqliteFile connects to a SQLite database by the driver's name for it.
type sqliteFile string

// Connect opens one connection.
func (f sqliteFile) Connect(context.Context) (driver.Conn, error) { return f.Driver().Open(string(f)) }

// Driver is the driver without functions of our own.
func (f sqliteFile) Driver() driver.Driver { return &sqlite.Driver{} }

// ConnectSQLite returns a pool of at most so many connections to a file.
func ConnectSQLite(tune Tuning, dsn string, conns int) *sqlx.DB {
	db := openDB(sqliteFile(dsn), tune)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxLifetime(0)
	// sqlx knows the placeholders of "sqlite3", not those of our driver's name.
	return mapped(db, "sqlite3")
}

func mapped(db *sql.DB, placeholders string) *sqlx.DB {
	out := sqlx.NewDb(db, placeholders)
	out.Mapper = byColumn
	return out
}

func openDB(c driver.Connector, tune Tuning) *sql.DB {
	if tune.Through != nil {
		c = tune.Through(c)
	}
	return sql.OpenDB(c)
}
