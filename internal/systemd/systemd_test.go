package systemd

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// manager is the socket of a service manager.
func manager(t *testing.T) func() string {
	t.Helper()
	dir, err := os.MkdirTemp("", "systemd") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return func() string {
		t.Helper()
		buffer := make([]byte, 8192)
		n, err := conn.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		return string(buffer[:n])
	}
}

func TestTheManagerIsTold(t *testing.T) {
	told := manager(t)
	m := Manager{Failed: func(err error) { t.Error(err) }}
	m.Ready("serving 2 jobs;\nSTOPPING=1 all is well")
	if got := told(); got != "READY=1\nSTATUS=serving 2 jobs; STOPPING=1 all is well" {
		t.Errorf("ready: %q", got)
	}
	m.Status(strings.Repeat("não ", 2000))
	if got := told(); len(got) > 4000 || !strings.HasPrefix(got, "STATUS=não não") || !strings.HasSuffix(got, "…") {
		t.Errorf("a long status has %d bytes: %.40q…", len(got), got)
	}
	m.Reloading()
	if got := told(); !regexp.MustCompile(`^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]+$`).MatchString(got) {
		t.Errorf("reloading: %q", got)
	}
	m.Alive()
	if got := told(); got != "WATCHDOG=1" {
		t.Errorf("alive: %q", got)
	}
	m.Stopping("bye")
	if got := told(); got != "STOPPING=1\nSTATUS=bye" {
		t.Errorf("stopping: %q", got)
	}
}

func TestWithoutAManagerNothingHappens(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	Manager{Failed: func(err error) { t.Error(err) }}.Ready("x")
	failed := 0
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "gone"))
	Manager{Failed: func(error) { failed++ }}.Ready("x")
	if failed != 1 {
		t.Errorf("a manager that is gone was told of %d times", failed)
	}
}

func TestTheWatchdogIsForThisProcessOnly(t *testing.T) {
	t.Setenv("WATCHDOG_USEC", "3000000")
	t.Setenv("WATCHDOG_PID", "")
	if d, err := Watchdog(); d != 3*time.Second || err != nil {
		t.Errorf("watchdog %s, %v", d, err)
	}
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()+1))
	if d, err := Watchdog(); d != 0 || err != nil {
		t.Errorf("the watchdog of another process: %s, %v", d, err)
	}
	t.Setenv("WATCHDOG_PID", "")
	t.Setenv("WATCHDOG_USEC", "soon")
	if _, err := Watchdog(); err == nil {
		t.Error("a watchdog that is no number")
	}
}
