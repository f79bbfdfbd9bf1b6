package state

import "context"

// Extent gives the number of records of each kind, and for SQLite the pages of the file: counts only, nothing of what they hold.
func (s *Store) Extent(ctx context.Context) (map[string]int64, error) {
	queries := map[string]string{
		"ledger.schema": `SELECT MAX(version_id) FROM ` + schemaTable, "attempts.open": `SELECT COUNT(*) FROM attempt WHERE outcome IS NULL`,
		"attempts.unknown": `SELECT COUNT(*) FROM attempt WHERE outcome = 'unknown'`, "entries.reduced": `SELECT COUNT(*) FROM entry WHERE reduced_at IS NOT NULL`,
		"audit.reduced": `SELECT COUNT(*) FROM audit WHERE reduced = 1`, "runs.open": `SELECT COUNT(*) FROM run WHERE ended_at IS NULL`,
		"entries.again": `SELECT COUNT(*) FROM entry WHERE generation > 1`,
	}
	for _, table := range []string{"entry", "attempt", "audit", "run", "reference", "lookup", "block", "quarantine", "journal", "tx_mark", "job_lease"} {
		queries["rows."+table] = `SELECT COUNT(*) FROM ` + table
	}
	if s.d.name == SQLite {
		queries["sqlite.pages"], queries["sqlite.free_pages"], queries["sqlite.page_size"] = `PRAGMA page_count`, `PRAGMA freelist_count`, `PRAGMA page_size`
	} else {
		queries["postgres.kib"] = `SELECT pg_database_size(current_database()) / 1024`
	}
	out := map[string]int64{}
	for name, query := range queries {
		var n int64
		if err := s.read.GetContext(ctx, &n, query); err != nil {
			return nil, s.fault(ctx, "counting what the ledger has", err)
		}
		out[name] = n
	}
	return out, nil
}
