package state

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/safrasync/safrasync/state/journal"
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
