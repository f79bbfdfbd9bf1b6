package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// Bouncer starts a PgBouncer in front of the server of a data source name, with a pool mode and
// everything else as Debian ships it, and returns the data source name through it. It is removed
// after the test.
func Bouncer(t testing.TB, dsn, mode string) string {
	t.Helper()
	program := must.Get(exec.LookPath("pgbouncer"))(t) // see .ci/need-postgres
	server := must.Get(kind.NewServer("pgbouncer", "postgres"))(t)
	t.Cleanup(func() { must.Do(t, server.Remove()) })
	users, file := server.Path("users"), server.Path("pgbouncer.ini")
	must.Do(t, os.WriteFile(users, []byte(`"postgres" ""`), 0o644))
	var host, port string
	for pair := range strings.FieldsSeq(dsn) {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case "host":
			host = value
		case "port":
			port = value
		}
	}
	start := func() error {
		text := fmt.Sprintf("[databases]\n* = host=%s port=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\n"+
			"unix_socket_dir =\nauth_type = trust\nauth_file = %s\npool_mode = %s\n", host, port, server.Port, users, mode)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
		return server.Launch(exec.Command(program, file), "process up", nil)
	}
	must.Do(t, server.OnFreePort(start, func() bool { return strings.Contains(server.Log.String(), portTaken) }))
	return strings.Replace(dsn, "port="+port, fmt.Sprint("port=", server.Port), 1)
}
