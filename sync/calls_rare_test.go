package sync_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/erp"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// cpf gives a CPF of a number.
func cpf(n int) string {
	digits := fmt.Sprintf("%09d", 100000000+n*37)
	for range 2 {
		sum := 0
		for i, d := range digits {
			sum += int(d-'0') * (len(digits) + 1 - i)
		}
		rest := sum * 10 % 11 % 10
		digits += fmt.Sprint(rest)
	}
	return digits
}

// rareDay is what happens in the ERP before a run besides the usual: a producer whom the platform
// was never asked for, a ticket that was sent and changes, one that stood twice and stands once,
// one with two rows, two contracts of a wallet that the platform does not know, a contract that was
// sent and gets a new number.
func (b *bench) rareDay(n int, world *sandbox.World) {
	b.t.Helper()
	world.KnowProducer(producerID, cpf(n))
	b.producer(n, cpf(n))
	b.delivery(n, n, n)
	b.share(fmt.Sprintf("s%04d", n), n, n)
	b.exec(`UPDATE entrega SET volume = volume + 1 WHERE ticket = ?`, fmt.Sprintf("%04d", n-2))
	for _, volume := range []int{7, 8} {
		b.exec(`INSERT INTO entrega VALUES ('01', ?, ?, ?, 'KG', '2026-05-10', NULL)`, fmt.Sprint("twice", n),
			fmt.Sprintf("%04d", n), volume)
	}
	b.exec(`DELETE FROM entrega WHERE ticket = ? AND volume = 8`, fmt.Sprint("twice", n-1))
	for i := range 2 {
		b.exec(
			`INSERT INTO contrato VALUES ('03', ?, ?, 120.5, 'soja', 'lacking', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00', ?)`, fmt.Sprintf("%d-%d", n, i), 200000+n*2+i, cpf(n))
	}
	b.delivery(90000+n, 90000+n, 1) // of a contract that is not there: it waits, and the mapping changes meanwhile
	b.more[0].Fields["delivered_volume_unit_of_measure"].Values[fmt.Sprint("u", n)] = "kg"
	if n > 3 {
		b.exec(
			`INSERT INTO contrato SELECT '04', num, quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado, documento FROM contrato WHERE filial = '01' AND num = ?`, fmt.Sprintf("%04d", n-3))
		b.exec(`DELETE FROM contrato WHERE filial = '01' AND num = ?`, fmt.Sprintf("%04d", n-3))
	}
}

// F047, F048, F052: each call of the engine fails once on days with more in them than usual. The
// run tells it; after the next one every row that may go is on the platform, once, and no row is in
// doubt.
func TestEveryCallOfTheEngineFailsOnceOnRarerDays(t *testing.T) {
	t.Parallel()
	for i, sweep := range []bool{false, true} {
		t.Run(fmt.Sprintf("sweep %t", sweep), func(t *testing.T) {
			t.Parallel()
			first, step := 1+15*i, 30
			if long {
				first, step = 1, 1
			}
			lacking := strings.Replace(walletID, "1b", "2c", 1)
			world := sandbox.OpenWorld()
			world.Forget(sandbox.Wallets, lacking)
			b := withChildren(newLookupBench(t, databases[0], world))
			b.brakes.Retyped, b.brakes.NewRows = 1000, 0
			b.exec(`INSERT INTO de_para VALUES ('carteira', 'lacking', ?)`, lacking)
			br := &breaker{}
			day := 0
			for at := first; ; at += step {
				day++
				b.rareDay(day, world)
				hit := b.rareFailure(br, at, engine.Options{Sweep: sweep || day%2 == 0})
				if hit == "" {
					break
				}
			}
			t.Logf("%d calls failed", day-1)
		})
	}
}

// rareFailure lets one call of a run fail, and judges after one without a failure.
func (b *bench) rareFailure(br *breaker, at int, opts engine.Options) string {
	b.t.Helper()
	b.breaks(br, true)
	br.arm(at, false)
	_, err := b.engine().Sync(b.t.Context(), nil, opts)
	hit := br.disarm()
	if hit == "" && err != nil {
		b.t.Fatal(err)
	}
	b.breaks(br, false)
	b.leasesEnd()
	b.clock.advance(20 * time.Minute)
	if _, err := b.engine().Sync(b.t.Context(), nil, opts); err != nil {
		b.t.Fatalf("the run after call %d (%s) failed: %v", at, hit, err)
	}
	b.once()
	for job, resource := range map[string]string{
		"contracts": "order_commitments", "deliveries": "deliveries",
		"traceability": "traceability",
	} {
		counts, err := b.ledger.Recount(b.t.Context(), job)
		if err != nil {
			b.t.Fatal(err)
		}
		states := map[trade.State]int{}
		for _, c := range counts {
			states[c.State] += c.Count
		}
		if created := len(b.createdOf(resource)); created != states[trade.Accepted] ||
			states[trade.InDoubt]+states[trade.Sending]+states[trade.Pending] > 0 {
			b.t.Fatalf("after call %d failed (%s) the platform has %d %s, and the ledger %v", at, hit, created,
				resource, states)
		}
	}
	return hit
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
	br := &breaker{}
	b.breaks(br, true)
	ctx, e := t.Context(), b.engine()
	job, err := e.Job("deliveries")
	if err != nil {
		t.Fatal(err)
	}
	sent, err := b.ledger.Entry(ctx, "deliveries", "01|0001")
	if err != nil {
		t.Fatal(err)
	}
	for name, op := range map[string]func() error{
		"Preview":         func() error { _, err := e.Preview(ctx, "deliveries", "01|0002"); return err },
		"Why":             func() error { _, err := e.Why(ctx, "deliveries", "01|0001", &sent); return err },
		"CaseOf":          func() error { _, err := e.CaseOf(ctx, "deliveries", "01|0001"); return err },
		"Newest":          func() error { _, err := e.Newest(ctx, "deliveries", sent); return err },
		"Audit":           func() error { _, err := e.Audit(ctx, job, nil); return err },
		"Compare":         func() error { return compare(ctx, e, job, false, sent) },
		"Compare and ask": func() error { return compare(ctx, e, job, true, sent) },
		"a dry run": func() error {
			return failureOf(e.Sync(ctx, nil, engine.Options{DryRun: true, Sweep: true}))
		},
	} {
		br.each(t, name, op)
	}
	// A contract that was sent has another number now.
	b.exec(`UPDATE contrato SET num = '0099' WHERE num = '0003'`)
	b.brakes.Retyped = 1
	e = b.engine()
	for at := 1; ; at++ {
		br.arm(at, false)
		reports, err := e.Sync(ctx, []string{"contracts"}, engine.Options{DryRun: true, Sweep: true})
		hit := br.disarm()
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
	if n := len(b.createdOf(sandbox.ResourceOrderCommitments)); n != 3 {
		t.Errorf("the platform has %d contracts", n)
	}
}

// F024, F025: each call fails once of a run that a brake stops: nothing leaves in it, nor in the
// next one, which the brake stops.
func TestEveryCallFailsOnceInARunThatABrakeStops(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct {
		before func(b *bench)
		after  func(b *bench)
	}{
		"brake_changed_key": {func(b *bench) { b.contracts(6) }, func(b *bench) {
			b.spec.Key = []string{"filial", "num", "obs"}
			b.exec(`UPDATE contrato SET obs = 'x'`)
			// a row without a key
			b.exec(
				`INSERT INTO contrato VALUES ('01', NULL, 9, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00')`)
		}},
		"brake_most": {
			func(b *bench) { b.spec.Most = &trade.Freight{Load: trade.Load{Rows: 6}}; b.contracts(6) },
			func(b *bench) {
				for n := 7; n <= 14; n++ {
					b.contract(n)
				}
			},
		},
		"sweep": {
			func(b *bench) { b.contracts(30) },
			func(b *bench) { b.exec(`DELETE FROM contrato WHERE num > '0005'`) },
		},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			step := 10
			if long {
				step = 1
			}
			for at := 1; ; at += step {
				b := newBench(t, sandbox.Options{})
				c.before(b)
				b.sync(engine.Options{})
				sent := len(b.createdOf(sandbox.ResourceOrderCommitments))
				c.after(b)
				br := &breaker{}
				b.breaks(br, true)
				br.arm(at, false)
				reports, err := b.engine().Sync(t.Context(), nil, engine.Options{Sweep: true})
				hit := br.disarm()
				if err == nil && (len(reports) != 1 || reports[0].Stopped == nil) {
					t.Fatalf("call %d failed (%s), and nothing stopped: %+v", at, hit, reports)
				}
				b.breaks(br, false)
				b.leasesEnd()
				r := b.sync(engine.Options{Sweep: true})
				if r.Stopped == nil || code != "sweep" && r.Stopped.Code != code && r.Stopped.Code != "paused" {
					t.Errorf("after call %d failed (%s): %+v", at, hit, r.Stopped)
				}
				if n := len(b.createdOf(sandbox.ResourceOrderCommitments)); n != sent {
					t.Errorf("after call %d failed (%s) %d contracts were sent, want %d", at, hit, n, sent)
				}
				if hit == "" {
					return
				}
			}
		})
	}
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
			acts := p.b.acts()
			plan, err := acts.Pause(ctx, "contracts", maria)
			if err == nil {
				_, err = acts.DoJob(ctx, plan, maria)
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
// goes, what was on the wire is settled, and the rest goes when the job is resumed.
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
		acts := b.acts()
		plan, err := acts.Resume(t.Context(), "contracts")
		if err == nil {
			_, err = acts.DoJob(t.Context(), plan, maria)
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
	engine.Platform
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
	b.surface = func(p engine.Platform) engine.Platform { return ending{p, end} }
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

// taken gives the job's lease to another process while a page is recorded.
type taken struct {
	Ledger
	b *bench
}

func (l taken) Record(ctx context.Context, lease trade.Lease, page trade.Page) (int, error) {
	l.b.leasesEnd()
	other, err := l.b.ledger.AcquireLease(ctx, lease.Job, trade.Owner{Instance: "another", Host: "elsewhere", PID: 1})
	if err == nil {
		err = l.b.ledger.ReleaseLease(ctx, other)
	}
	if err != nil {
		return 0, err
	}
	return l.Ledger.Record(ctx, lease, page)
}

// I12: a run whose lease went to another process while it read records and sends nothing more, and
// says why.
func TestARunWhoseLeaseWasTakenWhileItReads(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(2)
	b.wrap = func(l Ledger) Ledger { return taken{l, b} }
	reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
	if err != nil || len(reports) != 1 || reports[0].Stopped == nil || reports[0].Stopped.Code != "lease" ||
		reports[0].Sent != 0 {
		t.Fatalf("%+v, %v", reports, err)
	}
	b.wrap = nil
	if r := b.sync(engine.Options{}); r.States[trade.Accepted] != 2 {
		t.Errorf("%+v", r)
	}
}

// full takes no page.
type full struct{ Ledger }

var errFull = errors.New("the disk is full")

func (full) Record(context.Context, trade.Lease, trade.Page) (int, error) { return 0, errFull }

// fallen is an ERP that goes away after it gave all its rows.
type fallen struct{ engine.Source }

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
			b.wrap, b.reads = wrap(b), func(s engine.Source) engine.Source { return fallen{s} }
			reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
			if err != nil || len(reports) != 1 || reports[0].Stopped == nil || reports[0].Stopped.Code != code {
				t.Fatalf("%+v, %v; want %s", reports, err, code)
			}
		})
	}
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
	ctx, br := t.Context(), &breaker{}
	b.breaks(br, true)
	acts := b.acts()
	desk := brokenDesk{brokenLedger{b.ledger, br}, b.ledger}
	acts.Desk, acts.JobDesk = desk, desk
	br.each(t, "the plan of a release", func() error { _, err := acts.Release(ctx, "contracts"); return err })
	br.each(t, "the plan of a retry",
		func() error { _, err := acts.Retry(ctx, "contracts", []string{key(99)}); return err })
	old := b.entry(3)
	br.each(t, "the id of the old key", func() error {
		plan, err := acts.Adopt(ctx, "contracts", key(99), engine.Adoption{ID: old.RemoteID})
		if err == nil && !plan.Possible() {
			t.Errorf("%+v", plan)
		}
		return err
	})
	plan, err := acts.Dismiss(ctx, "contracts", []string{key(99)})
	if err != nil {
		t.Fatal(err)
	}
	for name, op := range map[string]func() error{
		"rows without a person": func() error { _, err := acts.Do(ctx, plan, engine.Person{}); return err },
		"a job's refused act": func() error {
			p, err := acts.Resume(ctx, "contracts")
			if err != nil {
				return err
			}
			p.Refused = engine.IDTaken
			_, err = acts.DoJob(ctx, p, maria)
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
			_, err := b.engine().Why(ctx, "nothing", key(1), nil)
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

// F022: a row in doubt that came to stand twice in the ERP is not sent again, because nobody knows
// which of the two it would be.
func TestARowThatStandsTwiceIsNotSentAgain(t *testing.T) {
	t.Parallel()
	b := withChildren(newBench(t, sandbox.Options{Faults: faults(t, "lost-after@2")}))
	b.contracts(1)
	b.delivery(1, 1, 10)
	b.pass()
	b.row("deliveries", "01|0001", trade.InDoubt, trade.CauseUnknown)
	b.delivery(1, 1, 11)
	acts := b.acts()
	if err := acts.Watch(t.Context(), "deliveries"); err != nil {
		t.Fatal(err)
	}
	b.clock.advance(16 * time.Minute)
	plan, err := acts.Resend(t.Context(), "deliveries", "01|0001", true)
	if err != nil || plan.Possible() || plan.Steps[0].Refused != engine.DoubleKey {
		t.Errorf("%+v, %v", plan, err)
	}
}

// F044, F047: each call fails once of a run that maps rows anew which wait for another job's,
// because a reference came, and which are older than what the run reads: they wait on, and go once
// when their contract is there.
func TestEveryCallFailsOnceWhileRowsThatWaitAreMappedAnew(t *testing.T) {
	t.Parallel()
	b := withChildren(newBench(t, sandbox.Options{}))
	b.exec(`ALTER TABLE rateio ADD COLUMN dia DATE`)
	b.more[1].Query, b.more[1].ChangedAt = `SELECT id, filial, num, fazenda, volume, um, dia FROM rateio`, "dia"
	b.refs = append(b.refs, engine.ReferenceSpec{
		Kind:  "farms",
		Query: "SELECT codigo, id FROM de_para WHERE tipo = 'fazenda'", Code: []string{"codigo"}, ID: "id",
	})
	for i, day := range []string{"2026-05-10", "2026-06-10"} {
		b.exec(`INSERT INTO rateio VALUES (?, '01', '0001', NULL, 5, 'TON', ?)`, fmt.Sprint("s", i), day)
	}
	b.pass()
	br := &breaker{}
	for at := 1; ; at++ {
		b.exec(`INSERT INTO de_para VALUES ('fazenda', ?, ?)`, fmt.Sprint("f", at), walletID)
		b.breaks(br, true)
		br.arm(at, false)
		_, err := b.engine().Sync(t.Context(), []string{"traceability"}, engine.Options{})
		hit := br.disarm()
		if hit == "" && err != nil {
			t.Fatal(err)
		}
		b.breaks(br, false)
		b.leasesEnd()
		for i := range 2 {
			b.row("traceability", fmt.Sprint("s", i), trade.Waiting, trade.CauseParent)
		}
		if hit == "" {
			break
		}
	}
	b.contracts(1)
	b.pass()
	for i := range 2 {
		b.row("traceability", fmt.Sprint("s", i), trade.Accepted, "")
	}
	b.once()
}
