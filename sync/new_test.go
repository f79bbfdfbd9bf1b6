package sync_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
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
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
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
		since, err := time.Parse(time.DateTime, "2026-02-01 00:00:00")
		if err != nil {
			t.Fatal(err)
		}
		// the ERP's clock has no zone
		if off := time.Since(since) - r.Late.LargestLateness(); off.Abs() > 27*time.Hour {
			t.Errorf("the latest came %s late, want about %s", r.Late.LargestLateness(), time.Since(since))
		}
		if !strings.Contains(r.Late.Text, "widen lookback") || !strings.Contains(r.Late.Text, "atualizado") {
			t.Errorf("text %q", r.Late.Text)
		}
		if r := b.sync(engine.Options{Sweep: true}); r.Late != nil {
			t.Errorf("they are told once: %+v", r.Late)
		}
		if r := b.sync(engine.Options{}); r.Sweep || r.Late != nil {
			t.Errorf("a window is never late: %+v", r.Late)
		}
		// What a changed configuration makes different is not late.
		b.spec.Fields["haverst"] = engine.FieldSpec{Columns: []string{"obs"}, Default: new("2026/2027")}
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
	late, err := b.erp.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.Exec(insert, "0002", 2); err != nil { // stamped, not yet visible
		t.Fatal(err)
	}
	b.exec(
		`INSERT INTO contrato SELECT '01', '0003', 3, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', now()`)
	if r := b.sync(engine.Options{}); r.Sweep || r.New != 1 {
		t.Fatalf("sweep %t, new %d", r.Sweep, r.New)
	}
	if err := late.Commit(); err != nil {
		t.Fatal(err)
	}
	if r := b.sync(engine.Options{}); r.Sweep || r.New != 1 || r.States[trade.Accepted] != 3 {
		t.Errorf("sweep %t, new %d, states %v", r.Sweep, r.New, r.States)
	}
}

func TestF002EqualTimestampsLoseNothingAndRepeatNothing(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.spec.Lookback = 0
		b.contracts(3)
		b.sync(engine.Options{})
		for i := 4; i <= 6; i++ {
			b.contract(i) // of the same second as those before
		}
		if r := b.sync(engine.Options{}); r.Sweep || r.New != 3 || r.Sent != 3 || r.Unchanged != 3 {
			t.Errorf("%+v", r)
		}
	})
}

func TestF005RowsWithoutATimestampAreInEveryWindow(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(2)
		b.exec(`UPDATE contrato SET atualizado = NULL`)
		b.sync(engine.Options{})
		b.contract(3)
		b.exec(`UPDATE contrato SET atualizado = NULL, preco = CASE num WHEN '0001' THEN 121 ELSE preco END`)
		if r := b.sync(engine.Options{}); r.Sweep || r.New != 1 || r.Changed != 1 {
			t.Errorf("%+v", r)
		}
		b.flags(1, "[changed]")
	})
}

// F006: a row that is dated in the future is read, is told, and does not take the reading mark with
// it.
func TestF006ATimestampOfTheFutureHidesNothingBehindIt(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(2)
		b.at(2, "2099-01-01 00:00:00")
		r := b.sync(engine.Options{})
		if r.New != 2 || !strings.Contains(strings.Join(r.Notes, "\n"), "in the future") {
			t.Errorf("new %d, notes %q", r.New, r.Notes)
		}
		b.contract(3)
		b.exec(`UPDATE contrato SET atualizado = CURRENT_TIMESTAMP WHERE num = '0003'`)
		if r := b.sync(engine.Options{}); r.Sweep || r.New != 1 {
			t.Errorf("sweep %t, new %d", r.Sweep, r.New)
		}
	})
}

// F023: padding makes no other key. Case and zeros do, because they may mean something: but what
// was sent under the old spelling is found by its content.
func TestF023AKeyThatChangesItsSpellingSendsNothingAgain(t *testing.T) {
	for name, c := range map[string]struct {
		change string // of the spelling, in the ERP
		held   int
	}{
		"padding":       {`UPDATE contrato SET num = num || '      ', filial = ' ' || filial`, 0},
		"case":          {`UPDATE contrato SET num = upper(num)`, 3},
		"leading zeros": {`UPDATE contrato SET num = '00' || num`, 3},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, db database) {
				b := newBenchOn(t, db, sandbox.Options{})
				b.contracts(3)
				b.exec(`UPDATE contrato SET num = 'a' || num`)
				b.sync(engine.Options{})
				b.exec(c.change)
				b.exec(`UPDATE contrato SET atualizado = '2026-03-10 09:00:00'`)
				r := b.sync(engine.Options{}) // in a window: no sweep has seen yet that the old spelling is gone
				if r.Sweep || r.Sent != 0 || r.States[trade.Held] != c.held || r.States[trade.Accepted] != 3 {
					t.Errorf("sweep %t, sent %d, states %v, stopped %+v", r.Sweep, r.Sent, r.States, r.Stopped)
				}
			})
		})
	}
}

// F023: a driver or a column that turns texts into numbers.
func TestF023AKeyThatBecomesANumberSendsNothingAgain(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(3)
		b.sync(engine.Options{})
		b.spec.Query = strings.Replace(b.spec.Query, "filial, num,", "filial, CAST(num AS INTEGER) AS num,", 1)
		for range 2 {
			r := b.sync(engine.Options{})
			if r.Sent != 0 || len(b.api.Created()) != 3 {
				t.Errorf("sent %d, states %v, stopped %+v", r.Sent, r.States, r.Stopped)
			}
			b.release("contracts")
		}
		if r := b.sync(engine.Options{}); r.Stopped != nil || r.States[trade.Held] != 3 {
			t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
		}
	})
}
