package systemd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
)

// Manager is the service manager that started this process, if one did.
type Manager struct {
	// Failed is called if a message could not be sent; it may be nil. A daemon that cannot reach
	// its manager continues; the manager will notice.
	Failed func(error)
}

// Ready reports that the service has begun to serve (READY=1), with a sentence for people.
func (m Manager) Ready(status string) { m.send(daemon.SdNotifyReady, statusLine(status)) }

// Status sets the sentence that `systemctl status` shows.
func (m Manager) Status(status string) { m.send(statusLine(status)) }

// Reloading reports that a reload has begun. Ready ends it, even if the old configuration stays.
func (m Manager) Reloading() {
	m.send(daemon.SdNotifyReloading, fmt.Sprintf("MONOTONIC_USEC=%d", monotonic().Microseconds()))
}

// Stopping reports that the service is ending, with a sentence for people.
func (m Manager) Stopping(status string) { m.send(daemon.SdNotifyStopping, statusLine(status)) }

// Alive resets the watchdog (WATCHDOG=1).
func (m Manager) Alive() { m.send(daemon.SdNotifyWatchdog) }

// Watchdog returns how long the manager waits for Alive before it ends the process, or 0 if the
// manager does not watch this process.
func Watchdog() (time.Duration, error) {
	d, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return 0, fmt.Errorf("the watchdog of systemd: %w", err)
	}
	return d, nil
}

func (m Manager) send(lines ...string) {
	if _, err := daemon.SdNotify(false, strings.Join(lines, "\n")); err != nil && m.Failed != nil {
		m.Failed(fmt.Errorf("systemd was not told: %w", err))
	}
}

// statusMost bounds a sentence, in characters: the manager ignores messages of more than 4096
// bytes.
const statusMost = 1000

// statusLine returns the text as one line, because each line is a separate assignment.
func statusLine(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > statusMost {
		runes = append(runes[:statusMost-1], '…')
	}
	return "STATUS=" + string(runes)
}

// ToJournal reports whether the journal reads what is written to w, so that a line may begin with
// its priority. The manager names the journal's stream in $JOURNAL_STREAM by device and inode.
func ToJournal(w io.Writer) bool {
	file, ok := w.(*os.File)
	stream := os.Getenv("JOURNAL_STREAM")
	if !ok || stream == "" {
		return false
	}
	return stream == streamOf(file)
}

// ErrorPriority is the beginning of a line that the journal stores as an error.
const ErrorPriority = "<3>"

// priorities are the beginnings of the lines of each level.
var priorities = map[zapcore.Level]string{
	zapcore.DebugLevel: "<7>", zapcore.InfoLevel: "<6>", zapcore.WarnLevel: "<4>", zapcore.ErrorLevel: ErrorPriority,
}

// WithPriorities returns an encoder whose lines begin with their priority, by which
// `journalctl -p warning` selects them. The journal removes it.
func WithPriorities(encoder zapcore.Encoder) zapcore.Encoder { return withPriorities{encoder} }

type withPriorities struct{ zapcore.Encoder }

func (e withPriorities) Clone() zapcore.Encoder { return withPriorities{e.Encoder.Clone()} }

var buffers = buffer.NewPool()

func (e withPriorities) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	line, err := e.Encoder.EncodeEntry(entry, fields)
	if err != nil {
		return nil, err
	}
	defer line.Free()
	out := buffers.Get()
	priority, ok := priorities[entry.Level]
	if !ok {
		priority = ErrorPriority
	}
	out.AppendString(priority)
	_, err = out.Write(line.Bytes())
	return out, err
}
