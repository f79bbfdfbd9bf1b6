package failover

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/lib/pq" // the driver "postgres"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/tools/machine"
	"github.com/safrasync/safrasync/tools/torture/rack"
)

// trial is two machines on a ledger in a cluster that fails over.
type trial struct {
	*rack.Trial
	test    testing.TB
	cluster *cluster
	hosts   []*host
	figures []figure
}

// figure is what was measured of one fault.
type figure struct {
	fault   string
	leader  time.Duration // from the fault to the new leader
	sending time.Duration // from the new leader until rows that were claimed there are created
	person  incident
}

// mostInFlight is how many POSTs one machine has in flight at most.
const mostInFlight = 4

func newTrial(t *testing.T, seed uint64) *trial {
	t.Helper()
	erp := pgtest.Server(t)
	tr := &trial{test: t, cluster: newCluster(t, filepath.Dir(erp.Program("postgres")), true)}
	dir := t.TempDir()
	binary := machine.Build(t, "../..", "./cmd/safrasync")
	for i := range 2 {
		place := filepath.Join(dir, fmt.Sprintf("machine-%d", i))
		if i == 0 {
			place = dir // where the judge's commands have their journal
		}
		tr.hosts = append(tr.hosts, newHost(tr, i, place, binary))
	}
	tr.heals(true)
	leader, _ := tr.cluster.leader()
	tr.execute(leader.dsn("postgres"), "CREATE DATABASE "+database)
	faults, err := sandbox.ParseFaults([]string{
		"lost-after%1", "status=500,commit%1", "slow=100ms%20", "refused%1", "status=502%1",
	})
	if err != nil {
		t.Fatal(err)
	}
	tr.Trial, err = rack.Begin(t.Context(), rack.Options{
		Binary: tr.hosts[0].act, Dir: dir, Seed: seed, MaxInFlight: mostInFlight, Typing: 1500 * time.Millisecond,
		ERP:    rack.Database{Driver: "postgres", DSN: erp.Database(t)},
		Ledger: rack.Database{Driver: "postgres", DSN: tr.hosts[0].dsn()},
	}, sandbox.Options{Faults: faults, Latency: 20 * time.Millisecond}, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, h := range tr.hosts {
		h.configure(tr.ERP.DSN)
		t.Cleanup(h.Kill)
		h.start()
	}
	return tr
}

// execute runs a statement on a server.
func (t *trial) execute(dsn, statement string) {
	t.test.Helper()
	db, err := sql.Open("postgres", dsn)
	if err == nil {
		_, err = db.ExecContext(t.test.Context(), statement)
	}
	if err != nil {
		t.test.Fatal(statement, err)
	}
	if err := db.Close(); err != nil {
		t.test.Fatal(err)
	}
}

// patience is how long a step may take before the trial is broken.
const patience = 3 * time.Minute

func (t *trial) until(what string, fn func() bool) {
	t.test.Helper()
	if !t.within(patience, fn) {
		for _, h := range t.hosts {
			t.test.Logf("%s: …%s", h.Name, h.Log(3000))
		}
		for _, n := range t.cluster.nodes {
			t.test.Logf("%s: …%s", n.Name, n.Log(2000))
		}
		t.test.Fatalf("waited in vain: %s", what)
	}
}

// within reports whether something becomes true within a time.
func (t *trial) within(limit time.Duration, fn func() bool) bool {
	late := time.After(limit)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !fn() {
		select {
		case <-tick.C:
		case <-late:
			return false
		case <-t.test.Context().Done():
			return false
		}
	}
	return true
}

// heals waits until the cluster is healthy. A replica that Patroni leaves on another timeline than
// its leader is made anew, as an administrator does.
func (t *trial) heals(synchronous bool) {
	t.test.Helper()
	healthy := func() bool { return t.cluster.healthy(synchronous) }
	for range 5 {
		if t.within(30*time.Second, healthy) {
			return
		}
		t.cluster.renew()
	}
	t.until("the cluster is healthy", healthy)
}

func (t *trial) created() int {
	return len(t.API.CreatedOf(sandbox.ResourceOrderCommitments, sandbox.ResourceDeliveries))
}

// advances returns a condition: since now the platform has created more than could have been in
// flight.
func (t *trial) advances() func() bool {
	before := t.created()
	return func() bool { return t.created() > before+2*mostInFlight }
}

// Times after a new leader: within which the services go on by themselves, as the manual has it, which
// is counted and no failure, because the host may be busy; and after which a person looks, where one
// may be needed.
const (
	promised   = 30 * time.Second
	unattended = 40 * time.Second
)

// round applies a fault, waits for a new leader and until the services send from it, and heals.
func (t *trial) round(f fault) {
	t.test.Helper()
	t.until("the services send", t.advances())
	t.heals(true)
	old, before := t.cluster.leader()
	if old == nil {
		t.test.Fatal("there is no leader")
	}
	now := figure{fault: f.name}
	began := time.Now()
	heal := f.do(t, old)
	t.until("there is a new leader after "+f.name, func() bool {
		leader, m := t.cluster.leader()
		return leader != nil && m.Timeline > before.Timeline
	})
	now.leader = time.Since(began)
	began = time.Now()
	if f.early { // the old leader comes back before the services have gone on
		heal()
	}
	sends := t.advances()
	limit := patience
	if f.person {
		limit = unattended
	}
	if goesOn := t.within(limit, sends); goesOn && f.lost {
		t.tell("the services went on by themselves after %s", f.name)
	} else if !goesOn {
		if !f.person {
			t.tell("the services did not go on by themselves after %s", f.name)
		}
		if !f.early {
			heal()
		}
		f.early = true
		t.attend(&now.person, sends)
	}
	now.sending = time.Since(began)
	if !f.early {
		heal()
	}
	t.figures = append(t.figures, now)
	t.test.Logf("%d %s: leader %.1f s, sending %.1f s, %s", len(t.figures), f.name, now.leader.Seconds(), now.sending.Seconds(),
		now.person)
	t.settled()
}

// tell reports a fault of the program with what the services say.
func (t *trial) tell(format string, args ...any) {
	t.test.Helper()
	t.test.Errorf(format, args...)
	for _, h := range t.hosts {
		t.test.Logf("%s: …%s\n%v", h.Name, h.Log(2000), h.faults())
	}
}

// attend does what the program asks of a person, until it sends.
func (t *trial) attend(person *incident, sends func() bool) {
	t.test.Helper()
	for range 12 {
		t.operate(person)
		if t.within(10*time.Second, sends) {
			return
		}
	}
	for _, h := range t.hosts {
		t.test.Logf("%s: …%s", h.Name, h.Log(3000))
	}
	t.test.Fatalf("what the program says leads nowhere:\n%s", strings.Join(person.asked, "\n"))
}

// settled waits until the cluster is healthy again. The lead may go back, and then a person is
// needed.
func (t *trial) settled() {
	t.test.Helper()
	t.heals(true)
	sends := t.advances()
	if t.within(unattended, sends) {
		return
	}
	last := &t.figures[len(t.figures)-1]
	last.fault += ", and back"
	t.attend(&last.person, sends)
	t.test.Logf("%s: %s", last.fault, last.person)
}

// synchronous turns the synchronous mode of the cluster on or off.
func (t *trial) synchronous(on bool) {
	t.test.Helper()
	t.until("the mode of the cluster changes", func() bool {
		return t.cluster.order(http.MethodPatch, "/config", map[string]any{"synchronous_mode": on}) == nil
	})
	t.heals(on)
}

// finish lets the services send what is left, stops them, and judges from outside. With decide, a
// person decides about the doubts, and every row must be there once.
func (t *trial) finish(stop func() error, decide bool) {
	t.test.Helper()
	ctx := t.test.Context()
	if err := stop(); err != nil {
		t.test.Fatal(err)
	}
	t.API.SetFaults()
	t.drain(ctx)
	for _, h := range t.hosts {
		h.end()
	}
	steps := []func() error{
		func() error { return t.Child.Settle(ctx) },
		func() error { return t.Judge(ctx, false) },
	}
	if decide {
		steps = append(steps,
			func() error { return t.Decide(ctx) },
			func() error { return t.Child.Settle(ctx) },
			func() error { return t.Judge(ctx, true) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			t.test.Fatal(err)
		}
	}
	text, err := json.Marshal(t.Verdict)
	t.test.Logf("%s %v\n%s", text, err, t.summary())
	if !t.Verdict.Clean() {
		t.test.Errorf("%v", t.Verdict.Examples)
	}
	if t.Verdict.Records < 50 {
		t.test.Errorf("only %d records: nothing was tried", t.Verdict.Records)
	}
}

// drain waits until there is nothing left to send, as long as there is progress.
func (t *trial) drain(ctx context.Context) {
	t.test.Helper()
	left := -1
	for left != 0 {
		before := left
		t.until("the machines send what is left", func() bool {
			pending, err := t.Child.Count(ctx, "pending")
			flying, flyErr := t.Child.Count(ctx, "sending")
			left = pending + flying
			return err == nil && flyErr == nil && (left == 0 || left != before)
		})
	}
}

// summary returns the figures by fault.
func (t *trial) summary() string {
	var b strings.Builder
	byFault := map[string][]figure{}
	for _, f := range t.figures {
		byFault[f.fault] = append(byFault[f.fault], f)
	}
	var all []time.Duration
	for name, figures := range byFault {
		var leader, sending []time.Duration
		persons := 0
		for _, f := range figures {
			leader, sending = append(leader, f.leader), append(sending, f.sending)
			if len(f.person.rebuilt)+f.person.rebound > 0 {
				persons++
			} else {
				all = append(all, f.sending)
			}
		}
		fmt.Fprintf(&b, "%s: %d, leader after %s, sending after %s more, %d with a person\n", name, len(figures), spread(leader),
			spread(sending), persons)
	}
	late := 0
	for _, d := range all {
		if d > promised {
			late++
		}
	}
	fmt.Fprintf(&b, "by themselves: %d of %d, sending after %s, %d of them later than %s\n", len(all), len(t.figures),
		spread(all), late, promised)
	return b.String()
}

// spread returns the median and the largest of some times.
func spread(times []time.Duration) string {
	if len(times) == 0 {
		return "-"
	}
	slices.Sort(times)
	return fmt.Sprintf("%.1f s (most %.1f s)", times[len(times)/2].Seconds(), times[len(times)-1].Seconds())
}
