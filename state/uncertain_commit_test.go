package state

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// What the proxy does with the next COMMIT.
const (
	pass    int32 = iota
	swallow       // the server commits, the answer is lost
	lose          // the COMMIT never reaches the server
	delay         // our side is cut, the server gets the COMMIT when release is closed
	isolate       // the server commits, the answer is lost, and nobody gets through any more
)

// cutter is a TCP proxy in front of PostgreSQL that breaks connections at their COMMIT.
type cutter struct {
	target  string
	listen  net.Listener
	next    atomic.Int32
	closed  atomic.Bool // refuse new connections
	release chan struct{}
	cuts    atomic.Int32
	wg      sync.WaitGroup

	mu      sync.Mutex
	clients map[net.Conn]struct{} // that are served
}

func newCutter(t *testing.T, dsn string) (*cutter, string) {
	t.Helper()
	port := regexp.MustCompile(`port=\d+`).FindString(dsn)
	listen := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	c := &cutter{
		target: "127.0.0.1:" + port[len("port="):], listen: listen, release: make(chan struct{}),
		clients: map[net.Conn]struct{}{},
	}
	c.wg.Go(func() {
		for {
			client, err := listen.Accept()
			if err != nil {
				return
			}
			if !c.admit(client) {
				_ = client.Close()
				continue
			}
			c.wg.Go(func() { c.serve(client) })
		}
	})
	t.Cleanup(func() { _ = listen.Close() })
	return c, strings.Replace(dsn, port, fmt.Sprint("port=", listen.Addr().(*net.TCPAddr).Port), 1)
}

// admit reports whether a connection is served.
func (c *cutter) admit(client net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		return false
	}
	c.clients[client] = struct{}{}
	return true
}

// alone refuses new connections and cuts all but one: the pool may keep others that are idle.
func (c *cutter) alone(client net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed.Store(true)
	for other := range c.clients {
		if other != client {
			_ = other.Close()
		}
	}
}

// serve copies one connection, message by message in the client's direction.
func (c *cutter) serve(client net.Conn) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.clients, client)
		_ = client.Close()
	}()
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", c.target)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var mute atomic.Bool
	c.wg.Go(func() {
		defer func() { _ = client.Close() }()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if err != nil || mute.Load() { // the answer to the COMMIT has come, and goes no further
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	})
	for first := true; ; first = false {
		head := make([]byte, 5)
		if first {
			head = head[:4] // the first message has no type
		}
		if _, err := io.ReadFull(client, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return
		}
		what := pass
		if head[0] == 'Q' && strings.HasPrefix(string(body), "COMMIT") {
			what = c.next.Swap(pass)
		}
		if what != pass {
			c.cuts.Add(1)
		}
		switch what {
		case lose:
			return
		case delay:
			_ = client.Close()
			<-c.release
		case swallow:
			mute.Store(true)
		case isolate:
			c.alone(client)
			mute.Store(true)
		}
		if _, err := server.Write(append(head, body...)); err != nil {
			return
		}
	}
}

func TestF050ACommitWhoseAnswerIsLostIsReportedAsWhatItWas(t *testing.T) {
	t.Parallel()
	for name, what := range map[string]int32{"the server had committed": swallow, "the server had not got it": lose} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, dsn := newCutter(t, pgtest.Database(t))
			s := mustOpen(t, sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: dsn})
			lease := mustLease(t, s, "contracts")
			c.next.Store(what)
			es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
			c.next.Store(what)
			sent := mustSend(t, s, lease, es[0])
			c.next.Store(what)
			r := mustCommit(t, s, lease,
				trade.Group{
					Settle:  []trade.Settlement{created(sent, "remote-a")},
					Intents: []trade.Intent{intentOf(es[1])},
				})
			if !r.Settled[sent.ID] || len(r.Claimed) != 1 {
				t.Errorf("result: %+v", r)
			}
			if got := c.cuts.Load(); got != 3 {
				t.Errorf("the proxy cut %d commits, want 3: the test tests nothing", got)
			}
			for _, e := range es {
				if attempts, err := s.Attempts(t.Context(), e.ID); err != nil || len(attempts) != 1 {
					t.Errorf("attempts of %s: %d, %v; want 1", e.Key, len(attempts), err)
				}
			}
			if got := statesOf(t, s, "contracts"); got["a"] != trade.Accepted || got["b"] != trade.Sending ||
				len(got) != 2 {
				t.Errorf("states: %v", got)
			}
			mustAddUp(t, s, "contracts")
		})
	}
}

func TestACommitThatTheServerStillWorksOnIsWaitedFor(t *testing.T) {
	t.Parallel()
	direct := pgtest.Database(t)
	c, dsn := newCutter(t, direct)
	watcher := mustOpen(t, sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: direct})
	s := mustOpen(t, sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: dsn})
	lease := mustLease(t, s, "contracts")
	c.next.Store(delay)
	done := make(chan error, 1)
	go func() {
		_, err := s.Record(t.Context(), lease, trade.Page{New: []trade.Entry{newEntry("a")}})
		done <- err
	}()
	// Our side is cut and looks for its mark, which the server's transaction still holds.
	waitFor(t, "the look at the mark waits", func() bool {
		var n int
		must.Do(t, watcher.db.Read.Get(&n,
			`SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%tx_mark%'`))
		return n == 1
	})
	close(c.release)
	if err := <-done; err != nil {
		t.Errorf("Record: %v, want no error: the commit arrived late, and was seen", err)
	}
	if got := statesOf(t, watcher, "contracts"); len(got) != 1 {
		t.Errorf("rows: %v, want one", got)
	}
	mustAddUp(t, watcher, "contracts")
}

func TestACommitThatCannotBeReadBackIsUncertain(t *testing.T) {
	t.Parallel()
	direct := pgtest.Database(t)
	c, dsn := newCutter(t, direct)
	tune := sqldb.DefaultTuning
	tune.Settle = 500 * time.Millisecond
	s := mustOpenTuned(t, sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: dsn}, tune)
	lease := mustLease(t, s, "contracts")
	c.next.Store(isolate)
	_, err := s.Record(t.Context(), lease, trade.Page{New: []trade.Entry{newEntry("a")}})
	if !errors.Is(err, trade.ErrUncertain) {
		t.Fatalf("error = %v, want ErrUncertain", err)
	}
	if got := statesOf(t, mustOpen(t, sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: direct}),
		"contracts"); len(got) != 1 {
		t.Errorf("rows: %v; the server had committed", got)
	}
	c.closed.Store(false)
	if lost, err := s.Record(t.Context(), lease,
		trade.Page{New: []trade.Entry{newEntry("a"), newEntry("b")}}); lost != 1 || err != nil {
		t.Errorf("the same again: lost %d, %v", lost, err)
	}
	mustAddUp(t, s, "contracts")
}

func TestF052TheLedgerWorksAgainAfterARestartOfItsServer(t *testing.T) {
	t.Parallel()
	server := pgtest.Server(t)
	s := mustOpen(t, sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: server.Database(t)})
	lease := mustLease(t, s, "contracts")
	e := mustRecord(t, s, lease, newEntry("a"))[0]
	sent := mustSend(t, s, lease, e)
	server.Stop(t)
	_, err := s.Commit(t.Context(), lease, trade.Group{At: at, Settle: []trade.Settlement{created(sent, "remote-a")}})
	wantCode(t, err, sqldb.CodeUnreachable)
	if errors.Is(err, trade.ErrUncertain) {
		t.Errorf("no commit was begun, but the error is %v", err)
	}
	server.Start(t)
	if r := mustSettle(t, s, lease, created(sent, "remote-a")); !r.Settled[sent.ID] {
		t.Errorf("result: %+v", r)
	}
	mustAddUp(t, s, "contracts")
}

// The disk of a SQLite ledger cannot be made to fail here; what is done then can be run by itself.
func TestF048AMarkIsFoundFromANewConnection(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[0].open(t))
	var mark string
	must.Do(t, s.db.InTx(t.Context(), "marking", func(tx *sqldb.Tx) error {
		return tx.Get(&mark, `SELECT id FROM tx_mark WHERE owner = ? ORDER BY at DESC, slot DESC`, s.db.MarkedBy)
	}))
	var slot int
	must.Do(t, s.db.Read.Get(&slot, `SELECT slot FROM tx_mark WHERE owner = ? AND id = ?`, s.db.MarkedBy,
		mark))
	if ok, err := s.db.WasApplied(t.Context(), "x", slot, mark); !ok || err != nil {
		t.Errorf("a transaction that is there: %v, %v", ok, err)
	}
	if ok, err := s.db.WasApplied(t.Context(), "x", slot, sqldb.NewID()); ok || err != nil {
		t.Errorf("a transaction that is not there: %v, %v", ok, err)
	}
	var synchronous int
	if err := s.db.Write.Get(&synchronous, `PRAGMA synchronous`); err != nil || synchronous != 2 {
		t.Errorf("the new connection has synchronous = %d, %v", synchronous, err)
	}
}

// F047, F050, F053: an uncertain commit of a full disk is told as a full disk, whether the commit
// said so or the look for it did; one of a disk that fails as that.
func TestF050AnUncertainCommitTellsWhatIsTheMatter(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[0].open(t))
	db := must.Get(sqlx.Open("sqlite", ":memory:"))(t)
	db.SetMaxOpenConns(1)
	defer func() { _ = db.Close() }()
	must.Get(db.Exec(`PRAGMA max_page_count = 2`))(t)
	must.Get(db.Exec(`CREATE TABLE a (x TEXT)`))(t)
	_, full := db.Exec(`INSERT INTO a VALUES (?)`, strings.Repeat("x", 100_000))
	if full == nil {
		t.Fatal("it has room")
	}
	other := errors.New("something else")
	for _, c := range []struct {
		name         string
		commit, look error
		code, hint   string
	}{
		{"the commit", full, other, sqldb.CodeFull, "free space"},
		{"the look", other, full, sqldb.CodeFull, "free space"},
		{
			"the look, after a lost connection", driver.ErrBadConn,
			errors.Join(sqldb.TookLonger("x", time.Second), full), sqldb.CodeFull, "free space",
		},
		{"neither", other, other, sqldb.CodeUnreachable, "the rows concerned"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := s.db.Uncertain("storing a group", c.commit, c.look)
			wantCode(t, err, c.code)
			if text := err.Error(); !errors.Is(err, trade.ErrUncertain) || !strings.Contains(text, c.hint) ||
				!strings.Contains(text, "stay as they are") {
				t.Errorf("it says %q", text)
			}
		})
	}
}
