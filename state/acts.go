// Acts of people: each is stored in one transaction with its audit record.

package state

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// errNoRecord is returned for an act whose audit record is incomplete: it must state who, act and
// target, and for a move of a job who and reason.
var errNoRecord = errors.New("an act of a person needs who ordered it, what it is and what it is done to")

// Act is the only way by which people change the ledger, and the only way by which an entry gets
// another generation, gets an id that no answer contained, or is excluded from sending. It stores
// each act together with its audit record: there is no act without a record, and no record of an
// act that was not done.
//
// done reports for each act whether it was done. An act is not done if its entry or its job has
// changed since the person saw it, or if it is no longer allowed. An act that changes what the
// brakes of a job remember fails with *trade.LeasedError while a process runs the job; then none of
// the acts is done.
func (s *Store) Act(ctx context.Context, acts []trade.Act) (done []bool, err error) {
	for _, a := range acts {
		if a.Audit.Who == "" || a.Audit.Act == "" || a.Audit.Target == "" {
			return nil, errNoRecord
		}
		if (a.Update == nil) == (a.Job == nil) {
			return nil, fmt.Errorf("%s: an act is on one row or on one job", a.Audit.Act)
		}
		if a.Gives != nil && !passesID(a) {
			return nil, fmt.Errorf("%s: a row gives up the id that another gets, and nothing else", a.Audit.Act)
		}
	}
	return sqldb.Stored(ctx, s.db, "storing an act", func(t *sqldb.Tx) ([]bool, error) {
		if err := mayWork(t); err != nil {
			return nil, err
		}
		done := make([]bool, len(acts))
		for i, a := range acts { // jobs first: a transaction locks the lease before any other row
			if a.Job != nil {
				var err error
				done[i], err = actOnJob(t, *a.Job, a.Audit)
				if err != nil {
					return nil, err
				}
			}
		}
		return done, actOnEntries(t, acts, done)
	})
}

// passesID reports whether the entry of Gives stays accepted and passes its id, and nothing else, to
// the entry of the act.
func passesID(a trade.Act) bool {
	if a.Update == nil {
		return false
	}
	to, from := a.Update.Entry, a.Gives.Entry
	return a.Update.From == trade.Held && to.State == trade.Accepted && to.RemoteID != "" &&
		a.Gives.From == trade.Accepted && from.State == trade.Accepted &&
		from.RemoteID == "" && from.MovedID == to.RemoteID && from.Sends == to.Sends && from.ID != to.ID
}

func actOnJob(t *sqldb.Tx, act trade.JobAct, record trade.AuditRecord) (done bool, err error) {
	if act.Cursor != nil {
		if _, err := lockLease(t, act.Job); err != nil {
			return false, err
		}
	}
	now, err := lockStatus(t, act.Job)
	if err != nil || !jobUnchanged(now, act.Saw) {
		return false, err
	}
	if err := books.AddAudit(t, record); err != nil {
		return false, err
	}
	if act.Cursor != nil {
		if err := setCursor(t, act.Job, *act.Cursor); err != nil {
			return false, err
		}
	}
	if now.Stop != nil && now.Stop.Code == brakeAbsent { // a person has looked
		if err := lives(t, record.At); err != nil {
			return false, err
		}
	}
	if now.Stop != nil && now.Stop.Code == stopUnwitnessed && act.Saw != nil {
		// the jobs of this machine go on without the witness
		if err := began(t, releaseTask(t.S), record.At); err != nil {
			return false, err
		}
	}
	note := noteActOf(t, record)
	note.Jobs = append(note.Jobs, jobFactOf(act.Status)) // a pause is also a decision about sending
	err = putStatus(t, act.Status)
	if err == nil && now.Stop != nil && slices.Contains([]string{brakeAbsent, brakeNewJournal}, now.Stop.Code) {
		err = endBrake(t, now.Stop.Code, record.At)
	}
	return err == nil, err
}

// jobUnchanged reports whether a job is as a person saw it. If saw is nil, the act applies to any job
// that is not paused.
func jobUnchanged(now trade.JobStatus, saw *trade.JobStatus) bool {
	if saw == nil {
		return now.State != trade.Paused
	}
	return now.State == saw.State && now.Since.Equal(saw.Since) && reflect.DeepEqual(now.Stop, saw.Stop)
}

// actOnEntries applies acts to their entries within a transaction, and sets done for each act that
// was applied.
func actOnEntries(t *sqldb.Tx, acts []trade.Act, done []bool) error {
	var ids []int64
	for _, a := range acts {
		for _, u := range []*trade.Update{a.Update, a.Gives} {
			if u != nil {
				ids = append(ids, u.Entry.ID)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if err := lockSendings(t, ids); err != nil {
		return err
	}
	entries, err := lockEntries(t, ids)
	if err != nil {
		return err
	}
	records, err := loadRecords(t, slices.Collect(maps.Values(entries)), time.Now())
	if err != nil {
		return err
	}
	var gives, updates []trade.Update
	var first trade.AuditRecord
	for i, a := range acts {
		if a.Update == nil {
			continue
		}
		e := entries[a.Update.Entry.ID]
		if allowed, err := mayDo(t, a, entries); err != nil || !allowed {
			if err != nil {
				return err
			}
			continue
		}
		seq, err := books.AddNumbered(t, a.Audit)
		if err != nil {
			return err
		}
		if len(updates) == 0 { // the acts of one call are one act on several rows
			first = a.Audit
		}
		// The number of the act is stored with what it orders: with the entry that is sent again, and with
		// the record that it makes, or gives to another row.
		signed := *a.Update
		if signed.Entry.Generation > e.Generation {
			signed.Entry.ResentBy = seq
		}
		signed.Entry.RecordedBy = seq
		updates, done[i] = append(updates, signed), true
		if a.Gives != nil {
			gives = append(gives, *a.Gives)
		}
		// Records of the platform become due at once, and their tries and their first time begin again.
		asked := sqldb.AtOr(a.Audit.At, time.Now())
		for _, b := range a.Ask {
			if err := t.Do(`UPDATE block SET first_at = ?, next_at = ?, tries = 0 WHERE kind = ? AND id = ?`, asked, asked,
				b.Kind, b.ID); err != nil {
				return err
			}
		}
	}
	for _, list := range [][]trade.Update{gives, updates} {
		lost, err := applyUpdates(t, entries, records, list, time.Now())
		if err == nil && lost > 0 { // two acts on one entry in one call
			err = errors.New("one row can be in one act only")
		}
		if err != nil {
			return err
		}
	}
	if len(updates) == 0 {
		return nil
	}
	// The journal gets the decision with what was sent of the rows. An older copy of the ledger,
	// which lacks the decision, is then detected although nothing was sent since.
	for _, id := range updateIDs(slices.Concat(gives, updates)) {
		records.touchWhole(entries[id])
	}
	noteActOf(t, first)
	records.note()
	return nil
}

// rowUnchanged reports whether an entry is as a person saw it.
func rowUnchanged(entries map[int64]*trade.Entry, u trade.Update) bool {
	e := entries[u.Entry.ID]
	return e != nil && e.Version == u.Entry.Version && e.State == u.From
}

// mayDo checks, in the transaction of the act, that the entry is as the person saw it, and what may
// have changed although the entry has not:
// the quarantine of a second sending, and which row has an id.
func mayDo(t *sqldb.Tx, a trade.Act, entries map[int64]*trade.Entry) (bool, error) {
	u := a.Update.Entry
	e := entries[u.ID]
	switch {
	case !rowUnchanged(entries, *a.Update), a.Gives != nil && !rowUnchanged(entries, *a.Gives):
		return false, nil
	case u.Generation != e.Generation && a.Resend == nil:
		return false, fmt.Errorf("%s: only an order to send again opens a generation", a.Audit.Act)
	case a.Resend != nil:
		// every attempt must be closed and, if it is unknown, have been so for long enough
		var rows []watchRow
		if err := t.All(&rows, selectWatched, a.Resend.Boot, e.ID); err != nil {
			return false, err
		}
		short := slices.ContainsFunc(rows, func(r watchRow) bool {
			return r.Open || r.Ticks == nil || a.Resend.Ticks-time.Duration(*r.Ticks)*time.Millisecond < a.Resend.Least
		})
		return len(rows) > 0 && !short, nil
	// the holder of the id was checked before, and the database refuses the same id on two entries
	case a.Gives != nil:
		return true, nil
	case u.State == trade.Accepted && u.RemoteID != "" && a.Update.From != trade.Accepted:
		holder, err := holderOf(t.All, string(e.Sends), u.RemoteID, e.ID)
		return holder == (trade.ParentKey{}), err
	}
	return true, nil
}

// Holder returns the row that has a platform id, or to which an earlier answer assigned it, among
// the rows of kind sends. It ignores the entry except. If there is no such row, it returns the zero
// key.
func (s *Store) Holder(ctx context.Context, sends trade.Kind, remoteID string, except int64) (trade.ParentKey, error) {
	return holderOf(s.db.Reading(ctx, "looking whose an id is"), string(sends), remoteID, except)
}
