package torture

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/tools/machine"
	"github.com/safrasync/safrasync/tools/torture/rack"
)

// machinesTrial is a trial of several machines on one ledger.
type machinesTrial struct {
	*rack.Trial
	test     testing.TB
	net      *network
	hosts    []*host
	takeover []time.Duration // how long a job had no living holder after a fault of its holder
}

// sentence judges the result from outside.
func (m *machinesTrial) sentence() {
	ctx := m.test.Context()
	if err := m.Child.Settle(ctx); err != nil {
		m.test.Fatal(err)
	}
	if err := m.Judge(ctx, false); err != nil {
		m.test.Fatal(err)
	}
	if *rounds > 0 && m.Verdict.InDoubt+m.Verdict.Held > 0 { // a person decides, after the quarantine
		if err := m.Decide(ctx); err != nil {
			m.test.Fatal(err)
		}
		if err := m.Child.Settle(ctx); err != nil {
			m.test.Fatal(err)
		}
		if err := m.Judge(ctx, true); err != nil {
			m.test.Fatal(err)
		}
	}
	text, err := json.Marshal(m.Verdict)
	m.test.Logf("%s; takeovers %v, %v", text, m.takeover, err)
	if !m.Verdict.Clean() {
		m.test.Errorf("%v", m.Verdict.Examples)
	}
	if m.Verdict.Rows < 50 {
		m.test.Errorf("only %d rows: nothing was tried", m.Verdict.Rows)
	}
	m.oneSender()
}

// oneSender checks that everything that was sent for a job in one epoch of its lease was sent by
// one machine.
func (m *machinesTrial) oneSender() {
	db, err := sqlx.ConnectContext(m.test.Context(), "postgres", m.Ledger.DSN)
	if err != nil {
		m.test.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var epochs []struct {
		Job     string `db:"job"`
		Senders int    `db:"senders"`
	}
	if err := db.Select(&epochs,
		`SELECT e.job, COUNT(DISTINCT a.owner) AS senders FROM attempt a JOIN entry e ON e.id = a.origin GROUP BY e.job, a.epoch`); err != nil {
		m.test.Fatal(err)
	}
	for _, e := range epochs {
		if e.Senders != 1 {
			m.test.Errorf("%d machines sent rows of %s under one lease", e.Senders, e.Job)
		}
	}
	if len(epochs) < 2 {
		m.test.Errorf("%d leases: nothing was tried", len(epochs))
	}
}

func newMachinesTrial(t *testing.T) *machinesTrial {
	t.Helper()
	dsn := map[string]string{"erp": pgtest.Database(t), "ledger": pgtest.Database(t)}
	m := &machinesTrial{test: t, net: newNetwork(t, hostPort(dsn["ledger"]))}
	dir := t.TempDir()
	opts := rack.Options{
		Binary: machine.Build(t, "../..", "-tags", "failpoint", "./cmd/safrasync"), Dir: dir, Seed: 1, MaxInFlight: 4,
		ERP:    rack.Database{Driver: "postgres", DSN: dsn["erp"]},
		Ledger: rack.Database{Driver: "postgres", DSN: dsn["ledger"]},
	}
	faults, err := sandbox.ParseFaults([]string{
		"lost-after%1", "status=500,commit%1", "slow=100ms%20", "refused%1",
		"status=502%1",
	})
	if err != nil {
		t.Fatal(err)
	}
	m.Trial, err = rack.Begin(t.Context(), opts, sandbox.Options{Faults: faults, Latency: 20 * time.Millisecond},
		true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range *machines {
		h := &host{t: m, i: i, pulled: map[string]bool{}}
		h.Machine = machine.Machine{
			Name: "machine-" + strconv.Itoa(i), ID: fmt.Sprintf("%032d", i+1), Dir: filepath.Join(dir, m.net.space(i)),
			Inside: []string{"ip", "netns", "exec", m.net.space(i)},
		}
		m.hosts = append(m.hosts, h)
		m.net.plug(i)
		h.prepare(dsn)
		h.forward(strings.TrimPrefix(m.API.URL, "http://"))
		t.Cleanup(h.end)
	}
	return m
}

func hostPort(dsn string) string {
	values := map[string]string{}
	for _, pair := range strings.Fields(dsn) {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	return values["host"] + ":" + values["port"]
}

// through returns a data source name with another address.
func through(dsn, address string) string {
	host, port, _ := strings.Cut(address, ":")
	var out []string
	for _, pair := range strings.Fields(dsn) {
		switch name, _, _ := strings.Cut(pair, "="); name {
		case "host":
			pair = "host=" + host
		case "port":
			pair = "port=" + port
		}
		out = append(out, pair)
	}
	return strings.Join(out, " ")
}

// drain waits until the machines have nothing left to send, as long as they make progress.
func (m *machinesTrial) drain() {
	m.test.Helper()
	left := -1
	for left != 0 {
		before := left
		m.until("the machines send what is left", func() bool {
			pending, err := m.Child.Count(m.test.Context(), "pending")
			flying, flyErr := m.Child.Count(m.test.Context(), "sending")
			left = pending + flying
			return err == nil && flyErr == nil && (left == 0 || left != before)
		})
	}
}

func (m *machinesTrial) until(what string, fn func() bool) {
	m.test.Helper()
	limit := time.After(3 * time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !fn() {
		select {
		case <-tick.C:
		case <-limit:
			for _, h := range m.hosts {
				m.test.Logf("%s: …%s", h.Name, h.Log(3000))
			}
			m.test.Fatalf("waited in vain: %s", what)
		}
	}
}

// fleet returns how many machines are alive according to `status`, and the one that holds a job, or
// nil.
func (m *machinesTrial) fleet() (alive int, leader *host) {
	err := m.Child.Lines(context.WithoutCancel(m.test.Context()), func(line []byte) error {
		var job struct {
			Instances []struct {
				Alive   bool     `json:"alive"`
				Command string   `json:"command"`
				Host    string   `json:"host"`
				Jobs    []string `json:"jobs"`
			} `json:"instances"`
		}
		err := json.Unmarshal(line, &job)
		alive, leader = 0, nil
		for _, i := range job.Instances {
			if !i.Alive || i.Command != "run" {
				continue
			}
			alive++
			for _, h := range m.hosts {
				if len(i.Jobs) > 0 && strings.HasPrefix(i.Host, h.Name+"/") {
					leader = h
				}
			}
		}
		return err
	}, "status", "--json")
	if err != nil {
		m.test.Logf("status: %v", err)
	}
	return alive, leader
}

// leads waits until a machine other than not holds a job, and returns it. It returns nil if the
// time is over.
func (m *machinesTrial) leads(not *host) *host {
	var found *host
	m.until("another machine leads", func() bool {
		_, found = m.fleet()
		return found != nil && found != not
	})
	return found
}

// lost applies a fault to the leader, and waits until another machine has taken over its job.
func (m *machinesTrial) lost(fault func(*host)) *host {
	m.test.Helper()
	leader := m.leads(nil)
	fault(leader)
	began := time.Now()
	m.leads(leader)
	m.takeover = append(m.takeover, time.Since(began).Round(time.Second))
	return leader
}

// short applies each kind of fault once: a machine that is stopped and continues, one without
// power, one without the database.
func (m *machinesTrial) short() {
	zombie := m.lost(func(h *host) { h.signal("STOP") })
	zombie.heal() // it continues, and still believes that it holds the job
	other := m.hosts[(zombie.i+1)%len(m.hosts)]
	other.pull("l")
	m.until("work goes on while one machine has no database", func() bool { return m.advances() })
	other.heal()
	zombie.Kill()
	zombie.heal()
	m.until("all machines live again", func() bool { alive, _ := m.fleet(); return alive >= len(m.hosts) })
}

// advances reports whether the platform has received a record since the last call.
func (m *machinesTrial) advances() bool {
	records := len(m.API.CreatedOf(sandbox.ResourceOrderCommitments, sandbox.ResourceDeliveries))
	before := m.Verdict.Records
	m.Verdict.Records = records
	return records > before
}

// fault applies a random fault to one machine for some seconds.
func (m *machinesTrial) fault(random *rand.Rand) {
	h := m.hosts[random.IntN(len(m.hosts))]
	if random.IntN(2) == 0 {
		if _, leader := m.fleet(); leader != nil {
			h = leader
		}
	}
	length := time.Duration(random.IntN(4000)) * time.Millisecond
	if random.IntN(10) == 0 {
		length = 25*time.Second + time.Duration(random.IntN(15000))*time.Millisecond
	}
	switch random.IntN(5) {
	case 0:
		h.Kill()
	case 1:
		h.signal("STOP")
	case 2:
		h.pull("l")
	case 3:
		h.pull("a")
	case 4:
		h.pull("l")
		h.pull("a")
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-m.test.Context().Done():
	}
	h.heal()
}

var (
	rounds   = flag.Int("rounds", 0, "how many faults several machines meet; 0 = the short form: each kind once")
	machines = flag.Int("machines", 2, "how many machines work on one ledger")
)
