package mariatest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql" // the driver "mysql"

	"github.com/safrasync/safrasync/internal/throwaway"
)

const (
	// binDirEnv names the folder with mariadbd, for machines where several versions are installed.
	binDirEnv = "SAFRASYNC_TEST_MARIADB_BIN"
	shareDir  = "/usr/share/mysql"

	readyLine = "ready for connections"
	portTaken = "Address already in use"
)

// User and Password are those of the administrator of every server.
const (
	User     = "dono"
	Password = "senha do dono"
)

// kind is in memory: tests check what a server does, not how fast its disk is.
var kind = throwaway.Kind{
	Prefix: "safrasync-mariatest-", InMemory: true, StillServed: func(string) bool { return false },
}

var shared = throwaway.Shared[*Server]{Start: start}

// Server is one MariaDB server with its data directory.
type Server struct {
	*throwaway.Server
	binary string
}

// Database creates an empty utf8mb4 database for one test, which is dropped after it, and returns
// the server and the database's name.
func Database(t testing.TB) (*Server, string) {
	t.Helper()
	s := shared.Get(t)
	name := fmt.Sprintf("test_%d", s.NextDB.Add(1))
	if err := s.admin("CREATE DATABASE " + name); err != nil {
		t.Fatalf("mariatest: creating a database: %v\nserver log:\n%s", err, s.Log)
	}
	t.Cleanup(func() {
		if err := s.admin("DROP DATABASE " + name); err != nil {
			t.Errorf("mariatest: dropping the test's database: %v", err)
		}
	})
	return s, name
}

// AdminDSN returns the administrator's data source name for the driver "mysql".
func (s *Server) AdminDSN(database string) string {
	return fmt.Sprintf("%s:%s@tcp(%s)/%s?charset=utf8mb4", User, Password, s.Address(), database)
}

func (s *Server) admin(statement string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), throwaway.Patience)
	defer cancel()
	db, err := sql.Open("mysql", s.AdminDSN(""))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, statement)
	return err
}

func find() (string, error) {
	if dir := os.Getenv(binDirEnv); dir != "" {
		return filepath.Join(dir, "mariadbd"), nil
	}
	if path, err := exec.LookPath("mariadbd"); err == nil {
		return path, nil
	}
	const debian = "/usr/sbin/mariadbd" // not in an ordinary user's PATH
	if _, err := os.Stat(debian); err == nil {
		return debian, nil
	}
	return "", errors.New("mariatest: mariadbd was not found in $" + binDirEnv + ", in PATH or at " + debian +
		": run `make test`, which installs it")
}

func start() (*Server, error) {
	binary, err := find()
	if err != nil {
		return nil, err
	}
	common, err := kind.NewServer("mariadbd", "mysql")
	if err != nil {
		return nil, fmt.Errorf("mariatest: %w", err)
	}
	s := &Server{common, binary}
	err = s.bootstrap()
	if err == nil {
		err = s.startOnFreePort()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mariatest: %w", err), s.Remove())
	}
	return s, nil
}

// bootstrap creates the data directory as mariadb-install-db does, without the programs of the
// client package that the script needs.
func (s *Server) bootstrap() error {
	if err := s.MakeDir("data"); err != nil {
		return err
	}
	script := []string{"CREATE DATABASE mysql;", "USE mysql;", "SET @auth_root_socket = NULL;"}
	for _, name := range []string{
		"mysql_system_tables.sql", "mysql_performance_tables.sql",
		"mysql_system_tables_data.sql",
	} {
		text, err := os.ReadFile(filepath.Join(shareDir, name))
		if err != nil {
			return err
		}
		script = append(script, string(text))
	}
	if _, err := s.Feed(s.command("--bootstrap", "--skip-grant-tables"), strings.Join(script, "\n")); err != nil {
		return fmt.Errorf("making the data directory failed: %w", err)
	}
	return nil
}

// command returns a command for the server with its own environment. --no-defaults ignores the
// machine's configuration.
func (s *Server) command(args ...string) *exec.Cmd {
	all := append([]string{
		"--no-defaults", "--datadir=" + s.Path("data"), "--lc-messages-dir=" + shareDir,
		"--innodb-buffer-pool-size=32M", "--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0",
		"--skip-log-bin",
		"--character-set-server=utf8mb4", "--default-time-zone=+00:00", "--performance-schema=OFF", "--userstat=ON",
		"--skip-name-resolve",
	}, args...)
	cmd := exec.Command(s.binary, all...)
	cmd.Dir = s.Dir.Path
	cmd.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + s.Dir.Path, "LC_ALL=C", "TZ=UTC"}
	return cmd
}

func (s *Server) startOnFreePort() error {
	// The folder is the server's own, so nobody else can read this file.
	init := s.Path("init.sql")
	text := fmt.Sprintf(
		"CREATE USER '%s'@'127.0.0.1' IDENTIFIED BY '%s';\nGRANT ALL ON *.* TO '%s'@'127.0.0.1' WITH GRANT OPTION;\n",
		User, Password, User)
	if err := os.WriteFile(init, []byte(text), 0o644); err != nil {
		return err
	}
	return s.OnFreePort(func() error {
		return s.Launch(s.command(fmt.Sprintf("--port=%d", s.Port), "--bind-address=127.0.0.1", "--socket="+s.Path("s"),
			"--pid-file="+s.Path("pid"), "--init-file="+init, "--max-connections=100"), readyLine, nil)
	}, func() bool { return strings.Contains(s.Log.String(), portTaken) })
}
