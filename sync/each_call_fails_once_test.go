package sync_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// mayPass are the calls whose failure only the log tells: the next run, or the end of a lease,
// makes up for them; what was certainly not sent goes in the same run.
var mayPass = []string{
	"Watch", "Mark", "SetJobStatus", "RenewLease", "FinishRun", "ReleaseLease",
	"SubmitOrderCommitment", "SubmitDelivery", "SubmitTraceability",
}

// brokenBench is a bench with all three kinds of records and lookups by document, whose engine
// calls everything through a breaker.
func brokenBench(t *testing.T) (*bench, *breaker) {
	t.Helper()
	world := sandbox.OpenWorld()
	world.KnowProducer(producerID, cpfA)
	world.KnowProducer(issuerID, cnpjC)
	b := withChildren(newLookupBench(t, databases[0], world))
	b.limits.KeepAnswers = time.Second
	b.spec.Most = &trade.Freight{Load: trade.Load{Rows: 1000}}
	b.brakes.Retyped = 1
	return b, &breaker{}
}

// breaks lets everything go through the breaker, or not.
func (b *bench) breaks(br *breaker, through bool) {
	b.wrap, b.reads, b.surface = nil, nil, nil
	if through {
		b.wrap = func(l Ledger) Ledger { return brokenLedger{l, br} }
		b.reads = func(s run.Source) run.Source { return brokenSource{s, br} }
		b.surface = func(p run.Platform) run.Platform { return brokenPlatform{p, br} }
	}
}

// around lets a function of the test make each call of the engine to ledger, ERP and platform: it
// is told the name of the call, and makes it with do.
func (b *bench) around(f func(call string, do func() error) error) {
	b.breaks(&breaker{around: f}, true)
}

// before lets something happen before each call of a name; its error is that of the call, which is
// not made.
func (b *bench) before(call string, f func() error) {
	b.around(func(name string, do func() error) error {
		if name == call {
			if err := f(); err != nil {
				return err
			}
		}
		return do()
	})
}

// day is what happens in the ERP before a run: a new contract with a document, a delivery and a
// share of it, a change of one that was sent, a row that waits for a code, the earlier such row is
// gone, a ticket that stands twice, another code; every fourth day a contract that was sent is
// gone.
func (b *bench) day(n int) {
	b.t.Helper()
	b.producer(n, []string{cpfA, cnpjC}[n%2])
	b.delivery(n, n, n)
	b.share(fmt.Sprintf("s%04d", n), n, n)
	b.exec(`UPDATE contrato SET preco = preco + 1 WHERE num = ?`, fmt.Sprintf("%04d", n-3))
	b.exec(`DELETE FROM contrato WHERE num = ? AND filial = '02'`, fmt.Sprintf("%04d", n-1))
	b.exec(
		`INSERT INTO contrato VALUES ('02', ?, ?, 120.5, 'soja', 'nobody', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00', ?)`, fmt.Sprintf("%04d", n), 100000+n, cpfA)
	for range 2 {
		b.exec(`INSERT INTO entrega VALUES ('01', ?, ?, 7, 'KG', '2026-05-10', NULL)`, fmt.Sprint("twice", n),
			fmt.Sprintf("%04d", n))
	}
	if n%4 == 0 {
		b.exec(`DELETE FROM contrato WHERE num = ?`, fmt.Sprintf("%04d", n-1))
	}
	b.exec(`INSERT INTO de_para VALUES ('carteira', ?, ?)`, fmt.Sprint("x", n), walletID)
}

// F047, F048, F052: each call that the engine makes of ledger, ERP and platform fails once, before
// it takes effect or after, in a run with or without a sweep: the run tells it, and the next one
// completes. Nothing is lost, nothing is twice on the platform, nothing is in doubt. In the short
// form the four share the calls.
func TestEveryCallOfTheEngineFailsOnce(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		sweep, applied := i%2 == 1, i/2 == 1
		t.Run(fmt.Sprintf("sweep %t, applied %t", sweep, applied), func(t *testing.T) {
			t.Parallel()
			first, step := 1+2*i, 8
			if long {
				first, step = 1, 1
			}
			b, br := brokenBench(t)
			failed := 0
			for at := first; ; at += step {
				failed++
				b.day(failed)
				if !b.failAt(br, at, engine.Options{Sweep: sweep}, applied, failed) {
					break
				}
			}
			t.Logf("%d calls failed", failed-1)
		})
	}
}

// failAt lets one call of a run fail, and judges after a run without a failure, on such a day. It
// tells whether there was such a call.
func (b *bench) failAt(br *breaker, at int, opts engine.Options, applied bool, day int) bool {
	b.t.Helper()
	b.breaks(br, true)
	br.arm(at, applied)
	reports, err := b.engine().Sync(b.t.Context(), nil, opts)
	hit := br.disarm()
	told := err != nil
	for _, r := range reports {
		told = told || r.Stopped != nil || len(r.Notes) > 0
	}
	switch {
	case hit == "" && told:
		for _, r := range reports {
			b.t.Errorf("without a failure: %s is stopped by %+v, notes %q, %v", r.Job, r.Stopped, r.Notes, err)
		}
	case hit != "" && !told && !slices.Contains(mayPass, hit):
		b.t.Errorf("call %d failed (%s), and the run tells nothing: %+v", at, hit, reports)
	}
	b.breaks(br, false)
	b.leasesEnd()
	b.clock.advance(20 * time.Minute)
	opts.Sweep = opts.Sweep || day%2 == 0 // what is gone is seen before it is too much at once
	if _, err := b.engine().Sync(b.t.Context(), nil, opts); err != nil {
		b.t.Fatalf("the run after call %d (%s) failed: %v", at, hit, err)
	}
	b.stands(day, fmt.Sprintf("%s, call %d", hit, at))
	return hit != ""
}

// leasesEnd lets half a minute pass for what this process did not give back.
func (b *bench) leasesEnd() {
	b.t.Helper()
	db, err := sqlx.Open("sqlite", b.parts.LedgerDSN+"?_pragma=busy_timeout(5000)")
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = db.Exec(`UPDATE job_lease SET expires = 0`)
	if err = errors.Join(err, db.Close()); err != nil {
		b.t.Fatal(err)
	}
}

// stands checks that n days are on the platform, once each.
func (b *bench) stands(n int, hit string) {
	b.t.Helper()
	b.once()
	for job, want := range map[string]int{"contracts": n, "deliveries": n, "traceability": n} {
		states := b.stateCounts(job)
		if states[trade.Accepted] != want ||
			states[trade.InDoubt]+states[trade.Sending]+states[trade.Pending]+states[trade.Rejected] > 0 {
			b.t.Fatalf("after a run with a failure (%s): %s %v, want %d accepted", hit, job, states, want)
		}
	}
	for resource, want := range map[string]int{"order_commitments": n, "deliveries": n, "traceability": n} {
		if got := len(b.createdOf(resource)); got != want {
			b.t.Fatalf("after a run with a failure (%s): the platform has %d %s, want %d", hit, got, resource, want)
		}
	}
}
