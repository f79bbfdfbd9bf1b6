package state

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/sqldb"
)

// valve is in front of a server, and holds each new connection without a word that admits refuses.
func valve(t *testing.T, server int, admits func() bool) *net.TCPListener {
	t.Helper()
	listen := must.Get(net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}))(t)
	through := func(client net.Conn) {
		defer func() { _ = client.Close() }()
		if !admits() {
			_, _ = io.Copy(io.Discard, client)
			return
		}
		behind, err := new(net.Dialer).DialContext(context.Background(), "tcp4", fmt.Sprint("127.0.0.1:", server))
		if err != nil {
			return
		}
		go func() {
			_, _ = io.Copy(client, behind)
			_ = client.Close()
		}()
		_, _ = io.Copy(behind, client)
		_ = behind.Close()
	}
	go func() {
		for {
			client, err := listen.Accept()
			if err != nil {
				return
			}
			go through(client)
		}
	}()
	t.Cleanup(func() { _ = listen.Close() })
	return listen
}

// behindValve is a ledger whose connections go through a valve, and have a second to begin.
func behindValve(t *testing.T, tune sqldb.Tuning, admits func() bool) (*kept, *net.TCPListener) {
	t.Helper()
	k := keep(t, sqldb.OpenOptions{Driver: sqldb.Postgres, DSN: pgtest.Database(t)})
	k.close()
	port := must.Get(strconv.Atoi(regexp.MustCompile(`port=(\d+)`).FindStringSubmatch(k.o.DSN)[1]))(t)
	listen := valve(t, port, admits)
	direct := k.o.DSN
	k.o.DSN = naming(direct, 1, listen.Addr().(*net.TCPAddr).Port)
	must.Do(t, k.try(tune))
	k.o.DSN = direct
	return k, listen
}

// quiet begins a statement that does not answer until it is told to, on the pool's only connection.
func (k *kept) quiet() (release func(), ended <-chan error) {
	t := k.t
	t.Helper()
	db := must.Get(sql.Open("postgres", k.o.DSN))(t)
	t.Cleanup(func() { must.Do(t, db.Close()) })
	holder := must.Get(db.BeginTx(t.Context(), nil))(t)
	must.Get(holder.ExecContext(t.Context(), `SELECT pg_advisory_xact_lock(7)`))(t)
	conn := must.Get(k.s.db.Write.Conn(t.Context()))(t)
	k.s.db.Write.SetMaxIdleConns(0)
	done := make(chan error, 1)
	go func() {
		_, err := conn.ExecContext(t.Context(), `SELECT pg_advisory_xact_lock(7)`)
		done <- err
		_ = conn.Close()
	}()
	for waits := false; !waits; {
		must.Do(t, db.QueryRowContext(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waits))
	}
	return func() { must.Do(t, holder.Commit()) }, done
}

// One connection that does not begin says nothing of those that have begun: no statement is ended,
// also if nothing has been heard for as long.
func TestAConnectionThatDoesNotBeginEndsNoStatement(t *testing.T) {
	t.Parallel()
	for name, full := range map[string]bool{"accepted, not answered": false, "first packet dropped": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var closed atomic.Bool
			tune := watchful()
			tune.Quiet = time.Hour // no statement asks
			k, listen := behindValve(t, tune, func() bool { return !closed.Load() })
			release, ended := k.quiet()
			closed.Store(true)
			if full {
				fill(t, listen)
			}
			err := k.s.db.Write.PingContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), "i/o timeout") {
				t.Fatalf("a new connection: %v", err)
			}
			release()
			must.Do(t, <-ended)
		})
	}
}

// fill has the kernel drop what asks for another connection.
func fill(t *testing.T, listen *net.TCPListener) {
	t.Helper()
	at := listen.Addr().String()
	var fd int
	must.Do(t, must.Get(listen.SyscallConn())(t).Control(func(f uintptr) { fd = must.Get(syscall.Dup(int(f)))(t) }))
	t.Cleanup(func() { must.Do(t, syscall.Close(fd)) })
	must.Do(t, listen.Close()) // nobody accepts any more; the duplicate still listens
	must.Do(t, syscall.Listen(fd, 0))
	for {
		conn, err := net.DialTimeout("tcp4", at, 100*time.Millisecond)
		if err != nil {
			return
		}
		t.Cleanup(func() { must.Do(t, conn.Close()) })
	}
}

// A server that is asked and does not take the first connection is asked once more, before everything
// that waits for it is ended.
func TestASilentServerIsAskedTwice(t *testing.T) {
	t.Parallel()
	var closed atomic.Bool
	asked := make(chan int32, 100)
	var n atomic.Int32
	k, _ := behindValve(t, watchful(), func() bool {
		if !closed.Load() {
			return true
		}
		now := n.Add(1)
		asked <- now
		return now != 1
	})
	release, ended := k.quiet()
	closed.Store(true)
	for now := int32(0); now < 3; { // the third one is asked for because the second was taken
		select {
		case now = <-asked:
		case err := <-ended:
			t.Fatalf("after %d: %v", now, err)
		}
	}
	release()
	must.Do(t, <-ended)
}

// While a server takes no connection, what it answers on another one is heard.
func TestAnAnswerThatComesWhileTheServerIsAskedIsTaken(t *testing.T) {
	t.Parallel()
	var closed atomic.Bool
	asked := make(chan struct{}, 100)
	k, _ := behindValve(t, watchful(), func() bool {
		if closed.Load() {
			asked <- struct{}{}
		}
		return !closed.Load()
	})
	release, ended := k.quiet()
	closed.Store(true)
	<-asked
	release()
	must.Do(t, <-ended)
}

// lib/pq drops a connection, and does not close it, when the server speaks no TLS (prefer), or when it
// refuses the login without it (allow).
func TestADroppedConnectionIsClosed(t *testing.T) {
	for name, settings := range map[string]string{"prefer": "", "allow": " dbname=absent"} {
		t.Run(name, func(t *testing.T) {
			dsn := pgtest.Database(t)
			port := must.Get(strconv.Atoi(regexp.MustCompile(`port=(\d+)`).FindStringSubmatch(dsn)[1]))(t)
			front := valve(t, port, func() bool { return true }).Addr().(*net.TCPAddr).Port
			dsn = strings.Replace(naming(dsn, 10, front), "sslmode=disable", "", 1) + settings + " sslmode=" + name
			db := must.Get(sqldb.ConnectPostgres(dsn, "1.0.0-test"))(t)
			defer func() { must.Do(t, db.Close()) }() // as long as it is open, it may hold them
			db.SetMaxIdleConns(0)
			for range 10 {
				if err := db.PingContext(t.Context()); err != nil && settings == "" {
					t.Fatal(err)
				}
			}
			open := connectionsTo(t, front)
			for range 1000 { // a finalizer runs some time after its collection
				if open == 0 {
					return
				}
				runtime.GC()
				open = connectionsTo(t, front)
			}
			t.Errorf("%d connections stay open", open)
		})
	}
}

// connectionsTo returns how many descriptors of this process are connected to a port.
func connectionsTo(t *testing.T, port int) (n int) {
	t.Helper()
	for _, entry := range must.Get(os.ReadDir("/proc/self/fd"))(t) {
		peer, err := syscall.Getpeername(must.Get(strconv.Atoi(entry.Name()))(t))
		if at, inet := peer.(*syscall.SockaddrInet4); err == nil && inet && at.Port == port {
			n++
		}
	}
	return n
}
