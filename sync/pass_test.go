package sync_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// robbedLedger lets another process take a job over just before the first intents of its run are
// stored.
type robbedLedger struct {
	Ledger
	job    string
	robbed bool
}

func (l *robbedLedger) Commit(ctx context.Context, lease trade.Lease, group trade.Group) (trade.GroupResult, error) {
	if lease.Job == l.job && len(group.Intents) > 0 && !l.robbed {
		l.robbed = true
		if err := l.ReleaseLease(ctx, lease); err != nil {
			return trade.GroupResult{}, err
		}
		if _, err := l.AcquireLease(ctx, lease.Job, state.Self()); err != nil {
			return trade.GroupResult{}, err
		}
	}
	return l.Ledger.Commit(ctx, lease, group)
}

// A job that is taken over leaves no question about a record of the platform open, for which rows
// of the other jobs would wait without end.
func TestAJobThatIsTakenOverLeavesTheOthersGoing(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := withChildren(newBenchOn(t, db, sandbox.Options{}))
		b.contract(1)
		b.pass()
		b.contract(2)
		b.share("a", 1, 30)
		b.wrap = func(l Ledger) Ledger { return &robbedLedger{Ledger: l, job: "contracts"} }
		reports := b.pass()
		if stop := reports["contracts"].Stopped; stop == nil || stop.Code != "lease" {
			t.Errorf("contracts: %+v", stop)
		}
		b.expect(2, trade.Pending, "")
		b.row("traceability", "a", trade.Accepted, "")
	})
}

// A signal while one job reads ends the pass with a report of every job, and is no fault of the
// ledger.
func TestAPassThatIsInterruptedWhileItReadsReportsEveryJob(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b := withChildren(newBenchOn(t, db, sandbox.Options{}))
		b.contracts(2)
		b.delivery(1, 1, 10)
		b.wrap = func(l Ledger) Ledger { return cancellingLedger{l, cancel} }
		reports, err := b.engine().Sync(ctx, nil, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, r := range reports {
			if r.Stopped != nil {
				got[r.Job] = r.Stopped.Code
			}
		}
		want := map[string]string{
			"contracts": "interrupted", "deliveries": "interrupted",
			"traceability": "interrupted",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the reports (-want +got):\n%s", diff)
		}
		b.wrap = nil
		for job, r := range b.pass() {
			if r.Stopped != nil || r.States[trade.Accepted] != r.New {
				t.Errorf("%s: %+v", job, r)
			}
		}
	})
}

// Of a job that another process runs the others say so, and go on.
func TestAJobThatIsTakenInTheMiddleOfTheListIsLeftOut(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := withChildren(newBenchOn(t, db, sandbox.Options{}))
		b.contract(1)
		b.delivery(1, 1, 10)
		b.share("a", 1, 30)
		lease, err := b.ledger.AcquireLease(t.Context(), "deliveries", state.Self())
		if err != nil {
			t.Fatal(err)
		}
		reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
		var leased *trade.LeasedError
		if !errors.As(err, &leased) || leased.Job != "deliveries" || len(reports) != 2 {
			t.Fatalf("%d reports, %v", len(reports), err)
		}
		b.expect(1, trade.Accepted, "")
		b.row("traceability", "a", trade.Accepted, "")
		if err := b.ledger.ReleaseLease(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		b.pass("deliveries")
		b.row("deliveries", "01|0001", trade.Accepted, "")
	})
}

// A parent that stopped or is paused holds only what hangs on its rows without an id.
func TestAPausedParentHoldsOnlyTheChildrenOfItsOpenRows(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := withChildren(newBenchOn(t, db, sandbox.Options{}))
		b.contract(1)
		b.pass()
		b.contract(2)
		b.delivery(1, 1, 10)
		b.delivery(2, 2, 20)
		plan, err := b.acts().Pause(t.Context(), "contracts", acts.Person{Name: "Ana", Reason: "balance"})
		if err == nil {
			_, err = b.acts().DoJob(t.Context(), plan, acts.Person{Name: "Ana", Reason: "balance"})
		}
		if err != nil {
			t.Fatal(err)
		}
		b.pass()
		b.row("deliveries", "01|0001", trade.Accepted, "")
		b.row("deliveries", "01|0002", trade.Waiting, trade.CauseParent)
	})
}

// What one job learned of the platform holds for the next: after an unknown outcome rows go one at
// a time, of whatever job, until the API says something definite.
func TestADoubtOfOneJobMakesTheOthersCareful(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := withChildren(newBenchOn(t, db, sandbox.Options{Faults: faults(t, "lost-after@2-")}))
		b.contract(1)
		b.pass()
		b.contract(2)
		for n := range 8 {
			b.delivery(n, 1, 100+n)
		}
		reports := b.pass()
		if n := reports["deliveries"].States[trade.InDoubt]; n != 3 {
			t.Errorf("%d deliveries are in doubt, want 3, after which the job stops: %+v", n, reports["deliveries"])
		}
	})
}

// leaseKeeping remembers the leases that a pass takes.
type leaseKeeping struct {
	Ledger
	leases map[string]trade.Lease
}

func (l leaseKeeping) AcquireLease(ctx context.Context, job string, owner trade.Owner) (trade.Lease, error) {
	lease, err := l.Ledger.AcquireLease(ctx, job, owner)
	l.leases[job] = lease
	return lease, err
}

// A job that has done its part keeps its lease until the pass is over. Should another process take
// it, then that process may find rows which this one has not seen: what it read no longer says
// anything of the sums.
func TestI9AJobThatIsTakenOverAfterItsPartIsNoFaultOfTheSums(t *testing.T) {
	t.Parallel()
	var b *bench
	leases := map[string]trade.Lease{}
	takeOver := func() {
		if err := b.ledger.ReleaseLease(t.Context(), leases["contracts"]); err != nil {
			t.Error(err)
		}
		b.contract(2)
		b.wrap = nil
		if _, err := b.engine().Sync(t.Context(), []string{"contracts"}, engine.Options{}); err != nil {
			t.Error(err)
		}
	}
	b = withChildren(newBench(t, sandbox.Options{OnPost: func(n int) {
		if n == 2 { // the delivery
			takeOver()
		}
	}}))
	b.contract(1)
	b.delivery(1, 1, 10)
	b.wrap = func(l Ledger) Ledger { return leaseKeeping{l, leases} }
	reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if stop := reports[0].Stopped; stop == nil || stop.Code != "lease" {
		t.Errorf("contracts: %+v", stop)
	}
	b.row("deliveries", "01|0001", trade.Accepted, "")
	b.expect(2, trade.Accepted, "")
}

// pausing pauses the job as a person would, when the run stores intents for the second time, and
// fails to tell it once.
type pausing struct {
	Ledger
	b     *bench
	fails bool
	seen  *int
}

func (p pausing) Commit(ctx context.Context, lease trade.Lease, g trade.Group) (trade.GroupResult, error) {
	if len(g.Intents) > 0 {
		if *p.seen++; *p.seen == 2 {
			people := p.b.acts()
			plan, err := people.Pause(ctx, "contracts", maria)
			if err == nil {
				_, err = people.DoJob(ctx, plan, maria)
			}
			if err != nil {
				return trade.GroupResult{}, err
			}
		}
	}
	return p.Ledger.Commit(ctx, lease, g)
}

func (p pausing) JobStatus(ctx context.Context, job string) (trade.JobStatus, error) {
	if p.fails && *p.seen >= 2 {
		return trade.JobStatus{}, errBroken
	}
	return p.Ledger.JobStatus(ctx, job)
}

// I11, I12: a person pauses a job while it sends, and the ledger does not say who: nothing more
// goes, what was in flight is settled, and the rest goes when the job is resumed.
func TestAPauseWhileAJobSendsWhoseReasonIsNotRead(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		b := newBench(t, sandbox.Options{})
		b.limits.MaxInFlight = 1
		b.contracts(5)
		b.wrap = func(l Ledger) Ledger { return pausing{l, b, fails, new(int)} }
		reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
		if err == nil && (len(reports) != 1 || reports[0].Stopped == nil) {
			t.Fatalf("%+v", reports)
		}
		b.wrap = nil
		if n := len(b.createdOf(sandbox.ResourceOrderCommitments)); n != 1 {
			t.Errorf("fails %t: %d contracts went", fails, n)
		}
		b.leasesEnd()
		people := b.acts()
		plan, err := people.Resume(t.Context(), "contracts")
		if err == nil {
			_, err = people.DoJob(t.Context(), plan, maria)
		}
		if err != nil {
			t.Fatal(err)
		}
		if r := b.sync(engine.Options{}); r.States[trade.Accepted] != 5 || r.States[trade.InDoubt] > 0 {
			t.Errorf("fails %t: after it was resumed: %+v, %+v", fails, r.States, r.Stopped)
		}
	}
}

// ending ends the run while the engine asks the API its harmless question.
type ending struct {
	run.Platform
	end context.CancelFunc
}

func (p ending) ListWebhooks(ctx context.Context) ([]json.RawMessage, error) {
	p.end()
	return p.Platform.ListWebhooks(ctx)
}

// F063: a run that is ended before its first POST says so, and has sent nothing.
func TestARunThatIsEndedBeforeItsFirstPost(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(2)
	ctx, end := context.WithCancel(t.Context())
	b.surface = func(p run.Platform) run.Platform { return ending{p, end} }
	reports, err := b.engine().Sync(ctx, nil, engine.Options{})
	if err != nil || len(reports) != 1 || reports[0].Stopped == nil || reports[0].Stopped.Code != "interrupted" ||
		reports[0].Sent != 0 {
		t.Fatalf("%+v, %v", reports, err)
	}
	b.surface = nil
	if r := b.sync(engine.Options{}); r.States[trade.Accepted] != 2 {
		t.Errorf("%+v", r)
	}
}

// full takes no page.
type full struct{ Ledger }

var errFull = errors.New("the disk is full")

func (full) Record(context.Context, trade.Lease, trade.Page) (int, error) { return 0, errFull }

// fallen is an ERP that goes away after it gave all its rows.
type fallen struct{ run.Source }

func (f fallen) Read(ctx context.Context, q erp.Query, w erp.Window, fn func(erp.Row) error) (erp.Result, error) {
	if _, err := f.Source.Read(ctx, q, w, fn); err != nil {
		return erp.Result{}, err
	}
	return erp.Result{}, &erp.Error{Code: erp.CodeUnreachable, Text: "the connection broke"}
}

// Where the page that is being recorded fails while the ERP fails too, the ledger's reason is told:
// it concerns every job, and the ERP's does not cure it.
func TestWhereLedgerAndERPFailAtOnceTheLedgerIsTold(t *testing.T) {
	t.Parallel()
	for code, wrap := range map[string]func(b *bench) func(Ledger) Ledger{
		"erp": func(*bench) func(Ledger) Ledger { return nil },
		"ledger": func(*bench) func(Ledger) Ledger {
			return func(l Ledger) Ledger { return full{l} }
		},
		"lease": func(b *bench) func(Ledger) Ledger {
			return func(l Ledger) Ledger { return taken{l, b} }
		},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{})
			b.contracts(500) // a whole page
			b.wrap, b.reads = wrap(b), func(s run.Source) run.Source { return fallen{s} }
			reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
			if err != nil || len(reports) != 1 || reports[0].Stopped == nil || reports[0].Stopped.Code != code {
				t.Fatalf("%+v, %v; want %s", reports, err, code)
			}
		})
	}
}

func TestAPauseOutlivesARunAndTheStopsOfOtherJobs(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		pause := func(b *bench, job string) {
			if err := b.ledger.SetJobStatus(context.Background(),
				trade.JobStatus{
					Job: job, State: trade.Paused,
					Stop: &trade.Stop{Code: "paused", Text: "the harvest"},
				}); err != nil {
				t.Error(err)
			}
		}
		expect := func(b *bench, job string) {
			t.Helper()
			if status, err := b.ledger.JobStatus(t.Context(), job); err != nil || status.State != trade.Paused ||
				status.Stop.Text != "the harvest" {
				t.Errorf("%+v, %v", status, err)
			}
		}
		var b *bench
		b = newBenchOn(t, db, sandbox.Options{OnPost: func(int) { pause(b, "contracts") }})
		b.contracts(1)
		b.sync(engine.Options{})
		expect(b, "contracts")

		b = newBenchOn(t, db, sandbox.Options{APIKey: "another-key"})
		b.contracts(1)
		second := contractsSpec()
		second.Name = "second"
		b.more = []mapping.JobSpec{second}
		pause(b, "second")
		reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
		if err != nil || len(reports) != 2 || reports[0].Stopped == nil || reports[1].Stopped == nil ||
			reports[1].Stopped.Code != "paused" {
			t.Errorf("%+v, %v", reports, err)
		}
		expect(b, "second")
	})
}
