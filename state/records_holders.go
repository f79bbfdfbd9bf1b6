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
		a := g.Attempts[st.Attempt.ID]
		if a == nil || st.Attempt.Outcome != trade.OutcomeCreated {
			continue
		}
		e, id := g.Entries[a.EntryID], sqldb.CleanText(st.Attempt.RemoteID)
		ids = append(ids, id)
		if went := g.Records.went(e, a.Generation); went != nil {
			scopes[a.ID] = trade.IDScope(trade.Kind(e.Sends), id, went.Parent)
		}
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

// holderOf returns the row that has a platform id, from which a person gave its record to another one, or
// to which an earlier answer assigned it: only if that answer was late may the record have another id.
// If the id is unique within a contract only, the row must be of the same contract as the entry except.
// The entry except itself is ignored.
func holderOf(all sqldb.Select, sends, remoteID string, except int64) (trade.ParentKey, error) {
	var mine, rows []idHolding
	kind := trade.Kind(sends)
	if err := all(&mine, `SELECT target, COALESCE(payload, '') AS payload FROM entry WHERE id = ?`, except); err != nil {
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
		`SELECT e.job, e.key, r.parent FROM record r JOIN entry e ON e.id = r.entry_id
			WHERE r.kind` + among + `AND r.remote_id = ? AND r.remote_id <> '' AND e.id <> ? ORDER BY r.id`,
		`SELECT e.job, e.key, r.parent FROM record r JOIN entry e ON e.job = r.job AND e.key = r.key
			WHERE r.kind` + among + `AND r.remote_id = ? AND r.remote_id <> '' AND e.id <> ? ORDER BY r.id`,
		`SELECT e.job, e.key, a.target, a.payload FROM entry e JOIN attempt a ON e.id = a.entry_id
			WHERE e.sends` + among + `AND a.remote_id = ? AND e.id <> ? AND a.late = 1 AND a.outcome = 'created' ORDER BY a.id`,
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
