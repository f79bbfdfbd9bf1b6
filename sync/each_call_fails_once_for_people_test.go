package sync_test

import (
	"context"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// each lets the first calls of an operation fail, one after the other: each time it says so. Without
// a failure it succeeds.
func (b *breaker) each(t *testing.T, name string, op func() error) {
	t.Helper()
	first, step := sampled(len(name), 4)
	for at := first; ; at += step {
		b.arm(at, false)
		err := op()
		hit := b.disarm()
		switch {
		case hit == "" && err != nil:
			t.Fatalf("%s: %v", name, err)
		case hit == "":
			return
		case err == nil:
			t.Errorf("%s: its call %d failed (%s), and it says nothing", name, at, hit)
			return
		}
	}
}

// openRows is a bench with rows 1 in doubt, 2 changed, 3 to 5 accepted, and 6 without a code.
func openRows(t *testing.T) *bench {
	t.Helper()
	world := sandbox.OpenWorld()
	world.KnowProducer(producerID, cpfA)
	b := newLookupBench(t, databases[0], world, "lost-before,reset@1")
	b.limits.MaxInFlight = 1
	for n := 1; n <= 5; n++ {
		b.producer(n, cpfA)
	}
	b.sync(engine.Options{})
	b.expect(1, trade.InDoubt, trade.CauseUnknown)
	b.exec(`UPDATE contrato SET preco = preco + 1 WHERE num = '0002'`)
	b.exec(
		`INSERT INTO contrato VALUES ('01', '0006', 6, 120.5, 'soja', 'nobody', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00', ?)`, cpfA)
	b.sync(engine.Options{Sweep: true})
	return b
}

// F052: what people ask says so when ledger or ERP fail at any of its calls.
func TestEveryCallOfWhatPeopleAskFailsOnce(t *testing.T) {
	t.Parallel()
	b, ctx := openRows(t), t.Context()
	e := b.engine()
	job := e.Jobs[0]
	sent, waiting := b.entry(3), b.entry(6)
	for name, op := range map[string]func() error{
		"Preview":           func() error { _, err := e.Preview(ctx, "contracts", key(3)); return err },
		"Why":               func() error { _, err := e.Why(ctx, "contracts", key(6)); return err },
		"Why without a row": func() error { _, err := e.Why(ctx, "contracts", key(99)); return err },
		"CaseOf":            func() error { _, err := e.CaseOf(ctx, "contracts", key(3)); return err },
		"Audit":             func() error { _, err := e.Audit(ctx, job, nil); return err },
		"Check":             func() error { return e.Check(ctx, job) },
		"Newest":            func() error { _, err := e.Newest(ctx, "contracts", sent); return err },
		"a dry run": func() error {
			return failureOf(e.Sync(ctx, nil, engine.Options{DryRun: true, Sweep: true}))
		},
		"Compare":         func() error { return compare(ctx, e, job, false, sent, waiting) },
		"Compare and ask": func() error { return compare(ctx, e, job, true, sent, waiting) },
		"a resync of a day": func() error {
			return b.resync(e, discovery.Resync{Since: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)})
		},
		"a resync of a row": func() error { return b.resync(e, discovery.Resync{Keys: []string{key(6)}}) },
		"a resync of a state": func() error {
			return b.resync(e, discovery.Resync{States: []trade.State{trade.Waiting}})
		},
	} {
		b.breaker.each(t, name, op)
	}
}

func compare(ctx context.Context, e *engine.Engine, job *mapping.Job, ask bool, entries ...trade.Entry) error {
	c, err := e.Comparer(ctx, job, ask)
	if err != nil {
		return err
	}
	_, err = c.Compare(ctx, entries)
	return err
}

// resync reads again; what this process could not give back ends.
func (b *bench) resync(e *engine.Engine, asked discovery.Resync) error {
	b.leasesEnd()
	return failureOf(e.Sync(b.t.Context(), nil, engine.Options{Resync: &asked, DryRun: true}))
}

// F052: what people order says so when ledger or ERP fail at any of its calls; an order that fails
// is not carried out, and is possible the next time.
func TestEveryCallOfWhatPeopleOrderFailsOnce(t *testing.T) {
	t.Parallel()
	b, ctx := openRows(t), t.Context()
	people := b.acts()
	rows := func(name string, plan func() (acts.RowPlan, error)) {
		t.Helper()
		var p acts.RowPlan
		b.breaker.each(t, "plan of "+name, func() (err error) { p, err = plan(); return err })
		if !p.Possible() {
			t.Fatalf("%s is refused: %+v", name, p)
		}
		b.breaker.each(t, name, func() (err error) { _, err = people.Do(ctx, p, maria); return err })
	}
	jobs := func(name string, plan func() (acts.JobPlan, error)) {
		t.Helper()
		var p acts.JobPlan
		b.breaker.each(t, "plan of "+name, func() (err error) { p, err = plan(); return err })
		b.breaker.each(t, name, func() (err error) { _, err = people.DoJob(ctx, p, maria); return err })
	}
	b.breaker.each(t, "Watch", func() error { return people.Watch(ctx, "contracts") })
	b.clock.advance(16 * time.Minute)
	b.breaker.each(t, "Select", func() error {
		_, _, err := people.Select(ctx, "dismiss", "contracts", nil, nil)
		return err
	})
	doubt, other := b.entry(1), b.entry(3).RemoteID
	b.breaker.each(t, "Doubt", func() error { _, err := people.Doubt(ctx, doubt); return err })
	rows("an acknowledgement",
		func() (acts.RowPlan, error) { return people.Acknowledge(ctx, "contracts", []string{key(2)}) })
	rows("a dismissal", func() (acts.RowPlan, error) { return people.Dismiss(ctx, "contracts", []string{key(6)}) })
	rows("a reopening", func() (acts.RowPlan, error) { return people.Reopen(ctx, "contracts", []string{key(6)}) })
	b.breaker.each(t, "the id of another row", func() error {
		p, err := people.Adopt(ctx, "contracts", key(1), acts.Adoption{ID: other})
		if err == nil && p.Steps[0].Refused != acts.IDTaken {
			t.Errorf("%+v", p)
		}
		return err
	})
	rows("a second sending", func() (acts.RowPlan, error) { return people.Resend(ctx, "contracts", key(1), true) })
	jobs("a pause", func() (acts.JobPlan, error) { return people.Pause(ctx, "contracts", maria) })
	jobs("its end", func() (acts.JobPlan, error) { return people.Resume(ctx, "contracts") })
	b.expect(1, trade.Pending, "")
}

// F052: what people ask about rows that depend on others says so when ledger or ERP fail at any of
// its calls, and a dry run that would have to stop at a brake.
func TestEveryCallOfWhatPeopleAskOfChildrenFailsOnce(t *testing.T) {
	t.Parallel()
	b := withChildren(newBench(t, sandbox.Options{}))
	b.contracts(3)
	b.delivery(1, 1, 10)
	b.share("s1", 1, 5)
	b.pass()
	b.delivery(2, 2, 20)
	b.share("s2", 2, 5)
	b.contract(4)
	ctx, e := t.Context(), b.engine()
	job := must.Get(e.Job("deliveries"))(t)
	sent := must.Get(b.ledger.Entry(ctx, "deliveries", "01|0001"))(t)
	for name, op := range map[string]func() error{
		"Preview":         func() error { _, err := e.Preview(ctx, "deliveries", "01|0002"); return err },
		"Why":             func() error { _, err := e.Why(ctx, "deliveries", "01|0001"); return err },
		"CaseOf":          func() error { _, err := e.CaseOf(ctx, "deliveries", "01|0001"); return err },
		"Newest":          func() error { _, err := e.Newest(ctx, "deliveries", sent); return err },
		"Audit":           func() error { _, err := e.Audit(ctx, job, nil); return err },
		"Compare":         func() error { return compare(ctx, e, job, false, sent) },
		"Compare and ask": func() error { return compare(ctx, e, job, true, sent) },
		"a dry run": func() error {
			return failureOf(e.Sync(ctx, nil, engine.Options{DryRun: true, Sweep: true}))
		},
	} {
		b.breaker.each(t, name, op)
	}
	// A contract that was sent has another number now.
	b.exec(`UPDATE contrato SET num = '0099' WHERE num = '0003'`)
	b.brakes.Retyped = 1
	e = b.engine()
	for at := 1; ; at++ {
		b.breaker.arm(at, false)
		reports, err := e.Sync(ctx, []string{"contracts"}, engine.Options{DryRun: true, Sweep: true})
		hit := b.breaker.disarm()
		braked := err == nil && len(reports) == 1 && reports[0].Stopped != nil &&
			reports[0].Stopped.Code == "brake_retyped"
		if hit == "" && !braked {
			t.Errorf("without a failure: %+v, %v", reports, err)
		}
		if hit == "" {
			break
		}
		if err == nil && (len(reports) == 0 || reports[0].Stopped == nil) {
			t.Errorf("call %d failed (%s), and it says nothing", at, hit)
		}
	}
	b.records(sandbox.ResourceOrderCommitments, 3)
}

// F052: what people order rarely says so when ledger or ERP fail at any of its calls: a release, a
// row that is declared to be another record, and the id of a row that has another key now.
func TestEveryCallOfWhatPeopleOrderRarelyFailsOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(3)
	b.sync(engine.Options{})
	b.exec(`UPDATE contrato SET num = '0099' WHERE num = '0003'`)
	b.sync(engine.Options{Sweep: true})
	b.expect(99, trade.Held, trade.CauseRetyped)
	b.spec.Most = &trade.Freight{Load: trade.Load{Rows: 1}}
	for n := 4; n <= 6; n++ {
		b.contract(n)
	}
	b.expectBrake(b.sync(engine.Options{}), "brake_most", 3)
	ctx := t.Context()
	people := b.acts()
	b.breaker.each(t, "the plan of a release", func() error { _, err := people.Release(ctx, "contracts"); return err })
	b.breaker.each(t, "the plan of a retry",
		func() error { _, err := people.Retry(ctx, "contracts", []string{key(99)}, true); return err })
	old := b.entry(3)
	b.breaker.each(t, "the id of the old key", func() error {
		plan, err := people.Adopt(ctx, "contracts", key(99), acts.Adoption{ID: old.RemoteID})
		if err == nil && !plan.Possible() {
			t.Errorf("%+v", plan)
		}
		return err
	})
	plan := must.Get(people.Dismiss(ctx, "contracts", []string{key(99)}))(t)
	for name, op := range map[string]func() error{
		"rows without a person": func() error { _, err := people.Do(ctx, plan, trade.Person{}); return err },
		"a job's refused act": func() error {
			p, err := people.Resume(ctx, "contracts")
			if err != nil {
				return err
			}
			p.Refused = acts.IDTaken
			_, err = people.DoJob(ctx, p, maria)
			return err
		},
		"a job that does not exist, newest": func() error {
			_, err := b.engine().Newest(ctx, "nothing", old)
			return err
		},
		"a job that does not exist, case": func() error {
			_, err := b.engine().CaseOf(ctx, "nothing", key(1))
			return err
		},
		"a job that does not exist, preview": func() error {
			_, err := b.engine().Preview(ctx, "nothing", key(1))
			return err
		},
		"a job that does not exist, why": func() error {
			_, err := b.engine().Why(ctx, "nothing", key(1))
			return err
		},
		"a job that does not exist, sync": func() error {
			_, err := b.engine().Sync(ctx, []string{"nothing"}, engine.Options{})
			return err
		},
		"a key that no row has, case": func() error {
			_, err := b.engine().CaseOf(ctx, "contracts", key(77))
			return err
		},
		"a key that no row has, preview": func() error {
			_, err := b.engine().Preview(ctx, "contracts", key(77))
			return err
		},
	} {
		if err := op(); err == nil {
			t.Errorf("%s: nothing was said", name)
		}
	}
	b.expect(99, trade.Held, trade.CauseRetyped)
}

// F052: a row that the platform says it has already, and whose attempts the ledger does not tell,
// is not declared to be another one.
func TestARowThatExistsAndWhoseAttemptsAreNotRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "status=409@1")})
	b.contracts(1)
	b.sync(engine.Options{})
	b.expect(1, trade.Held, trade.CauseExists)
	people := b.acts()
	b.breaker.each(t, "the plan of a retry",
		func() error { return second(people.Retry(t.Context(), "contracts", []string{key(1)}, true)) })
	b.expect(1, trade.Held, trade.CauseExists)
}

// F052: a comparison with a mapping that needs another column asks the ERP for it, and says so when
// that fails.
func TestAComparisonThatMustAskAndCannot(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(2)
	b.sync(engine.Options{})
	b.spec.Fields["haverst"] = mapping.FieldSpec{Columns: []string{"obs"}, Default: new("2026/2027")}
	e, one, two := b.engine(), b.entry(1), b.entry(2)
	b.breaker.each(t, "Compare and ask", func() error { return compare(t.Context(), e, e.Jobs[0], true, one, two) })
}
