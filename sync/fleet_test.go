package sync_test

import (
	"context"
	"fmt"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// machine is one of several that work on the ledger, the ERP and the platform of a bench: a process
// of another host, with a ledger that can be cut off.
type machine struct {
	*bench
	stop func() // ends `run`, and waits for it
	open func() // lets its POSTs leave
}

// machineOn adds a machine to a bench.
func machineOn(b *bench, host string) *machine {
	b.t.Helper()
	c := *b
	m := &machine{bench: &c}
	c.connect()
	c.owner = trade.Owner{
		Instance: uuid.Must(uuid.NewV7()).String(), Host: host, Boot: "boot of " + host,
		PIDSpace: "pid:[1]", PID: 7, Started: "1",
	}
	c.several = true
	return m
}

// hold lets the first few POSTs of a machine leave at once; the others wait until open is called,
// or the test is over.
func (m *machine) hold(free int) (open func()) {
	gate := make(chan struct{})
	m.open = gosync.OnceFunc(func() { close(gate) })
	m.t.Cleanup(m.open)
	var mu gosync.Mutex
	m.beforePosts(func() {
		mu.Lock()
		free--
		wait := free < 0
		mu.Unlock()
		if wait {
			<-gate
		}
	})
	return m.open
}

// run starts `safrasync run` there.
func (m *machine) run() {
	m.t.Helper()
	for _, spec := range m.specs() {
		spec.Schedule = "@every 10000h"
	}
	_, m.stop = m.serve(engine.SchedulerConfig{})
	m.t.Cleanup(func() {
		if m.open != nil {
			m.open()
		}
		m.stop()
	})
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
	m.byHand(`UPDATE instance SET expires = 1 WHERE id = ?`, m.owner.Instance)
	m.byHand(`UPDATE job_lease SET expires = 1 WHERE instance = ?`, m.owner.Instance)
}

// sentBy counts the attempts of a machine.
func (m *machine) sentBy() int {
	m.t.Helper()
	n := 0
	for _, of := range m.jobsBy() {
		n += of
	}
	return n
}

func (b *bench) stateCounts(job string) map[trade.State]int {
	b.t.Helper()
	tallies := must.Get(b.ledger.Counts(b.t.Context(), job))(b.t)
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

// fleet is a bench with two machines.
func fleet(t *testing.T, rows int) (a, b *machine) {
	t.Helper()
	base := newBenchOn(t, databases[1], sandbox.Options{})
	base.contracts(rows)
	return machineOn(base, "a"), machineOn(base, "b")
}

// jobsBy returns the jobs of which a machine has sent rows.
func (m *machine) jobsBy() map[string]int {
	m.t.Helper()
	var rows []struct {
		Job string `db:"job"`
		N   int    `db:"n"`
	}
	m.inLedger(func(db *sqlx.DB) error {
		return db.Select(&rows, db.Rebind(`SELECT e.job, COUNT(*) AS n FROM attempt a
			JOIN entry e ON e.id = a.origin WHERE a.owner = ? GROUP BY e.job`), m.owner.Instance)
	})
	out := map[string]int{}
	for _, r := range rows {
		out[r.Job] = r.N
	}
	return out
}

// I3, I12: each job has one sender at a time. While one machine sends the rows of a job, another
// sends those of a job that is free, and leaves alone the children of the first one.
func TestI12TwoMachinesShareTheJobs(t *testing.T) {
	t.Parallel()
	base := withTypes(withChildren(newBenchOn(t, databases[1], sandbox.Options{})))
	const rows = 40
	base.contracts(rows)
	for i := 1; i <= rows; i++ {
		base.becomes(i, map[bool]string{true: "aprovado", false: "fixacao"}[i <= rows/2])
		if i <= rows/2 {
			base.delivery(i, i, i)
		}
	}
	a, b := machineOn(base, "a"), machineOn(base, "b")
	open := a.hold(4)
	a.more = nil // its part is the contracts
	done := a.starts()
	until(t, "the first holds the contracts", func() bool { return a.stateCounts("contracts")[trade.Accepted] == 4 })
	b.run()
	until(t, "the second has sent the other job",
		func() bool { return b.stateCounts("fixations")[trade.Accepted] == rows/2 })
	if got := b.jobsBy(); len(got) != 1 || got["fixations"] != rows/2 {
		t.Errorf("while the first held the contracts the second sent %v", got)
	}
	open()
	if r := <-done; r.Sent != rows/2 || r.Stopped != nil || r.States[trade.Accepted] != rows/2 {
		t.Errorf("sent %d, states %v, stopped %+v", r.Sent, r.States, r.Stopped)
	}
	until(t, "the second has sent the children",
		func() bool { return b.stateCounts("deliveries")[trade.Accepted] == rows/2 })
	if got := a.jobsBy(); len(got) != 1 || got["contracts"] != rows/2 {
		t.Errorf("the first sent %v", got)
	}
	base.once()
	b.stop()
	if left, err := base.ledger.Instances(t.Context()); len(left) != 0 || err != nil {
		t.Errorf("instances in the end: %+v, %v", left, err)
	}
}

// I1, I12: what a former holder has in flight is left to it while it lives, and in doubt as soon as
// its time is over, while the run of the new holder goes on; its late answers count.
func TestI12WhatAFormerHolderHasInFlightIsInDoubtWhenItDies(t *testing.T) {
	t.Parallel()
	a, b := fleet(t, 60)
	a.limits.KeepAnswers, b.limits.KeepAnswers = time.Minute, time.Minute
	open := a.hold(6)
	former := a.starts()
	until(t, "the first holds the job", func() bool {
		return a.sentBy() == 10 && a.stateCounts("contracts")[trade.Accepted] == 6
	})
	a.breaker.cutOff(true)
	a.leasesEnd() // and it lives yet
	done := b.starts()
	until(t, "the second has sent what is left",
		func() bool { return b.stateCounts("contracts")[trade.Accepted] == 56 })
	if got := b.stateCounts("contracts"); got[trade.Sending] != 4 {
		t.Errorf("what the living one has in flight: %v", got)
	}
	a.expires()
	if r := <-done; r.States[trade.Accepted] != 56 || r.States[trade.InDoubt] != 4 || r.Sent != 50 || r.Stopped != nil {
		t.Errorf("sent %d, states %v, stopped %+v", r.Sent, r.States, r.Stopped)
	}
	a.breaker.cutOff(false)
	open()
	<-former
	until(t, "the late answers count", func() bool { return b.stateCounts("contracts")[trade.Accepted] == 60 })
	a.once()
	a.adds(trade.RunReport{Job: "contracts", InScope: new(int), Gone: new(int)})
}

// A run that waits for what a former holder has in flight ends when its own lease is gone: the ledger
// went back, or was restored.
func TestI12ARunWhoseLeaseIsGoneWaitsForNobodyAnyMore(t *testing.T) {
	t.Parallel()
	a, b := fleet(t, 20)
	a.limits.KeepAnswers = time.Minute
	core, seen := observer.New(zap.WarnLevel)
	b.log = zap.New(core)
	open := a.hold(2)
	former := a.starts()
	until(t, "the first has rows in flight", func() bool { return a.stateCounts("contracts")[trade.Accepted] == 2 })
	a.breaker.cutOff(true)
	a.leasesEnd() // and it lives yet
	done := b.starts()
	until(t, "the second has sent what is left", func() bool {
		got := b.stateCounts("contracts")
		return got[trade.Accepted]+got[trade.Sending] == 20 && b.sentBy() == got[trade.Accepted]-2
	})
	b.byHand(`DELETE FROM job_lease WHERE instance = ?`, b.owner.Instance)
	if r := <-done; r.Stopped == nil || r.Stopped.Code != "lease" {
		t.Errorf("stopped %+v", r.Stopped)
	}
	if n := seen.FilterMessageSnippet("former holder").Len(); n != 0 {
		t.Errorf("%d lines tell of a former holder", n)
	}
	a.breaker.cutOff(false)
	open()
	<-former
	a.once()
}

// I12: when the one who leads dies, another takes the job over as soon as its time is over, with
// what it had in flight in doubt.
func TestI12AnotherMachineTakesTheJobOver(t *testing.T) {
	t.Parallel()
	a, b := fleet(t, 60)
	a.limits.KeepAnswers = time.Minute
	dead := a.hold(6)
	done := a.starts()
	until(t, "the first leads", func() bool {
		return a.sentBy() == 10 && a.stateCounts("contracts")[trade.Accepted] == 6
	})
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

// F052, I1: rows whose results the ledger did not take are in doubt as soon as it can be told so,
// while another machine holds the job, and go no second time.
func TestRowsOfAFormerHolderWhoseResultsWereNotStored(t *testing.T) {
	// what it asks first, and how it says that it has left rows
	for _, call := range []string{"", "Leases", "RecoverOwn"} {
		t.Run(call, func(t *testing.T) {
			inDuo(t, func(d *duo) {
				for d.rows = range 12 {
					d.contract(d.rows + 1)
				}
				d.rows++
				open, let := d.a.hold(2), d.b.hold(1)
				d.a.run()
				d.pass(2 * time.Second)
				d.a.breaker.cutOff(true)
				d.leasesEnd() // it lives all the time
				d.b.run()
				d.pass(2 * time.Second)
				open()
				d.pass(4 * time.Second)
				if got := d.stateCounts("contracts"); got[trade.Sending] != 8 {
					d.t.Errorf("in flight, of both: %v", got)
				}
				d.a.breaker.cutOff(false)
				d.a.breaker.armNamed(call)
				d.pass(10 * time.Second)
				hit, _, _ := strings.Cut(d.a.breaker.disarm(), ": ")
				if got := d.stateCounts("contracts"); hit != call || got[trade.InDoubt] != 4 ||
					got[trade.Sending] != 4 {
					d.t.Errorf("with %q failing while the other holds the job: %v", hit, got)
				}
				let()
				d.pass(10 * time.Second)
				d.a.stop()
				d.b.stop()
				if doubts := d.judge(hit); doubts != 4 {
					d.t.Errorf("with %q failing: %d rows are in doubt", hit, doubts)
				}
			})
		})
	}
}

func TestAMachineThatSendsElsewhereDoesNotRun(t *testing.T) {
	inDuo(t, func(d *duo) {
		d.a.owner.Platform, d.b.owner.Platform = "https://api.example.com", "https://test.example.com"
		open, done := d.leads(12, 2)
		d.b.run()
		d.pass(50 * time.Second)
		open()
		if r := <-done; r.States[trade.Accepted] != 12 || d.b.sentBy() != 0 {
			d.t.Errorf("states %v, stopped %+v, %d attempts of the other", r.States, r.Stopped, d.b.sentBy())
		}
		d.b.stop()
		for _, dry := range []bool{true, false} {
			reports := must.Get(d.b.engine().Sync(d.t.Context(), nil, engine.Options{DryRun: dry}))(d.t)
			for _, r := range reports {
				if r.Stopped == nil || r.Stopped.Code != "platform" || r.Sent != 0 || r.Read != 0 {
					d.t.Errorf("dry run %t: %+v, stopped %+v", dry, r, r.Stopped)
				}
			}
		}
		d.once()
	})
}

// A ledger on a server that nobody has confirmed, while the service runs.
func TestAJobThatIsStoppedByAnotherServerSaysSo(t *testing.T) {
	t.Parallel()
	a, b := fleet(t, 3)
	b.breaker.failing("AcquireLease", fmt.Errorf("%w: compare the journals", trade.ErrOtherServer))
	b.wants(b.bench.run(engine.Options{}), "stop ledger")
	status, err := a.ledger.JobStatus(t.Context(), "contracts")
	if err != nil || status.State != trade.Stopped || status.Stop == nil || status.Stop.Code != "ledger" {
		t.Errorf("%+v, %v", status, err)
	}
}
