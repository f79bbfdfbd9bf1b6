package readmodel

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Outcomes gives the attempts of entries by entry, in their order: when, with what outcome, status
// and id. What was sent and answered is not read.
func (s *Reader) Outcomes(ctx context.Context, entryIDs []int64) (map[int64][]trade.Attempt, error) {
	out := map[int64][]trade.Attempt{}
	for chunk := range slices.Chunk(entryIDs, sqldb.InList) {
		var rows []struct {
			ID         string         `db:"id"`
			EntryID    int64          `db:"entry_id"`
			Generation int            `db:"generation"`
			No         int            `db:"no"`
			StartedAt  int64          `db:"started_at"`
			FinishedAt sql.NullInt64  `db:"finished_at"`
			Outcome    sql.NullString `db:"outcome"`
			Status     int            `db:"status"`
			RemoteID   string         `db:"remote_id"`
		}
		query := `SELECT id, entry_id, generation, no, started_at, finished_at, outcome, status, remote_id FROM attempt WHERE entry_id IN (` + sqldb.Marks(len(chunk)) + `) ORDER BY entry_id, no`
		if err := s.db.Read.SelectContext(ctx, &rows, s.db.Q(query), sqldb.Anys(chunk)...); err != nil {
			return nil, s.db.Fault(ctx, "reading when rows were sent", err)
		}
		for _, r := range rows {
			out[r.EntryID] = append(out[r.EntryID], trade.Attempt{
				ID: r.ID, EntryID: r.EntryID, Generation: r.Generation, No: r.No,
				StartedAt: time.UnixMilli(r.StartedAt).UTC(), FinishedAt: sqldb.Instant(r.FinishedAt),
				Outcome: trade.Outcome(r.Outcome.String), Status: r.Status, RemoteID: r.RemoteID,
			})
		}
	}
	return out, nil
}

// ActsBetween calls fn for the records of some acts from a time on and before another, in their
// order; a zero time is no limit.
func (s *Reader) ActsBetween(ctx context.Context, acts []string, from, before time.Time,
	fn func(trade.AuditRecord) error,
) error {
	where, args := []string{`act IN (` + sqldb.Marks(len(acts)) + `)`}, sqldb.Anys(acts)
	if !from.IsZero() {
		where, args = append(where, `at >= ?`), append(args, from.UnixMilli())
	}
	if !before.IsZero() {
		where, args = append(where, `at < ?`), append(args, before.UnixMilli())
	}
	query := audit.SelectAudit + `WHERE ` + strings.Join(where, " AND ") + ` AND seq > ? ORDER BY seq LIMIT ?`
	for after := int64(0); ; {
		var page []audit.Row
		if err := s.db.Read.SelectContext(ctx, &page, s.db.Q(query),
			append(slices.Clone(args), after, audit.AuditPage)...); err != nil {
			return s.db.Fault(ctx, "reading the audit", err)
		}
		for _, r := range page {
			if err := fn(r.Record()); err != nil {
				return err
			}
			after = r.Seq
		}
		if len(page) < audit.AuditPage {
			return nil
		}
	}
}
