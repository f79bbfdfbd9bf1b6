package state

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Sizes returns the sizes of the ledger's parts in bytes.
func (s *Store) Sizes(ctx context.Context) (trade.Sizes, error) {
	const op = "measuring the ledger"
	var out trade.Sizes
	var err error
	switch {
	case s.db.Memory:
		return out, nil
	case s.db.D.Name == sqldb.SQLite:
		out.Ledger, err = fileSize(s.db.Where)
		if err == nil {
			out.WAL, err = fileSize(s.db.Where + "-wal")
		}
	default:
		err = s.db.Get(ctx, op, &out.Ledger, `SELECT pg_database_size(current_database())`)
	}
	if err != nil {
		return trade.Sizes{}, s.db.Fault(ctx, op, err)
	}
	if s.db.JournalPath != "" {
		out.Journal, err = folderSize(s.db.JournalPath)
	}
	return out, s.db.Fault(ctx, op, err)
}

// fileSize returns the size of a file, or 0 if it does not exist.
func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// folderSize returns the total size of the files under a folder. A file that is removed meanwhile
// is not counted.
func folderSize(path string) (sum int64, err error) {
	err = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir():
			return nil
		}
		size, err := fileSize(at)
		sum += size
		return err
	})
	return sum, err
}

// Spaces returns the free space in the folders of the ledger's file and of its journal, if they are
// on this host. It does not know the disks of a PostgreSQL server.
func (s *Store) Spaces() []trade.Space {
	return s.spacesOf(s.folders(s.db.JournalPath))
}

// inFile reports whether the ledger is a file of this host.
func (s *Store) inFile() bool { return s.db.D.Name == sqldb.SQLite && !s.db.Memory }

// folders returns the folder of the ledger's file, if it has one, and that of its journal, unless it is "".
func (s *Store) folders(journal string) (out []string) {
	if s.inFile() {
		out = append(out, filepath.Dir(s.db.Where))
	}
	if journal != "" {
		out = append(out, journal)
	}
	return out
}

func (s *Store) spacesOf(folders []string) (out []trade.Space) {
	for _, folder := range folders {
		if free, ok := s.db.Tune.Free(folder); ok {
			out = append(out, trade.Space{Folder: folder, Free: free, Low: free < sqldb.LowSpace})
		}
	}
	return out
}
