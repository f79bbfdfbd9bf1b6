package state

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// RestoreSums counts all entries anew and puts that in the place of the kept sums, whatever stands there. It gives the jobs whose sums were others, or could not be
// read, and where there are any, adds the act to the audit. Nothing is written meanwhile.
func (s *Store) RestoreSums(ctx context.Context, record trade.AuditRecord) (changed []string, err error) {
	const page = 10 * bulkRows
	err = s.inLongTx(ctx, "counting the sums anew", func(t *tx) error {
		changed = nil
		if s.d.name == Postgres {
			if err := t.exec(`LOCK TABLE entry IN SHARE MODE`); err != nil {
				return err
			}
			var head auditHead // in the order of all who write: entries, audit, sums
			if err := t.get(&head, s.d.locked(selectHead, "audit_head")); err != nil {
				return err
			}
			if err := t.exec(`LOCK TABLE tally IN EXCLUSIVE MODE`); err != nil {
				return err
			}
		}
		now := tallyChange{}
		for last := int64(-1); ; {
			var rows []struct {
				ID                       int64
				Job, State, Unit, Amount string
			}
			if err := t.all(&rows, `SELECT id, job, state, unit, amount FROM entry WHERE id > ? ORDER BY id LIMIT ?`, last, page); err != nil {
				return err
			}
			for _, r := range rows {
				q, err := quantity(r.Amount, r.Unit)
				if err != nil {
					return fmt.Errorf("entry %d is damaged: its amount %w", r.ID, err)
				}
				now.add(r.Job, r.State, r.Unit, q.Amount)
				last = r.ID
			}
			if len(rows) < page {
				break
			}
		}
		var kept []tallyRow
		if err := t.all(&kept, `SELECT job, state, unit, n, volume FROM tally`); err != nil {
			return err
		}
		was, differs := tallyChange{}, map[string]bool{}
		for _, r := range kept {
			sum, err := r.sum()
			if err != nil {
				differs[r.Job] = true
				continue
			}
			was[r.key()] = was[r.key()].plus(sum)
		}
		for k, sum := range was {
			differs[k.job] = differs[k.job] || sum.n != now[k].n || !sum.volume.Equal(now[k].volume)
		}
		fresh := make([][]any, 0, len(now))
		for k, sum := range now {
			differs[k.job] = differs[k.job] || sum.n != was[k].n || !sum.volume.Equal(was[k].volume)
			fresh = append(fresh, []any{k.job, k.state, k.unit, s.part.Load(), sum.n, sum.volume.String()})
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
		if _, err := addAudit(t, record); err != nil {
			return err
		}
		if err := t.exec(`DELETE FROM tally`); err != nil {
			return err
		}
		return t.insertRows("tally", tallyColumns, fresh, "")
	})
	return changed, err
}
