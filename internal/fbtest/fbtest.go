package fbtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/nakagami/firebirdsql" // the driver "firebirdsql"

	"github.com/safrasync/safrasync/internal/throwaway"
)

// Where Debian installs Firebird 3.
const (
	serverBinary = "/usr/sbin/firebird"
	isqlBinary   = "/usr/bin/isql-fb"
	usersScript  = "/usr/share/firebird/3.0/security.sql"
	charsets     = "/usr/lib/*/firebird/3.0/intl/libfbintl.so"
)

// Password is the password of SYSDBA on every server.
const Password = "dono"

// kind is in memory: tests check what a server does, not how fast its disk is.
var kind = throwaway.Kind{
	Prefix: "safrasync-fbtest-", InMemory: true, StillServed: func(string) bool { return false },
}

var shared = throwaway.Shared[*Server]{Start: start}

// Server is one Firebird server with its folder.
type Server struct{ *throwaway.Server }

// Database creates an empty database with this charset (UTF8, WIN1252, NONE …) for one test, and
// returns the server and the database's path. The database is removed with the server.
func Database(t testing.TB, charset string) (*Server, string) {
	t.Helper()
	return database(t, 3, charset, "")
}

// OldDatabase is Database in SQL dialect 1, which has no BIGINT and no DATE without a time. Only
// isql can change such a database, so script makes its tables.
func OldDatabase(t testing.TB, charset, script string) (*Server, string) {
	t.Helper()
	return database(t, 1, charset, script)
}

func database(t testing.TB, dialect int, charset, script string) (*Server, string) {
	t.Helper()
	s := shared.Get(t)
	path := s.Path(fmt.Sprintf("test_%d.fdb", s.NextDB.Add(1)))
	err := s.isql(fmt.Sprintf("SET SQL DIALECT %d;\n"+
		"CREATE DATABASE '127.0.0.1/%d:%s' USER 'SYSDBA' PASSWORD '%s' DEFAULT CHARACTER SET %s;\n%s",
		dialect, s.Port, path, Password, charset, script))
	if err != nil {
		t.Fatalf("fbtest: creating a database: %v\nserver log:\n%s", err, s.Log)
	}
	return s, path
}

// AdminDSN returns SYSDBA's data source name for the driver "firebirdsql". charset is the charset
// of the connection.
func (s *Server) AdminDSN(path, charset string) string {
	return fmt.Sprintf("SYSDBA:%s@%s/%s?charset=%s&timezone=UTC", Password, s.Address(), path, charset)
}

func start() (*Server, error) {
	for _, path := range []string{serverBinary, isqlBinary, usersScript} {
		if _, err := os.Stat(path); err != nil {
			return nil, errors.New("fbtest: " + path + " was not found: run `make test`, which installs Firebird 3")
		}
	}
	common, err := kind.NewServer("firebird", "firebird")
	if err != nil {
		return nil, fmt.Errorf("fbtest: %w", err)
	}
	s := &Server{common}
	err = s.initialize()
	if err == nil {
		err = s.startOnFreePort()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fbtest: %w", err), s.Remove())
	}
	return s, nil
}

// initialize creates the database of users, which the server needs.
func (s *Server) initialize() error {
	err := s.MakeDir("lock")
	for _, name := range []string{"plugins.conf", "databases.conf"} {
		err = errors.Join(err, os.WriteFile(s.Path(name), nil, 0o644))
	}
	err = errors.Join(err, s.copyCharsets())
	if err = errors.Join(err, s.configure(0)); err != nil {
		return err
	}
	users := s.Path("users.fdb")
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

// copyCharsets copies the library of character sets to the place where the server looks for it,
// below the folder of the configuration. The server accepts no link there.
func (s *Server) copyCharsets() error {
	found, _ := filepath.Glob(charsets) // the pattern is constant, and valid
	if len(found) == 0 {
		return errors.New(charsets + " was not found")
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return err
	}
	if err := os.Mkdir(s.Path("intl"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(s.Path("intl/libfbintl.so"), text, 0o644)
}

func (s *Server) isql(script string) error {
	out, err := s.Feed(s.command(isqlBinary, "-q", "-bail", "-user", "SYSDBA"), script)
	if err == nil && strings.Contains(out, "Statement failed") {
		err = fmt.Errorf("isql-fb: a statement failed: %s", out)
	}
	return err
}

func (s *Server) configure(port int) error {
	return os.WriteFile(s.Path("firebird.conf"), fmt.Appendf(nil, `RemoteServicePort = %d
RemoteBindAddress = 127.0.0.1
AuthServer = Srp
AuthClient = Srp
UserManager = Srp
WireCrypt = Enabled
ServerMode = Super
DatabaseAccess = Full
DefaultDbCachePages = 256
SecurityDatabase = %s
`, port, s.Path("users.fdb")), 0o644)
}

// command returns a command for a program with its own environment; FIREBIRD names the folder of
// the configuration.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.Dir.Path
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", "HOME=" + s.Dir.Path, "FIREBIRD=" + s.Dir.Path,
		"FIREBIRD_LOCK=" + s.Path("lock"), "FIREBIRD_TMP=" + s.Dir.Path,
	}
	return cmd
}

// startOnFreePort waits until the port answers, because the server writes nothing when it is ready;
// it ends if the port is taken.
func (s *Server) startOnFreePort() error {
	return s.OnFreePort(func() error {
		if err := s.configure(s.Port); err != nil {
			return err
		}
		return s.Launch(s.command(serverBinary), "", func() bool {
			c, err := net.Dial("tcp", s.Address())
			return err == nil && c.Close() == nil
		})
	}, func() bool { return true })
}
