package readmodel

import (
	"context"
	"time"

	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
)

// NotCounted is the value of a count that took too long.
const NotCounted = -1

// Extent returns the number of records of each kind, and for SQLite the pages of the file: only
// counts, no contents. Each count may take the given time (0 = no limit); otherwise it is
// NotCounted.
func (s *Reader) Extent(ctx context.Context, each time.Duration) (map[string]int64, error) {
	queries := map[string]string{
		"ledger.schema":    `SELECT MAX(version_id) FROM ` + sqldb.SchemaTable,
		"attempts.open":    `SELECT COUNT(*) FROM attempt WHERE outcome IS NULL`,
		"attempts.unknown": `SELECT COUNT(*) FROM attempt WHERE outcome = 'unknown'`,
		"entries.reduced":  `SELECT COUNT(*) FROM entry WHERE reduced_at IS NOT NULL`,
		"audit.reduced":    `SELECT COUNT(*) FROM audit WHERE reduced = 1`,
		"runs.open":        `SELECT COUNT(*) FROM run WHERE ended_at IS NULL`,
		"entries.again":    `SELECT COUNT(*) FROM entry WHERE generation > 1`,
	}
	for _, table := range []string{
		"entry", "attempt", "audit", "run", "reference", "lookup", "block", "quarantine",
		"journal", "tx_mark", "job_lease",
	} {
		queries["rows."+table] = `SELECT COUNT(*) FROM ` + table
	}
	if s.db.D.Name == sqldb.SQLite {
		queries["sqlite.pages"], queries["sqlite.free_pages"], queries["sqlite.page_size"] = `PRAGMA page_count`,
			`PRAGMA freelist_count`, `PRAGMA page_size`
	} else {
		queries["postgres.kib"] = `SELECT pg_database_size(current_database()) / 1024`
	}
	out := map[string]int64{}
	for name, query := range queries {
		var n int64
		over, err := sqldb.Within(ctx, each,
			func(ctx context.Context) error { return s.db.Get(ctx, "counting what the ledger has", &n, query) })
		switch {
		case err != nil:
			return nil, err
		case over:
			n = NotCounted
		}
		out[name] = n
	}
	return out, nil
}

// StuckCauses counts the rows of a job that wait for something or need a person, by cause.
func (s *Reader) StuckCauses(ctx context.Context, job string) (map[string]int, error) {
	return s.db.Counts(ctx, "counting the causes", `SELECT cause AS name, COUNT(*) AS n FROM entry e `+s.db.D.ByStuck+
		`WHERE job = ? AND `+ledger.OfStuck+` GROUP BY cause`, job)
}
