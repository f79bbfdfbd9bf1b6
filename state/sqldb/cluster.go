package sqldb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/lib/pq"

	"github.com/safrasync/safrasync/trade"
)

// A PostgreSQL server is identified by the system identifier that initdb gave it and by its
// timeline, which each promotion and each point-in-time recovery raises. The ledger stores both. If
// they change, nothing is sent until a person has confirmed the change (Rebind): a promoted replica
// may lack what was sent last, and a restored copy lacks what was sent since. Only the journals of
// the hosts that sent it can tell.

// Unread replaces a part that the role may not read. It equals every value.
const Unread = "-"

const (
	readSystem   = `(SELECT CAST(system_identifier AS TEXT) FROM pg_control_system())`
	readTimeline = `CASE WHEN pg_is_in_recovery() THEN '-' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`
)

// Server is what is known about the PostgreSQL server.
type Server struct {
	query string // returns "system/timeline", as far as the role may read it
	// The server may not be the one that the ledger has recorded: nothing is sent, only compared
	// and confirmed.
	unconfirmed bool

	mu    sync.Mutex
	known string // the value that was last read from the ledger
}

// askServer finds out which parts the role may read, and adds them to the first statement of each
// transaction: no intent is stored on a server that was not checked.
func (s *DB) askServer(ctx context.Context) error {
	for _, parts := range [][2]string{
		{readSystem, readTimeline},
		{readSystem, `'-'`},
		{`'-'`, readTimeline},
		{`'-'`, `'-'`},
	} {
		s.server.query = parts[0] + ` || '/' || ` + parts[1]
		var text string
		err := s.Read.GetContext(ctx, &text, `SELECT `+s.server.query)
		var refused *pq.Error
		if err == nil {
			s.D.mark += ` || ';' || ` + s.server.query
			return nil
		}
		if !errors.As(err, &refused) || refused.Code.Class() != "42" && refused.Code.Class() != "0A" &&
			refused.Code.Class() != "55" {
			return s.Fault(ctx, "opening the ledger", err)
		}
	}
	return nil
}

// SameServers reports whether two servers may be the same, as far as both are known.
func SameServers(a, b string) bool {
	x, y := ServerParts(a), ServerParts(b)
	for i := range x {
		if x[i] != y[i] && x[i] != Unread && y[i] != Unread {
			return false
		}
	}
	return true
}

// ServerParts splits "system/timeline". A part that is not known is Unread.
func ServerParts(text string) [2]string {
	system, timeline, ok := strings.Cut(text, "/")
	if !ok {
		return [2]string{Unread, Unread}
	}
	return [2]string{system, timeline}
}

// knowsMore reports whether b has a part that a lacks.
func knowsMore(a, b string) bool {
	x, y := ServerParts(a), ServerParts(b)
	return x[0] == Unread && y[0] != Unread || x[1] == Unread && y[1] != Unread
}

// KnowServer compares the server with the one on which the ledger was last used. If the ledger has
// recorded none, KnowServer records it. With mending, another server is accepted: such a
// command sends nothing, and only compares and confirms.
func (s *DB) KnowServer(ctx context.Context, mending bool) error {
	if s.D.Name != Postgres {
		return nil
	}
	const op = "looking which server has the ledger"
	was, is, err := s.Servers(ctx)
	switch {
	case err != nil:
		return err
	case !SameServers(was, is):
		if s.server.unconfirmed = mending; mending {
			return nil
		}
		return s.OtherServer(was, is)
	case knowsMore(was, is):
		err = s.InTx(ctx, op, func(t *Tx) error {
			return t.Do(`UPDATE ledger SET server = ? WHERE server = ?`, is, was)
		})
	}
	s.server.known = is
	return err
}

// Servers returns the server that the ledger has recorded, and the present one.
func (s *DB) Servers(ctx context.Context) (was, is string, err error) {
	err = s.Read.QueryRowxContext(ctx, `SELECT server, `+s.server.query+` FROM ledger`).Scan(&was, &is)
	return was, is, s.Fault(ctx, "looking which server has the ledger", err)
}

// SameServer returns an error if a connection leads to another server than before and the ledger
// has not recorded that server, as it does once a person has confirmed it.
func (t *Tx) SameServer() error {
	s := t.S
	if t.Server == "" || s.server.unconfirmed {
		return nil
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if t.Server == s.server.known {
		return nil
	}
	var was string
	if err := t.Get(&was, `SELECT server FROM ledger`); err != nil {
		return err
	}
	if !SameServers(was, t.Server) {
		return s.OtherServer(was, t.Server)
	}
	s.server.known = t.Server
	return nil
}

// OtherServer returns the error for a ledger on another server than the one on which it was last
// used.
func (s *DB) OtherServer(was, is string) error {
	return &Error{
		Code: CodeServer, Path: s.Where,
		Hint: "nothing is sent; compare the journal of every host with this ledger (`safrasync check` on each), then run `safrasync state rebind --reason TEXT`",
		Err: fmt.Errorf(
			"%w: it was last used on %s, and this is %s; a server that was restored, or a replica that was promoted while it lagged behind, lacks what was sent last",
			trade.ErrOtherServer, ServerText(was), ServerText(is)),
	}
}

// ServerText describes a server for people.
func ServerText(text string) string {
	p := ServerParts(text)
	// PostgreSQL names files with it in hexadecimal, and tells people the decimal number.
	if number, err := strconv.ParseUint(p[1], 16, 32); err == nil {
		p[1] = strconv.FormatUint(number, 10)
	}
	for i := range p {
		if p[i] == Unread {
			p[i] = "not readable"
		}
	}
	return fmt.Sprintf("server %s (timeline %s)", p[0], p[1])
}
