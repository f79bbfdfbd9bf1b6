package state

import (
	"context"
	"errors"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
)

// New creates the ledger that the options name, with its journal. It refuses if a ledger already
// exists there, or if a journal records that one existed.
func New(ctx context.Context, o sqldb.OpenOptions) (*Store, error) {
	look := o
	look.ReadOnly, look.Begin, look.Journal = true, true, ""
	s, err := Open(ctx, look)
	var known *sqldb.Error
	switch {
	case err == nil:
		return nil, errors.Join(standing(s.db.Where), s.Close())
	case errors.As(err, &known) && known.Code == sqldb.CodeOlder:
		return nil, standing(known.Path)
	case !errors.Is(err, sqldb.ErrNoLedger):
		return nil, err
	}
	o.ReadOnly, o.Begin = false, true
	s, err = Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if !s.db.Begun { // another process created it first
		return nil, errors.Join(standing(s.db.Where), s.Close())
	}
	return s, nil
}

// Where returns the path of the ledger's file, or its host and database, for display.
func (s *Store) Where() string { return s.db.Where }

// JournalFolder returns the folder of the ledger's journal, or "" if none is open.
func (s *Store) JournalFolder() string { return s.db.JournalPath }

func standing(where string) error {
	return sqldb.Refuse(sqldb.CodeStands, where,
		errors.New("a ledger stands there already; nothing was changed"),
		phrase.New("use it, or name another place in state.dsn"))
}
