package witness

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"

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
	selectLines = `SELECT ledger, host, folder, journal, seq, mark, at FROM safrasync_witness WHERE `
)

// Lines reads the rows of a ledger.
func (p table) Lines(ctx context.Context, ledger string) (out []Line, err error) {
	var there bool
	if err := p.db.GetContext(ctx, &there, `SELECT to_regclass('safrasync_witness') IS NOT NULL`); err != nil || !there {
		return nil, err
	}
	return out, p.db.SelectContext(ctx, &out, selectLines+`ledger = $1 ORDER BY key`, ledger)
}

// Swap replaces the row, in one transaction.
func (p table) Swap(ctx context.Context, was, line Line) (err error) {
	var there bool
	if err := p.db.GetContext(ctx, &there, `SELECT to_regclass('safrasync_witness') IS NOT NULL`); err != nil {
		return err
	}
	t, err := p.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = t.Rollback() // nothing was written
		}
	}()
	if !there {
		if _, err := t.ExecContext(ctx, createTable); err != nil {
			return err
		}
	}
	var n int64
	var result sql.Result
	if was == (Line{}) {
		result, err = t.ExecContext(ctx, `INSERT INTO safrasync_witness (key, ledger, host, folder, journal, seq, mark, at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
			line.Key(), line.Ledger, line.Host, line.Folder, line.Journal, line.Seq, line.Mark, line.At)
	} else {
		result, err = t.ExecContext(ctx, `UPDATE safrasync_witness SET journal = $2, seq = $3, mark = $4, at = $5
			WHERE key = $1 AND journal = $6 AND seq = $7 AND mark = $8`,
			line.Key(), line.Journal, line.Seq, line.Mark, line.At, was.Journal, was.Seq, was.Mark)
	}
	if err == nil {
		n, err = result.RowsAffected()
	}
	if err != nil {
		return err
	}
	if n == 0 {
		var found Line
		err := t.GetContext(ctx, &found, selectLines+`key = $1`, line.Key())
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		return &TakenError{found}
	}
	return t.Commit()
}

// Remove removes the row of a line.
func (p table) Remove(ctx context.Context, line Line) error {
	t, err := p.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := t.ExecContext(ctx, `DELETE FROM safrasync_witness WHERE key = $1 AND journal = $2 AND seq = $3 AND mark = $4`,
		line.Key(), line.Journal, line.Seq, line.Mark); err != nil {
		return errors.Join(err, t.Rollback())
	}
	return t.Commit()
}

// Try writes a row, and takes it back.
func (p table) Try(ctx context.Context) (err error) {
	t, err := p.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = t.Rollback() }() // nothing is to be kept
	if _, err := t.ExecContext(ctx, createTable); err != nil {
		return err
	}
	_, err = t.ExecContext(ctx, `INSERT INTO safrasync_witness (key, ledger, host, folder, journal, seq, mark, at)
		VALUES ('', '', '', '', '', 0, '', now())`)
	return err
}

// Close closes the connections.
func (p table) Close() error { return p.db.Close() }
