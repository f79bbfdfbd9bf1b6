package systemd

import (
	"fmt"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"
)

// Manager is the service manager that started this process, if one did.
type Manager struct {
	// Failed is told of a message that did not arrive; nil tells nobody. A daemon that cannot reach
	// its manager goes on: the manager will notice.
	Failed func(error)
}

// Ready says that the service has begun to serve (READY=1), with a sentence for people.
func (m Manager) Ready(status string) { m.send(daemon.SdNotifyReady, statusLine(status)) }

// Status is the sentence that `systemctl status` shows.
func (m Manager) Status(status string) { m.send(statusLine(status)) }

// Reloading says that a reload has begun; Ready ends it, also when the old configuration stays.
func (m Manager) Reloading() {
	m.send(daemon.SdNotifyReloading, fmt.Sprintf("MONOTONIC_USEC=%d", monotonic().Microseconds()))
}

// Stopping says that the service ends, with a sentence for people.
func (m Manager) Stopping(status string) { m.send(daemon.SdNotifyStopping, statusLine(status)) }

// Alive feeds the watchdog (WATCHDOG=1).
func (m Manager) Alive() { m.send(daemon.SdNotifyWatchdog) }

// Watchdog is how long the manager waits for Alive before it ends the process; 0 when it does not
// watch this one.
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

// statusMost bounds a sentence: the manager ignores messages of more than 4096 bytes.
const statusMost = 1000

// statusLine is one line: a line of its own would be another message.
func statusLine(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > statusMost {
		runes = append(runes[:statusMost-1], '…')
	}
	return "STATUS=" + string(runes)
}

// monotonic is the clock by which the manager tells which reload a message speaks of.
func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
