package sqldb

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/lib/pq"

	"github.com/safrasync/safrasync/internal/phrase"
)

// here is the address of the server as the server itself has it, and its port. The address in the DSN
// may be that of a proxy, and then leads to whatever server has the lead.
const here = `COALESCE(CASE family(inet_server_addr()) WHEN 6 THEN '[' || host(inet_server_addr()) || ']'
	ELSE host(inet_server_addr()) END || ':' || inet_server_port(), '')`

// NoteAddress notes from which server the host of our journal works.
func (t *Tx) NoteAddress() error {
	if t.S.D.Name != Postgres || t.S.Journal == nil {
		return nil
	}
	return t.Do(`UPDATE journal SET server = `+here+` WHERE id = ? AND server <> `+here, t.S.Journal.Header().Journal)
}

// self is what a server says of itself. Two servers of one system differ in when they began.
type self struct {
	Ledger, Server, Began string
	Standby               bool
}

func (s *DB) self(ctx context.Context, of *DB) (out self, err error) {
	err = of.Read.GetContext(ctx, &out, `SELECT COALESCE((SELECT id FROM ledger), '') AS ledger, pg_is_in_recovery() AS standby,
		CAST(EXTRACT(EPOCH FROM pg_postmaster_start_time()) AS TEXT) AS began, `+s.server.name+` AS server`)
	return out, err
}

// askOldWithin is how long the old server has for a connection, and for an answer.
const askOldWithin = 3 * time.Second

// AskOld asks the server from which a host has last worked, at the address that it has noted, with the
// options of the ledger. It returns an error if that is another server than that of this connection, and
// takes writes to this ledger; else what was found, for people.
func (s *DB) AskOld(ctx context.Context, o OpenOptions, host, noted string) (*phrase.Text, error) {
	at, err := netip.ParseAddrPort(noted)
	if err != nil {
		return phrase.New("it is not known at which address: it could not be asked"), nil
	}
	cfg, err := PostgresConfig(o)
	if err != nil {
		return nil, err
	}
	// The names stay: its certificate has one of them.
	cfg.Hostaddr, cfg.Port, cfg.ConnectTimeout = at.Addr(), at.Port(), askOldWithin
	cfg.TargetSessionAttrs = pq.TargetSessionAttrsAny
	for i := range cfg.Multi {
		cfg.Multi[i].Hostaddr, cfg.Multi[i].Port = at.Addr(), at.Port()
	}
	ours, err := s.self(ctx, s)
	if err != nil {
		return nil, s.Fault(ctx, "looking which server has the ledger", err)
	}
	old := &DB{Read: connectPostgres(cfg, askOldWithin, askOldWithin, s.Tune, true)}
	theirs, err := s.self(ctx, old)
	_ = old.Read.Close() // it was only asked
	var refused *pq.Error
	switch {
	case errors.As(err, &refused):
		return phrase.New("%s refuses to answer (%w)", at, err), nil
	case err != nil && at.Addr().IsLoopback():
		return phrase.New("%s can be asked only on that host", at), nil
	case err != nil:
		return phrase.New("%s does not answer (%w)", at, err), nil
	case theirs == ours:
		return phrase.New("%s leads to the server of this command: the old one could not be asked", at), nil
	case theirs.Ledger != ours.Ledger:
		return phrase.New("%s has another ledger", at), nil
	case theirs.Standby:
		return phrase.New("%s is a standby, to which nobody can write", at), nil
	}
	return nil, s.Refuse(CodeServer,
		phrase.Errorf("the server from which %s worked last answers at %s: it is %s, has this ledger and takes writes",
			host, at, ServerText(theirs.Server)),
		phrase.New("switch it off, or cut it off from every host, and run `safrasync check` on %s: "+
			"if it answers there, the host is not gone, and sends from that server", host))
}
