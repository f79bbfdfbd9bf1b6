package state

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/lib/pq"

	"github.com/safrasync/safrasync/trade"
)

// A PostgreSQL server says who it is: the system identifier that initdb gave it, and its timeline,
// which each promotion and each recovery to a point in time raises. The ledger remembers both, and a
// change stops the sending until a person has confirmed it (Rebind): a replica that was promoted may
// lack what was sent last, a restored copy lacks what was sent since, and only the journals of the
// hosts that sent it know.

// unread stands for a part that the role may not read. It equals everything.
const unread = "-"

const (
	readSystem   = `(SELECT CAST(system_identifier AS TEXT) FROM pg_control_system())`
	readTimeline = `CASE WHEN pg_is_in_recovery() THEN '-' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`
)

// server is what is known of PostgreSQL.
type server struct {
	query string // gives "system/timeline", as far as the role may read it

	mu    sync.Mutex
	known string // the last one that the ledger had
}

// askServer finds out what the role may read, and asks for it with each transaction from then on: no
// intent is stored on a server that was not looked at.
func (s *Store) askServer(ctx context.Context) error {
	for _, parts := range [][2]string{{readSystem, readTimeline}, {readSystem, `'-'`}, {`'-'`, readTimeline}, {`'-'`, `'-'`}} {
		s.server.query = parts[0] + ` || '/' || ` + parts[1]
		var text string
		err := s.read.GetContext(ctx, &text, `SELECT `+s.server.query)
		var refused *pq.Error
		if err == nil {
			s.d.mark += ` || ';' || ` + s.server.query
			return nil
		}
		if !errors.As(err, &refused) || refused.Code.Class() != "42" && refused.Code.Class() != "0A" && refused.Code.Class() != "55" {
			return s.fault(ctx, "opening the ledger", err)
		}
	}
	return nil
}

// sameServers tells whether two may be the same, as far as both are known.
func sameServers(a, b string) bool {
	x, y := serverParts(a), serverParts(b)
	for i := range x {
		if x[i] != y[i] && x[i] != unread && y[i] != unread {
			return false
		}
	}
	return true
}

func serverParts(text string) [2]string {
	system, timeline, ok := strings.Cut(text, "/")
	if !ok {
		return [2]string{unread, unread}
	}
	return [2]string{system, timeline}
}

// knowsMore tells whether b has a part that a lacks.
func knowsMore(a, b string) bool {
	x, y := serverParts(a), serverParts(b)
	return x[0] == unread && y[0] != unread || x[1] == unread && y[1] != unread
}

// knowServer compares the server with the one that the ledger was last used on. A ledger that knows none takes it.
func (s *Store) knowServer(ctx context.Context, mending bool) error {
	if s.d.name != Postgres {
		return nil
	}
	const op = "looking which server has the ledger"
	was, is, err := s.servers(ctx)
	switch {
	case err != nil:
		return err
	case !sameServers(was, is):
		if s.unconfirmed = mending; mending {
			return nil
		}
		return s.otherServer(was, is)
	case knowsMore(was, is):
		err = s.inTx(ctx, op, func(t *tx) error {
			return t.exec(`UPDATE ledger SET server = ? WHERE server = ?`, is, was)
		})
	}
	s.server.known = is
	return err
}

// servers gives the server that the ledger knows, and the present one.
func (s *Store) servers(ctx context.Context) (was, is string, err error) {
	err = s.read.QueryRowxContext(ctx, `SELECT server, `+s.server.query+` FROM ledger`).Scan(&was, &is)
	return was, is, s.fault(ctx, "looking which server has the ledger", err)
}

// sameServer refuses to go on when a connection led to another server than the one before. Once a
// person has confirmed it, the ledger knows it.
func (t *tx) sameServer() error {
	s := t.s
	if t.server == "" || s.unconfirmed {
		return nil
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if t.server == s.server.known {
		return nil
	}
	var was string
	if err := t.get(&was, `SELECT server FROM ledger`); err != nil {
		return err
	}
	if !sameServers(was, t.server) {
		return s.otherServer(was, t.server)
	}
	s.server.known = t.server
	return nil
}

func (s *Store) otherServer(was, is string) error {
	return &Error{
		Code: CodeServer, Path: s.where, Hint: "nothing is sent; compare the journal of every host with this ledger (`safrasync check` on each), then run `safrasync state rebind --reason TEXT`",
		Err: fmt.Errorf("%w: it was last used on %s, and this is %s; a server that was restored, or a replica that was promoted while it lagged behind, lacks what was sent last",
			trade.ErrOtherServer, serverText(was), serverText(is)),
	}
}

// serverText names a server for people.
func serverText(text string) string {
	p := serverParts(text)
	for i := range p {
		if p[i] == unread {
			p[i] = "not readable"
		}
	}
	return fmt.Sprintf("server %s (timeline %s)", p[0], strings.TrimLeft(p[1], "0"))
}
