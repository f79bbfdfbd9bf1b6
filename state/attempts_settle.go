// Settlement: what an outcome does to its attempt and its entry.

package state

import (
	"cmp"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// settledColumns are the columns of an entry that a settlement writes.
var settledColumns = append(slices.Clone(stateColumns), "flags", "record_id", "attempts")

// Settle stores how attempts ended: for each it decides what the answer does to the entry (becomes) and
// to the record of the sending (recordSet.settle), in memory; writeSettled writes that. It does not check
// who owns the lease: a definite answer of a former owner counts too (I12).
func (g *groupTx) Settle() error {
	owners, scopes, err := g.remoteOwners()
	if err != nil {
		return err
	}
	if g.assumed && len(owners) > 0 { // another record has one of the ids: all is read
		return sqldb.AllWritten("sent", len(owners), 0, nil)
	}
	w := settledWrites{entries: map[int64][]any{}}
	for _, st := range g.Group.Settle {
		of := g.Records.byAttempt[st.Attempt.ID]
		if of == nil { // its intent was never stored, or another attempt has taken its place
			if former, ok := g.Former[st.Attempt.ID]; ok && former == string(st.Attempt.Outcome) {
				g.Result.Settled[st.Attempt.ID] = true
			}
			continue
		}
		a, e := &of.attemptRow, g.Entries[of.Origin]
		now, counted := a.outcome(), a.Counts
		out := st.Attempt.Outcome
		switch {
		case now == trade.OutcomeOpen:
		case now == trade.OutcomeUnknown &&
			(out == trade.OutcomeCreated || out == trade.OutcomeNotCreated || out == trade.OutcomeNotSent):
		case now == out && (out != trade.OutcomeCreated || a.AnswerID == sqldb.CleanText(st.Attempt.RemoteID)):
			g.Result.Settled[a.Attempt] = true // stored already
			if out == trade.OutcomeUnknown {
				// Recovery set the outcome to unknown before the sender did: what the sender observed
				// helps the person who decides.
				w.observed = append(w.observed, of)
				// The quarantine counts from when the attempt became unknown, and never shrinks (I14).
				finished := a.FinishedAt.Int64
				if err := a.ended(st.Attempt, g.Now, counted == 1); err != nil {
					return err
				}
				a.FinishedAt.Int64 = max(finished, a.FinishedAt.Int64)
				w.exchanges = append(w.exchanges, exchangeOf(st.Attempt))
			}
			continue
		default:
			continue // another outcome is already certain
		}
		remote := remoteKey{sqldb.CleanText(st.Attempt.RemoteID), scopes[a.Attempt]}
		if other, taken := owners[remote]; out == trade.OutcomeCreated && taken && other.EntryID != e.ID {
			g.Result.Conflicts[a.Attempt] = other.OwnerJob + " " + other.OwnerKey
			continue
		}
		if err := a.ended(st.Attempt, g.Now, st.Counts); err != nil {
			return err
		}
		if now == trade.OutcomeUnknown {
			w.late = append(w.late, e.ID)
			a.Late = 1
		}
		w.exchanges = append(w.exchanges, exchangeOf(st.Attempt))
		g.Result.Settled[a.Attempt], g.Records.changed[of] = true, true
		before, effect := e.State, g.becomes(e, a, &st)
		g.Records.touch(e)
		if made := g.Records.settle(e, of, st); made != nil {
			owners[remote] = made
		}
		if effect.settlement == nil {
			continue
		}
		// A settlement without a state changes only the flags. Recovery, if it has set the attempt to
		// unknown, has counted it already.
		settle := func(to *trade.Entry) bool { return to.Settle(*effect.settlement) }
		if may := moveEntry(e, a.Counts-counted, g.Now, settle); !may {
			return phrase.Errorf("entry %d is damaged in column %s: restore the backup", e.ID, "state")
		}
		e.Flags = e.Flags.With(effect.clear, false)
		if effect.settlement.State == trade.Accepted {
			on := g.Records.byRemoteID(e, effect.remoteID)
			if on == nil {
				return phrase.Errorf("entry %d is damaged in column %s: restore the backup", e.ID, "record_id")
			}
			e.RecordID = on.ID
		}
		w.entries[e.ID] = movedValues(e, settledColumns)
		if effect.alarm != nil {
			w.alarms = append(w.alarms, raisedAlarm{*effect.alarm, before})
		}
	}
	return g.writeSettled(w)
}

// settledWrites is what the settlements of a group write.
type settledWrites struct {
	exchanges []*exchangeRow
	entries   map[int64][]any
	late      []int64 // entries whose attempts were unknown: they have contents again
	// attempts that stay unknown, for which the sender's observation is stored
	observed []*ownedRecord
	alarms   []raisedAlarm
}

// raisedAlarm is an alarm, with the previous state of its entry.
type raisedAlarm struct {
	trade.Alarm
	before trade.State
}

// writeSettled writes what settlements change, in the required order.
func (g *groupTx) writeSettled(w settledWrites) error {
	if err := writeExchanges(g.Tx, w.exchanges); err != nil {
		return err
	}
	if err := g.Records.Write(); err != nil { // an entry is accepted by a record that exists
		return err
	}
	var err error
	if g.assumed {
		rows := trade.Map(inKeyOrder(w.entries), func(row []any) []any {
			e := g.Entries[row[0].(int64)] //nolint:forcetypeassert // its id
			return append(row, e.Version-1, string(trade.Sending))
		})
		err = g.ChangeRows("entry", settledColumns, []string{"version", "state"}, rows)
	} else {
		err = g.UpdateRows("entry", settledColumns, inKeyOrder(w.entries))
	}
	if err != nil {
		return err
	}
	if len(w.late) > 0 {
		var again []int64
		if err := g.All(&again, `UPDATE entry SET reduced_at = NULL, version = version + 1 WHERE reduced_at IS NOT NULL AND `+
			g.S.D.Among("id")+` RETURNING id`, sqldb.ListOf(g.S.D, w.late)); err != nil {
			return err
		}
		for _, id := range again {
			g.Entries[id].Version++
		}
	}
	if len(w.observed) > 0 { // something about them has become known: their quarantine begins anew on every boot
		ids, rows := make([]string, len(w.observed)), make([][]any, len(w.observed))
		for i, have := range w.observed {
			ids[i], rows[i] = have.Attempt, sqldb.Pick(&have.sentRow, answeredColumns)
		}
		if err := g.UpdateRows("sent", answeredColumns, rows); err != nil {
			return err
		}
		if err := g.Do(`DELETE FROM quarantine WHERE `+g.S.D.Among("attempt_id"), sqldb.ListOf(g.S.D, ids)); err != nil {
			return err
		}
	}
	for _, t := range w.alarms {
		if err := g.record(t.Alarm, t.before, g.Entries[g.Records.byAttempt[t.Attempt].Origin].State); err != nil {
			return err
		}
	}
	return nil
}

// inKeyOrder returns rows in key order, which is the order in which they are stored.
func inKeyOrder[K cmp.Ordered](m map[K][]any) [][]any {
	out := make([][]any, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[key])
	}
	return out
}
