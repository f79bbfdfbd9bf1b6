// Entries in the form in which the journal keeps them.

package ledger

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// FactPages passes entries to put in pages, in the form in which the journal keeps them.
func FactPages(t *sqldb.Tx, ids []int64, put func([]journal.Fact) error) error {
	for chunk := range slices.Chunk(ids, sqldb.InList) {
		var rows []ReadRow
		list := sqldb.ListOf(t.S.D, chunk)
		if err := t.All(&rows, SelectEntry+`WHERE `+t.S.D.Among("e.id")+` ORDER BY e.id`, list); err != nil {
			return err
		}
		var attempts []AttemptRow
		if err := t.All(&attempts, `SELECT a.id, a.entry_id, a.generation, a.outcome, a.remote_id, a.payload_hash, a.started_at FROM attempt a
			WHERE `+t.S.D.Among("a.entry_id")+` AND (a.outcome IS NULL OR a.outcome IN ('unknown', 'created')) ORDER BY a.entry_id, a.no`, list); err != nil {
			return err
		}
		of := map[int64][]journal.FactAttempt{}
		for _, a := range attempts {
			of[a.EntryID] = append(of[a.EntryID], journal.FactAttempt{
				ID: a.ID, Generation: a.Generation, Outcome: a.Outcome.String, RemoteID: a.RemoteID,
				Payload: a.PayloadHash, Started: time.UnixMilli(a.StartedAt).UTC(),
			})
		}
		facts := make([]journal.Fact, len(rows))
		for i, r := range rows {
			weak, err := isWeak(r.Error)
			if err != nil {
				return fmt.Errorf("entry %d is damaged in column error: restore the backup", r.ID)
			}
			explained, err := Explained(r.Acknowledged)
			if err != nil {
				return err
			}
			source, newest := r.SourceHash, trade.Hash("")
			if r.NowCells != "{}" {
				source, newest = "", r.SourceHash
			}
			facts[i] = journal.Fact{
				Row: journal.Row{Job: r.Job, Key: r.Key}, Sends: r.Sends, Generation: r.Generation, State: r.State,
				Cause: r.Cause, RemoteID: r.OwnID.String, MovedID: r.GivenID.String,
				Weak: weak, Payload: r.PayloadHash, Source: source, Newest: newest,
				Replaced: strings.Contains(r.Flags, replacedText), Explained: explained, Attempts: of[r.ID],
			}
		}
		if err := put(facts); err != nil {
			return err
		}
	}
	return nil
}

// Explained returns those of a row's acknowledged flags, in their stored form, that explain its
// absence from the ERP. They end when the row is seen again; other flags tell of new differences
// too, so a person must see them again after a rebuild.
func Explained(acknowledged string) (trade.Flags, error) {
	flags, err := FlagsOf(acknowledged)
	return slices.DeleteFunc(flags, func(f trade.Flag) bool {
		return f != trade.MissingInERP && f != trade.Cancelled
	}), err
}

// KnownPages is FactPages with the records that count of each entry: what a journal that begins, also
// again, must know.
func KnownPages(t *sqldb.Tx, ids []int64, put func([]journal.Fact) error) error {
	for chunk := range slices.Chunk(ids, sqldb.InList) {
		records, err := LoadRecords(t, chunk, time.Time{})
		if err != nil {
			return err
		}
		of := map[journal.Row][]journal.Sent{}
		for _, id := range chunk {
			for _, r := range records.of[id] {
				if trade.Certainty(r.Certainty).Counts() {
					owner := journal.Row{Job: r.OwnerJob, Key: r.OwnerKey}
					of[owner] = append(of[owner], r.image())
				}
			}
		}
		if err := FactPages(t, chunk, func(facts []journal.Fact) error {
			for i := range facts {
				facts[i].Records = of[facts[i].Row]
			}
			return put(facts)
		}); err != nil {
			return err
		}
	}
	return nil
}

func isWeak(text sql.NullString) (bool, error) {
	if !text.Valid {
		return false, nil
	}
	var e trade.EntryError
	err := json.Unmarshal([]byte(text.String), &e)
	return e.Weak, err
}

// Remembers is the SQL condition for the entries with which a journal begins: those that were sent,
// or about which a person has decided.
const Remembers = `(e.state IN ('accepted', 'in_doubt', 'sending', 'held', 'dismissed', 'rejected') OR e.generation > 1)`
