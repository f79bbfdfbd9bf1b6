package state

import (
	"context"

	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// auditThrough returns the number up to which acts lose who, from, target, reason and detail, or 0
// if none does. One that is not as it was written, and all after it, keep them: its time is somebody's
// word, and what is announced to the journal is believed.
func (r *retaining) auditThrough(ctx context.Context) (through int64, err error) {
	before, ok := r.before(r.Keep.Audit)
	if !ok {
		return 0, nil
	}
	for {
		var page []trade.AuditRecord
		if err := r.db.All(ctx, "looking for old acts", &page, books.SelectAudit+`WHERE reduced = 0 AND at < ? AND seq > ?
			ORDER BY seq LIMIT ?`, before.UnixMilli(), through, entryPage); err != nil {
			return 0, err
		}
		for _, a := range page {
			if a.Hash != books.AuditSum(a) {
				return through, nil
			}
			through = a.Seq
		}
		if len(page) < entryPage {
			return through, nil
		}
	}
}

// reduceAudit keeps of old acts only number, time, name and hash, so that the chain stays complete.
// The audit record of this retention states the highest number; a record that is reduced beyond it
// was altered by somebody else.
func (r *retaining) reduceAudit(ctx context.Context, through int64) error {
	before, ok := r.before(r.Keep.Audit)
	if !ok || through == 0 {
		return nil
	}
	return r.batches(ctx, "reducing old acts", func(t *sqldb.Tx) (int, error) {
		return t.Changed(`UPDATE audit SET reduced = 1, who = '', origin = '', target = '', reason = '', detail = '' WHERE seq IN
			(SELECT seq FROM audit WHERE reduced = 0 AND seq <= ? AND at < ? ORDER BY seq LIMIT 500)`, through, before.UnixMilli())
	})
}
