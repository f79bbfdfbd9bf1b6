package state

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/trade"
)

// beginJournal makes the ledger's journal, with what the ledger knows already, and tells the ledger of it.
func (s *Store) beginJournal(t *tx, dir string, unused bool, program string) (journalRow, error) {
	now := time.Now().UTC()
	if unused {
		if _, err := journal.SetAside(dir, now); err != nil {
			return journalRow{}, s.journalFault(err)
		}
	}
	host, _, _ := hostIdentity()
	header := journal.Header{
		Journal: newID(), Ledger: s.id, Host: host, Machine: s.tune.machine(), Place: s.where, Created: now, Program: program,
	}
	if err := t.get(&header.Platform, `SELECT platform FROM ledger`); err != nil {
		return journalRow{}, err
	}
	seq, mark, err := journal.Create(dir, header, func(put func([]journal.Fact) error) error {
		var ids []int64
		if err := t.all(&ids, `SELECT e.id FROM entry e WHERE `+remembers+` ORDER BY e.id`); err != nil {
			return err
		}
		return factPages(t, ids, put)
	})
	if err != nil {
		return journalRow{}, s.journalFault(err)
	}
	row := journalRow{ID: header.Journal, Seq: seq, Mark: mark, Host: host, Path: dir, At: now.UnixMilli()}
	return row, t.exec(`INSERT INTO journal (id, seq, mark, host, path, at, retired_at) VALUES (?, ?, ?, ?, ?, ?, NULL)`,
		row.ID, row.Seq, row.Mark, row.Host, row.Path, row.At)
}

// remembers is true of the entries that a journal begins with: those that were sent, or about which somebody has decided.
const remembers = `(e.state IN ('accepted', 'in_doubt', 'sending', 'held', 'dismissed', 'rejected') OR e.generation > 1 OR e.moved_id IS NOT NULL)`

// factPages gives entries as the journal keeps them, in pages.
func factPages(t *tx, ids []int64, put func([]journal.Fact) error) error {
	for chunk := range slices.Chunk(ids, inList) {
		var rows []entryRow
		in := `(` + marks(len(chunk)) + `)`
		if err := t.all(&rows, selectEntry+`WHERE e.id IN `+in+` ORDER BY e.id`, anys(chunk)...); err != nil {
			return err
		}
		var attempts []attemptRow
		if err := t.all(&attempts, `SELECT a.id, a.entry_id, a.generation, a.outcome, a.remote_id, a.payload_hash, a.content, a.started_at FROM attempt a
			WHERE a.entry_id IN `+in+` AND (a.outcome IS NULL OR a.outcome IN ('unknown', 'created')) ORDER BY a.entry_id, a.no`, anys(chunk)...); err != nil {
			return err
		}
		of := map[int64][]journal.FactAttempt{}
		for _, a := range attempts {
			of[a.EntryID] = append(of[a.EntryID], journal.FactAttempt{
				ID: a.ID, Generation: a.Generation, Outcome: a.Outcome.String, RemoteID: a.RemoteID, Payload: a.PayloadHash, Content: a.Content, Started: time.UnixMilli(a.StartedAt).UTC(),
			})
		}
		facts := make([]journal.Fact, len(rows))
		for i, r := range rows {
			weak, err := isWeak(r.Error)
			if err != nil {
				return fmt.Errorf("entry %d is damaged in column error: restore the backup", r.ID)
			}
			source, newest := r.SourceHash, trade.Hash("")
			if r.NowCells != "{}" {
				source, newest = "", r.SourceHash
			}
			facts[i] = journal.Fact{
				Row: journal.Row{Job: r.Job, Key: r.Key}, Sends: r.Sends, Generation: r.Generation, State: r.State, Cause: r.Cause, RemoteID: r.RemoteID.String, MovedID: r.MovedID.String,
				Weak: weak, Payload: r.PayloadHash, Content: r.Content, Source: source, Newest: newest, Replaced: strings.Contains(r.Flags, replacedText), Attempts: of[r.ID],
			}
		}
		if err := put(facts); err != nil {
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

// refuseNetwork refuses a folder whose flushes cannot be trusted. The nearest folder that exists tells.
func (s *Store) refuseNetwork(dir string) error {
	for {
		if magic, ok := s.tune.fsMagic(dir); ok {
			if name := networkFileSystem(magic); name != "" {
				return &Error{
					Code: CodeNetworkFS, Path: s.where, Hint: "set state.journal to a folder on a local disk",
					Err: fmt.Errorf("its journal's folder %s is on a network file system (%s), where locks and flushes cannot be trusted", dir, name),
				}
			}
			return nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil
		}
		dir = up
	}
}
