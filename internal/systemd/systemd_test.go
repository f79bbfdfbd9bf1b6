package systemd

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/safrasync/safrasync/internal/must"
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

// Where the journal reads what is written, each line begins with its priority; elsewhere none does.
func TestTheJournalGetsPriorities(t *testing.T) {
	file := must.Get(os.Create(filepath.Join(t.TempDir(), "stream")))(t)
	t.Cleanup(func() { must.Do(t, file.Close()) })
	info := must.Get(file.Stat())(t).Sys().(*syscall.Stat_t)
	t.Setenv("JOURNAL_STREAM", fmt.Sprintf("%d:%d", info.Dev, info.Ino+1))
	if ToJournal(file) {
		t.Error("another stream is taken for the journal")
	}
	t.Setenv("JOURNAL_STREAM", fmt.Sprintf("%d:%d", info.Dev, info.Ino))
	if !ToJournal(file) || ToJournal(&strings.Builder{}) {
		t.Fatal("the journal is not recognized")
	}
	encoder := WithPriorities(zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "msg", LineEnding: "\n"}))
	log := zap.New(zapcore.NewCore(encoder, zapcore.AddSync(file), zapcore.DebugLevel)).With(zap.String("job", "a"))
	log.Debug("d")
	log.Info("i")
	log.Warn("w")
	log.Error("e")
	const want = "<7>{\"msg\":\"d\",\"job\":\"a\"}\n<6>{\"msg\":\"i\",\"job\":\"a\"}\n" +
		"<4>{\"msg\":\"w\",\"job\":\"a\"}\n<3>{\"msg\":\"e\",\"job\":\"a\"}\n"
	if got := string(must.Get(os.ReadFile(file.Name()))(t)); got != want {
		t.Errorf("the stream has\n%swant\n%s", got, want)
	}
}
