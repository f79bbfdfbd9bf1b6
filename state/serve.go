package state

import (
	"errors"
	"fmt"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
)

// ServedBy are the processes that serve the SQLite ledger at a path, also when its file is gone or
// another one: they hold the one that they began with. It is known on Linux only.
func ServedBy(path string) []string { return sqldb.OpenIn(path + ".run") }

// Serve makes this process the only `run` of a SQLite ledger until release is called, or it ends
// (I12, F061). Every other command works beside it. On PostgreSQL several may serve one ledger: the
// leases keep their jobs apart.
func (s *Store) Serve() (release func() error, err error) {
	if s.db.D.Name != sqldb.SQLite || s.db.Memory {
		return func() error { return nil }, nil
	}
	release, err = journal.TryLock(s.db.Where + ".run")
	var held *journal.HeldError
	switch {
	case errors.As(err, &held):
		return nil, &sqldb.Error{
			Code: sqldb.CodeServed, Path: s.db.Where, Hint: "wait for it, or stop it; `safrasync sync` works beside it",
			Err: fmt.Errorf("`safrasync run` serves it already, as process %s", held.PID),
		}
	case err != nil:
		return nil, sqldb.Permission(s.db.Where+".run", err)
	}
	return release, nil
}
