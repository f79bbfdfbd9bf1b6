package state

import (
	"context"

	"github.com/safrasync/safrasync/state/sqldb"
)

// These select the events to remove, which are those without pending work, the records that were
// read back, and the reports about records, except the last of each (see LastHeard).
const (
	oldEvents     = `FROM inbox WHERE last_at < ? AND next_at IS NULL`
	oldCandidates = `FROM candidate WHERE last_at < ?`
	oldHeard      = `FROM heard WHERE at < ? AND EXISTS (SELECT 1 FROM heard h WHERE h.kind = heard.kind AND h.id = heard.id AND h.event = heard.event AND (h.at, h.seq) > (heard.at, heard.seq))`
)

func (r *retaining) countInbox(ctx context.Context) error {
	return r.countOlder(ctx, KeptInbox, r.Keep.Inbox, `SELECT (SELECT COUNT(*) `+oldEvents+`) + (SELECT COUNT(*) `+oldCandidates+`) + (SELECT COUNT(*) `+oldHeard+`) AS n,
		(SELECT COALESCE(SUM(LENGTH(body)), 0) `+oldEvents+`) + (SELECT COALESCE(SUM(LENGTH(fields)), 0) `+oldCandidates+`) AS bytes`)
}

func (r *retaining) deleteInbox(ctx context.Context) error {
	before, ok := r.before(r.Keep.Inbox)
	if !ok {
		return nil
	}
	for _, query := range []string{
		`DELETE FROM inbox WHERE seq IN (SELECT seq ` + oldEvents + ` LIMIT 500)`,
		`DELETE FROM candidate WHERE id IN (SELECT id ` + oldCandidates + ` LIMIT 500)`,
		`DELETE FROM heard WHERE (kind, id, seq) IN (SELECT kind, id, seq ` + oldHeard + ` LIMIT 500)`,
	} {
		if err := r.batches(ctx, "deleting old events",
			func(t *sqldb.Tx) (int, error) { return t.Changed(query, before.UnixMilli()) }); err != nil {
			return err
		}
	}
	return nil
}
