package state

import (
	"net/netip"
	"strings"

	"github.com/safrasync/safrasync/state/sqldb"
)

// WitnessHere reports whether ledger and witness both seem to be on this machine, whose image contains
// both then: also on two of its disks. A folder is elsewhere if it is on a network file system.
func (s *Store) WitnessHere() bool {
	o := s.options
	switch {
	case o.Witness == "" || s.db.D.Name == sqldb.Postgres && !serverHere(o.DSN):
		return false
	case !IsFolder(o.Witness):
		return serverHere(o.Witness)
	}
	magic, ok := s.db.Tune.FsMagic(o.Witness)
	return ok && sqldb.NetworkFileSystem(magic) == ""
}

// serverHere reports whether a PostgreSQL is asked over a socket or the loopback interface.
func serverHere(dsn string) bool {
	cfg, err := sqldb.PostgresConfig(sqldb.OpenOptions{DSN: dsn})
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(strings.Trim(cfg.Host, "[]"))
	return err == nil && addr.IsLoopback() || cfg.Host == "localhost" || strings.HasPrefix(cfg.Host, "/")
}
