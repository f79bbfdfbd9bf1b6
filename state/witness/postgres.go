package witness

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/safrasync/safrasync/state/sqldb"
)

// table keeps each line in a row of a table.
type table struct{ db *sqlx.DB }

// OpenPostgres returns the lines in a database of PostgreSQL. It connects when it is first used, and
// creates the table safrasync_witness if there is none.
func OpenPostgres(dsn, version string) (Place, error) {
	db, err := sqldb.ConnectPostgres(dsn, version)
	return table{db}, err
}

const (
	createTable = `CREATE TABLE IF NOT EXISTS safrasync_witness (key text PRIMARY KEY, ledger text NOT NULL, host text NOT NULL,
	folder text NOT NULL, journal text NOT NULL, seq bigint NOT NULL, mark text NOT NULL, at timestamptz NOT NULL)`
	insertLine = `INSERT INTO safrasync_witness (key, ledger, host, folder, journal, seq, mark, at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	selectLines = `SELECT key, ledger, host, folder, journal, seq, mark, at FROM safrasync_witness WHERE `
)

// absent reports whether an error means that there is no table yet.
func absent(err error) bool {
	var server *pq.Error
	return errors.As(err, &server) && server.Code == "42P01" // undefined_table
}

// Lines reads the rows of a ledger.
func (p table) Lines(ctx context.Context, ledger string) (out []Line, err error) {
	err = p.db.SelectContext(ctx, &out, selectLines+`ledger = $1 ORDER BY key`, ledger)
	if absent(err) {
		return nil, nil
	}
	return out, err
}

// Swap replaces the row, in one statement.
func (p table) Swap(ctx context.Context, was, line Line) error {
	n, err := p.put(ctx, was, line)
	if absent(err) {
		_, err = p.exec(ctx, createTable)
		if err == nil {
			n, err = p.put(ctx, was, line)
		}
	}
	if err != nil || n > 0 {
		return err
	}
	var found Line
	err = p.db.GetContext(ctx, &found, selectLines+`key = $1`, line.Key)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return &ConflictError{found}
}

// put returns how many rows it has written: none, if something else stands there.
func (p table) put(ctx context.Context, was, line Line) (n int64, err error) {
	if was == (Line{}) {
		n, err = p.exec(ctx, insertLine+` ON CONFLICT DO NOTHING`,
			line.Key, line.Ledger, line.Host, line.Folder, line.Journal, line.Seq, line.Mark, line.At)
	} else {
		n, err = p.exec(ctx, `UPDATE safrasync_witness SET journal = $2, seq = $3, mark = $4, at = $5, host = $9, folder = $10
			WHERE key = $1 AND journal = $6 AND seq = $7 AND mark = $8`,
			line.Key, line.Journal, line.Seq, line.Mark, line.At,
			was.Journal, was.Seq, was.Mark, line.Host, line.Folder)
	}
	return n, err
}

// exec runs one statement, which needs no transaction: the driver may repeat it if its answer was lost,
// and then it finds what it has written itself.
func (p table) exec(ctx context.Context, statement string, args ...any) (n int64, err error) {
	result, err := p.db.ExecContext(ctx, statement, args...) //nolint:forbidigo // it may be repeated
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Remove removes the row of a line.
func (p table) Remove(ctx context.Context, line Line) error {
	_, err := p.exec(ctx, `DELETE FROM safrasync_witness WHERE key = $1 AND journal = $2 AND seq = $3 AND mark = $4`,
		line.Key, line.Journal, line.Seq, line.Mark)
	return err
}

// Try writes a row, and takes it back. Where there is no table yet, it does so with that.
func (p table) Try(ctx context.Context) error {
	err := p.tryAfter(ctx)
	if absent(err) {
		err = p.tryAfter(ctx, createTable)
	}
	return err
}

func (p table) tryAfter(ctx context.Context, first ...string) error {
	t, err := p.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = t.Rollback() }() // nothing is to be kept
	for _, statement := range first {
		if _, err := t.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	_, err = t.ExecContext(ctx, insertLine, "", "", "", "", "", 0, "", time.Now())
	return err
}

// Close closes the connections.
func (p table) Close() error { return p.db.Close() }
