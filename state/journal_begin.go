package state

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
)

// beginJournal creates the ledger's journal, with what the ledger already knows, and records it in
// the ledger.
func (s *Store) beginJournal(t *sqldb.Tx, dir string, unused bool, program string) (sqldb.JournalRow, error) {
	now := time.Now().UTC()
	if unused {
		if _, err := journal.SetAside(dir, now); err != nil {
			return sqldb.JournalRow{}, s.db.JournalFault(err)
		}
	}
	host, _, _ := sqldb.HostIdentity()
	header := journal.Header{
		Journal: sqldb.NewID(), Ledger: s.db.ID, Host: host, Machine: s.db.Tune.Machine(), Place: s.db.Where,
		Created: now, Program: program,
	}
	if err := t.Get(&header.Platform, `SELECT platform FROM ledger`); err != nil {
		return sqldb.JournalRow{}, err
	}
	seq, mark, err := journal.Create(dir, header, func(put func(page journal.Record) error) error {
		paused, err := pauseFacts(t)
		if err == nil && len(paused) > 0 {
			err = put(journal.Record{Jobs: paused})
		}
		if err != nil {
			return err
		}
		var ids []int64
		if err := t.All(&ids, `SELECT e.id FROM entry e WHERE `+isRemembered+` ORDER BY e.id`); err != nil {
			return err
		}
		for chunk := range slices.Chunk(ids, sqldb.InList) {
			var page journal.Record
			if err := imagesOf(t, chunk, &page); err != nil {
				return err
			}
			if err := put(page); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return sqldb.JournalRow{}, s.db.JournalFault(err)
	}
	row := sqldb.JournalRow{ID: header.Journal, Seq: seq, Mark: mark, Host: host, Path: dir, At: now.UnixMilli()}
	return row, putJournal(t, row)
}

// putJournal stores what the ledger has of one of its journals.
func putJournal(t *sqldb.Tx, row sqldb.JournalRow) error {
	return t.Do(`INSERT INTO journal (id, seq, mark, host, path, at, retired_at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
		SET seq = excluded.seq, mark = excluded.mark, host = excluded.host, path = excluded.path, at = excluded.at,
		retired_at = excluded.retired_at`, row.ID, row.Seq, row.Mark, row.Host, row.Path, row.At, row.RetiredAt)
}

// closeFormer records, in the journal that this host has of the ledger from which this one was
// moved, that it was: the host that moved it had only its own. What retention has announced there holds
// here too: the audit moved along.
func (s *Store) closeFormer(ctx context.Context, op, parent string) error {
	var was struct {
		From sql.NullString `db:"moved_from"`
	}
	if err := s.db.Get(ctx, op, &was, `SELECT moved_from FROM ledger`); err != nil || !was.From.Valid {
		return err
	}
	dir := filepath.Join(parent, was.From.String)
	end, err := journal.ReadEnd(dir)
	if errors.Is(err, journal.ErrNone) {
		return nil
	}
	if err != nil {
		return s.db.JournalFault(err)
	}
	if end.Header.Reduced > 0 {
		err = s.NoteEnd(ctx, time.Now(), end.Header.Reduced)
	}
	if err != nil || end.Header.MovedTo != "" {
		return err
	}
	former, err := journal.Open(dir, end.Seq, end.Mark)
	if err != nil {
		return s.db.JournalFault(err)
	}
	header := end.Header
	header.MovedTo = s.db.Where
	err = former.WriteAnswers(journal.Record{Kind: journal.Tx, At: time.Now().UTC(), Head: &header})
	err = errors.Join(err, former.Close())
	if err != nil {
		return s.db.JournalFault(err)
	}
	return nil
}

// refuseNetwork refuses a folder on a file system whose flushes cannot be trusted. It checks the
// nearest existing parent.
func (s *Store) refuseNetwork(dir string) error {
	for {
		if magic, ok := s.db.Tune.FsMagic(dir); ok {
			if name := sqldb.NetworkFileSystem(magic); name != "" {
				return s.db.Refuse(sqldb.CodeNetworkFS, phrase.Errorf(
					"its journal's folder %s is on a network file system (%s), where locks and flushes cannot be trusted", dir, name),
					phrase.New("set state.journal to a folder on a local disk"))
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
