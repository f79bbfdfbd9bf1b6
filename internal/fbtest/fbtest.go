package fbtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/nakagami/firebirdsql" // the driver "firebirdsql"

	"github.com/safrasync/safrasync/internal/throwaway"
)

// Where Debian puts Firebird 3.
const (
	serverBinary = "/usr/sbin/firebird"
	isqlBinary   = "/usr/bin/isql-fb"
	usersScript  = "/usr/share/firebird/3.0/security.sql"
	charsets     = "/usr/lib/*/firebird/3.0/intl/libfbintl.so"
)

// Password is that of SYSDBA on every server.
const Password = "dono"

var kind = throwaway.Kind{Prefix: "safrasync-fbtest-", StillServed: func(string) bool { return false }}

var shared = throwaway.Shared[*Server]{Start: start}

// Server is one Firebird server with its folder.
type Server struct {
	dir     *throwaway.Dir
	as      *syscall.Credential
	port    int
	process *throwaway.Process
	log     *throwaway.Log
	nextDB  atomic.Int64
}

// Database creates an empty database of this charset (UTF8, WIN1252, NONE …) for one test and
// returns its path with the server. It is removed with the server.
func Database(t testing.TB, charset string) (*Server, string) {
	t.Helper()
	s := shared.Get(t)
	path := filepath.Join(s.dir.Path, fmt.Sprintf("test_%d.fdb", s.nextDB.Add(1)))
	err := s.isql(
		fmt.Sprintf("CREATE DATABASE '127.0.0.1/%d:%s' USER 'SYSDBA' PASSWORD '%s' DEFAULT CHARACTER SET %s;\n", s.port,
			path, Password, charset))
	if err != nil {
		t.Fatalf("fbtest: creating a database: %v\nserver log:\n%s", err, s.log)
	}
	return s, path
}

// Address is host:port.
func (s *Server) Address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// AdminDSN is SYSDBA's data source name for the driver "firebirdsql". charset is that of the
// connection.
func (s *Server) AdminDSN(path, charset string) string {
	return fmt.Sprintf("SYSDBA:%s@%s/%s?charset=%s&timezone=UTC", Password, s.Address(), path, charset)
}

// Remove stops the server and deletes all it has.
func (s *Server) Remove() error {
	var err error
	if s.process != nil {
		err = s.process.Stop(syscall.SIGKILL, "firebird")
		s.process = nil
	}
	return errors.Join(err, s.dir.Remove())
}

func start() (*Server, error) {
	for _, path := range []string{serverBinary, isqlBinary, usersScript} {
		if _, err := os.Stat(path); err != nil {
			return nil, errors.New("fbtest: " + path + " was not found: run `make test`, which installs Firebird 3")
		}
	}
	as, err := throwaway.User("firebird")
	if err != nil {
		return nil, err
	}
	dir, err := kind.NewDir(as)
	if err != nil {
		return nil, fmt.Errorf("fbtest: making a folder for the server: %w", err)
	}
	s := &Server{dir: dir, as: as}
	if err = s.initialize(); err == nil {
		err = s.startOnFreePort()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fbtest: %w", err), s.Remove())
	}
	return s, nil
}

func (s *Server) path(name string) string { return filepath.Join(s.dir.Path, name) }

// initialize makes the database of users, which the server cannot do without.
func (s *Server) initialize() error {
	lock := s.path("lock")
	err := os.Mkdir(lock, 0o700)
	if err == nil && s.as != nil {
		err = os.Chown(lock, int(s.as.Uid), int(s.as.Gid))
	}
	for _, name := range []string{"plugins.conf", "databases.conf"} {
		err = errors.Join(err, os.WriteFile(s.path(name), nil, 0o644))
	}
	err = errors.Join(err, s.copyCharsets())
	if err = errors.Join(err, s.configure(0)); err != nil {
		return err
	}
	users := s.path("users.fdb")
	for _, script := range []string{
		fmt.Sprintf("CREATE DATABASE '%s';\nIN %s;\nCOMMIT;\n", users, usersScript),
		fmt.Sprintf("CONNECT '%s' USER SYSDBA;\nCREATE USER SYSDBA PASSWORD '%s' USING PLUGIN Srp;\nCOMMIT;\n",
			users, Password),
	} {
		if err := s.isql(script); err != nil {
			return fmt.Errorf("making the users of the server failed: %w", err)
		}
	}
	return nil
}

// copyCharsets puts the library of character sets where the server looks for it: under the folder
// of the configuration. A link there is not accepted.
func (s *Server) copyCharsets() error {
	found, _ := filepath.Glob(charsets) // the pattern is constant, and valid
	if len(found) == 0 {
		return errors.New(charsets + " was not found")
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return err
	}
	if err := os.Mkdir(s.path("intl"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(s.path("intl/libfbintl.so"), text, 0o644)
}

// isql runs a script.
func (s *Server) isql(script string) error {
	var out strings.Builder
	cmd := s.command(isqlBinary, "-q", "-bail", "-user", "SYSDBA")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(script), &out, &out
	p, err := throwaway.Spawn(cmd, syscall.SIGKILL, s.as)
	if err != nil {
		return err
	}
	if err := p.Wait("isql-fb"); err != nil {
		return err
	}
	if p.Err != nil || strings.Contains(out.String(), "Statement failed") {
		return fmt.Errorf("isql-fb: %w: %s", errors.Join(p.Err, errors.New("a statement failed")), out.String())
	}
	return nil
}

func (s *Server) configure(port int) error {
	return os.WriteFile(s.path("firebird.conf"), fmt.Appendf(nil, `RemoteServicePort = %d
RemoteBindAddress = 127.0.0.1
AuthServer = Srp
AuthClient = Srp
UserManager = Srp
WireCrypt = Enabled
ServerMode = Super
DatabaseAccess = Full
DefaultDbCachePages = 256
SecurityDatabase = %s
`, port, s.path("users.fdb")), 0o644)
}

// command prepares a program with an environment of its own; FIREBIRD names the folder of the
// configuration.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir.Path
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", "HOME=" + s.dir.Path, "FIREBIRD=" + s.dir.Path,
		"FIREBIRD_LOCK=" + s.path("lock"), "FIREBIRD_TMP=" + s.dir.Path,
	}
	return cmd
}

func (s *Server) startOnFreePort() error {
	const tries = 20
	var err error
	for range tries {
		if s.port, err = throwaway.FreePort(); err != nil {
			return err
		}
		if err = s.configure(s.port); err != nil {
			return err
		}
		if err = s.startServer(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("the server did not start in %d tries, last: %w", tries, err)
}

// startServer waits until the port answers: the server says nothing when it is ready, and ends when
// the port is taken.
func (s *Server) startServer() error {
	s.log = throwaway.NewLog("")
	cmd := s.command(serverBinary)
	cmd.Stdout, cmd.Stderr = s.log, s.log
	p, err := throwaway.Spawn(cmd, syscall.SIGKILL, s.as)
	if err != nil {
		return err
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.After(throwaway.Patience)
	for {
		select {
		case <-p.Done:
			return fmt.Errorf("it ended: %w; its log:\n%s", errors.Join(p.Err, errors.New("no reason")), s.log)
		case <-end:
			return errors.Join(fmt.Errorf("it was not ready after %s; its log:\n%s", throwaway.Patience, s.log),
				p.Stop(syscall.SIGKILL, "firebird"))
		case <-tick.C:
			if c, err := net.Dial("tcp", s.Address()); err == nil {
				s.process = p
				return c.Close()
			}
		}
	}
}
