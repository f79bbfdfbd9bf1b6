package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
)

// sqliteFile is a data source name of SQLite; it connects to the file.
type sqliteFile string

// Connect opens one connection.
func (f sqliteFile) Connect(context.Context) (driver.Conn, error) { return f.Driver().Open(string(f)) }

// Driver returns the driver without additional functions.
func (f sqliteFile) Driver() driver.Driver { return &sqlite.Driver{} }

// ConnectSQLite returns a pool of at most conns connections to a file.
func ConnectSQLite(tune Tuning, dsn string, conns int) *sqlx.DB {
	db := openDB(sqliteFile(dsn), tune)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxLifetime(0)
	// sqlx knows the placeholders of "sqlite3", but not those of our driver's name.
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
