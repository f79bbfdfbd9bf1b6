package state

import (
	"errors"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
)

// ServedBy returns the processes that serve the SQLite ledger at a path, even if the file has since
// been removed or replaced: they keep the one that they opened. It works on Linux only.
func ServedBy(path string) []string { return sqldb.OpenIn(path + ".run") }

// Serve makes this process the only `run` of a SQLite ledger until release is called or the process
// ends (I12, F061). All other commands work beside it. On PostgreSQL several processes may serve
// one ledger: leases give each job to one of them.
func (s *Store) Serve() (release func() error, err error) {
	if s.db.D.Name != sqldb.SQLite || s.db.Memory {
		return func() error { return nil }, nil
	}
	release, err = journal.TryLock(s.db.Where + ".run")
	var held *journal.HeldError
	switch {
	case errors.As(err, &held):
		return nil, s.db.Refuse(sqldb.CodeServed,
			phrase.Errorf("`safrasync run` serves it already, as process %s", held.PID),
			phrase.New("wait for it, or stop it; `safrasync sync` works beside it"))
	case err != nil:
		return nil, sqldb.Permission(s.db.Where+".run", err)
	}
	return release, nil
}
