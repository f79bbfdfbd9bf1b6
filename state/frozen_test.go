package state

import (
	"database/sql"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// watchful asks a silent server at once, and waits without a limit for one that lives: whatever ends a
// statement on a frozen server is that nobody took a connection within connect_timeout.
func watchful() sqldb.Tuning {
	tune := sqldb.DefaultTuning
	tune.Quiet, tune.Patience, tune.Write = 200*time.Millisecond, 0, time.Hour
	return tune
}

// naming returns the ledger's DSN with these servers, of which the first that takes writes is used, and
// each has so many seconds for a connection.
func naming(dsn string, seconds int, ports ...int) string {
	hosts := strings.TrimSuffix(strings.Repeat("127.0.0.1,", len(ports)), ",")
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(ports), " ", ","), "[]")
	for _, part := range strings.Fields(dsn) {
		if name, _, _ := strings.Cut(part, "="); name == "host" || name == "port" {
			dsn = strings.Replace(dsn, part, "", 1)
		}
	}
	return fmt.Sprintf("%s host=%s port=%s target_session_attrs=read-write connect_timeout=%d", dsn, hosts, list, seconds)
}

func promote(t *testing.T, replica *pgtest.Cluster) {
	t.Helper()
	db := must.Get(sql.Open("postgres", replica.DSN("postgres")))(t)
	must.Get(db.ExecContext(t.Context(), `SELECT pg_promote()`))(t)
	must.Do(t, db.Close())
}

// A leader is suspended with its machine: it answers nothing, and closes no connection. It is left as
// soon as it takes no new connection either, and the host goes on with the server that took over. What
// was in flight is settled there.
func TestAFrozenServerIsLeftForTheOneThatTookOver(t *testing.T) {
	primary, k := onServer(t)
	replica := primary.Replica(t)
	k.close()
	k.o.DSN = naming(k.o.DSN, 3, primary.Port, replica.Port)
	must.Do(t, k.try(watchful()))
	lease := mustLease(t, k.s, "deliveries")
	entries := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"))
	flying := mustSend(t, k.s, lease, entries[0])
	primary.CatchUp(t)

	primary.Freeze(t)
	wantCode(t, k.s.RenewLease(t.Context(), lease), sqldb.CodeUnreachable, "answers neither this nor a new connection")
	promote(t, replica)
	must.Do(t, k.beat())
	mustSettle(t, k.s, lease, created(flying, "remote-a"))
	must.Do(t, k.s.RenewLease(t.Context(), lease))
	mustSend(t, k.s, lease, mustEntry(t, k.s, "deliveries", "b"))
	if e := mustEntry(t, k.s, "deliveries", "a"); e.State != trade.Accepted {
		t.Errorf("%+v", e)
	}
}

// The leader is frozen in the moment of a commit. Whether that took effect is looked up on the server
// that took over; it did not, and is repeated there.
func TestACommitThatAFrozenServerDidNotAnswerIsLookedUpOnTheNext(t *testing.T) {
	primary, k := onServer(t)
	replica := primary.Replica(t)
	k.close()
	k.o.DSN = naming(k.o.DSN, 3, primary.Port, replica.Port)
	must.Do(t, k.try(watchful()))
	primary.CatchUp(t)
	runs := 0
	must.Do(t, k.s.db.InTx(t.Context(), "a commit that nobody answers", func(tx *sqldb.Tx) error {
		runs++
		err := tx.Do(`INSERT INTO reference (kind, code, id) VALUES ('products', 'SOJ', 'remote')`)
		if runs == 1 {
			primary.Freeze(t)
			promote(t, replica)
		}
		return err
	}))
	var rows, recovering int
	must.Do(t, k.s.db.Get(t.Context(), "", &rows, `SELECT COUNT(*) FROM reference`))
	must.Do(t, k.s.db.Get(t.Context(), "", &recovering, `SELECT inet_server_port()`))
	if runs != 2 || rows != 1 || recovering != replica.Port {
		t.Errorf("%d runs, %d rows on port %d", runs, rows, recovering)
	}
}

// With one server, nothing that waits for it waits longer, and everything goes on as soon as it wakes.
func TestAFrozenServerThatWakesIsUsedAgain(t *testing.T) {
	primary, k := onServer(t)
	k.close()
	k.o.DSN = naming(k.o.DSN, 3, primary.Port)
	must.Do(t, k.try(watchful()))
	lease := mustLease(t, k.s, "deliveries")
	wake := primary.Freeze(t)
	ended := make(chan error)
	for range 4 {
		go func() { ended <- k.s.RenewLease(t.Context(), lease) }()
	}
	for range 4 {
		wantCode(t, <-ended, sqldb.CodeUnreachable)
	}
	wantCode(t, (&kept{t: t, o: k.o}).try(watchful()), sqldb.CodeUnreachable)
	wake()
	must.Do(t, k.s.RenewLease(t.Context(), lease))
}

// A server that takes connections and does not answer is slow, and is waited for as long as the
// connection has patience.
func TestASlowServerIsWaitedFor(t *testing.T) {
	primary, k := onServer(t)
	k.close()
	k.o.DSN = naming(k.o.DSN, 60, primary.Port)
	must.Do(t, k.try(watchful()))
	var one int
	must.Do(t, k.s.db.Get(t.Context(), "", &one, `SELECT 1 FROM pg_sleep(0.7)`))

	k.close()
	tune := watchful()
	tune.Patience = 300 * time.Millisecond
	must.Do(t, k.try(tune))
	err := k.s.db.Get(t.Context(), "", &one, `SELECT 1 FROM pg_sleep(20)`)
	wantCode(t, err, sqldb.CodeUnreachable, "i/o timeout")
}

// A server that accepts connections and never begins one costs connect_timeout once: as long as
// another one serves, it is asked last.
func TestASilentServerOfSeveralIsAskedLast(t *testing.T) {
	primary, k := onServer(t)
	k.close()
	silent := must.Get(net.Listen("tcp4", "127.0.0.1:0"))(t)
	var asked atomic.Int32
	held := make(chan net.Conn, 100)
	go func() {
		defer close(held)
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			held <- conn
		}
	}()
	defer func() {
		must.Do(t, silent.Close())
		for conn := range held {
			must.Do(t, conn.Close())
		}
	}()
	tune := watchful()
	tune.Quiet = time.Hour // no statement may ask for it
	k.o.DSN = naming(k.o.DSN, 3, silent.Addr().(*net.TCPAddr).Port, primary.Port)
	must.Do(t, k.try(tune))
	before := asked.Load()
	if before == 0 {
		t.Fatal("it was not asked first")
	}
	for range 3 {
		k.s.db.Write.SetMaxIdleConns(0) // the next statement needs a new connection
		must.Do(t, k.beat())
	}
	if now := asked.Load(); now != before {
		t.Errorf("it was asked %d times more", now-before)
	}
}
