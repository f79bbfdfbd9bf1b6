// Ids of the platform: which entry has an id, and within which contract it is unique.

package ledger

import (
	"database/sql"
	"slices"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// remoteKey is an id of the platform, with the contract within which it is unique.
type remoteKey struct{ sends, id, scope string }

// scopedID is a row that has, or had, an id, with the payload that was sent.
type scopedID struct {
	NarrowRow
	Payload sql.NullString
}

// scope returns the contract of a delivery whose id is not a UUID. known is false if its payload is
// no longer kept.
func (e *scopedID) scope() (scope string, known bool) {
	return trade.IDScope(trade.Kind(e.Sends), e.RemoteID.String, []byte(e.Payload.String))
}

// remoteOwners returns the entries that already have one of the platform ids of the group, and the
// contracts of the group's own ids, by attempt. If the contract of an entry is no longer known, its
// id conflicts with no other.
func (g *GroupTx) remoteOwners() (owners map[remoteKey]*NarrowRow, scopes map[string]string, err error) {
	owners, scopes = map[remoteKey]*NarrowRow{}, map[string]string{}
	// ids by kind: a list of pairs would not use the index, which is partial
	plain, scoped := map[string][]string{}, map[string][]string{}
	var attempts []string
	for _, st := range g.Group.Settle {
		a := g.Attempts[st.Attempt.ID]
		if a == nil || st.Attempt.Outcome != trade.OutcomeCreated {
			continue
		}
		sends, id := g.Entries[a.EntryID].Sends, sqldb.CleanText(st.Attempt.RemoteID)
		if _, alone := trade.IDScope(trade.Kind(sends), id, nil); alone {
			plain[sends] = append(plain[sends], id)
		} else {
			scoped[sends] = append(scoped[sends], id)
			attempts = append(attempts, a.ID)
		}
	}
	for sends, list := range plain {
		var rows []NarrowRow
		if err := g.All(&rows, SelectNarrow+`WHERE e.sends = ? AND `+g.S.D.Among("e.remote_id"), sends,
			sqldb.ListOf(g.S.D, list)); err != nil {
			return nil, nil, err
		}
		for i := range rows {
			owners[remoteKey{rows[i].Sends, rows[i].RemoteID.String, ""}] = &rows[i]
		}
	}
	if len(attempts) == 0 {
		return owners, scopes, nil
	}
	var sent []struct {
		ID, Payload string
	}
	if err := g.All(&sent, `SELECT a.id, a.payload FROM attempt a WHERE `+g.S.D.Among("a.id"),
		sqldb.ListOf(g.S.D, attempts)); err != nil {
		return nil, nil, err
	}
	for _, a := range sent {
		scopes[a.ID], _ = trade.IDScope(trade.Deliveries, "", []byte(a.Payload))
	}
	for sends, list := range scoped {
		slices.Sort(list)
		var rows []scopedID
		query := `SELECT e.id, e.job, e.sends, e.key, e.remote_id, e.payload FROM entry e WHERE e.sends = ? AND ` +
			g.S.D.Among("e.remote_id")
		if err := g.All(&rows, query, sends, sqldb.ListOf(g.S.D, slices.Compact(list))); err != nil {
			return nil, nil, err
		}
		for i := range rows {
			if scope, known := rows[i].scope(); known {
				owners[remoteKey{sends, rows[i].RemoteID.String, scope}] = &rows[i].NarrowRow
			}
		}
	}
	return owners, scopes, nil
}

// holderOf returns the row that has a platform id, or to which an earlier answer assigned it. If
// the id is unique within a contract only, the row must be of the same contract as the entry
// except. The entry except itself is ignored.
func holderOf(all sqldb.Select, sends, remoteID string, except int64) (trade.ParentKey, error) {
	own := make([]sql.NullString, 1)
	if _, alone := trade.IDScope(trade.Kind(sends), remoteID, nil); !alone {
		if err := all(&own, `SELECT payload FROM entry WHERE id = ?`, except); err != nil {
			return trade.ParentKey{}, err
		}
	}
	mine, _ := trade.IDScope(trade.Kind(sends), remoteID, []byte(append(own, sql.NullString{})[0].String))
	for _, query := range []string{
		`SELECT e.job, e.key, e.sends, e.remote_id, e.payload FROM entry e WHERE e.sends = ? AND e.remote_id = ? AND e.id <> ? ORDER BY e.id`,
		`SELECT e.job, e.key, e.sends, a.remote_id, a.payload FROM entry e JOIN attempt a ON e.id = a.entry_id
			WHERE e.sends = ? AND a.remote_id = ? AND e.id <> ? AND a.outcome = 'created' ORDER BY a.id`,
	} {
		var rows []scopedID
		if err := all(&rows, query, sends, remoteID, except); err != nil {
			return trade.ParentKey{}, err
		}
		for i := range rows {
			if theirs, known := rows[i].scope(); mine == "" || known && theirs == mine {
				return trade.ParentKey{Job: rows[i].Job, Key: rows[i].Key}, nil
			}
		}
	}
	return trade.ParentKey{}, nil
}
