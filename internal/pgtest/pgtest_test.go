package pgtest

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lib/pq"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/throwaway"
)

const victimEnv = "SAFRASYNC_PGTEST_VICTIM"

func TestMain(m *testing.M) {
	if os.Getenv(victimEnv) != "" {
		victim()
	}
	Main(m, func() error { return goleak.Find() })
}

// victim starts a server, names its process and folder on standard output, and waits to be killed.
func victim() {
	c, err := newCluster()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(c.PID(), c.Dir.Path)
	select {}
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db := must.Get(sql.Open("postgres", dsn))(t)
	t.Cleanup(func() { must.Do(t, db.Close()) })
	return db
}

func queryText(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	var text string
	if err := db.QueryRow(query).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

func TestACopyHasWhatItsTemplateHasAndIsFilledOnce(t *testing.T) {
	t.Parallel()
	filled := 0
	fill := func(dsn string) error {
		filled++
		db, err := sql.Open("postgres", dsn)
		if err != nil {
			return err
		}
		_, err = db.Exec("CREATE TABLE thing (n int); INSERT INTO thing VALUES (1)")
		return errors.Join(err, db.Close())
	}
	for range 2 {
		db := open(t, Copy(t, t.Name(), fill))
		if n := queryText(t, db, "SELECT count(*) FROM thing"); n != "1" {
			t.Errorf("a copy has %s rows, want that of the template alone", n)
		}
		if _, err := db.Exec("INSERT INTO thing VALUES (2)"); err != nil {
			t.Error(err)
		}
	}
	if filled != 1 {
		t.Errorf("the template was filled %d times", filled)
	}
	if n := queryText(t, open(t, Database(t)), "SELECT count(*) FROM pg_class WHERE relname = 'thing'"); n != "0" {
		t.Error("an empty database has the table of a template")
	}
}

func TestADatabaseIsEmptyAndDroppedAfterItsTestWithConnectionsOpen(t *testing.T) {
	t.Parallel()
	var name string
	var leak *sql.DB
	t.Run("user", func(t *testing.T) {
		dsn := Database(t)
		db := open(t, dsn)
		name = queryText(t, db, "SELECT current_database()")
		if n := queryText(t, db,
			"SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"); n != "0" {
			t.Errorf("a new database has %s relations in public, want 0", n)
		}
		if other := queryText(t, open(t, Database(t)), "SELECT current_database()"); other == name {
			t.Errorf("two calls gave the same database %s", name)
		}
		leak = must.Get(sql.Open("postgres", dsn))(t)
		must.Get(leak.Exec("CREATE TABLE public.t (a int)"))(t)
	})
	if err := leak.Ping(); err == nil {
		t.Error("a connection to the dropped database still works")
	}
	if err := leak.Close(); err != nil {
		t.Error(err)
	}
	left := queryText(t, open(t, Database(t)), "SELECT count(*) FROM pg_database WHERE datname = "+
		pq.QuoteLiteral(name))
	if left != "0" {
		t.Errorf("database %s outlived its test", name)
	}
}

func TestTheOptionsOfCreateDatabaseAreUsed(t *testing.T) {
	t.Parallel()
	db := open(t, DatabaseWith(t, "ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"))
	if got := queryText(t, db, "SHOW server_encoding"); got != "SQL_ASCII" {
		t.Errorf("server_encoding = %s, want SQL_ASCII", got)
	}
	if got := queryText(t, open(t, Database(t)), "SHOW server_encoding"); got != "UTF8" {
		t.Errorf("server_encoding without options = %s, want UTF8", got)
	}
}

// What a ledger costs, and which plan a statement gets, must not depend on what only tests set.
func TestTheServerIsAsInitdbLeavesItButForWhatMakesItSmall(t *testing.T) {
	t.Parallel()
	db := open(t, Server(t).Database(t))
	got := queryText(t, db, `SELECT string_agg(name, ' ' ORDER BY name) FROM pg_settings
		WHERE sourcefile LIKE '%/postgresql.auto.conf'`)
	if got != "TimeZone listen_addresses log_timezone max_connections max_prepared_transactions shared_buffers unix_socket_directories" {
		t.Errorf("differs in %s", got)
	}
	for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes", "jit"} {
		if got := queryText(t, db, "SHOW "+name); got != "on" {
			t.Errorf("%s = %q", name, got)
		}
	}
}

func TestTheRolePwUserNeedsItsPassword(t *testing.T) {
	t.Parallel()
	c := Server(t) // roles belong to the whole server
	dsn := c.Database(t)
	must.Get(open(t, dsn).Exec("CREATE ROLE pw_user LOGIN PASSWORD 'right'"))(t)
	asUser := strings.Replace(dsn, "user=postgres", "user=pw_user", 1)
	if got := queryText(t, open(t, asUser+" password=right"), "SELECT current_user"); got != "pw_user" {
		t.Errorf("logged in as %s, want pw_user", got)
	}
	err := open(t, asUser+" password=wrong").Ping()
	if pqErr := (*pq.Error)(nil); !errors.As(err, &pqErr) || pqErr.Code != "28P01" {
		t.Errorf("a wrong password gave %v, want SQLSTATE 28P01", err)
	}
}

func TestARestartCutsConnectionsAndKeepsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	c := Server(t)
	db := open(t, c.Database(t))
	must.Get(db.Exec("CREATE TABLE t AS SELECT 'kept' AS a"))(t)
	tx := must.Get(db.Begin())(t)
	must.Get(tx.Exec("INSERT INTO t VALUES ('lost')"))(t)
	port := c.Port
	c.Stop(t)
	if err := tx.Commit(); err == nil {
		t.Error("a transaction of a killed server committed")
	}
	if err := db.Ping(); err == nil {
		t.Error("the stopped server answers")
	}
	c.Start(t)
	c.Restart(t)
	if c.Port != port {
		t.Errorf("port %d became %d", port, c.Port)
	}
	if got := queryText(t, db, "SELECT string_agg(a, ',') FROM t"); got != "kept" {
		t.Errorf("after the restart t holds %q, want kept", got)
	}
	if _, err := os.Stat(filepath.Join(c.DataDir(), "PG_VERSION")); err != nil {
		t.Error(err)
	}
}

// startOnFreePort goes on to the next port only if it recognises this failure.
func TestATakenPortIsRecognised(t *testing.T) {
	t.Parallel()
	c := Server(t)
	c.Stop(t)
	l := must.Get(net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", c.Port)))(t)
	if err := c.start(); err == nil || !strings.Contains(c.Log.String(), portTaken) {
		t.Errorf("starting on a taken port gave %v and the log %q, want %q in it", err, c.Log, portTaken)
	}
	must.Do(t, l.Close())
	c.Start(t)
}

func TestTheServerDiesWithAKilledTestProcessAndItsFolderIsRemovedLater(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, cmd.Start())
	line, readErr := bufio.NewReader(out).ReadString('\n')
	var pid int
	var dir string
	_, scanErr := fmt.Sscan(line, &pid, &dir)
	pidfd := -1
	if scanErr == nil {
		pidfd, err = unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Errorf("the server %d is not running: %v", pid, err)
		}
	}
	kind.RemoveStale(filepath.Dir(dir))
	if _, err := os.Stat(dir); scanErr == nil && err != nil {
		t.Errorf("the folder of a living process was removed: %v", err)
	}

	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed, so it reports that
	if readErr != nil || scanErr != nil || pidfd < 0 {
		t.Fatalf("the helper process said %q (%v, %v), want a process number and a folder", line, readErr, scanErr)
	}
	defer func() { _ = unix.Close(pidfd) }()
	waitForEnd(t, pidfd)
	kind.RemoveStale(filepath.Dir(dir))
	for _, left := range []string{dir, dir + throwaway.LockSuffix} {
		if _, err := os.Lstat(left); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", left, err)
		}
	}
}

// waitForEnd blocks until the process behind pidfd has ended.
func waitForEnd(t *testing.T, pidfd int) {
	t.Helper()
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}},
			int(throwaway.Patience.Milliseconds()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n != 1 {
			t.Fatalf("the server outlived its test process (%d, %v)", n, err)
		}
		return
	}
}

func TestTheNewestVersionWinsByNumber(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var dirs []string
	for _, version := range []string{"9.6", "15", "14", "17", "odd"} {
		dir := filepath.Join(root, version, "bin")
		must.Do(t, os.MkdirAll(dir, 0o755))
		for _, name := range []string{"initdb", "postgres"} {
			if version == "17" && name == "postgres" {
				continue // client tools only
			}
			must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
		}
		dirs = append(dirs, dir)
	}
	if got, want := newest(dirs), filepath.Join(root, "15", "bin"); got != want {
		t.Errorf("newest = %s, want %s", got, want)
	}
	if got := newest(nil); got != "" {
		t.Errorf("newest of nothing = %s", got)
	}
}

func TestAMissingPostgreSQLNamesTheWayOut(t *testing.T) {
	t.Setenv(binDirEnv, t.TempDir())
	if _, err := findBinDir(); err == nil || !strings.Contains(err.Error(), binDirEnv) {
		t.Errorf("error %v does not name %s", err, binDirEnv)
	}
	if !strings.Contains(errNoPostgres.Error(), "make test") {
		t.Errorf("%q does not tell to run make test", errNoPostgres)
	}
}
