package packagetest

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// systemctl replaces the systemctl of a root. It asks the test, which simulates systemd.
const systemctl = `#!/bin/sh
reply=/run/systemd/reply.$$
mkfifo "$reply"
echo "$reply $*" >/run/systemd/ask
read -r code text <"$reply"
rm "$reply"
[ -z "$text" ] || echo "$text"
exit "$code"
`

// manager answers the systemctl calls of the maintainers' scripts.
type manager struct {
	service *service
	mu      sync.Mutex
	calls   []string
}

// manage installs systemctl in the service's root and connects it to the service, so that the
// root's scripts find a running systemd.
func manage(t *testing.T, s *service) *manager {
	t.Helper()
	m := &manager{service: s}
	s.root.write("/usr/bin/systemctl", systemctl, 0o755)
	fifo := s.root.path("/run/systemd/ask")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	asks, err := os.OpenFile(fifo, os.O_RDWR, 0) // opened for writing too, so that reading never ends
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewScanner(asks)
		for lines.Scan() {
			reply, command, _ := strings.Cut(lines.Text(), " ")
			if reply == "end" {
				return
			}
			code, text := m.answer(command)
			if err := os.WriteFile(s.root.path(reply), fmt.Appendf(nil, "%d %s\n", code, text), 0); err != nil {
				t.Error(err)
			}
		}
	}()
	t.Cleanup(func() {
		if _, err := asks.WriteString("end \n"); err != nil {
			t.Error(err)
		}
		<-done
		if err := asks.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// answer executes a command.
func (m *manager) answer(command string) (code int, text string) {
	var args []string
	for _, word := range strings.Fields(command) {
		if !strings.HasPrefix(word, "-") {
			args = append(args, word)
		}
	}
	m.mu.Lock()
	m.calls = append(m.calls, strings.Join(args, " "))
	m.mu.Unlock()
	s := m.service
	if len(args) == 2 && strings.HasPrefix(args[1], "safrasync-backup") { // its timer never elapses here
		if args[0] == "start" {
			return s.backup(), ""
		}
		return 0, ""
	}
	switch verb := args[0]; verb {
	case "daemon-reload", "preset":
	case "is-enabled":
		return 1, "disabled"
	case "is-active":
		if s.running() == 0 {
			return 3, "inactive"
		}
		return 0, "active"
	case "status":
		return 0, s.said()
	case "stop", "disable":
		s.stop()
	case "start", "restart", "try-restart", "enable":
		if verb == "try-restart" && s.running() == 0 {
			return 0, ""
		}
		s.stop()
		if !s.start() {
			return 1, ""
		}
	default:
		return 1, "the test does not know " + verb
	}
	return 0, ""
}

// take returns the calls since the last take, without those that change nothing.
func (m *manager) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := m.calls
	m.calls = nil
	return slices.DeleteFunc(calls, func(c string) bool { return c == "daemon-reload" || strings.HasPrefix(c, "is-") })
}
