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

	"github.com/safrasync/safrasync/tools/machine"
	"github.com/safrasync/safrasync/tools/torture/rack"
)

// host is a machine: a network namespace in which `safrasync run` has its own host name, machine id
// and process ids, so that nobody outside can know that it is gone.
type host struct {
	machine.Machine
	t       *machinesTrial
	i       int
	stopped bool
	pulled  map[string]bool
}

// prepare writes the machine's files: its id, its configuration with short schedules, and folders
// for its journal and its witness.
func (h *host) prepare(dsn map[string]string) {
	h.t.test.Helper()
	h.Prepare(h.t.test)
	for _, folder := range []string{"journal", "witness"} {
		if err := os.MkdirAll(filepath.Join(h.Dir, folder), 0o700); err != nil {
			h.t.test.Fatal(err)
		}
	}
	text := h.t.Configuration(h.t.API.URL, filepath.Join(h.Dir, "journal"))
	text = strings.ReplaceAll(text, "    changed_at: atualizado\n",
		"    changed_at: atualizado\n    schedule: \"@every 1s\"\n")
	for name, text := range map[string]string{
		"config.yaml": text,
		"env": "TORTURE_KEY=" + rack.APIKey + "\nTORTURE_ERP='" + through(dsn["erp"], h.t.net.erp) +
			"'\nTORTURE_LEDGER='" + through(dsn["ledger"], h.t.net.ledger) + "'\n",
	} {
		if err := os.WriteFile(filepath.Join(h.Dir, name), []byte(text), 0o600); err != nil {
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

// start starts the machine, with a wrong clock on every machine except the first. Its first process
// is a shell that restarts `safrasync run` whenever it ends with an error, as a service manager
// does, because the program ends if it finds no database at its start.
func (h *host) start() {
	h.t.test.Helper()
	skew := time.Duration(h.i) * -47 * time.Minute
	if h.i%2 == 0 {
		skew = -skew
	}
	h.Script = fmt.Sprintf(`set -a; . %s/env; SAFRASYNC_FAILPOINT_CLOCK=%s; set +a
		until %s --config %s/config.yaml run; do sleep 1; done`, h.Dir, skew, h.t.Binary, h.Dir)
	h.Start(h.t.test)
	h.t.until("the program starts on "+h.Name, func() bool { return h.Find(h.t.Binary) != 0 })
}

func (h *host) signal(name string) {
	h.t.test.Helper()
	h.t.until("the program on "+h.Name+" gets the signal "+name, func() bool { return h.Signal(name, h.t.Binary) })
	h.stopped = name == "STOP"
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
	if !h.Runs() {
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
	if !h.Runs() {
		return
	}
	if h.stopped {
		h.signal("CONT")
	}
	h.signal("TERM")
	if err := h.Wait(); err != nil {
		h.t.test.Errorf("%s ended with %v: …%s", h.Name, err, h.Log(1500))
	}
}
