package state

import (
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/safrasync/safrasync/state/sqldb"
)

// witnessTogether reports whether one image of a disk, of a server or of this machine seems to contain
// ledger and witness.
func (s *Store) witnessTogether() bool {
	switch {
	case s.witnessHere():
		return true
	case IsFolder(s.options.Witness):
		return s.db.D.Name == sqldb.SQLite && sqldb.SameDevice(s.options.Witness, filepath.Dir(s.db.Where))
	}
	return s.db.D.Name == sqldb.Postgres && serversOf(s.options.Witness) == serversOf(s.options.DSN)
}

// serversOf returns the servers of a PostgreSQL that is open.
func serversOf(dsn string) string {
	cfg, _ := sqldb.PostgresConfig(sqldb.OpenOptions{DSN: dsn})
	return sqldb.PostgresServers(cfg)
}

// witnessHere reports whether ledger and witness both seem to be on this machine, whose image contains
// both then: also on two of its disks. A folder is elsewhere if it is on a network file system.
func (s *Store) witnessHere() bool {
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
