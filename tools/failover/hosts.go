package failover

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/safrasync/safrasync/tools/machine"
	"github.com/safrasync/safrasync/tools/torture/rack"
)

// host is a machine on which `safrasync run` runs.
type host struct {
	machine.Machine
	t      *trial
	binary string   // the program
	act    string   // runs a command of the program on this machine
	ways   []*valve // to the PostgreSQL of each node
}

// database is the name of the ledger's database.
const database = "safrasync"

// newHost makes a machine, whose address of the ledger names every node.
func newHost(t *trial, i int, dir, binary string) *host {
	t.test.Helper()
	h := &host{t: t, binary: binary}
	h.Name, h.ID, h.Dir = fmt.Sprintf("machine-%d", i), fmt.Sprintf("%032d", i+1), dir
	for _, n := range t.cluster.nodes {
		h.ways = append(h.ways, newValve(t.test, fmt.Sprintf("127.0.0.1:%d", n.port)))
	}
	h.Prepare(t.test)
	h.act = h.Command(t.test, binary)
	// As a service manager does, it starts the program again when it has ended with an error.
	h.Script = fmt.Sprintf("set -a; . %s/env; set +a; until [ -e %[1]s/stop ] || %s --config %[1]s/service.yaml run; do sleep 1; done",
		dir, binary)
	return h
}

// dsn is the address of the ledger.
func (h *host) dsn() string {
	var ports []string
	for _, way := range h.ways {
		ports = append(ports, fmt.Sprint(way.port))
	}
	return fmt.Sprintf("host=%s port=%s user=postgres dbname=%s sslmode=disable target_session_attrs=read-write connect_timeout=3",
		strings.TrimSuffix(strings.Repeat("127.0.0.1,", len(ports)), ","), strings.Join(ports, ","), database)
}

// configure writes the configuration, with short schedules, and makes the folders that it names.
func (h *host) configure(erp string) {
	h.t.test.Helper()
	options := h.t.Options
	text := options.Configuration(h.t.API.URL, filepath.Join(h.Dir, "journal"))
	text = strings.ReplaceAll(text, "    changed_at: atualizado\n",
		"    changed_at: atualizado\n    schedule: \"@every 1s\"\n")
	env := fmt.Sprintf("TORTURE_KEY=%s\nTORTURE_ERP='%s'\nTORTURE_LEDGER='%s'\n", rack.APIKey, erp, h.dsn())
	err := errors.Join(os.MkdirAll(filepath.Join(h.Dir, "journal"), 0o700),
		os.MkdirAll(filepath.Join(h.Dir, "witness"), 0o700),
		os.WriteFile(filepath.Join(h.Dir, "service.yaml"), []byte(text), 0o600),
		os.WriteFile(filepath.Join(h.Dir, "env"), []byte(env), 0o600))
	if err != nil {
		h.t.test.Fatal(err)
	}
}

func (h *host) start() {
	h.t.test.Helper()
	if !h.Runs() {
		h.Start(h.t.test)
		h.t.until("the program starts on "+h.Name, func() bool { return h.Find(h.binary) != 0 })
	}
}

// end stops the service as a service manager does, whether it is running or about to be started
// again.
func (h *host) end() {
	h.t.test.Helper()
	if !h.Runs() {
		return
	}
	stop := filepath.Join(h.Dir, "stop")
	if err := os.WriteFile(stop, nil, 0o600); err != nil {
		h.t.test.Fatal(err)
	}
	told := 0
	h.t.until("the service on "+h.Name+" ends", func() bool {
		if pid := h.Find(h.binary); pid != told && h.Signal("TERM", h.binary) {
			told = pid
		}
		return h.Ended()
	})
	if err := errors.Join(h.Wait(), os.Remove(stop)); err != nil {
		h.t.test.Errorf("%s: %v: …%s", h.Name, err, h.Log(1500))
	}
}

// finding is a line of `safrasync check --json`.
type finding struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Text  string `json:"text"`
	Hint  string `json:"hint"`
}

// run runs a command of the program on this machine.
func (h *host) run(args ...string) (string, error) {
	cmd := exec.CommandContext(h.t.test.Context(), h.act,
		append([]string{"--config", filepath.Join(h.Dir, "service.yaml")}, args...)...)
	cmd.Env = append(os.Environ(), "TORTURE_KEY="+rack.APIKey, "TORTURE_ERP="+h.t.ERP.DSN, "TORTURE_LEDGER="+h.dsn())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// faults returns what `safrasync check` says about ledger and journal that is not as it should be.
func (h *host) faults() (found []finding) {
	text, _ := h.run("check", "--json") // it fails if it finds something
	for line := range strings.Lines(text) {
		var f finding
		if json.Unmarshal([]byte(line), &f) == nil && !f.OK && f.Check != "" {
			found = append(found, f)
		}
	}
	return found
}
