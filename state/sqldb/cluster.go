package sqldb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lib/pq"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/trade"
)

// A PostgreSQL server is identified by the system identifier that initdb gave it and by its
// timeline, which each promotion and each point-in-time recovery raises. The ledger records both,
// and a term: a number and a random value that are drawn anew each time that the ledger goes on
// after a change of its server. Each host keeps in its journal what it has confirmed of them, with
// the end of the server's write-ahead log and the last records of the other hosts' journals.
//
// If the ledger is on another server than the recorded one, or has less than a host has confirmed,
// that host asks all others to report (ledger.asked), and nothing is sent from anywhere: a promoted
// replica, a restored copy, and a server that was given up and is used again lack what was sent
// last, and only the journals of the hosts that sent it can tell. A host reports (journal.reported)
// once the ledger has everything in its journal. If all have reported from a promoted server, they
// go on by themselves. In all other cases a person confirms (Rebind).

// Unread replaces a part that the role may not read. It equals every value.
const Unread = "-"

const (
	readSystem   = `(SELECT CAST(system_identifier AS TEXT) FROM pg_control_system())`
	readTimeline = `CASE WHEN pg_is_in_recovery() THEN '-' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`
	// What is flushed is never lost by a crash of the server; what is only written may be.
	readWAL = `CASE WHEN pg_is_in_recovery() THEN 0 ELSE pg_current_wal_flush_lsn() - '0/0' END`
	// The fields of a LedgerState; first the server and its log.
	readState = `(SELECT CAST(json_build_object('server', %s, 'wal', %s, 'number', l.term, 'value', l.term_value,
			'asked', l.asked, 'recorded', l.server, 'seen', j.seen, 'at', j.at, 'retired', j.retired) AS TEXT)
		FROM (SELECT json_object_agg(id, seq) FILTER (WHERE retired_at IS NULL) AS seen,
			json_object_agg(id, at) FILTER (WHERE retired_at IS NULL) AS at,
			json_object_agg(id, TRUE) FILTER (WHERE retired_at IS NOT NULL) AS retired FROM journal) j
		LEFT JOIN ledger l ON TRUE)`
)

// Cluster is what is known about the PostgreSQL server.
type Cluster struct {
	// SQL of "system/timeline", and of the ledger's state, as far as the role may read the server
	name, state string
	// The ledger was opened to compare and to confirm, and nothing is sent.
	unconfirmed bool

	mu    sync.Mutex
	known Confirmed
	noted map[string]int64 // when the other journals last had a record about rows, as in our journal
}

// Confirmed is what a process or a journal has confirmed of the ledger.
type Confirmed struct {
	journal.Term
	Seen map[string]int64 // the last record of each journal that the ledger had
}

// LedgerState is what a ledger says of itself, and the server that a connection leads to.
type LedgerState struct {
	Confirmed
	Recorded string           // the server on which the ledger was last confirmed
	Asked    string           // a Reason, and the server from which the hosts are to report; "" = they need not
	At       map[string]int64 // when each journal last had a record about rows
	Retired  map[string]bool  // journals that are no longer in use
}

// Reason is why the hosts must report before anything is sent.
type Reason string

// The reasons, in order: a later one stays when an earlier one is found too.
const (
	Promoted Reason = "promoted" // the same server on a higher timeline: goes on when all have reported
	Elsewise Reason = "other"    // another server
	WentBack Reason = "back"     // the ledger has less than a host has confirmed
)

var gravity = map[Reason]int{"": 0, Promoted: 1, Elsewise: 2, WentBack: 3}

// errUnsigned is returned if this host has not yet confirmed the term of the ledger.
var errUnsigned = errors.New("this host's journal has not confirmed the term of the ledger")

// askServer finds out which parts the role may read, and adds them to the first statement of each
// transaction, with the state of the ledger: no intent is stored on a server that was not checked.
func (s *DB) askServer(ctx context.Context) error {
	for _, parts := range [][3]string{
		{readSystem, readTimeline, readWAL},
		{readSystem, readTimeline, `0`},
		{readSystem, `'-'`, `0`},
		{`'-'`, readTimeline, `0`},
		{`'-'`, `'-'`, `0`},
	} {
		s.server.name = parts[0] + ` || '/' || ` + parts[1]
		s.server.state = fmt.Sprintf(readState, s.server.name, parts[2])
		var text string
		err := s.Read.GetContext(ctx, &text, `SELECT `+s.server.name+` || `+parts[2])
		var refused *pq.Error
		if err == nil {
			s.D.mark += ` || ';' || ` + s.server.state
			return nil
		}
		if !errors.As(err, &refused) || refused.Code.Class() != "42" && refused.Code.Class() != "0A" &&
			refused.Code.Class() != "55" {
			return s.Fault(ctx, "opening the ledger", err)
		}
	}
	return nil
}

// State reads the state of the ledger in a transaction. In SQLite there is none.
func (t *Tx) State() (now LedgerState, err error) {
	if t.S.D.Name != Postgres {
		return now, nil
	}
	var text string
	if err := t.Get(&text, `SELECT `+t.S.server.state); err != nil {
		return now, err
	}
	err = json.Unmarshal([]byte(text), &now)
	return now, err
}

// LedgerState reads the state of the ledger.
func (s *DB) LedgerState(ctx context.Context) (now LedgerState, err error) {
	if s.D.Name != Postgres {
		return now, nil
	}
	const op = "looking which server has the ledger"
	var text string
	if err := s.Get(ctx, op, &text, `SELECT `+s.server.state); err != nil {
		return now, err
	}
	err = json.Unmarshal([]byte(text), &now)
	return now, s.Fault(ctx, op, err)
}

// sameServers reports whether two servers may be the same, as far as both are known.
func sameServers(a, b string) bool {
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

// later reports whether b is the same server as a on a higher timeline. Timelines are hexadecimal
// numbers of equal length.
func later(a, b string) bool {
	x, y := ServerParts(a), ServerParts(b)
	return x[0] == y[0] && x[0] != Unread && x[1] != Unread && y[1] != Unread && x[1] < y[1]
}

// knowsMore reports whether b has a part that a lacks.
func knowsMore(a, b string) bool {
	x, y := ServerParts(a), ServerParts(b)
	return x[0] == Unread && y[0] != Unread || x[1] == Unread && y[1] != Unread
}

// KnowServer records the server, if the ledger has recorded none. With mending, nothing is compared:
// such a command sends nothing, and only compares and confirms. Otherwise it refuses what another
// host, or this one, has to confirm first, unless a journal will be attached, which can do so.
func (s *DB) KnowServer(ctx context.Context, o OpenOptions) error {
	s.server.unconfirmed = o.Mending
	now, err := s.LedgerState(ctx)
	switch {
	case err != nil || now.Server == "":
		return err
	case sameServers(now.Recorded, now.Server) && knowsMore(now.Recorded, now.Server):
		return s.InTx(ctx, "looking which server has the ledger", func(t *Tx) error {
			return t.Do(`UPDATE ledger SET server = ? WHERE server = ?`, now.Server, now.Recorded)
		})
	case o.Mending || o.Journal != "":
		return nil
	}
	return s.Unconfirmed(Confirmed{}, now)
}

// Confirmed returns what this process, or its host's journal, has confirmed of the ledger.
func (s *DB) Confirmed() Confirmed {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	return Confirmed{s.server.known.Term, maps.Clone(s.server.known.Seen)}
}

// Confirm adds what was seen of the ledger.
func (s *DB) Confirm(c Confirmed) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	known := &s.server.known
	switch {
	case c.Number > known.Number, c.Number == known.Number && later(known.Server, c.Server),
		known.Server == "":
		known.Term = c.Term
	case c.Number == known.Number && c.Server == known.Server:
		known.WAL = max(known.WAL, c.WAL)
	}
	if known.Seen == nil {
		known.Seen = map[string]int64{}
	}
	for id, seq := range c.Seen {
		if s.Journal == nil || id != s.Journal.Header().Journal {
			known.Seen[id] = max(known.Seen[id], seq)
		}
	}
}

// ReasonOf returns why a ledger may lack something, with an error that says so; "" if nothing shows
// that it does.
func (s *DB) ReasonOf(had Confirmed, now LedgerState) (Reason, error) {
	if now.Server == "" {
		return "", nil
	}
	if err := s.back(had, now); err != nil {
		return WentBack, err
	}
	err := s.Refuse(CodeServer, phrase.Errorf(
		"%w: it was last used on %s, and this is %s; a server that was restored, or a replica that was promoted while it lagged behind, lacks what was sent last",
		trade.ErrOtherServer, ServerText(now.Recorded), ServerText(now.Server)), nil)
	switch {
	case sameServers(now.Recorded, now.Server):
		return "", nil
	case later(now.Recorded, now.Server):
		return Promoted, err
	default:
		return Elsewise, err
	}
}

// Unconfirmed returns the error for a ledger from which nothing may be sent: it may lack something,
// or a host found that it may. It returns nil if there is no reason, and errUnsigned if this host only
// has to confirm a new term.
func (s *DB) Unconfirmed(had Confirmed, now LedgerState) error {
	reason, err := s.ReasonOf(had, now)
	asked, _, _ := strings.Cut(now.Asked, " ")
	var known *Error
	switch {
	case errors.As(err, &known):
	case now.Asked != "":
		known = &Error{Code: CodeServer, Path: s.Where, Err: phrase.Errorf(
			"%w, or went back, as a host found, and has not been confirmed since", trade.ErrOtherServer)}
	case now.Number > had.Number:
		return errUnsigned
	default:
		return nil
	}
	switch {
	case known.Hint != nil:
	case max(gravity[reason], gravity[Reason(asked)]) == gravity[Promoted]:
		known.Hint = phrase.New(PromotedHint)
	default:
		known.Hint = phrase.New(OtherServerHint)
	}
	return known
}

// Unsettled is Unconfirmed for people: it names the hosts that do not count as in step, and says if
// there is none that only a person is awaited.
func (t *Tx) Unsettled(had Confirmed, now LedgerState) error {
	err := t.S.Unconfirmed(had, now)
	var known *Error
	if now.Asked == "" || !errors.As(err, &known) {
		return err
	}
	silent, err := t.Silent(now)
	if err != nil {
		return err
	}
	reason, server, _ := strings.Cut(now.Asked, " ")
	if len(silent) > 0 {
		hosts := trade.Map(silent, func(j JournalRow) string { return j.Host })
		known.Err = phrase.Errorf("%w; not yet in step with it: %s", known.Err,
			strings.Join(slices.Compact(hosts), ", "))
	} else if gravity[Reason(reason)] > gravity[Promoted] && server == now.Server {
		known.Hint = phrase.New(rebindHint)
	}
	return known
}

// Silent returns the error for a ledger that cannot be confirmed before some hosts have reported.
func (s *DB) Silent(hosts []string) error {
	return s.Refuse(CodeServer,
		phrase.Errorf("%w: not yet reported that it has everything in their journals: %s", trade.ErrOtherServer,
			strings.Join(hosts, ", ")),
		phrase.New("a running service reports within 10 seconds: start it there, and run `safrasync rebuild` there first where `safrasync check` says that something is missing; "+
			"what a host sent is only in its journal: only if it is gone for ever (run `safrasync check` there: if it answers, it is not), repeat the command with --gone HOST --old-server-off TEXT, and look on the platform for what it sent last"))
}

// What to do about a ledger that must be confirmed.
const (
	PromotedHint = "nothing is sent; the hosts go on by themselves when the journal of each is in step with it: start the service on every host; " +
		"where `safrasync check` reports an older ledger, stop it, run `safrasync rebuild --reason TEXT` and start it again; the old server must be off or fenced; " +
		"if a host is gone for ever (run `safrasync check` there: if it answers, it is not), run `safrasync state rebind --gone HOST --old-server-off TEXT --reason TEXT`"
	// GoneHint is for a host of which a person says that it is gone.
	GoneHint = "run `safrasync check` on that host first: if it answers there, the host is not gone, and while it reaches the old server every row goes twice; " +
		"switch the old server off or cut it off from every host, and say who did it and how"
	OtherServerHint = "nothing is sent; make sure that the old server is off or fenced, run `safrasync check` on every host, and where it reports an older ledger stop the service, run `safrasync rebuild --reason TEXT` and start it again, " +
		"then `safrasync state rebind --reason TEXT` on one"
	rebindHint = "nothing is sent; all hosts are in step with it; what remains: make sure that the other server is off or fenced, and run `safrasync state rebind --reason TEXT` on one"
	// WentBackHint is for a ledger that has less than a host has confirmed.
	WentBackHint = "nothing is sent; what was sent from the newer state is not in this one: if that server can be brought back, do so; " +
		"if not, make sure that it is off or fenced, run `safrasync rebuild --reason TEXT` on every host (stop its service first, and start it after that), " +
		"and then `safrasync state rebind --reason TEXT` on one"
)

// back returns an error if a ledger has less than was confirmed of it.
func (s *DB) back(had Confirmed, now LedgerState) error {
	var why *phrase.Text
	switch {
	case now.Number < had.Number:
		why = phrase.New("this host has confirmed its term %d, and it is at term %d", had.Number, now.Number)
	case now.Number > had.Number:
		return nil
	case now.Value != had.Value:
		why = phrase.New("its term %d is not the one that this host has confirmed: that was another copy of it", now.Number)
	case later(now.Server, had.Server):
		why = phrase.New("this host has used it on %s, and this is %s", ServerText(had.Server), ServerText(now.Server))
	case now.Server == had.Server && now.WAL != 0 && now.WAL < had.WAL:
		why = phrase.New("the write-ahead log of its server ended at %s when this host last saw it, and ends at %s now: "+
			"an older state of the server was put back", walText(had.WAL), walText(now.WAL))
	default:
		for id, seq := range had.Seen {
			if now.Seen[id] < seq && !now.Retired[id] {
				return s.Refuse(CodeRolledBack, phrase.Errorf(
					"%w: it had record %d of the journal %s, and has %d of it now: it lacks what that host sent",
					trade.ErrWentBack, seq, id, now.Seen[id]),
					phrase.New(WentBackHint))
			}
		}
		return nil
	}
	return s.Refuse(CodeRolledBack, phrase.Errorf("%w: %w", trade.ErrWentBack, why),
		phrase.New(WentBackHint))
}

func walText(at int64) string { return fmt.Sprintf("%X/%X", at>>32, at&(1<<32-1)) }

// SameServer returns an error if the ledger is on another server than the one that it has recorded,
// or has less than this process, or the journal of its host, has confirmed.
func (t *Tx) SameServer() error {
	if t.Now.Server == "" || t.S.server.unconfirmed {
		return nil
	}
	err := t.S.Unconfirmed(t.had, t.Now)
	if errors.Is(err, errUnsigned) && t.S.Journal == nil { // there is no journal to write it to
		err = nil
	}
	if err == nil {
		t.S.Confirm(t.Now.Confirmed)
	}
	return err
}

// Ask asks all hosts to report, unless they were asked for this reason or a graver one.
func (t *Tx) Ask(now *LedgerState, reason Reason) error {
	asked, server, _ := strings.Cut(now.Asked, " ")
	if gravity[Reason(asked)] > gravity[reason] {
		reason = Reason(asked)
	}
	if Reason(asked) == reason && server == now.Server {
		return nil
	}
	now.Asked = string(reason) + " " + now.Server
	if err := t.Do(`UPDATE journal SET reported = 0`); err != nil {
		return err
	}
	return t.Do(`UPDATE ledger SET asked = ?`, now.Asked)
}

// Report notes that the ledger has everything in the journal with this id, whose host has confirmed a
// term, if the hosts were asked.
func (t *Tx) Report(id string, term int64) error {
	return t.Do(`UPDATE journal SET reported = ?, reported_at = `+t.S.D.Now+` WHERE id = ? AND
		(SELECT asked FROM ledger) <> ''`, term+1, id)
}

// reportLasts is how long a report counts where a person has to confirm. A host that has reported from a server in
// place of the one that it has confirmed may send from that one again, and then lacks what it sent.
// A running service reports every ten seconds.
const reportLasts = 30 * time.Second

// Silent returns the journals, in order of their hosts, that do not count as in step.
func (t *Tx) Silent(now LedgerState) (silent []JournalRow, err error) {
	lasts := reportLasts
	if now.MayGoOn() { // its host sends from no earlier server any more
		lasts = math.MaxInt32 * time.Second
	}
	err = t.All(&silent, `SELECT id, host FROM journal WHERE retired_at IS NULL AND
		(reported = 0 OR reported_at < `+t.S.D.Now+` - ?) ORDER BY host`, lasts.Milliseconds())
	return silent, err
}

// Draw draws a new term, above every one that a host has reported: from now on the ledger belongs to
// the present server.
func (t *Tx) Draw(now LedgerState, had Confirmed) error {
	var reported int64
	if err := t.Get(&reported, `SELECT COALESCE(MAX(reported), 0) FROM journal`); err != nil {
		return err
	}
	return t.Do(`UPDATE ledger SET server = ?, term = ?, term_value = ?, asked = ''`, now.Server,
		max(now.Number, had.Number, reported-1)+1, NewID())
}

// NewsOfOthers reports whether another journal has records about rows that ours does not tell of.
func (t *Tx) NewsOfOthers() bool {
	if t.S.Journal == nil {
		return false
	}
	ours := t.S.Journal.Header().Journal
	t.S.server.mu.Lock()
	defer t.S.server.mu.Unlock()
	for id, at := range t.Now.At {
		if id != ours && t.S.server.noted[id] != at {
			return true
		}
	}
	return false
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

// MayGoOn reports whether the ledger may go on without a person once every host has reported: its
// server was promoted, and no host found that anything went back.
func (now LedgerState) MayGoOn() bool { return now.Asked == string(Promoted)+" "+now.Server }

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
