package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/lib/pq" // the driver "postgres"

	"github.com/safrasync/safrasync/internal/throwaway"
)

// patience bounds every wait for the server. It is not a measure of speed: a run that reaches it is
// broken.
const patience = throwaway.Patience

// Cluster is one PostgreSQL server with its data directory.
type Cluster struct {
	binDir string
	as     *syscall.Credential
	dir    *throwaway.Dir
	nextDB atomic.Int64
	more   string // settings added after our own
	ready  string // log line by which the server reports that it accepts connections

	mu     sync.Mutex // guards the fields below
	port   int
	server *throwaway.Process // nil while stopped
	log    *throwaway.Log

	filling   sync.Mutex // guards the fields below
	templates map[string]template
}

// template is a database of which others are copies.
type template struct {
	database string
	err      error // why it could not be filled; kept, so that each test reports it
}

// newCluster creates a data directory and starts a server on it.
func newCluster() (*Cluster, error) {
	k := kind
	k.InMemory = true // tests check what a server does, not how fast its disk is
	return newClusterWith(k, "")
}

func newClusterWith(kind throwaway.Kind, more string) (*Cluster, error) {
	binDir, err := findBinDir()
	if err != nil {
		return nil, err
	}
	as, err := throwaway.User("postgres")
	if err != nil {
		return nil, err
	}
	dir, err := kind.NewDir(as)
	if err != nil {
		return nil, fmt.Errorf("making a folder for the server: %w", err)
	}
	c := &Cluster{binDir: binDir, as: as, dir: dir, more: more, ready: readyLine, log: throwaway.NewLog(readyLine)}
	if err = c.initialize(); err == nil {
		err = c.startOnFreePort()
	}
	if err != nil {
		return nil, errors.Join(err, c.Remove())
	}
	return c, nil
}

// DataDir returns the absolute path of the data directory.
func (c *Cluster) DataDir() string { return filepath.Join(c.dir.Path, "data") }

// Port returns the TCP port on 127.0.0.1. It stays the same over restarts.
func (c *Cluster) Port() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.port
}

// Log returns the end of the server's log since its last start, at most 128 KiB.
func (c *Cluster) Log() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.String()
}

// DSN returns the data source name of a database on this server, for the superuser postgres, who
// needs no password.
func (c *Cluster) DSN(database string) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=%s sslmode=disable", c.Port(), database)
}

// Database creates an empty database for one test and returns its data source name; see the
// function [Database].
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	return c.DatabaseWith(t, "")
}

// DatabaseWith is Database with options for CREATE DATABASE; see the function [DatabaseWith].
func (c *Cluster) DatabaseWith(t testing.TB, options string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", c.nextDB.Add(1))
	if err := c.admin(fmt.Sprintf("CREATE DATABASE %s %s", name, options)); err != nil {
		t.Fatalf("pgtest: creating a database: %v\nserver log:\n%s", err, c.Log())
	}
	t.Cleanup(func() {
		if !c.running() {
			return // the test stopped its server; the database is removed with the data directory
		}
		if err := c.admin(fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", name)); err != nil {
			t.Errorf("pgtest: dropping the test's database: %v", err)
		}
	})
	return c.DSN(name)
}

// template returns the name of a database that fill has filled once.
func (c *Cluster) template(name string, fill func(dsn string) error) (string, error) {
	c.filling.Lock()
	defer c.filling.Unlock()
	made, known := c.templates[name]
	if !known {
		made.database = fmt.Sprintf("template_%d", c.nextDB.Add(1))
		if made.err = c.admin("CREATE DATABASE " + made.database); made.err == nil {
			made.err = fill(c.DSN(made.database))
		}
		if made.err == nil {
			// Nobody may be connected to it while it is copied, not even the server's own
			// autovacuum.
			made.err = c.admin("ALTER DATABASE " + made.database + " ALLOW_CONNECTIONS false")
		}
		if c.templates == nil {
			c.templates = map[string]template{}
		}
		c.templates[name] = made
	}
	return made.database, made.err
}

// Restart kills the server without a checkpoint (PostgreSQL's immediate shutdown, as after a crash)
// and starts it again on the same port. All connections break; what was committed must still be
// there.
func (c *Cluster) Restart(t testing.TB) {
	t.Helper()
	c.Stop(t)
	c.Start(t)
}

// Stop kills the server as [Cluster.Restart] does and leaves it down until [Cluster.Start].
// Stopping twice is harmless.
func (c *Cluster) Stop(t testing.TB) {
	t.Helper()
	if err := c.stop(); err != nil {
		t.Fatalf("pgtest: stopping the server: %v", err)
	}
}

// Start starts a stopped server on its port and returns when it accepts connections.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	if c.running() {
		return
	}
	if err := c.start(c.Port()); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
}

// admin runs one statement in the maintenance database, over its own connection, so that no pool
// stays open, which a test for leaked goroutines would report.
func (c *Cluster) admin(statement string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	db, err := sql.Open("postgres", c.DSN("postgres"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, statement)
	return err
}

func (c *Cluster) running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server != nil
}

// initialize runs initdb and writes the configuration.
func (c *Cluster) initialize() error {
	var out strings.Builder
	// --no-sync only skips the flush of the fresh directory; the server itself runs with fsync on.
	cmd := c.command("initdb", "--pgdata="+c.DataDir(), "--username=postgres", "--auth=trust", "--encoding=UTF8",
		"--locale=C", "--no-sync", "--no-instructions")
	cmd.Stdout, cmd.Stderr = &out, &out
	p, err := throwaway.Spawn(cmd, syscall.SIGKILL, c.as)
	if err != nil {
		return err
	}
	if err := p.Wait("initdb"); err != nil {
		return err
	}
	if p.Err != nil {
		return fmt.Errorf("initdb failed: %w: %s", p.Err, out.String())
	}
	files := map[string]string{"postgresql.auto.conf": settings + c.more, "pg_hba.conf": authentication}
	for name, text := range files {
		path := filepath.Join(c.DataDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil { // the file exists and keeps its owner
			return err
		}
	}
	return nil
}

// settings makes the server small, deterministic and durable.
const settings = `listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = on
synchronous_commit = on
full_page_writes = on
shared_buffers = 32MB
max_connections = 100
max_prepared_transactions = 10
max_parallel_workers_per_gather = 0
jit = off
password_encryption = 'scram-sha-256'
timezone = 'UTC'
log_timezone = 'UTC'
`

// authentication requires a password of the role pw_user only, which tests create to test
// passwords.
const authentication = `host all pw_user 127.0.0.1/32 scram-sha-256
host all all     127.0.0.1/32 trust
`

// readyLine is what the server logs when it accepts connections; it is English, because it runs
// under LC_ALL=C.
const readyLine = "database system is ready to accept connections"

// portTaken is what the server logs when it cannot bind; it is English, because it runs under
// LC_ALL=C.
const portTaken = "Address already in use"

// startOnFreePort tries ports until one is free; another process may take a port between our check
// and the server's bind.
func (c *Cluster) startOnFreePort() error {
	const tries = 20
	var err error
	for range tries {
		var port int
		if port, err = throwaway.FreePort(); err != nil {
			return err
		}
		if err = c.start(port); err == nil {
			return nil
		}
		if !strings.Contains(c.Log(), portTaken) {
			return err
		}
	}
	return fmt.Errorf("no free port in %d tries, last: %w", tries, err)
}

func (c *Cluster) start(port int) error {
	log := throwaway.NewLog(c.ready)
	cmd := c.command("postgres", "-D", c.DataDir(), "-p", fmt.Sprint(port))
	cmd.Stdout, cmd.Stderr = log, log
	// SIGQUIT is the immediate shutdown: unlike SIGKILL it lets the server free its shared memory
	// and end its children.
	p, err := throwaway.Spawn(cmd, syscall.SIGQUIT, c.as)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.port, c.log, c.server = port, log, p
	c.mu.Unlock()
	select {
	case <-log.Ready:
		return nil
	case <-p.Done:
		c.mu.Lock()
		c.server = nil
		c.mu.Unlock()
		return fmt.Errorf("the server did not start: %w; its log:\n%s", errors.Join(p.Err, errors.New("it ended")), log)
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("the server was not ready after %s; its log:\n%s", patience, log), c.stop())
	}
}

func (c *Cluster) stop() error {
	c.mu.Lock()
	p := c.server
	c.server = nil
	c.mu.Unlock()
	if p == nil {
		return nil
	}
	// An error means that the server has already ended; Wait then returns at once.
	_ = p.Cmd.Process.Signal(syscall.SIGQUIT)
	return p.Wait("postgres") // its exit status only reports that it was told to quit
}

// Remove stops the server and deletes all its files.
func (c *Cluster) Remove() error {
	return errors.Join(c.stop(), c.dir.Remove())
}

// command prepares a program of the server with its own environment, so that PGDATA, LANG or
// LD_PRELOAD of the developer's shell have no effect.
func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.binDir, name), args...)
	cmd.Dir = c.dir.Path
	cmd.Env = []string{"PATH=" + c.binDir + ":/usr/bin:/bin", "HOME=" + c.dir.Path, "LC_ALL=C", "TZ=UTC"}
	return cmd
}
