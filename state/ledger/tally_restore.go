// The kept sums counted anew, by order of a person.

package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// RestoreSums counts all entries anew and puts that in the place of the kept sums, whatever stands
// there. It gives the jobs whose sums were others, or could not be read, and where there are any,
// adds the act to the audit. Nothing is written meanwhile.
func (s *Ledger) RestoreSums(ctx context.Context, record trade.AuditRecord) (changed []string, err error) {
	const page = 10 * sqldb.BulkRows
	err = s.db.InLongTx(ctx, "counting the sums anew", func(t *sqldb.Tx) error {
		changed = nil
		if s.db.D.Name == sqldb.Postgres {
			if err := t.Do(`LOCK TABLE entry IN SHARE MODE`); err != nil {
				return err
			}
			var head sqldb.AuditHead // in the order of all who write: entries, audit, sums
			if err := t.Get(&head, s.db.D.Locked(audit.SelectHead, "audit_head")); err != nil {
				return err
			}
			if err := t.Do(`LOCK TABLE tally IN EXCLUSIVE MODE`); err != nil {
				return err
			}
		}
		now := TallyChange{}
		for last := int64(-1); ; {
			var rows []struct {
				ID                       int64
				Job, State, Unit, Amount string
			}
			if err := t.All(&rows, `SELECT id, job, state, unit, amount FROM entry WHERE id > ? ORDER BY id LIMIT ?`,
				last, page); err != nil {
				return err
			}
			for _, r := range rows {
				q, err := Quantity(r.Amount, r.Unit)
				if err != nil {
					return fmt.Errorf("entry %d is damaged: its amount %w", r.ID, err)
				}
				now.Add(r.Job, r.State, r.Unit, q.Amount)
				last = r.ID
			}
			if len(rows) < page {
				break
			}
		}
		var kept []TallyRow
		if err := t.All(&kept, `SELECT job, state, unit, n, volume FROM tally`); err != nil {
			return err
		}
		was, differs := TallyChange{}, map[string]bool{}
		for _, r := range kept {
			sum, err := r.Sum()
			if err != nil {
				differs[r.Job] = true
				continue
			}
			was[r.key()] = was[r.key()].Plus(sum)
		}
		for k, sum := range was {
			differs[k.Job] = differs[k.Job] || sum.N != now[k].N || !sum.Volume.Equal(now[k].Volume)
		}
		fresh := make([][]any, 0, len(now))
		for k, sum := range now {
			differs[k.Job] = differs[k.Job] || sum.N != was[k].N || !sum.Volume.Equal(was[k].Volume)
			fresh = append(fresh, []any{k.Job, k.State, k.Unit, s.db.Part.Load(), sum.N, sum.Volume.String()})
		}
		for job, is := range differs {
			if is {
				changed = append(changed, job)
			}
		}
		slices.Sort(changed)
		if len(changed) == 0 {
			return nil
		}
		detail, err := json.Marshal(map[string]any{"jobs": changed})
		if err != nil {
			return err
		}
		record.Detail = string(detail)
		if _, err := audit.AddAudit(t, record); err != nil {
			return err
		}
		if err := t.Do(`DELETE FROM tally`); err != nil {
			return err
		}
		return t.InsertRows("tally", tallyColumns, fresh, "")
	})
	return changed, err
}
