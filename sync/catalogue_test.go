package sync_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// F007: only the ERP's clock says what is new: ours may be hours off, either way.
func TestF007AClockThatDiffersFromTheERPsLosesNothing(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		for _, off := range []time.Duration{5 * time.Hour, -5 * time.Hour} {
			b := newBenchOn(t, db, sandbox.Options{})
			b.clock.jump(off)
			now := func() string { return time.Now().UTC().Format("2006-01-02 15:04:05") }
			for num := 1; num <= 4; num++ {
				b.contract(num)
				b.exec(`UPDATE contrato SET atualizado = ? WHERE num = ?`, now(), key(num)[3:])
				if r := b.sync(engine.Options{}); r.Sent != 1 || num > 1 && r.Sweep {
					t.Errorf("%s off: row %d: sent %d, sweep %t; want it in the window of the changed rows", off, num,
						r.Sent, r.Sweep)
				}
			}
		}
	})
}

// F011: the ERP is down for three days. Each run says so and changes nothing; the first one after
// it finds everything.
func TestF011AnERPThatIsDownForDaysLosesNothing(t *testing.T) {
	t.Parallel()
	server := pgtest.Server(t)
	b := newBench(t, sandbox.Options{})
	b.moveERP(server.Database(t))
	b.contracts(3)
	b.sync(engine.Options{})
	b.contract(4)
	server.Stop(t)
	for range 3 {
		b.clock.advance(24 * time.Hour)
		reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := reports[0]; r.Stopped == nil || r.Stopped.Code != "erp" || r.Sent != 0 ||
			r.States[trade.Accepted] != 3 {
			t.Errorf("sent %d, states %v, stopped %+v", r.Sent, r.States, r.Stopped)
		}
	}
	server.Start(t)
	b.contract(5)
	if r := b.sync(engine.Options{}); r.Sent != 2 || r.States[trade.Accepted] != 5 || r.Stopped != nil {
		t.Errorf("sent %d, states %v, stopped %+v", r.Sent, r.States, r.Stopped)
	}
}

// moveERP gives the bench an empty ERP in another PostgreSQL.
func (b *bench) moveERP(dsn string) {
	b.t.Helper()
	_, _ = b.erp.Close(), b.source.Close()
	var err error
	if b.erp, err = sqlx.Open(state.Postgres, dsn); err != nil {
		b.t.Fatal(err)
	}
	b.exec(erpSchema)
	if b.source, err = erp.Open(b.t.Context(),
		erp.Options{Driver: state.Postgres, DSN: erp.Secret(dsn), TimeZone: time.UTC}); err != nil {
		b.t.Fatal(err)
	}
}

// F028, F030: what is no amount and no day makes its own row invalid, named with its field, and no
// other.
func TestF028AnInfiniteOrImpossibleValueStopsNobody(t *testing.T) {
	t.Parallel()
	b := newBenchOn(t, database{state.Postgres, state.SQLite}, sandbox.Options{})
	b.contracts(7)
	for num, set := range map[int]string{
		2: `preco = 'NaN'`, 3: `quantidade = 'Infinity'`, 4: `data_contrato = 'infinity'`,
		5: `data_contrato = '0044-03-15 BC'`, 6: `pagamento = '0001-01-01'`,
	} {
		b.exec(`UPDATE contrato SET `+set+` WHERE num = ?`, key(num)[3:])
	}
	b.sync(engine.Options{})
	for num, want := range map[int]string{
		2: "rule:price", 3: "rule:amount", 4: "rule:order_date", 5: "rule:order_date",
		6: "rule:payday",
	} {
		e := b.expect(num, trade.Invalid, want)
		if e.Error == nil || len(e.Error.Fields) != 1 || e.Error.Fields[0].Column == "" {
			t.Errorf("row %d: %+v", num, e.Error)
		}
	}
	b.expect(1, trade.Accepted, "")
	b.expect(7, trade.Accepted, "")
}

// F033: characters that nobody sees make no row that cannot be kept or told, and no row that others
// stumble over.
func TestF033CharactersThatNobodySeesStopNobody(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(2)
		odd := []string{"a\u202eb", "a\u200bb", "a\x07b", "a\nb", "a🌾b", "a\ufeffb"}
		for i, text := range odd {
			b.exec(
				`INSERT INTO contrato VALUES ('01', ?, ?, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00')`, text, 100+i)
		}
		b.exec(`UPDATE contrato SET produto = ? WHERE num = '0002'`, "so\u200bja")
		r := b.sync(engine.Options{})
		if r.Stopped != nil || r.States[trade.Accepted]+r.Unreadable != 1+len(odd) || r.States[trade.Invalid] != 1 {
			t.Errorf("%+v", r)
		}
		b.expect(2, trade.Invalid, "rule:product")
		if again := b.sync(engine.Options{Sweep: true}); again.Sent != 0 ||
			again.States[trade.Accepted] != r.States[trade.Accepted] {
			t.Errorf("a sweep of the same keys: sent %d, %v", again.Sent, again.States)
		}
	})
}

// F081: a connection for which no file descriptor is left is proof that nothing was sent.
func TestF081WithoutAFileDescriptorNothingIsSentAndNothingIsLost(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.limits.MaxInFlight = 1
		dials := 0
		b.dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if dials++; dials > 1 {
				return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("socket", syscall.EMFILE)}
			}
			var d net.Dialer
			return d.DialContext(ctx, network, addr)
		}
		b.contracts(3)
		// its connection is gone, and the next one needs another descriptor
		b.api.SetFaults(faults(t, "lost-before@1")...)
		r := b.sync(engine.Options{})
		if r.States[trade.InDoubt] != 1 || r.States[trade.Pending] != 2 || r.Sent != 1 {
			t.Errorf("sent %d, states %v", r.Sent, r.States)
		}
		b.dial = nil
		b.clock.advance(time.Hour)
		if r = b.sync(engine.Options{}); r.States[trade.Accepted] != 2 || r.States[trade.InDoubt] != 1 {
			t.Errorf("with descriptors again: %v", r.States)
		}
	})
}

// F124: the platform does not know a commitment whose id it gave us: the share waits, and goes when
// it does.
func TestF124AShareOfACommitmentThatThePlatformDoesNotKnowYetGoesLater(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := withChildren(newBenchOn(t, db, sandbox.Options{}))
		b.contract(1)
		b.share("a", 1, 30)
		b.api.SetFaults(faults(t,
			`traceability:status=404@1,body={"messages":["message.order-commitment.not-found"]}`)...)
		b.pass()
		e := b.row("traceability", "a", trade.Rejected, "message.order-commitment.not-found")
		if e.NextAttemptAt.IsZero() || len(b.createdOf(sandbox.ResourceTraceability)) != 0 {
			t.Errorf("next attempt %s", e.NextAttemptAt)
		}
		if r := b.pass()["traceability"]; r.Sent != 0 {
			t.Errorf("%d went before its time", r.Sent)
		}
		b.clock.advance(20 * time.Minute)
		b.pass()
		b.row("traceability", "a", trade.Accepted, "")
	})
}

// F127: one node of the gateway has an old key: each refusal stops the run, consumes no attempt,
// and the next run goes on.
func TestF127AKeyThatIsRefusedNowAndThenCostsRunsAndNothingElse(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		var flapping []string
		for n := 3; n < 40; n += 3 {
			flapping = append(flapping, fmt.Sprintf("status=401@%d", n))
		}
		b := newBenchOn(t, db, sandbox.Options{Faults: faults(t, flapping...)})
		b.limits.MaxInFlight = 1
		b.contracts(9)
		stops := 0
		for range 20 {
			r := b.sync(engine.Options{})
			if r.States[trade.Accepted] == 9 {
				break
			}
			if r.Stopped == nil || r.Stopped.Code != "api_key" || r.States[trade.InDoubt] != 0 {
				t.Fatalf("states %v, stopped %+v", r.States, r.Stopped)
			}
			stops++
		}
		if stops != 4 || len(b.api.Created()) != 9 {
			t.Errorf("%d stops, %d records", stops, len(b.api.Created()))
		}
		for num := 1; num <= 9; num++ {
			if e := b.expect(num, trade.Accepted, ""); e.Attempts != 1 {
				t.Errorf("row %d counts %d attempts: those that a wrong key costs are not its own", num, e.Attempts)
			}
		}
	})
}

// F140: keys are compared exactly. A spelling that the document does not know is an ordinary
// refusal, never taken for the key that it looks like.
func TestF140AKeyInAnotherSpellingIsNotTheKey(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		for _, key := range []string{
			"message.Duplicate.Key", "message.duplicate.key ", "MESSAGE.DUPLICATE.KEY",
			"message.malformed-request.",
		} {
			b := newBenchOn(t, db, sandbox.Options{Faults: faults(t, `status=400@1,body={"messages":["`+key+`"]}`)})
			b.contract(1)
			b.sync(engine.Options{})
			e := b.entry(1)
			if e.State != trade.Rejected || e.Cause == "message.duplicate.key" ||
				!strings.Contains(fmt.Sprint(e.Error.Messages), key) {
				t.Errorf("%q: %s (%s), %+v", key, e.State, e.Cause, e.Error)
			}
		}
	})
}
