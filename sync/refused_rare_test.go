package sync_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/erp"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// What a configuration says that cannot be meant is refused with the key that says it.
func TestAConfigurationThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	column := func(name string) engine.FieldSpec { return engine.FieldSpec{Columns: []string{name}} }
	parent := []engine.ParentSpec{{Job: "contracts", Columns: []string{"a"}}}
	for want, change := range map[string]func(s *engine.JobSpec){
		"needs one column": func(s *engine.JobSpec) {
			s.Fields["producer_id"] = engine.FieldSpec{
				Columns: []string{"a", "b"}, Ref: "producers",
				Lookup: trade.ProducerByDocument,
			}
		},
		"a lookup needs": func(s *engine.JobSpec) {
			s.Fields["producer_id"] = engine.FieldSpec{Const: new("x"), Lookup: trade.ProducerByDocument}
		},
		"is not the id of a record that another job sends": func(s *engine.JobSpec) {
			s.Fields["wallet_id"] = engine.FieldSpec{Columns: []string{"a"}, SentBy: parent}
		},
		"is no date": func(s *engine.JobSpec) {
			f := column(
				"a")
			f.Date = "YYYYMMDD"
			s.Fields["amount"] = f
		},
		"may have only /, -, . and blanks": func(s *engine.JobSpec) {
			f := column(
				"a")
			f.Date = "YYYYxMMxDD"
			s.Fields["order_date"] = f
		},
		".hours": func(s *engine.JobSpec) { s.Hours = []string{"from dusk till dawn"} },
		".sweep": func(s *engine.JobSpec) { s.Sweep = "now and then" },
		"ref, values and default do not apply": func(s *engine.JobSpec) {
			s.Sends = trade.Deliveries
			s.Fields = map[string]engine.FieldSpec{"contract_id": {
				Columns: []string{"a"}, SentBy: parent,
				Default: new("x"),
			}}
		},
	} {
		spec := contractsSpec()
		change(&spec)
		if _, err := engine.Compile(spec, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q in it", err, want)
		}
	}
	b := newBench(t, sandbox.Options{})
	b.spec.Schedule = "now and then"
	if _, err := engine.NewScheduler(engine.SchedulerConfig{Engine: b.engine()}); err == nil ||
		!strings.Contains(err.Error(), "jobs.contracts.schedule") {
		t.Errorf("%v", err)
	}
}

// A query without a column that the mapping needs stops the job before anything is recorded, and is
// told by whatever asks.
func TestAQueryThatLacksAColumn(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(1)
	b.spec.Fields["amount"] = engine.FieldSpec{Columns: []string{"nowhere"}}
	e := b.engine()
	if r := b.sync(engine.Options{}); r.Stopped == nil || r.Stopped.Code != "columns" ||
		!strings.Contains(r.Stopped.Text, "nowhere") || r.New != 0 {
		t.Errorf("%+v", r)
	}
	for name, err := range map[string]error{
		"audit": second(e.Audit(t.Context(), e.Jobs[0], nil)),
		"check": e.Check(t.Context(), e.Jobs[0]),
	} {
		if err == nil || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.spec = contractsSpec()
	b.spec.ChangedAt, b.spec.Lookback = "", 0
	asked := engine.Resync{Since: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	if err := failureOf(b.engine().Sync(t.Context(), nil, engine.Options{Resync: &asked})); err == nil {
		t.Error("a reading since a day, without a column that tells it, was made")
	}
	if r := b.sync(engine.Options{}); r.States[trade.Accepted] != 1 {
		t.Errorf("%+v", r)
	}
}

func second[T any](_ T, err error) error { return err }

// What is told of rows ends with the first that who asked cannot take; a case whose key is NULL is
// none.
func TestWhoCannotTakeARowAndACaseWithoutAKey(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(2)
	b.exec(`UPDATE contrato SET pagamento = NULL`)
	e := b.engine()
	enough, told := errors.New("enough"), 0
	_, err := e.Audit(t.Context(), e.Jobs[0], func(engine.Judgement) error { told++; return enough })
	if !errors.Is(err, enough) || told != 1 {
		t.Errorf("%v, told %d", err, told)
	}
	c, err := e.CaseOf(t.Context(), "contracts", key(1))
	if err != nil {
		t.Fatal(err)
	}
	c.Row["num"] = erp.Value{}
	if _, err := engine.Try(e.Jobs[0], c); err == nil ||
		!strings.Contains(err.Error(), "would count it as unreadable") {
		t.Errorf("%v", err)
	}
}

// An act whose record has no text, as in the year 10000, is not done.
func TestAnActThatCannotBeAudited(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(1)
	b.sync(engine.Options{})
	acts := b.acts()
	acts.Now = func() time.Time { return time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }
	plan, err := acts.Pause(t.Context(), "contracts", maria)
	if err == nil {
		_, err = acts.DoJob(t.Context(), plan, maria)
	}
	if err == nil || !strings.Contains(err.Error(), "pause") {
		t.Errorf("%v", err)
	}
	if status, err := b.ledger.JobStatus(t.Context(), "contracts"); err != nil || status.State != trade.Idle {
		t.Errorf("%+v, %v", status, err)
	}
}

// F052: a row that the platform says it has already, and whose attempts the ledger does not tell,
// is not declared to be another one.
func TestARowThatExistsAndWhoseAttemptsAreNotRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "status=409@1")})
	b.contracts(1)
	b.sync(engine.Options{})
	b.expect(1, trade.Held, trade.CauseExists)
	br := &breaker{}
	acts := b.acts()
	desk := brokenDesk{brokenLedger{b.ledger, br}, b.ledger}
	acts.Desk, acts.JobDesk = desk, desk
	br.each(t, "the plan of a retry",
		func() error { return second(acts.Retry(t.Context(), "contracts", []string{key(1)})) })
	b.expect(1, trade.Held, trade.CauseExists)
}

// dueLater does not show the third row before the first was sent, and fails once.
type dueLater struct {
	Ledger
	b     *bench
	calls *int
	fails int
}

func (l dueLater) Due(ctx context.Context, job string, now time.Time, after int64, limit int) ([]trade.Entry, error) {
	*l.calls++
	if *l.calls == l.fails {
		return nil, errBroken
	}
	due, err := l.Ledger.Due(ctx, job, now, after, limit)
	if len(l.b.createdOf(sandbox.ResourceOrderCommitments)) == 0 {
		due = slices.DeleteFunc(due, func(e trade.Entry) bool { return e.Key == key(3) })
	}
	return due, err
}

// F025: a row that becomes due while a run sends, and is one too many, stays, also when the ledger
// fails while what is due is counted.
func TestARowThatBecomesDueWhileARunSendsIsBraked(t *testing.T) {
	t.Parallel()
	for fails := 0; ; fails++ {
		b := newBench(t, sandbox.Options{})
		b.limits.MaxInFlight = 1
		b.spec.Most = &trade.Freight{Load: trade.Load{Rows: 2}}
		b.contracts(3)
		calls := 0
		b.wrap = func(l Ledger) Ledger { return dueLater{l, b, &calls, fails} }
		r := b.sync(engine.Options{})
		if n := len(b.createdOf(sandbox.ResourceOrderCommitments)); r.Stopped == nil || n > 2 {
			t.Fatalf("call %d of %d failed: %d contracts went, stopped %+v", fails, calls, n, r.Stopped)
		}
		if calls < fails {
			return
		}
	}
}

// F052: whatever call of the scheduler or of its runs fails, and while the API refuses its key, the
// jobs go on at the next time; each row goes once.
func TestEveryCallOfASchedulerFailsOnce(t *testing.T) {
	inOffice(t, time.UTC, "2026-11-21 06:00", func(o *office) {
		br := &breaker{}
		o.schedules("*/10 * * * *", "@every 1000h", "@every 1000h")
		o.breaks(br, true)
		purge, began := o.task("purge", "*/30 * * * *", func() error { return nil })
		o.config.Housekeeping = []engine.Task{purge}
		fail := func(at int, do func()) string {
			br.arm(at, false)
			do()
			hit := br.disarm()
			o.leasesEnd()
			return hit
		}
		for at := 1; at <= 12; at++ { // from the start on
			fail(at, o.open)
			o.pass(10 * time.Minute)
			o.stop()
			o.leasesEnd()
		}
		rows := 1
		o.contract(1)
		o.api.SetAPIKey("another key")
		o.open()
		o.pass(10 * time.Minute)
		o.stands("contracts", trade.Stopped, "api_key")
		for at := 1; at <= 20; at++ { // while a harmless question is asked each few minutes
			fail(at, func() { o.pass(10 * time.Minute) })
			if at%4 == 0 {
				o.pass(20 * time.Minute)
			}
		}
		o.api.SetAPIKey("a-key-of-the-tests")
		o.pass(time.Hour)
		for at, step := 1, 3; at < 60; at += step { // while it works
			rows++
			o.contract(rows)
			if fail(at, func() { o.pass(10 * time.Minute) }) == "" {
				break
			}
			if at%2 == 1 {
				err := errors.New("none")
				if fail(1, func() { err = o.scheduler.Trigger(o.t.Context(), "contracts", false) }) != "" &&
					err == nil {
					o.t.Error("a job was started of which the ledger does not say whether it is paused")
				}
			}
		}
		o.breaks(br, false)
		o.pass(2 * time.Hour)
		o.stop()
		o.leasesEnd()
		o.sync(engine.Options{})
		for n := 1; n <= rows; n++ {
			o.expect(n, trade.Accepted, "")
		}
		if n := len(o.createdOf(sandbox.ResourceOrderCommitments)); n != rows {
			o.t.Errorf("%d rows, %d contracts on the platform", rows, n)
		}
		if len(*began) == 0 {
			o.t.Error("the task never ran")
		}
		o.t.Logf("%d rows", rows)
	})
}

// F052: a comparison with a mapping that needs another column asks the ERP for it, and says so when
// that fails.
func TestAComparisonThatMustAskAndCannot(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(2)
	b.sync(engine.Options{})
	b.spec.Fields["haverst"] = engine.FieldSpec{Columns: []string{"obs"}, Default: new("2026/2027")}
	br := &breaker{}
	b.breaks(br, true)
	e := b.engine()
	br.each(t, "Compare and ask",
		func() error { return compare(t.Context(), e, e.Jobs[0], true, b.entry(1), b.entry(2)) })
}
