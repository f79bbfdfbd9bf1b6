package readmodel

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Outcomes returns the attempts of entries by entry, in order: times, outcome, status and id. It
// does not read what was sent and answered.
func (s *Reader) Outcomes(ctx context.Context, entryIDs []int64) (map[int64][]trade.Attempt, error) {
	out := map[int64][]trade.Attempt{}
	var rows []ledger.AttemptRow
	query := `SELECT id, entry_id, generation, no, started_at, finished_at, outcome, status, remote_id FROM attempt WHERE ` +
		s.db.D.Among("entry_id") + ` ORDER BY entry_id, no`
	err := s.db.All(ctx, "reading when rows were sent", &rows, query, sqldb.ListOf(s.db.D, entryIDs))
	for _, r := range rows {
		out[r.EntryID] = append(out[r.EntryID], trade.Attempt{
			ID: r.ID, EntryID: r.EntryID, Generation: r.Generation, No: r.No,
			StartedAt: time.UnixMilli(r.StartedAt).UTC(), FinishedAt: sqldb.Instant(r.FinishedAt),
			Outcome: trade.Outcome(r.Outcome.String), Status: r.Status, RemoteID: r.RemoteID,
		})
	}
	return out, err
}

// ActsBetween calls fn for the audit records of some acts from one time on and before another, in
// order. A zero time is no limit.
func (s *Reader) ActsBetween(ctx context.Context, acts []string, from, before time.Time,
	fn func(trade.AuditRecord) error,
) error {
	where, args := []string{`act IN (` + sqldb.Placeholders(len(acts)) + `)`}, sqldb.Anys(acts)
	if !from.IsZero() {
		where, args = append(where, `at >= ?`), append(args, from.UnixMilli())
	}
	if !before.IsZero() {
		where, args = append(where, `at < ?`), append(args, before.UnixMilli())
	}
	query := audit.SelectAudit + `WHERE ` + strings.Join(where, " AND ") + ` AND seq > ? ORDER BY seq LIMIT ?`
	for after := int64(0); ; {
		var page []audit.Row
		if err := s.db.All(ctx, "reading the audit", &page, query,
			append(slices.Clone(args), after, audit.AuditPage)...); err != nil {
			return err
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
