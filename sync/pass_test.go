package sync_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// A job that is taken over leaves no question about a record of the platform open, for which rows
// of the other jobs would wait without end.
func TestAJobThatIsTakenOverLeavesTheOthersGoing(t *testing.T) {
	onBoth(t, family, func(t *testing.T, b *bench) {
		b.contract(1)
		b.pass()
		b.contract(2)
		b.share("a", 1, 30)
		b.breaker.before("Commit of intents of contracts", b.taken)
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
		b.breaker.before("Cursor", func() error { cancel(); return nil })
		reports := must.Get(b.engine().Sync(ctx, nil, engine.Options{}))(t)
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
		b.breaker.mend()
		for job, r := range b.pass() {
			if r.Stopped != nil || r.States[trade.Accepted] != r.New {
				t.Errorf("%s: %+v", job, r)
			}
		}
	})
}

// Of a job that another process runs the others say so, and go on.
func TestAJobThatIsTakenInTheMiddleOfTheListIsLeftOut(t *testing.T) {
	onBoth(t, family, func(t *testing.T, b *bench) {
		b.contract(1)
		b.delivery(1, 1, 10)
		b.share("a", 1, 30)
		lease := must.Get(b.ledger.AcquireLease(t.Context(), "deliveries", state.Self()))(t)
		reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
		var leased *trade.LeasedError
		if !errors.As(err, &leased) || leased.Job != "deliveries" || len(reports) != 2 {
			t.Fatalf("%d reports, %v", len(reports), err)
		}
		b.expect(1, trade.Accepted, "")
		b.row("traceability", "a", trade.Accepted, "")
		must.Do(t, b.ledger.ReleaseLease(t.Context(), lease))
		b.pass("deliveries")
		b.row("deliveries", "01|0001", trade.Accepted, "")
	})
}

// A parent that stopped or is paused holds only what hangs on its rows without an id.
func TestAPausedParentHoldsOnlyTheChildrenOfItsOpenRows(t *testing.T) {
	onBoth(t, family, func(t *testing.T, b *bench) {
		b.contract(1)
		b.pass()
		b.contract(2)
		b.delivery(1, 1, 10)
		b.delivery(2, 2, 20)
		b.orderJob(b.acts().Pause(t.Context(), "contracts", trade.Person{Name: "Ana", Reason: "balance"}))
		b.pass()
		b.row("deliveries", "01|0001", trade.Accepted, "")
		b.row("deliveries", "01|0002", trade.Waiting, trade.CauseParent)
	})
}

// What one job learned of the platform holds for the next: after an unknown outcome rows go one at
// a time, of whatever job, until the API says something definite.
func TestADoubtOfOneJobMakesTheOthersCareful(t *testing.T) {
	onBoth(t, with(withChildren, failing("lost-after@2-")), func(t *testing.T, b *bench) {
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

// A job that has done its part keeps its lease until the pass is over. Should another process take
// it, then that process may find rows which this one has not seen: what it read no longer says
// anything of the sums.
func TestI9AJobThatIsTakenOverAfterItsPartIsNoFaultOfTheSums(t *testing.T) {
	t.Parallel()
	var b *bench
	takeOver := func() {
		b.leasesEnd()
		b.contract(2)
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
	reports := must.Get(b.engine().Sync(t.Context(), nil, engine.Options{}))(t)
	if stop := reports[0].Stopped; stop == nil || stop.Code != "lease" {
		t.Errorf("contracts: %+v", stop)
	}
	b.row("deliveries", "01|0001", trade.Accepted, "")
	b.expect(2, trade.Accepted, "")
}

// I11, I12: a person pauses a job while it sends, and the ledger does not say who: nothing more
// goes, what was in flight is settled, and the rest goes when the job is resumed.
func TestAPauseWhileAJobSendsWhoseReasonIsNotRead(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		b := newBench(t, sandbox.Options{})
		b.limits.MaxInFlight = 1
		b.contracts(5)
		var seen atomic.Int32 // how often intents are stored
		b.breaker.before("Commit of intents of contracts", func() error {
			if seen.Add(1) != 2 {
				return nil
			}
			people := b.acts()
			plan, err := people.Pause(t.Context(), "contracts", maria)
			if err == nil {
				_, err = people.DoJob(t.Context(), plan, maria)
			}
			if fails {
				b.breaker.failing("JobStatus", errBroken)
			}
			return err
		})
		reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
		if err == nil && (len(reports) != 1 || reports[0].Stopped == nil) {
			t.Fatalf("%+v", reports)
		}
		b.breaker.mend()
		b.records(sandbox.ResourceOrderCommitments, 1)
		b.leasesEnd()
		people := b.acts()
		b.orderJob(people.Resume(t.Context(), "contracts"))
		if r := b.sync(engine.Options{}); r.States[trade.Accepted] != 5 || r.States[trade.InDoubt] > 0 {
			t.Errorf("fails %t: after it was resumed: %+v, %+v", fails, r.States, r.Stopped)
		}
	}
}

// F063: a run that is ended before its first POST says so, and has sent nothing.
func TestARunThatIsEndedBeforeItsFirstPost(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(2)
	ctx, end := context.WithCancel(t.Context())
	b.breaker.before("Probe", func() error { end(); return nil })
	reports, err := b.engine().Sync(ctx, nil, engine.Options{})
	if err != nil || len(reports) != 1 || reports[0].Stopped == nil || reports[0].Stopped.Code != "interrupted" ||
		reports[0].Sent != 0 {
		t.Fatalf("%+v, %v", reports, err)
	}
	b.breaker.mend()
	b.wants(b.sync(engine.Options{}), "accepted 2")
}

// Where the page that is being recorded fails while the ERP fails too, the ledger's reason is told:
// it concerns every job, and the ERP's does not cure it.
func TestWhereLedgerAndERPFailAtOnceTheLedgerIsTold(t *testing.T) {
	t.Parallel()
	for code, record := range map[string]func(b *bench) error{
		"erp":    func(*bench) error { return nil },
		"ledger": func(*bench) error { return errors.New("the disk is full") },
		"lease":  (*bench).taken,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{})
			b.contracts(500) // a whole page
			b.breaker.around = func(call string, do func() error) error {
				if call == "Record" {
					if err := record(b); err != nil {
						return err
					}
				}
				err := do()
				if call == "Read" && err == nil {
					err = &erp.Error{Code: erp.CodeUnreachable, Text: phrase.New("the connection broke")}
				}
				return err
			}
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
					Stop: &trade.Stop{Code: "paused", Why: trade.Say("the harvest")},
				}); err != nil {
				t.Error(err)
			}
		}
		expect := func(b *bench, job string) {
			t.Helper()
			if status, err := b.ledger.JobStatus(t.Context(), job); err != nil || status.State != trade.Paused ||
				status.Stop.Text() != "the harvest" {
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
