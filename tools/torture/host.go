package torture

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/safrasync/safrasync/internal/torture"
)

// host is a machine: a network namespace in which `safrasync run` has its own host name, machine id
// and process ids, so that nobody outside can know that it is gone.
type host struct {
	t       *machinesTrial
	i       int
	dir     string
	process *exec.Cmd
	stopped bool
	pulled  map[string]bool
}

// prepare writes the machine's files: its id, its configuration with short schedules, and a folder
// for its journal.
func (h *host) prepare(dsn map[string]string) {
	h.t.test.Helper()
	if err := os.MkdirAll(filepath.Join(h.dir, "journal"), 0o700); err != nil {
		h.t.test.Fatal(err)
	}
	text := h.t.Configuration(h.t.API.URL, filepath.Join(h.dir, "journal"))
	text = strings.ReplaceAll(text, "    changed_at: atualizado\n",
		"    changed_at: atualizado\n    schedule: \"@every 1s\"\n")
	for name, text := range map[string]string{
		"config.yaml": text, "machine-id": fmt.Sprintf("%032d\n", h.i+1),
		"env": "TORTURE_KEY=" + torture.APIKey + "\nTORTURE_ERP='" + through(dsn["erp"], h.t.net.erp) +
			"'\nTORTURE_LEDGER='" + through(dsn["ledger"], h.t.net.ledger) + "'\n",
	} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			h.t.test.Fatal(err)
		}
	}
}

// forward lets the program reach the platform by the loopback address that it has on this host.
func (h *host) forward(platform string) {
	h.t.test.Helper()
	args := []string{"ip", "netns", "exec", h.t.net.space(h.i), os.Args[0]}
	if os.Geteuid() != 0 {
		args = append([]string{"sudo", "-n", "--preserve-env"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), forwardVariable+"="+platform+" "+h.t.net.forward(h.t.net.address("a", 1), platform))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		h.t.test.Fatal(err)
	}
	h.t.test.Cleanup(func() {
		h.t.net.try("kill", strconv.Itoa(cmd.Process.Pid))
		_ = cmd.Wait() // it was killed
	})
}

// name returns the machine's host name.
func (h *host) name() string { return "machine-" + strconv.Itoa(h.i) }

// start starts the machine, with a wrong clock on every machine except the first. Its first process
// is a shell that restarts `safrasync run` whenever it ends with an error, as a service manager
// does, because the program ends if it finds no database at its start.
func (h *host) start() {
	h.t.test.Helper()
	skew := time.Duration(h.i) * -47 * time.Minute
	if h.i%2 == 0 {
		skew = -skew
	}
	script := fmt.Sprintf(`set -a; . %s/env; SAFRASYNC_FAILPOINT_CLOCK=%s; set +a
		[ ! -e /etc/machine-id ] || mount --bind %s/machine-id /etc/machine-id
		hostname %s && until %s --config %s/config.yaml run; do sleep 1; done`, h.dir, skew, h.dir, h.name(), h.t.Binary, h.dir)
	args := []string{
		"ip", "netns", "exec", h.t.net.space(h.i), "unshare", "--mount", "--uts", "--pid", "--fork",
		"--kill-child", "--mount-proc", "sh", "-c", script,
	}
	if os.Geteuid() != 0 {
		args = append([]string{"sudo", "-n", "--preserve-env"}, args...)
	}
	log, err := os.OpenFile(filepath.Join(h.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		h.t.test.Fatal(err)
	}
	h.process = exec.Command(args[0], args[1:]...)
	h.process.Stderr, h.process.Stdout = log, log
	h.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err = h.process.Start()
	if closeErr := log.Close(); err != nil || closeErr != nil {
		h.t.test.Fatal(err, closeErr)
	}
	h.t.until("the program starts on "+h.name(), func() bool { return find(h.process.Process.Pid, h.t.Binary) != 0 })
}

// find returns the id of a process with this executable below a process, or 0.
func find(pid int, binary string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0
	}
	for _, child := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(child)
		if err != nil {
			continue
		}
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", n)); err == nil && exe == binary {
			return n
		}
		if found := find(n, binary); found != 0 {
			return found
		}
	}
	return 0
}

func (h *host) signal(name string) {
	h.t.test.Helper()
	h.t.until("the program on "+h.name()+" gets the signal "+name, func() bool { return h.try(name, h.t.Binary) })
	h.stopped = name == "STOP"
}

// try sends a signal to the host's process with this executable. It returns false if there is none
// now.
func (h *host) try(name, binary string) bool {
	pid := find(h.process.Process.Pid, binary)
	return pid != 0 && asRoot("kill", "-"+name, strconv.Itoa(pid)) == nil
}

// kill simulates a power failure of the machine.
func (h *host) kill() {
	h.t.test.Helper()
	shell, err := exec.LookPath("sh")
	if err == nil {
		shell, err = filepath.EvalSymlinks(shell)
	}
	if err != nil {
		h.t.test.Fatal(err)
	}
	// All its processes end with the first.
	h.t.until(h.name()+" loses its power", func() bool { return h.try("KILL", shell) })
	_ = h.process.Wait() // it was killed
	h.process = nil
}

// heal ends all faults of the machine.
func (h *host) heal() {
	h.t.test.Helper()
	for side, out := range h.pulled {
		if out {
			h.t.net.pull(side, h.i, false)
			h.pulled[side] = false
		}
	}
	if h.stopped {
		h.signal("CONT")
	}
	if h.process == nil {
		h.start()
	}
}

func (h *host) pull(side string) {
	h.t.test.Helper()
	h.t.net.pull(side, h.i, true)
	h.pulled[side] = true
}

// end stops the program as a service manager does, and waits for it.
func (h *host) end() {
	if h.process == nil {
		return
	}
	if h.stopped {
		h.signal("CONT")
	}
	h.signal("TERM")
	if err := h.process.Wait(); err != nil {
		log, _ := os.ReadFile(filepath.Join(h.dir, "log"))
		h.t.test.Errorf("%s ended with %v: …%s", h.name(), err, log[max(0, len(log)-1500):])
	}
	h.process = nil
}
