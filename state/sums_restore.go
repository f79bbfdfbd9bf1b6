// Recounts the stored sums, on the order of a person.

package state

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// RestoreSums counts all entries and replaces all stored sums by the result. It returns the jobs
// whose sums differed or could not be read. If there are any, it adds the act to the audit. Nothing
// else is written to the ledger meanwhile.
func (s *Store) RestoreSums(ctx context.Context, record trade.AuditRecord) (changed []string, err error) {
	err = s.db.InLongTx(ctx, "counting the sums anew", func(t *sqldb.Tx) error {
		if s.db.D.Name == sqldb.Postgres { // in the order of all writers: entries, audit, sums
			var head sqldb.AuditHead
			if err := t.Do(`LOCK TABLE entry IN SHARE MODE`); err != nil {
				return err
			}
			if err := t.Get(&head, t.S.D.Locked(selectAuditHead, "audit_head")); err != nil {
				return err
			}
			if err := t.Do(`LOCK TABLE tally IN EXCLUSIVE MODE`); err != nil {
				return err
			}
		}
		now, err := countedSums(t)
		if err != nil {
			return err
		}
		changed, err = jobsUnlike(t, now)
		if err != nil || len(changed) == 0 {
			return err
		}
		detail, err := json.Marshal(map[string]any{"jobs": changed})
		if err != nil {
			return err
		}
		record.Detail = string(detail)
		if err := addAudit(t, record); err != nil {
			return err
		}
		if err := t.Do(`DELETE FROM tally`); err != nil {
			return err
		}
		fresh := make([][]any, 0, len(now))
		for k, sum := range now {
			fresh = append(fresh, []any{k.Job, k.State, k.Unit, s.db.Part.Load(), sum.N, sum.Volume.String()})
		}
		return t.InsertRows("tally", tallyColumns, fresh, "")
	})
	return changed, err
}

// countedSums counts the sums of all entries.
func countedSums(t *sqldb.Tx) (tallyChange, error) {
	const page = 10 * sqldb.BulkRows
	now := tallyChange{}
	for last := int64(-1); ; {
		var rows []struct {
			ID                       int64
			Job, State, Unit, Amount string
		}
		if err := t.All(&rows, `SELECT id, job, state, unit, amount FROM entry WHERE id > ? ORDER BY id LIMIT ?`,
			last, page); err != nil {
			return nil, err
		}
		for _, r := range rows {
			q, err := quantityOf(r.Amount, r.Unit)
			if err != nil {
				return nil, phrase.Errorf("entry %d is damaged: its amount %w", r.ID, err)
			}
			now.Add(r.Job, r.State, r.Unit, q.Amount)
			last = r.ID
		}
		if len(rows) < page {
			return now, nil
		}
	}
}

// jobsUnlike returns the jobs whose stored sums differ from these, or cannot be read.
func jobsUnlike(t *sqldb.Tx, now tallyChange) ([]string, error) {
	var kept []tallyRow
	if err := t.All(&kept, `SELECT job, state, unit, n, volume FROM tally`); err != nil {
		return nil, err
	}
	was, unlike := tallyChange{}, map[string]bool{}
	for _, r := range kept {
		sum, err := r.sum()
		if err != nil {
			unlike[r.Job] = true
			continue
		}
		was[r.key()] = was[r.key()].plus(sum)
	}
	for _, sums := range []tallyChange{was, now} {
		for k := range sums {
			if was[k].N != now[k].N || !was[k].Volume.Equal(now[k].Volume) {
				unlike[k.Job] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(unlike)), nil
}
