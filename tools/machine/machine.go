package machine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Machine is one machine. It has its own process ids, host name and machine id.
type Machine struct {
	Name   string   // host name
	ID     string   // machine id, 32 digits
	Dir    string   // where its files are; its output is appended to Dir/log
	Inside []string // a command that runs another one in a namespace, if it needs more of its own
	Script string   // what it runs, in a shell; it ends with this shell

	process *exec.Cmd
}

// AsRoot runs a command of the system, which needs root or sudo without a password.
func AsRoot(args ...string) error {
	args = privileged(args)
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

func privileged(args []string) []string {
	if os.Geteuid() == 0 {
		return args
	}
	return append([]string{"sudo", "-n", "--preserve-env"}, args...)
}

// identity is the beginning of a script that gives the namespace the identity of the machine.
func (m *Machine) identity() string {
	return fmt.Sprintf(`set -e; [ ! -e /etc/machine-id ] || mount --bind %s/machine-id /etc/machine-id; hostname %s; set +e; `,
		m.Dir, m.Name)
}

// Prepare makes the folder and writes the machine's id.
func (m *Machine) Prepare(t testing.TB) {
	t.Helper()
	err := os.MkdirAll(m.Dir, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(m.Dir, "machine-id"), []byte(m.ID+"\n"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Start starts the machine.
func (m *Machine) Start(t testing.TB) {
	t.Helper()
	args := privileged(slices.Concat(m.Inside, []string{
		"unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc",
		"sh", "-c", m.identity() + m.Script + "\nexit $?",
	}))
	log, err := os.OpenFile(filepath.Join(m.Dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	m.process = exec.Command(args[0], args[1:]...)
	m.process.Stderr, m.process.Stdout = log, log
	m.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err = errors.Join(m.process.Start(), log.Close())
	if err != nil {
		t.Fatal(err)
	}
}

// Command writes a program that runs another one with the identity of the machine, whether the
// machine runs or not, and returns its path.
func (m *Machine) Command(t testing.TB, binary string) string {
	t.Helper()
	path := filepath.Join(m.Dir, "command")
	script := "#!/bin/sh\nexec " + strings.Join(privileged([]string{"unshare", "--mount", "--uts"}), " ") +
		" sh -c '" + m.identity() + `exec "$@"' sh ` + binary + " \"$@\"\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Runs reports whether the machine was started, and has not ended since.
func (m *Machine) Runs() bool { return m.process != nil }

// Ended reports whether no process of the machine is left.
func (m *Machine) Ended() bool { return len(m.processes()) == 0 }

// Find returns the id of the machine's process that runs this program, or script, or 0.
func (m *Machine) Find(program string) int {
	for _, pid := range m.processes() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		words := strings.SplitN(string(text), "\x00", 3) // an interpreter comes before its script
		if err == nil && slices.Contains(words[:min(2, len(words))], program) {
			return pid
		}
	}
	return 0
}

// processes returns the ids of the machine's processes; the first is the one with which it ends.
func (m *Machine) processes() (found []int) {
	if m.process == nil {
		return nil
	}
	found = []int{m.process.Process.Pid}
	for i := 0; i < len(found); i++ {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", found[i])) // a constant pattern
		for _, thread := range threads {
			text, err := os.ReadFile(thread)
			if err != nil {
				continue // it has ended
			}
			for _, child := range strings.Fields(string(text)) {
				if pid, err := strconv.Atoi(child); err == nil {
					found = append(found, pid)
				}
			}
		}
	}
	// What stands outside of the namespace (sudo, unshare) is not of the machine.
	first := slices.IndexFunc(found, innermost)
	if first < 0 {
		return nil
	}
	return found[first:]
}

// innermost reports whether a process is in a namespace of process ids below this one.
func innermost(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	_, ids, _ := strings.Cut(string(text), "NSpid:")
	ids, _, _ = strings.Cut(ids, "\n")
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	_, ours, _ := strings.Cut(string(own), "NSpid:")
	ours, _, _ = strings.Cut(ours, "\n")
	return len(strings.Fields(ids)) > len(strings.Fields(ours))
}

// Signal sends a signal to the process that runs this program. It returns false if there is none now.
func (m *Machine) Signal(name, program string) bool {
	pid := m.Find(program)
	return pid != 0 && AsRoot("kill", "-"+name, strconv.Itoa(pid)) == nil
}

// SignalAll sends a signal to every process.
func (m *Machine) SignalAll(name string) {
	for _, pid := range m.processes() {
		_ = AsRoot("kill", "-"+name, strconv.Itoa(pid)) // it may have ended
	}
}

// Kill simulates a power failure: all processes of a namespace end with the first.
func (m *Machine) Kill() {
	if processes := m.processes(); len(processes) > 0 {
		_ = AsRoot("kill", "-KILL", strconv.Itoa(processes[0])) // it may have ended
	}
	_ = m.Wait() // it was killed
}

// Wait waits until the machine has ended.
func (m *Machine) Wait() error {
	process := m.process
	m.process = nil
	if process == nil {
		return nil
	}
	return process.Wait()
}

// Log returns the end of what the machine's programs wrote.
func (m *Machine) Log(most int) string {
	text, _ := os.ReadFile(filepath.Join(m.Dir, "log"))
	return string(text[max(0, len(text)-most):])
}

// Build compiles a program of a module with the settings of a release, so that the dependencies are
// compiled once for all programs.
func Build(t testing.TB, module string, args ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), filepath.Base(args[len(args)-1]))
	cmd := exec.CommandContext(t.Context(), "go",
		append([]string{"build", "-trimpath", "-buildvcs=false", "-o", binary}, args...)...)
	cmd.Dir, cmd.Env = module, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}
