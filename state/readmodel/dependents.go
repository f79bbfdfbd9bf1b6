package readmodel

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Dependents gives rows that wait for a row, by number, at most limit of them.
func (s *Reader) Dependents(ctx context.Context, job, key string, limit int) ([]trade.Entry, error) {
	const op = "reading what waits for a row"
	name, err := json.Marshal(key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	var ids []int64
	// The list of what a row waits for has its keys as JSON texts. Only rows that wait are looked
	// at.
	query := `SELECT e.id FROM entry e WHERE e.state = 'waiting' AND ` + s.db.D.Within +
		`(e.waiting_for, ?) > 0 ORDER BY e.id LIMIT ?`
	if err := s.db.Read.SelectContext(ctx, &ids, s.db.Q(query), `"key":`+string(name),
		limit+dependentsMore); err != nil {
		return nil, s.db.Fault(ctx, op, err)
	}
	entries, err := s.discovery.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []trade.Entry
	for _, e := range entries {
		for _, a := range e.WaitingFor {
			if a.Job == job && a.Key == key && len(out) < limit {
				out = append(out, e)
				break
			}
		}
	}
	return out, s.discovery.TellParents(ctx, out)
}

// dependentsMore is how many rows more are looked at, because another job may have a row with the
// same key.
const dependentsMore = 100

// AuditOf gives the acts on a target, newest first, at most limit of them.
func (s *Reader) AuditOf(ctx context.Context, target string, limit int) ([]trade.AuditRecord, error) {
	var rows []audit.Row
	if err := s.db.Read.SelectContext(ctx, &rows,
		s.db.Q(audit.SelectAudit+`WHERE target = ? ORDER BY seq DESC LIMIT ?`), target,
		audit.OrAll(limit)); err != nil {
		return nil, s.db.Fault(ctx, "reading the acts on a row", err)
	}
	out := make([]trade.AuditRecord, len(rows))
	for i, r := range rows {
		out[i] = r.Record()
	}
	return out, nil
}

// EntryNo gives one entry by its number, or ErrNotFound.
func (s *Reader) EntryNo(ctx context.Context, id int64) (trade.Entry, error) {
	found, err := s.discovery.Entries(ctx, []int64{id})
	if err != nil {
		return trade.Entry{}, err
	}
	if len(found) == 0 {
		return trade.Entry{}, fmt.Errorf("row number %d: %w", id, sqldb.ErrNotFound)
	}
	return found[0], s.discovery.TellParents(ctx, found)
}
