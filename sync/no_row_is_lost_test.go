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

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// at dates a contract of the ERP, in its own clock's form.
func (b *bench) at(num int, when string) {
	b.t.Helper()
	b.exec(`UPDATE contrato SET atualizado = ? WHERE num = ?`, when, fmt.Sprintf("%04d", num))
}

// F001: what committed late lies before everything that windows read. The sweep finds it, and says
// how much the window misses and by how long.
func TestF001TheSweepTellsWhatTheWindowMissedAndHowLateItCame(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(3)
		if r := b.sync(engine.Options{}); r.Late != nil {
			t.Errorf("the first reading has missed nothing: %+v", r.Late)
		}
		b.contract(4)
		b.at(4, "2026-03-10 05:59:00") // the bound is 08:00, the lookback two hours
		b.contract(5)
		b.at(5, "2026-03-10 06:00:00") // the window reaches it
		b.exec(`UPDATE contrato SET preco = 130, atualizado = '2026-02-01 00:00:00' WHERE num = '0001'`)
		b.contract(6)
		b.exec(`UPDATE contrato SET atualizado = NULL WHERE num = '0006'`) // in every window
		b.at(2, "2026-01-01 00:00:00")                                     // nothing of it changed
		r := b.sync(engine.Options{Sweep: true})
		if r.New != 3 || r.Changed != 1 || r.Late == nil {
			t.Fatalf("new %d, changed %d, late %+v", r.New, r.Changed, r.Late)
		}
		if r.Late.Rows != 2 || !cmp.Equal(r.Late.Samples, []string{key(1), key(4)}) &&
			!cmp.Equal(r.Late.Samples, []string{key(4), key(1)}) {
			t.Errorf("late %+v", r.Late)
		}
		since := must.Get(time.Parse(time.DateTime, "2026-02-01 00:00:00"))(t)
		// the ERP's clock has no zone
		if off := time.Since(since) - r.Late.LargestLateness(); off.Abs() > 27*time.Hour {
			t.Errorf("the latest came %s late, want about %s", r.Late.LargestLateness(), time.Since(since))
		}
		if !strings.Contains(r.Late.Why.String(), "widen lookback") || !strings.Contains(r.Late.Why.String(), "atualizado") {
			t.Errorf("text %q", r.Late.Why.String())
		}
		if r := b.sync(engine.Options{Sweep: true}); r.Late != nil {
			t.Errorf("they are told once: %+v", r.Late)
		}
		if r := b.sync(engine.Options{}); r.Sweep || r.Late != nil {
			t.Errorf("a window is never late: %+v", r.Late)
		}
		// What a changed configuration makes different is not late.
		b.spec.Fields["haverst"] = mapping.FieldSpec{Columns: []string{"obs"}, Default: new("2026/2027")}
		if r := b.sync(engine.Options{}); !r.Sweep || r.Late != nil {
			t.Errorf("sweep %t, late %+v", r.Sweep, r.Late)
		}
	})
}

// F001: on PostgreSQL the bound stays before the oldest open transaction, so that a row which
// commits late is in the next window, without any lookback.
func TestF001ARowThatCommitsLateGoesWithTheNextWindow(t *testing.T) {
	t.Parallel()
	b := newBenchOn(t, database{ERP: state.Postgres, Ledger: state.SQLite}, sandbox.Options{})
	b.spec.Lookback = 0
	b.exec(`ALTER TABLE contrato ALTER COLUMN atualizado SET DEFAULT now()`)
	insert := `INSERT INTO contrato SELECT '01', $1, $2::numeric, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', now()`
	b.exec(
		`INSERT INTO contrato SELECT '01', '0001', 1, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', now()`)
	b.sync(engine.Options{})
	late := must.Get(b.erp.Begin())(t)
	if _, err := late.Exec(insert, "0002", 2); err != nil { // stamped, not yet visible
		t.Fatal(err)
	}
	b.exec(
		`INSERT INTO contrato SELECT '01', '0003', 3, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', now()`)
	b.wants(b.sync(engine.Options{}), "sweep false, new 1")
	must.Do(t, late.Commit())
	b.wants(b.sync(engine.Options{}), "sweep false, new 1, accepted 3")
}

// I5: a row that commits late, with an old timestamp, is found.
func TestF001ALateRowWithAnOldTimestampIsFoundByTheSweep(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.sync(engine.Options{})
		b.contract(3)
		b.exec(`UPDATE contrato SET atualizado = '2026-01-01 00:00:00' WHERE num = '0003'`)
		b.contract(4)
		b.exec(`UPDATE contrato SET atualizado = NULL WHERE num = '0004'`)
		b.wants(b.sync(engine.Options{}), "sweep false, new 1")
		b.clock.advance(24 * time.Hour)
		b.wants(b.sync(engine.Options{}), "sweep true, new 1, accepted 4")
	})
}

func TestF002EqualTimestampsLoseNothingAndRepeatNothing(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.spec.Lookback = 0
		b.contracts(3)
		b.sync(engine.Options{})
		for i := 4; i <= 6; i++ {
			b.contract(i) // of the same second as those before
		}
		b.wants(b.sync(engine.Options{}), "sweep false, new 3, sent 3, unchanged 3")
	})
}

func TestF005RowsWithoutATimestampAreInEveryWindow(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.exec(`UPDATE contrato SET atualizado = NULL`)
		b.sync(engine.Options{})
		b.contract(3)
		b.exec(`UPDATE contrato SET atualizado = NULL, preco = CASE num WHEN '0001' THEN 121 ELSE preco END`)
		b.wants(b.sync(engine.Options{}), "sweep false, new 1, changed 1")
		b.flags(1, "[changed]")
	})
}

// F006: a row that is dated in the future is read, is told, and does not take the reading mark with
// it.
func TestF006ATimestampOfTheFutureHidesNothingBehindIt(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.at(2, "2099-01-01 00:00:00")
		r := b.sync(engine.Options{})
		if r.New != 2 || !strings.Contains(fmt.Sprint(r.Notes), "in the future") {
			t.Errorf("new %d, notes %q", r.New, r.Notes)
		}
		b.contract(3)
		b.exec(`UPDATE contrato SET atualizado = CURRENT_TIMESTAMP WHERE num = '0003'`)
		b.wants(b.sync(engine.Options{}), "sweep false, new 1")
	})
}

// F007: only the ERP's clock says what is new: ours may be hours off, either way.
func TestF007AClockThatDiffersFromTheERPsLosesNothing(t *testing.T) {
	either(t, func(t *testing.T, db database) {
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
	dsn := server.Database(t) // an empty ERP in another PostgreSQL
	_, _ = b.erp.Close(), b.source.Close()
	var err error
	b.erp, err = sqlx.Open(state.Postgres, dsn)
	if err != nil {
		t.Fatal(err)
	}
	b.exec(erpSchema)
	b.source, err = erp.Open(t.Context(),
		erp.SourceOptions{Driver: state.Postgres, DSN: erp.Secret(dsn), TimeZone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	b.contracts(3)
	b.sync(engine.Options{})
	b.contract(4)
	server.Stop(t)
	for range 3 {
		b.clock.advance(24 * time.Hour)
		reports := must.Get(b.engine().Sync(t.Context(), nil, engine.Options{}))(t)
		if r := reports[0]; r.Stopped == nil || r.Stopped.Code != "erp" || r.Sent != 0 ||
			r.States[trade.Accepted] != 3 {
			t.Errorf("sent %d, states %v, stopped %+v", r.Sent, r.States, r.Stopped)
		}
	}
	server.Start(t)
	b.contract(5)
	b.wants(b.sync(engine.Options{}), "sent 2, accepted 5, stop none")
}

// F081: a connection for which no file descriptor is left is proof that nothing was sent.
func TestF081WithoutAFileDescriptorNothingIsSentAndNothingIsLost(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		dials := 0
		b.dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials++
			if dials > 1 {
				return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("socket", syscall.EMFILE)}
			}
			var d net.Dialer
			return d.DialContext(ctx, network, addr)
		}
		b.contracts(3)
		// its connection is gone, and the next one needs another descriptor
		b.api.SetFaults(faults(t, "lost-before@1")...)
		b.wants(b.sync(engine.Options{}), "in_doubt 1, pending 2, sent 1")
		b.dial = nil
		b.clock.advance(time.Hour)
		b.wants(b.sync(engine.Options{}), "accepted 2, in_doubt 1")
	})
}

// F047, I4, I5: a page is stored while the next one is read. Where it cannot be stored, the run
// stops before anything leaves, whether the next page needs to know what became of it or not; the
// next run finds all of it again.
func TestF047APageThatCannotBeStoredStopsTheReading(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query string
		rows  int
	}{
		"pages of their own": {`SELECT * FROM contrato`, 1200},
		// The second page has the living row whose past stands on the first, and waits for it.
		"a key on two pages": {`SELECT * FROM (SELECT * FROM copia UNION ALL SELECT * FROM contrato) ORDER BY situacao DESC, num DESC`, 700},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{})
			b.contracts(1)
			b.exec(
				`CREATE TABLE copia AS SELECT filial, num, quantidade, preco, produto, carteira, 'cancelado' AS situacao, data_contrato, pagamento, obs, atualizado FROM contrato`)
			b.exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO contrato
				SELECT '01', printf('%04d', i), i, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00' FROM n`, c.rows)
			b.limits.MaxInFlight, b.brakes = 32, run.Brakes{}
			b.spec.Query = c.query
			b.breaker.armNamed("Record")
			reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
			hit, created := b.breaker.disarm(), len(b.api.Created())
			if hit == "" || err != nil || reports[0].Stopped == nil || reports[0].Sent != 0 || created != 0 {
				t.Fatalf("%q failed: %v, %+v, and %d records are on the platform", hit, err, reports, created)
			}
			reports, err = b.engine().Sync(t.Context(), nil, engine.Options{DryRun: true})
			if err != nil || reports[0].New != c.rows || reports[0].Stopped != nil {
				t.Errorf("the next run would find %d new rows, want %d: %+v, %v", reports[0].New, c.rows,
					reports[0].Stopped, err)
			}
		})
	}
}
