package sync_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// mayPass are the methods whose failure only the log tells: the next run, or the end of a lease,
// makes up for them; what was certainly not sent goes in the same run.
var mayPass = []string{
	"Watch", "SetJobStatus", "RenewLease", "FinishRun", "ReleaseLease", "BeforeCutOver",
	"Submit",
}

// sampled is which calls fail: each step-th, or in the long form twelve times as many; runs that
// differ in n begin with others.
func sampled(n, step int) (first, every int) {
	if long {
		step = max(1, step/12)
	}
	return 1 + n%step, step
}

// cpf returns a CPF of a number.
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

// day is what happens in the ERP before a run: a contract of a producer whom the platform was never
// asked for, its delivery and a share of it; a contract and a ticket that were sent change; a row
// waits for a code, the earlier one of these is gone; a ticket stands twice, another one with two
// volumes, of which one is gone a day later; two contracts are of a wallet that the platform does
// not know; a delivery is of a contract that is not there; there is another code, and the mapping
// changes; a contract that was sent gets a new number, and every fourth day one is gone.
func (b *bench) day(n int, world *sandbox.World) {
	b.t.Helper()
	num := func(n int) string { return fmt.Sprintf("%04d", n) }
	world.KnowProducer(producerID, cpf(n))
	b.producer(n, cpf(n))
	b.delivery(n, n, n)
	b.share("s"+num(n), n, n)
	b.exec(`UPDATE contrato SET preco = preco + 1 WHERE num = ?`, num(n-2))
	b.exec(`UPDATE entrega SET volume = volume + 1 WHERE ticket = ?`, num(n-2))
	b.exec(`DELETE FROM contrato WHERE filial = '02'`)
	b.exec(`DELETE FROM entrega WHERE volume = 8.5`)
	const contract = `INSERT INTO contrato VALUES (?, ?, ?, 120.5, 'soja', ?, 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00', ?)`
	b.exec(contract, "02", num(n), 100000+n, "nobody", cpf(n))
	for i, volume := range []float64{7.5, 8.5} {
		b.exec(`INSERT INTO entrega VALUES ('01', ?, ?, 7, 'KG', '2026-05-10', NULL)`, "twice"+num(n), num(n))
		b.exec(`INSERT INTO entrega VALUES ('01', ?, ?, ?, 'KG', '2026-05-10', NULL)`, "both"+num(n), num(n), volume)
		b.exec(contract, "03", fmt.Sprintf("%d-%d", n, i), 200000+n*2+i, "lacking", cpf(n))
	}
	b.delivery(90000+n, 90000+n, 1)
	b.exec(`INSERT INTO de_para VALUES ('carteira', ?, ?)`, fmt.Sprint("x", n), walletID)
	b.more[0].Fields["delivered_volume_unit_of_measure"].Values[fmt.Sprint("u", n)] = "kg"
	b.exec(`UPDATE contrato SET filial = '04' WHERE filial = '01' AND num = ?`, num(n-3))
	if n%4 == 0 {
		b.exec(`DELETE FROM contrato WHERE num = ?`, num(n-1))
	}
}

// F047, F048, F052: each call that the engine makes of the ledger's database, of ERP and platform
// fails once, in a run with or without a sweep, or takes effect, and its answer is lost: the run
// tells it, and the next one completes. Nothing is lost, nothing is twice on the platform, nothing
// is in doubt. In the short form the runs share the calls.
func TestEveryCallOfTheEngineFailsOnce(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		sweep, lost := i%2 == 1, i/2 == 1
		t.Run(fmt.Sprintf("sweep %t, lost %t", sweep, lost), func(t *testing.T) {
			t.Parallel()
			lacking, world := strings.Replace(walletID, "1b", "2c", 1), sandbox.OpenWorld()
			world.Forget(sandbox.Wallets, lacking)
			b := withChildren(newLookupBench(t, databases[0], world))
			b.limits.KeepAnswers = time.Second
			b.spec.Most = &trade.Freight{Load: trade.Load{Rows: 1000}}
			b.brakes.Retyped, b.brakes.NewRows = 1000, 0
			b.exec(`INSERT INTO de_para VALUES ('carteira', 'lacking', ?)`, lacking)
			first, step := sampled(20*i, map[bool]int{false: 45, true: 9}[lost])
			for day, at := 1, first; ; day, at = day+1, at+step {
				b.day(day, world)
				opts := engine.Options{Sweep: sweep}
				b.breaker.arm(at, lost)
				reports, err := b.engine().Sync(t.Context(), nil, opts)
				hit := b.breaker.disarm()
				method, _, _ := strings.Cut(hit, ": ")
				told := failureOf(reports, err)
				if (hit == "") != (told == nil) && !slices.Contains(mayPass, method) {
					t.Errorf("call %d failed (%s), and the run tells %v: %+v", at, hit, told, reports)
				}
				opts.Sweep = sweep || day%2 == 0 // what is gone is seen before it is too much at once
				b.leasesEnd()
				b.clock.advance(20 * time.Minute)
				if _, err := b.engine().Sync(t.Context(), nil, opts); err != nil {
					t.Fatalf("the run after %s failed: %v", hit, err)
				}
				b.once()
				for job, resource := range map[string]string{
					"contracts": "order_commitments", "deliveries": "deliveries", "traceability": "traceability",
				} {
					states := b.stateCounts(job)
					if created := len(b.createdOf(resource)); created != states[trade.Accepted] ||
						states[trade.InDoubt]+states[trade.Sending]+states[trade.Pending] > 0 ||
						created < day || created > day && job != "deliveries" { // those that stood twice go later
						t.Fatalf("after call %d failed (%s) on day %d the platform has %d %s, and the ledger %v", at, hit,
							day, created, resource, states)
					}
				}
				if hit == "" {
					t.Logf("%d calls failed", day-1)
					break
				}
			}
		})
	}
}

// failureOf is the error of a pass, what stopped it, or what it remarks.
func failureOf(reports []trade.RunReport, err error) error {
	for _, r := range reports {
		if (r.Stopped != nil || len(r.Notes) > 0) && err == nil {
			err = errBroken
		}
	}
	return err
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
			first, step := sampled(len(code), 50)
			for at := first; ; at += step {
				b := newBench(t, sandbox.Options{})
				c.before(b)
				b.sync(engine.Options{})
				sent := len(b.createdOf(sandbox.ResourceOrderCommitments))
				c.after(b)
				b.breaker.arm(at, false)
				reports, err := b.engine().Sync(t.Context(), nil, engine.Options{Sweep: true})
				hit := b.breaker.disarm()
				if err == nil && (len(reports) != 1 || reports[0].Stopped == nil) {
					t.Fatalf("call %d failed (%s), and nothing stopped: %+v", at, hit, reports)
				}
				b.leasesEnd()
				r := b.sync(engine.Options{Sweep: true})
				if r.Stopped == nil || code != "sweep" && r.Stopped.Code != code && r.Stopped.Code != "paused" {
					t.Errorf("after call %d failed (%s): %+v", at, hit, r.Stopped)
				}
				b.records(sandbox.ResourceOrderCommitments, sent)
				if hit == "" {
					return
				}
			}
		})
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
	b.refs = append(b.refs, mapping.ReferenceSpec{
		Kind:  "farms",
		Query: "SELECT codigo, id FROM de_para WHERE tipo = 'fazenda'", Code: []string{"codigo"}, ID: "id",
	})
	for i, day := range []string{"2026-05-10", "2026-06-10"} {
		b.exec(`INSERT INTO rateio VALUES (?, '01', '0001', NULL, 5, 'TON', ?)`, fmt.Sprint("s", i), day)
	}
	b.pass()
	first, step := sampled(0, 8)
	for at := first; ; at += step {
		b.exec(`INSERT INTO de_para VALUES ('fazenda', ?, ?)`, fmt.Sprint("f", at), walletID)
		b.breaker.arm(at, false)
		_, err := b.engine().Sync(t.Context(), []string{"traceability"}, engine.Options{})
		hit := b.breaker.disarm()
		if hit == "" && err != nil {
			t.Fatal(err)
		}
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
