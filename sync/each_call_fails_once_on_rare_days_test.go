package sync_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
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
		states := b.stateCounts(job)
		if created := len(b.createdOf(resource)); created != states[trade.Accepted] ||
			states[trade.InDoubt]+states[trade.Sending]+states[trade.Pending] > 0 {
			b.t.Fatalf("after call %d failed (%s) the platform has %d %s, and the ledger %v", at, hit, created,
				resource, states)
		}
	}
	return hit
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
