package sync_test

import (
	"context"
	"maps"
	gosync "sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// machine is one of several that work on the ledger, the ERP and the platform of a bench: a process of another host, with a ledger that can be cut off.
type machine struct {
	*bench
	breaker *breaker
	db      *sqlx.DB // the ledger's own database
	stop    func()   // ends `run`, and waits for it
	open    func()   // lets its POSTs leave
}

// machineOn adds a machine to a bench.
func machineOn(b *bench, host string) *machine {
	b.t.Helper()
	c := *b
	m := &machine{bench: &c, breaker: &breaker{}}
	var err error
	if c.ledger, err = state.Open(b.t.Context(), state.Options{Driver: b.parts.DB.Ledger, DSN: b.parts.LedgerDSN, Journal: b.parts.Journal}); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = c.ledger.Close() })
	if m.db, err = sqlx.Open(b.parts.DB.Ledger, b.parts.LedgerDSN); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = m.db.Close() })
	if c.source, err = erp.Open(b.t.Context(), erp.Options{Driver: b.parts.DB.ERP, DSN: erp.Secret(b.parts.ERPDSN), TimeZone: time.UTC}); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = c.source.Close() })
	c.owner = trade.Owner{Instance: uuid.Must(uuid.NewV7()).String(), Host: host, Boot: "boot of " + host, PIDSpace: "pid:[1]", PID: 7, Started: "1"}
	c.several = true
	// Nothing is stored ahead of the wire, so that a test can say which rows have left.
	c.wrap = func(l engine.Ledger) engine.Ledger { return brokenLedger{unmarkedLedger{l}, m.breaker} }
	return m
}

// hold lets the first few POSTs of a machine leave at once; the others wait until open is called, or the test is over.
func (m *machine) hold(free int) (open func()) {
	gate := make(chan struct{})
	m.open = gosync.OnceFunc(func() { close(gate) })
	m.t.Cleanup(m.open)
	var mu gosync.Mutex
	m.surface = func(p engine.Platform) engine.Platform {
		return slowPlatform{p, func() {
			mu.Lock()
			free--
			wait := free < 0
			mu.Unlock()
			if wait {
				<-gate
			}
		}}
	}
	return m.open
}

// run starts `safrasync run` there.
func (m *machine) run() {
	m.t.Helper()
	for _, spec := range append([]*engine.JobSpec{&m.spec}, specs(m.more)...) {
		spec.Schedule = "@every 10000h"
	}
	s, err := engine.NewScheduler(engine.SchedulerConfig{Engine: m.engine()})
	if err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	m.stop = gosync.OnceFunc(func() {
		cancel()
		<-done
	})
	m.t.Cleanup(func() {
		if m.open != nil {
			m.open()
		}
		m.stop()
	})
}

func specs(list []engine.JobSpec) []*engine.JobSpec {
	var out []*engine.JobSpec
	for i := range list {
		out = append(out, &list[i])
	}
	return out
}

// starts runs `safrasync sync` on a machine, and gives what came of it.
func (m *machine) starts() <-chan trade.RunReport {
	m.t.Helper()
	out := make(chan trade.RunReport, 1)
	e := m.engine()
	go func() {
		reports, err := e.Sync(context.Background(), nil, engine.Options{})
		if err != nil {
			m.t.Errorf("sync on %s: %v", m.owner.Host, err)
		}
		out <- reports[0]
	}()
	return out
}

// expires lets the time of a machine end on the ledger's clock, as if it had been silent for 30 s.
func (m *machine) expires() {
	m.t.Helper()
	db := m.db
	for _, query := range []string{
		`UPDATE instance SET expires = 1 WHERE id = ?`, `UPDATE job_lease SET expires = 1 WHERE instance = ?`,
	} {
		if _, err := db.Exec(db.Rebind(query), m.owner.Instance); err != nil {
			m.t.Fatal(err)
		}
	}
}

// sentBy counts the attempts of a machine.
func (m *machine) sentBy() int {
	m.t.Helper()
	db := m.db
	var n int
	if err := db.Get(&n, db.Rebind(`SELECT COUNT(*) FROM attempt WHERE owner = ?`), m.owner.Instance); err != nil {
		m.t.Fatal(err)
	}
	return n
}

func (b *bench) stateCounts(job string) map[trade.State]int {
	b.t.Helper()
	tallies, err := b.ledger.Counts(b.t.Context(), job)
	if err != nil {
		b.t.Fatal(err)
	}
	out := map[trade.State]int{}
	for _, t := range tallies {
		out[t.State] += t.Count
	}
	return out
}

// until waits for something that other goroutines do.
func until(t *testing.T, what string, fn func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !fn() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// fleet is a bench with two machines: a leads, because it began, and b helps.
func fleet(t *testing.T, rows int) (a, b *machine) {
	t.Helper()
	base := newBenchOn(t, databases[1], sandbox.Options{})
	base.contracts(rows)
	return machineOn(base, "a"), machineOn(base, "b")
}

// I3, I12: the rows of one job go from two machines, each once, and the one that leads reports them all. Children come after parents, wherever these were sent.
func TestI12TwoMachinesSendTheRowsOfOneJob(t *testing.T) {
	t.Parallel()
	base := withChildren(newBenchOn(t, databases[1], sandbox.Options{}))
	const rows = 120
	base.contracts(rows)
	for i := 1; i <= rows; i++ {
		base.delivery(i, i, i)
	}
	a, b := machineOn(base, "a"), machineOn(base, "b")
	open := a.hold(4)
	done := a.starts()
	until(t, "the first leads", func() bool { return a.stateCounts("contracts")[trade.Accepted] == 4 })
	b.run()
	until(t, "the second has sent what is left", func() bool { return b.stateCounts("contracts")[trade.Accepted] == rows-4 })
	open()
	r := <-done
	if r.Sent != rows || r.Stopped != nil || r.States[trade.Accepted] != rows {
		t.Errorf("sent %d, states %v, stopped %+v", r.Sent, r.States, r.Stopped)
	}
	if got := a.stateCounts("deliveries"); got[trade.Accepted] != rows || len(got) != 1 {
		t.Errorf("deliveries: %v", got)
	}
	if a.sentBy() < 8 || b.sentBy() < rows-8 {
		t.Errorf("attempts: %d and %d", a.sentBy(), b.sentBy())
	}
	base.once()
	b.stop()
	if left, err := base.ledger.Instances(t.Context()); len(left) != 0 || err != nil {
		t.Errorf("instances in the end: %+v, %v", left, err)
	}
}

// I1, I12: what a hand had on the wire when it died is in doubt as soon as its time is over, while the one who leads goes on; nothing goes twice, and its late answers count.
func TestI12TheRowsOfAHandThatDiesAreInDoubt(t *testing.T) {
	t.Parallel()
	a, b := fleet(t, 60)
	a.limits.KeepAnswers, b.limits.KeepAnswers = time.Second, time.Second
	open, dead := a.hold(4), b.hold(6)
	done := a.starts()
	until(t, "the first leads", func() bool { return a.stateCounts("contracts")[trade.Accepted] == 4 })
	b.run()
	until(t, "the second has rows on the wire", func() bool {
		return b.sentBy() == 10 && a.stateCounts("contracts")[trade.Accepted] == 10
	})
	b.breaker.cutOff(true)
	b.expires()
	open()
	r := <-done
	if r.States[trade.Accepted] != 56 || r.States[trade.InDoubt] != 4 || r.Stopped != nil {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
	b.breaker.cutOff(false)
	dead()
	until(t, "the late answers count", func() bool { return a.stateCounts("contracts")[trade.Accepted] == 60 })
	a.once()
	a.adds(trade.RunReport{Job: "contracts", InScope: new(int), Gone: new(int)})
}

// I12: when the one who leads dies, another takes the job over as soon as its time is over, with what it had on the wire in doubt.
func TestI12AnotherMachineTakesTheJobOver(t *testing.T) {
	t.Parallel()
	a, b := fleet(t, 60)
	a.limits.KeepAnswers = time.Second
	dead := a.hold(6)
	done := a.starts()
	until(t, "the first leads", func() bool { return a.sentBy() == 10 && a.stateCounts("contracts")[trade.Accepted] == 6 })
	a.breaker.cutOff(true)
	a.expires()
	b.run()
	until(t, "the second has taken it over", func() bool {
		got := b.stateCounts("contracts")
		return got[trade.Accepted] == 56 && got[trade.InDoubt] == 4
	})
	a.breaker.cutOff(false)
	dead() // the zombie wakes: its answers count, and it sends nothing more
	if r := <-done; r.Stopped == nil {
		t.Errorf("the former holder did not notice: %+v", r)
	}
	until(t, "the late answers count", func() bool { return b.stateCounts("contracts")[trade.Accepted] == 60 })
	if n := a.sentBy(); n != 10 {
		t.Errorf("the former holder began %d attempts, want no more than 10", n)
	}
	a.once()
}

// A stop by a machine that helps is the job's stop, with the same code and text.
func TestAStopByAHandStopsTheJob(t *testing.T) {
	t.Parallel()
	a, b := fleet(t, 60)
	open := a.hold(4)
	b.key = "another key"
	done := a.starts()
	until(t, "the first leads", func() bool { return a.stateCounts("contracts")[trade.Accepted] == 4 })
	b.run()
	until(t, "the second has stopped it", func() bool {
		shares, err := a.ledger.Leases(t.Context())
		return err == nil && len(shares) == 1 && shares[0].Stop != nil
	})
	open()
	r := <-done
	if r.Stopped == nil || r.Stopped.Code != "api_key" || !r.Stopped.All || r.States[trade.Pending] < 40 {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
}

// F123: one missing wallet costs one POST, whichever machine sends it.
func TestF123OneMissingWalletCostsOnePostOfAllMachines(t *testing.T) {
	t.Parallel()
	base := newBenchOn(t, databases[1], sandbox.Options{})
	const lacking = "0c8d5f6a-6f1d-4f83-a1f7-3f0e2b8c4d11"
	base.contracts(20)
	base.exec(`INSERT INTO de_para VALUES ('carteira', '2', ?)`, lacking)
	base.exec(`UPDATE contrato SET carteira = '2' WHERE num > '0010'`)
	base.api.Forget(sandbox.Wallets, lacking)
	a, b := machineOn(base, "a"), machineOn(base, "b")
	open := a.hold(1)
	done := a.starts()
	until(t, "the first leads", func() bool { return a.stateCounts("contracts")[trade.Accepted] == 1 })
	b.run()
	until(t, "the second has sent what it may", func() bool { return b.sentBy() > 0 && b.stateCounts("contracts")[trade.Rejected] == 1 })
	open()
	r := <-done
	if r.States[trade.Accepted] != 10 || r.States[trade.Rejected] != 1 || r.States[trade.Waiting] != 9 || r.Sent != 11 {
		t.Errorf("sent %d, states %v", r.Sent, r.States)
	}
	base.once()
}

// A machine that would make other requests of the rows does not help.
func TestAMachineThatMapsOtherwiseDoesNotHelp(t *testing.T) {
	t.Parallel()
	a, b := fleet(t, 30)
	open := a.hold(4)
	done := a.starts()
	until(t, "the first leads", func() bool { return a.stateCounts("contracts")[trade.Accepted] == 4 })
	fields := map[string]engine.FieldSpec{}
	maps.Copy(fields, b.spec.Fields)
	delete(fields, "payday")
	b.spec.Fields = fields
	b.run()
	until(t, "the second lives", func() bool {
		all, err := a.ledger.Instances(t.Context())
		return err == nil && len(all) == 2
	})
	open()
	if r := <-done; r.Sent != 30 || b.sentBy() != 0 {
		t.Errorf("sent %d, %d of them by the other", r.Sent, b.sentBy())
	}
}
