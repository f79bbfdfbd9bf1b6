package pgtest

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/safrasync/safrasync/internal/throwaway"
)

// Cluster is one PostgreSQL server with its data directory. Its Log is of its last start.
type Cluster struct {
	*throwaway.Server
	binDir string
	ready  string // what the server logs when it accepts connections
	lent   bool   // another process has started the server, and stops it

	filling   sync.Mutex // guards what follows
	templates map[string]template

	commanding sync.Mutex  // guards what follows
	session    driver.Conn // of admin; nil: none
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
	c, err := bare(kind, binDir, readyLine)
	if err != nil {
		return nil, err
	}
	err = c.initialize(more)
	if err == nil {
		err = c.startOnFreePort()
	}
	if err != nil {
		return nil, errors.Join(err, c.Remove())
	}
	return c, nil
}

// initialized is a server that was never started: initdb takes longer than a copy of what it made.
var initialized = throwaway.Shared[*Cluster]{Start: func() (*Cluster, error) {
	k := kind
	k.InMemory = true
	binDir, err := findBinDir()
	if err != nil {
		return nil, err
	}
	c, err := bare(k, binDir, readyLine)
	if err != nil {
		return nil, err
	}
	err = c.initialize("")
	if err != nil {
		return nil, errors.Join(err, c.Remove())
	}
	return c, nil
}}

// copied starts a server on a copy of a data directory that no server uses.
func copied(from *Cluster) (*Cluster, error) {
	k := kind
	k.InMemory = true
	c, err := bare(k, from.binDir, from.ready)
	if err != nil {
		return nil, err
	}
	files := exec.Command("cp", "--archive", from.DataDir(), c.DataDir())
	files.Dir = c.Dir.Path
	_, err = c.Feed(files, "")
	if err == nil {
		err = c.startOnFreePort()
	}
	if err != nil {
		return nil, errors.Join(err, c.Remove())
	}
	return c, nil
}

// bare makes the folder of a server.
func bare(kind throwaway.Kind, binDir, ready string) (*Cluster, error) {
	common, err := kind.NewServer("postgres", "postgres")
	if err != nil {
		return nil, err
	}
	// SIGQUIT is the immediate shutdown: unlike SIGKILL it lets the server free its shared memory
	// and end its children.
	common.Quit = syscall.SIGQUIT
	return &Cluster{Server: common, binDir: binDir, ready: ready}, nil
}

// DataDir returns the absolute path of the data directory.
func (c *Cluster) DataDir() string { return c.Path("data") }

// DSN returns the data source name of a database on this server, for the superuser postgres, who
// needs no password.
func (c *Cluster) DSN(database string) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=%s sslmode=disable", c.Port, database)
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
	name := c.newName("test")
	if err := c.admin(fmt.Sprintf("CREATE DATABASE %s %s", name, options)); err != nil {
		t.Fatalf("pgtest: creating a database: %v\nserver log:\n%s", err, c.Log)
	}
	t.Cleanup(func() {
		if c.PID() == 0 && !c.lent {
			return // the test stopped its server; the database goes with the data directory
		}
		if err := c.admin(fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", name)); err != nil {
			t.Errorf("pgtest: dropping the test's database: %v", err)
		}
	})
	return c.DSN(name)
}

// process is in the names of the databases of this process: no other one that uses the same server,
// now or before, has it.
var process = fmt.Sprintf("%d_%x", os.Getpid(), time.Now().UnixNano())

// newName returns the name of a database that does not exist yet.
func (c *Cluster) newName(what string) string {
	return fmt.Sprintf("%s_%s_%d", what, process, c.NextDB.Add(1))
}

// Remove stops the server and deletes all it has. Of a server that was lent it deletes what this
// process has left there.
func (c *Cluster) Remove() error {
	if !c.lent {
		return c.Server.Remove()
	}
	var err error
	for _, made := range c.templates {
		err = errors.Join(err, c.admin("DROP DATABASE IF EXISTS "+made.database))
	}
	return err
}

// template returns the name of a database that fill has filled once.
func (c *Cluster) template(name string, fill func(dsn string) error) (string, error) {
	c.filling.Lock()
	defer c.filling.Unlock()
	made, known := c.templates[name]
	if !known {
		made.database = c.newName("template")
		made.err = c.admin("CREATE DATABASE " + made.database)
		if made.err == nil {
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
	if err := c.Halt(); err != nil {
		t.Fatalf("pgtest: stopping the server: %v", err)
	}
}

// Start starts a stopped server on its port and returns when it accepts connections.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	if c.PID() != 0 {
		return
	}
	if err := c.start(); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
}

// admin runs one statement in the maintenance database. Its session is kept, since a new one costs
// more than the statement; it is no pool, whose goroutine a test for leaked ones would report.
func (c *Cluster) admin(statement string) error {
	c.commanding.Lock()
	defer c.commanding.Unlock()
	kept := c.session != nil
	err := c.command(statement)
	if kept && c.session == nil { // a test has restarted the server, or ended all sessions
		err = c.command(statement)
	}
	return err
}

// command is a try of admin. After an error that ended the session there is none.
func (c *Cluster) command(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), throwaway.Patience)
	defer cancel()
	if c.session == nil {
		connector, err := pq.NewConnector(c.DSN("postgres"))
		if err != nil {
			return err
		}
		session, err := connector.Connect(ctx)
		if err != nil {
			return err
		}
		c.session = session
	}
	_, err := c.session.(driver.ExecerContext).ExecContext(ctx, statement, nil)
	if refused, ok := errors.AsType[*pq.Error](err); err != nil && (!ok || refused.Code.Class() == "57") {
		err = errors.Join(err, c.session.Close())
		c.session = nil
	}
	return err
}

// initialize runs initdb and writes the configuration.
func (c *Cluster) initialize(more string) error {
	// --no-sync spares the flush of a fresh directory only; the server itself runs with fsync on.
	if _, err := c.Feed(c.program("initdb", "--pgdata="+c.DataDir(), "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"), ""); err != nil {
		return err
	}
	files := map[string]string{"postgresql.auto.conf": settings + more, "pg_hba.conf": authentication}
	for name, text := range files {
		path := filepath.Join(c.DataDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil { // the file exists and keeps its owner
			return err
		}
	}
	return nil
}

// settings are what a server of tests has otherwise than initdb leaves it, each with its reason:
// nothing that a statement or a commit costs, or that a plan depends on.
const settings = `listen_addresses = '127.0.0.1' # nobody else shall reach it
unix_socket_directories = '' # its folder may have a name that is too long for one
shared_buffers = 32MB # small: many of them run at once
max_connections = 400 # all packages of a run share one server
max_prepared_transactions = 10 # tests leave transactions prepared
timezone = 'UTC' # initdb takes that of the machine
log_timezone = 'UTC' # likewise
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
	return c.OnFreePort(c.start, func() bool { return strings.Contains(c.Log.String(), portTaken) })
}

func (c *Cluster) start() error {
	return c.Launch(c.program("postgres", "-D", c.DataDir(), "-p", fmt.Sprint(c.Port)), c.ready, nil)
}

// program prepares a program of the server with its own environment, so that PGDATA, LANG or
// LD_PRELOAD of the developer's shell have no effect.
func (c *Cluster) program(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.binDir, name), args...)
	cmd.Dir = c.Dir.Path
	cmd.Env = []string{"PATH=" + c.binDir + ":/usr/bin:/bin", "HOME=" + c.Dir.Path, "LC_ALL=C", "TZ=UTC"}
	return cmd
}
