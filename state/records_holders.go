// Ids of the platform: which record has an id, and within which contract it is unique.

package state

import (
	"cmp"
	"slices"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// remoteKey is an id of the platform, with the contract within which it is unique; a UUID is, whatever
// the kind of its record.
type remoteKey struct{ id, scope string }

// remoteOwners returns the records that already have one of the platform ids of the group, and the
// contracts within which the group's own ids are unique, by attempt.
func (g *groupTx) remoteOwners() (owners map[remoteKey]*ownedRecord, scopes map[string]string, err error) {
	owners, scopes = map[remoteKey]*ownedRecord{}, map[string]string{}
	var ids []string
	for _, st := range g.Group.Settle {
		have := g.Records.byAttempt[st.Attempt.ID]
		if have == nil || st.Attempt.Outcome != trade.OutcomeCreated {
			continue
		}
		id := sqldb.CleanText(st.Attempt.RemoteID)
		ids, scopes[have.Attempt] = append(ids, id), trade.IDScope(trade.Kind(have.Kind), id, have.Parent)
	}
	if len(ids) == 0 {
		return owners, scopes, nil
	}
	var rows []ownedRecord
	slices.Sort(ids)
	err = g.All(&rows, selectRecord+`WHERE r.kind IN (?, ?, ?) AND r.remote_id <> '' AND `+g.S.D.Among("r.remote_id"),
		append(sqldb.Anys(trade.Kinds), sqldb.ListOf(g.S.D, slices.Compact(ids)))...)
	for i, r := range rows {
		owners[remoteKey{r.RemoteID, trade.IDScope(trade.Kind(r.Kind), r.RemoteID, r.Parent)}] = &rows[i]
	}
	return owners, scopes, err
}

// idHolding is a row that has, or had, an id, or asks for one, with what was sent.
type idHolding struct{ Job, Key, Target, Parent, Payload string }

func (h idHolding) parent(kind trade.Kind) string {
	return cmp.Or(h.Parent, trade.ParentOf(kind, h.Target, []byte(h.Payload)))
}

// holderOf returns the row to which a platform id belongs: by the ledger, before a person gave its record
// to another row, or by an earlier late answer. For an id that is unique within a contract only, it looks
// at rows of the same contract. It ignores the entry except.
func holderOf(all sqldb.Select, sends, remoteID string, except int64) (trade.ParentKey, error) {
	var mine, rows []idHolding
	kind := trade.Kind(sends)
	if err := all(&mine, `SELECT target, COALESCE(payload, '') AS payload FROM body WHERE entry_id = ?`, except); err != nil {
		return trade.ParentKey{}, err
	}
	contract := ""
	for _, own := range mine {
		contract = trade.IDScope(kind, remoteID, own.parent(kind))
	}
	// A UUID is that of one record, whatever its kind; others are compared within theirs.
	kinds := sqldb.Anys(trade.Kinds)
	if trade.IDScope(trade.Deliveries, remoteID, sends) != "" {
		kinds = []any{sends}
	}
	among := ` IN (` + sqldb.Placeholders(len(kinds)) + `) `
	for _, query := range []string{
		`SELECT e.job, e.key, r.parent FROM sent r JOIN entry e ON e.id = r.entry_id
			WHERE r.kind` + among + `AND r.remote_id = ? AND r.remote_id <> '' AND e.id <> ? ORDER BY r.id`,
		`SELECT e.job, e.key, r.parent FROM sent r JOIN entry e ON e.id = r.origin
			WHERE r.kind` + among + `AND r.remote_id = ? AND r.remote_id <> '' AND e.id <> ? ORDER BY r.id`,
		`SELECT e.job, e.key, s.target, COALESCE(x.payload, '') AS payload FROM sent s JOIN entry e ON e.id = s.origin
			LEFT JOIN exchange x ON x.attempt = s.attempt
			WHERE e.sends` + among + `AND s.answer_id = ? AND e.id <> ? AND s.late = 1 AND s.outcome = 'created' ORDER BY s.attempt`,
	} {
		rows = rows[:0]
		if err := all(&rows, query, append(slices.Clone(kinds), remoteID, except)...); err != nil {
			return trade.ParentKey{}, err
		}
		for _, row := range rows {
			if contract == "" || contract == row.parent(kind) {
				return trade.ParentKey{Job: row.Job, Key: row.Key}, nil
			}
		}
	}
	return trade.ParentKey{}, nil
}
