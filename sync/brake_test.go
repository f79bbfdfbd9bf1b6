package sync_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// client is one of its own, beside that of the engine.
func (b *bench) client() *apiclient.Client {
	b.t.Helper()
	client := must.Get(apiclient.New(apiclient.Settings{
		BaseURL: b.api.URL, APIKey: "a-key-of-the-tests",
		Timeout: b.limits.Timeout, MaxConns: 1, Dial: b.dial,
	}))(b.t)
	b.t.Cleanup(client.Close)
	return client
}

// acts are a person's acts on a bench.
func (b *bench) acts() *acts.Acts {
	b.t.Helper()
	e := b.engine()
	return &acts.Acts{
		Ledger: b.ledger, JobLedger: b.ledger,
		Jobs: e.Jobs, Now: b.clock.Now,
		Boot: state.Self().Boot, Clock: b.clock, Limits: b.limits, Platform: b.client(), Rows: e,
	}
}

var maria = trade.Person{Name: "maria", From: "test@host", Reason: "looked at in the ERP"}

// orderJob does what a person has planned for a job.
func (b *bench) orderJob(plan acts.JobPlan, err error) {
	b.t.Helper()
	must.Do(b.t, err)
	must.Get(b.acts().DoJob(b.t.Context(), plan, maria))(b.t)
}

// release lets a braked job go on.
func (b *bench) release(job string) acts.JobPlan {
	b.t.Helper()
	people := b.acts()
	plan, err := people.Release(b.t.Context(), job)
	plan.Checked = true
	if err == nil && plan.Refused == acts.NotRefused {
		plan, err = people.DoJob(b.t.Context(), plan, maria)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return plan
}

// exists checks that the plan of a release says how many rows were sent that the new ones may be, and
// names one of them with its id.
func exists(t *testing.T, b *bench, rows int, key string) {
	t.Helper()
	plan := must.Get(b.acts().Release(t.Context(), "contracts"))(t)
	e := plan.Release.Exists
	if e == nil || e.Rows != rows || !slices.ContainsFunc(e.Sent,
		func(c trade.Counterpart) bool { return c.Key == key && c.RemoteID != "" }) {
		t.Errorf("the plan says that %+v exists, want %d rows, among them %s", e, rows, key)
	}
}

// expectBrake checks that a brake paused the job, that nothing left, and that a further run does
// not even begin.
func (b *bench) expectBrake(r trade.RunReport, code string, rows int) *trade.Brake {
	b.t.Helper()
	if r.Stopped == nil || r.Stopped.Code != code || r.Stopped.Brake == nil || r.Stopped.Brake.Rows != rows ||
		r.Sent != 0 {
		b.t.Fatalf("sent %d, stopped %+v, want %s for %d rows", r.Sent, r.Stopped, code, rows)
	}
	if again := b.sync(engine.Options{}); again.Stopped == nil || again.Stopped.Code != code || again.ID != "" ||
		again.Sent != 0 {
		b.t.Errorf("a further run of a braked job: %+v", again)
	}
	return r.Stopped.Brake
}

func TestF025FarMoreNewRowsThanUsualPauseTheJobBeforeAnythingLeaves(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.brakes = run.Brakes{NewRows: 3, NewRowsLeast: 4}
		next := 0
		more := func(n int) {
			for range n {
				next++
				b.contract(next)
			}
		}
		// the go-live is never braked; then a few at a time, the last of them at the floor and the
		// limit
		for _, n := range []int{9, 2, 1, 2, 4} {
			more(n)
			if r := b.sync(engine.Options{}); r.Stopped != nil || r.Sent != n {
				t.Fatalf("%d new rows: sent %d, stopped %+v", n, r.Sent, r.Stopped)
			}
		}
		more(7)
		dry := b.sync(engine.Options{DryRun: true})
		if dry.Stopped == nil || dry.Stopped.Code != "brake_new_rows" || dry.Stopped.Brake.Rows != 7 {
			t.Errorf("a dry run does not tell that a brake would act: %+v", dry.Stopped)
		}
		b.stands("contracts", trade.Idle, "")
		brake := b.expectBrake(b.sync(engine.Options{}), "brake_new_rows", 7)
		if brake.Usual != 2 || brake.Limit != 6 ||
			!slices.Equal(brake.Samples, []string{key(19), key(20), key(21), key(22), key(23)}) {
			t.Errorf("the brake shows %+v", brake)
		}
		b.expect(20, trade.Pending, "")
		more(1) // came after what the person saw: judged for itself
		b.release("contracts")
		b.wants(b.sync(engine.Options{}), "stop none, sent 8")
		audit, err := b.ledger.Audit(t.Context(), 0)
		if err != nil || len(audit) != 1 || audit[0].Act != "release" || audit[0].Target != "contracts" ||
			!strings.Contains(audit[0].Detail, `"rows":7`) {
			t.Errorf("audit %+v, %v", audit, err)
		}
		more(7)
		b.expectBrake(b.sync(engine.Options{}), "brake_new_rows", 7)
	})
}

// After a go-live nothing is usual yet: an ordinary day passes then, also one that came beside a pause,
// and what is more than the job had in all does not.
func TestF025AnOrdinaryDayAfterTheGoLiveIsNotBraked(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.brakes = run.Brakes{NewRows: 3, NewRowsLeast: 4}
		next := 0
		for day, n := range []int{10, 6, 12, 7, 8} {
			for range n {
				next++
				b.contract(next)
			}
			dry := b.sync(engine.Options{DryRun: true})
			if r := b.sync(engine.Options{}); r.Stopped != nil || r.Sent != n || dry.Stopped != nil {
				t.Fatalf("day %d: %d new rows: sent %d, stopped %+v, dry run %+v", day, n, r.Sent, r.Stopped, dry.Stopped)
			}
		}
		if memory := must.Get(b.ledger.Cursor(t.Context(),
			"contracts"))(t).Brakes; !slices.Equal(memory.Counts, []int{6, 12, 7, 8}) {
			t.Errorf("usual is made of %v", memory.Counts)
		}
		other := newBenchOn(t, db, sandbox.Options{})
		other.brakes = b.brakes
		other.contracts(5)
		other.sync(engine.Options{})
		for i := range 6 {
			other.contract(6 + i)
		}
		brake := other.expectBrake(other.sync(engine.Options{}), "brake_new_rows", 6)
		if brake.Usual != 0 || brake.Limit != 5 {
			t.Errorf("the brake shows %+v", brake)
		}
	})
}

// A process that dies between recording the rows and pausing the job must not make them usual.
func TestF025ABrakeJudgesWhatTheLedgerHasNotWhatTheRunSaw(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.brakes = run.Brakes{NewRows: 3, NewRowsLeast: 4}
		b.contracts(2)
		b.sync(engine.Options{})
		for i := 3; i <= 9; i++ {
			b.contract(i)
		}
		b.breaker.failing("Arrivals", context.Canceled)
		b.wants(b.sync(engine.Options{}), "new 7, sent 0")
		b.breaker.mend()
		b.expectBrake(b.sync(engine.Options{}), "brake_new_rows", 7)
	})
}

func TestF024AChangedKeyOrTablePausesTheJobBeforeAnythingIsRecorded(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(12)
		b.sync(engine.Options{})
		old := b.spec
		b.spec.Key = []string{"filial", "num", "produto"}
		b.wants(b.sync(engine.Options{DryRun: true}), "stop brake_changed_key")
		brake := b.expectBrake(b.sync(engine.Options{}), "brake_changed_key", 12)
		if brake.Known != 12 || brake.Found != 0 || len(brake.Samples) != 5 || cmp.Equal(brake.Was, brake.Identity) {
			t.Errorf("the brake shows %+v", brake)
		}
		known := 0
		err := b.ledger.EachKnown(t.Context(), "contracts", func(trade.Known) error { known++; return nil })
		if err != nil || known != 12 {
			t.Errorf("%d entries, %v: rows under a wrong key were recorded", known, err)
		}
		exists(t, b, 12, key(1))
		// The configuration is put right: a release is still due, and nothing of the old key looks
		// new.
		b.spec = old
		if plan := b.release("contracts"); plan.Release.Exists != nil {
			t.Errorf("nothing looks new, and %+v is said to exist", plan.Release.Exists)
		}
		b.spec.Key = []string{"filial", "num"}
		b.wants(b.sync(engine.Options{}), "stop none, new 0, sent 0")
		// Another table with the same rows changes nothing; with others it does.
		b.exec(`CREATE VIEW v_contrato AS SELECT * FROM contrato`)
		b.spec.Query = `SELECT * FROM v_contrato`
		b.wants(b.sync(engine.Options{}), "stop none, new 0")
		b.exec(
			`CREATE TABLE outro AS SELECT filial, 'X' || num AS num, quantidade + 1000 AS quantidade, preco, produto, carteira, situacao, '2026-12-24' AS data_contrato, pagamento, obs, atualizado FROM contrato`)
		b.spec.Query = `SELECT * FROM outro`
		b.expectBrake(b.sync(engine.Options{}), "brake_changed_key", 12)
		b.release("contracts")
		b.wants(b.sync(engine.Options{}), "stop none, new 12, sent 12, gone 12")
	})
}

func TestF021ManyRetypedRowsPauseTheJobAndFewAreHeldOneByOne(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.brakes = run.Brakes{Retyped: 3}
		b.contracts(10)
		b.sync(engine.Options{})
		b.exec(`UPDATE contrato SET num = 'A' || num WHERE num <= '0002'`)
		b.wants(b.sync(engine.Options{Sweep: true}), "stop none, held 2")
		b.exec(`UPDATE contrato SET num = 'B' || num WHERE num > '0002' AND num <= '0006'`)
		b.contract(11)
		brake := b.expectBrake(b.sync(engine.Options{Sweep: true}), "brake_retyped", 4)
		if !slices.Contains(brake.Samples, "01|B0003 ← 01|0003") {
			t.Errorf("samples %q", brake.Samples)
		}
		plan, err := b.acts().Release(t.Context(), "contracts")
		if err != nil || plan.Unchecked() {
			t.Errorf("nothing of it can double, and a person must declare that it is not on the platform: %+v, %v",
				plan.Release.Exists, err)
		}
		b.release("contracts")
		b.wants(b.sync(engine.Options{Sweep: true}), "stop none, sent 1, held 6")
	})
}

func TestF026AnERPThatHasReallyBecomeEmptierGoesOnAfterARelease(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(12)
		b.sync(engine.Options{})
		b.exec(`DELETE FROM contrato WHERE num > '0005'`)
		r := b.sync(engine.Options{Sweep: true})
		if r.Stopped == nil || r.Stopped.Code != "empty_sweep" || r.Stopped.Brake.Found != 5 ||
			r.Stopped.Brake.Known != 12 {
			t.Fatalf("stopped %+v", r.Stopped)
		}
		if plan := b.release("contracts"); plan.Refused != acts.NotRefused || plan.Release.Sweep == nil ||
			plan.Release.Sweep.Found != 5 || plan.Release.Stop == nil {
			t.Errorf("%+v", plan)
		}
		b.exec(`DELETE FROM contrato WHERE num > '0001'`) // far less than the person was shown
		b.wants(b.sync(engine.Options{}), "stop empty_sweep")
		b.release("contracts")
		b.wants(b.sync(engine.Options{}), "stop none, sweep true, in_scope 1, gone 11, missing flags 11")
		if plan := b.release("contracts"); plan.Refused != acts.NothingBraked {
			t.Errorf("a second release: %+v", plan)
		}
	})
}

func TestAPausedJobSendsNothingMoreAndResumes(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		var b *bench
		posts := 0
		b = newBenchOn(t, db, sandbox.Options{OnPost: func(int) {
			posts++
			if posts != 2 {
				return
			}
			people := b.acts()
			plan, err := people.Pause(t.Context(), "contracts", maria)
			if err == nil {
				plan, err = people.DoJob(t.Context(), plan, maria)
			}
			if err != nil || plan.Refused != acts.NotRefused {
				t.Errorf("%+v, %v", plan, err)
			}
		}})
		b.limits.MaxInFlight = 1
		b.contracts(6)
		r := b.sync(engine.Options{})
		if r.Stopped == nil || r.Stopped.Code != "paused" || !strings.Contains(r.Stopped.Text(), "maria paused the job: looked at") {
			t.Fatalf("stopped %+v", r.Stopped)
		}
		// One more may have been handed to the wire when the pause came.
		if r.Sent < 2 || r.Sent > 3 || r.States[trade.Accepted] != r.Sent || r.States[trade.Pending] != 6-r.Sent ||
			r.States[trade.Sending] != 0 {
			t.Errorf("sent %d, states %v: what is in flight is settled, and nothing more begins", r.Sent, r.States)
		}
		b.wants(b.sync(engine.Options{}), "stop paused, sent 0")
		people := b.acts()
		if plan, err := people.Release(t.Context(), "contracts"); err != nil || plan.Refused != acts.AlreadyPaused {
			t.Errorf("a release is no resume: %+v, %v", plan, err)
		}
		plan, err := people.Resume(t.Context(), "contracts")
		if err != nil || plan.Refused != acts.NotRefused {
			t.Fatalf("%+v, %v", plan, err)
		}
		plan, err = people.DoJob(t.Context(), plan, maria)
		if err != nil || plan.Refused != acts.NotRefused {
			t.Errorf("%+v, %v", plan, err)
		}
		b.wants(b.sync(engine.Options{}), "stop none, accepted 6")
		plan, err = people.Resume(t.Context(), "contracts")
		if err != nil || plan.Refused != acts.NotPaused {
			t.Errorf("%+v, %v", plan, err)
		}
	})
}

// A brake's pause is not ended by a resume, nor replaced by a person's.
func TestABrakeNeedsARelease(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(2)
	b.sync(engine.Options{})
	b.spec.Key = []string{"num"}
	b.expectBrake(b.sync(engine.Options{}), "brake_changed_key", 2)
	people := b.acts()
	if plan, err := people.Resume(t.Context(), "contracts"); err != nil || plan.Refused != acts.BrakeHolds {
		t.Errorf("%+v, %v", plan, err)
	}
	if plan, err := people.Pause(t.Context(), "contracts", maria); err != nil || plan.Refused != acts.AlreadyPaused {
		t.Errorf("%+v, %v", plan, err)
	}
	plan, err := people.Release(t.Context(), "contracts")
	if err != nil {
		t.Fatal(err)
	}
	// nobody has declared to have compared: rows may be made twice
	if plan, err := people.DoJob(t.Context(), plan, maria); err != nil || plan.Refused != acts.NotChecked {
		t.Errorf("%+v, %v", plan, err)
	}
	b.expectBrake(b.sync(engine.Options{}), "brake_changed_key", 2)
	b.clock.advance(time.Second)
	b.release("contracts") // somebody else was first
	plan.Checked = true
	plan, err = people.DoJob(t.Context(), plan, maria)
	if err != nil || plan.Refused != acts.Moved {
		t.Errorf("%+v, %v", plan, err)
	}
	if audit, err := b.ledger.Audit(t.Context(), 0); err != nil || len(audit) != 1 {
		t.Errorf("%d acts in the audit, want the one that was done; %v", len(audit), err)
	}
	if _, err := people.DoJob(t.Context(), acts.JobPlan{Act: "pause", Job: "contracts"},
		trade.Person{Name: "maria"}); err == nil {
		t.Error("an act without a reason was done")
	}
}

// A stop that no probe ends stands until somebody runs the job by hand, or releases it.
func TestAReleaseEndsAStopThatNeedsAPerson(t *testing.T) {
	onEither(t, failing("status=500,commit@1-3"), func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.contracts(4)
		b.wants(b.sync(engine.Options{}), "stop in_doubt")
		if plan := b.release("contracts"); plan.Refused != acts.NotRefused || plan.Release.Stop == nil ||
			plan.Release.Stop.Code != "in_doubt" {
			t.Errorf("%+v", plan)
		}
		b.stands("contracts", trade.Idle, "")
		b.api.SetAPIKey("another-key")
		b.sync(engine.Options{})
		if plan := b.release("contracts"); plan.Refused != acts.NothingBraked {
			t.Errorf("a refused key is not a matter of opinion: %+v", plan)
		}
	})
}
