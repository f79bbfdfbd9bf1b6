package sync_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// bridged are the rows and the amount of the ERP as the ledger counts them: its living entries, and
// what the last readings found beside them.
func (b *bench) bridged() (rows int, amount string) {
	b.t.Helper()
	var sum trade.Decimal
	for _, e := range b.entries(trade.RowQuery{Jobs: []string{"contracts"}}) {
		if e.GoneSweeps == 0 && !e.Flags.Has(trade.Cancelled) && !e.Acknowledged.Has(trade.Cancelled) {
			rows, sum = rows+1, sum.Add(e.Quantity.Amount)
		}
	}
	cursor := must.Get(b.ledger.Cursor(b.t.Context(), "contracts"))(b.t)
	kg := sum.Mul(must.Get(trade.ParseDecimal("60"))(b.t))
	for _, beside := range cursor.Sweep.Beside {
		rows, kg = rows+beside.Rows, kg.Add(beside.Kilograms)
	}
	return rows, kg.String()
}

// wantBridge compares it with a plain sum over the ERP.
func (b *bench) wantBridge(what string) {
	b.t.Helper()
	var rows, sacks int
	must.Do(b.t, b.erp.QueryRow(`SELECT count(*), sum(CAST(quantidade AS INTEGER)) FROM (`+b.spec.Query+`) AS q`).
		Scan(&rows, &sacks))
	if n, kg := b.bridged(); n != rows || kg != fmt.Sprint(60*sacks) {
		b.t.Errorf("%s: the ledger counts %d rows and %s kg, the ERP has %d and %d", what, n, kg, rows, 60*sacks)
	}
}

// inSpellings makes the ERP's query return two tables, of which the second has no unique key, and
// moves contract 2 into a key that the second spells otherwise.
func (b *bench) inSpellings(kind, first, second string) {
	b.t.Helper()
	b.exec(`CREATE TABLE livre (filial TEXT, num ` + kind + `, quantidade NUMERIC, preco NUMERIC, produto TEXT, carteira TEXT,
		situacao TEXT, data_contrato DATE, pagamento DATE, obs TEXT, atualizado TIMESTAMP)`)
	b.spec.Query = strings.Replace(b.spec.Query, "FROM contrato", "FROM livre", 1)
	b.spelled(first, 2, "2026-03-10 08:00:00")
	b.spelled(second, 1000, "2026-03-10 08:00:00")
}

func (b *bench) spelled(num string, amount int, at string) {
	b.t.Helper()
	b.exec(fmt.Sprintf(`INSERT INTO livre VALUES ('01', %s, %d, 120.5, 'soja', '1', 'aprovado', '2026-03-10',
		'2026-07-01', '', '%s')`, num, amount, at))
}

var spellings = map[string]struct {
	kind, first, second string
	key                 string
	only                string // an engine; "" = both
}{
	"a trailing blank":       {"TEXT", `'0002'`, `'0002 '`, "01|0002", ""},
	"a blank before":         {"TEXT", `'0002 '`, `'  0002'`, "01|0002", ""},
	"a no-break space":       {"TEXT", `'0002'`, "'0002\u00a0'", "01|0002", ""},
	"the same text":          {"TEXT", `'0002'`, `'0002'`, "01|0002", ""},
	"a number and its zeros": {"NUMERIC", `2`, `2.0`, "01|2", ""},
	"a number and a text":    {"", `2`, `'2'`, "01|2", state.SQLite},
	"a float and a text":     {"", `2.0`, `'2'`, "01|2", state.SQLite},
	"the case of a UUID": {
		"TEXT", `'DB5B5FAB-8F4D-4E27-9DA1-494C73CF256D'`, `'db5b5fab-8f4d-4e27-9da1-494c73cf256d'`,
		"01|db5b5fab-8f4d-4e27-9da1-494c73cf256d", "",
	},
}

// eachSpelling runs a scenario for each way in which a key can stand twice.
func eachSpelling(t *testing.T, test func(t *testing.T, b *bench, second, key string)) {
	t.Helper()
	for name, s := range spellings {
		t.Run(name, func(t *testing.T) {
			either(t, func(t *testing.T, db database) {
				if s.only != "" && s.only != db.ERP {
					return // a column has one type there
				}
				b := newBenchOn(t, db, sandbox.Options{})
				b.inSpellings(s.kind, s.first, s.second)
				test(t, b, s.second, s.key)
			})
		})
	}
}

// F022: rows whose keys are one key for the program stand twice, however they are spelled: nothing
// goes, and each is counted.
func TestF022ADoubleKeyInTwoSpellingsIsHeldAndCounted(t *testing.T) {
	t.Parallel()
	eachSpelling(t, func(t *testing.T, b *bench, second, key string) {
		for range 2 {
			b.wants(b.sync(engine.Options{Sweep: true}), "sent 0, held 1")
			b.wantBridge("held")
		}
		b.row("contracts", key, trade.Held, trade.CauseDuplicateKey)
		p, err := b.engine().Preview(t.Context(), "contracts", key)
		if err != nil || p.Cause != trade.CauseDuplicateKey {
			t.Errorf("what stands in the ERP now is told as %s (%s), %v", p.State, p.Cause, err)
		}
		b.clock.advance(time.Minute)
		b.exec(`UPDATE livre SET quantidade = 3, atualizado = '2026-03-12 08:00:00' WHERE quantidade = 2`)
		b.wants(b.sync(engine.Options{}), "sweep false, sent 0, held 1")
		b.exec(`DELETE FROM livre WHERE quantidade = 1000`)
		b.exec(`UPDATE livre SET quantidade = 4, atualizado = '2026-03-12 08:30:00' WHERE quantidade = 3`)
		b.wants(b.sync(engine.Options{}), "sweep false, sent 1")
	})
}

// F022: of a key that was sent and comes to stand twice, the row that was sent is the one that the
// ledger compares; the other is counted, and named.
func TestF022ASentKeyThatComesToStandTwiceIsComparedWithItsOwnRow(t *testing.T) {
	t.Parallel()
	eachSpelling(t, func(t *testing.T, b *bench, second, key string) {
		b.exec(`DELETE FROM livre WHERE quantidade = 1000`)
		b.wants(b.sync(engine.Options{}), "sent 1")
		b.wantBridge("sent")
		pass := func(what string, sweep bool) {
			b.clock.advance(time.Minute)
			r := b.sync(engine.Options{Sweep: sweep})
			if r.Sweep != sweep || r.Sent != 0 || len(r.Flags) != 0 {
				t.Errorf("%s: sweep %t, sent %d, flags %v", what, r.Sweep, r.Sent, r.Flags)
			}
			if !strings.Contains(fmt.Sprint(r.Notes), "appears more than once") && sweep {
				t.Errorf("%s: nobody is told: %q", what, r.Notes)
			}
			if e := b.row("contracts", key, trade.Accepted, ""); e.Quantity.Amount.String() != "2" {
				t.Errorf("%s: the sent row has amount %s", what, e.Quantity.Amount)
			}
			b.wantBridge(what)
		}
		b.spelled(second, 1000, "2026-03-12 08:00:00")
		pass("a window with the new row", false)
		pass("the same window", false)
		pass("a sweep", true)
		b.exec(`UPDATE livre SET quantidade = 1000, obs = 'x', atualizado = '2026-03-12 08:30:00' WHERE quantidade = 1000`)
		pass("a window with the new row, edited", false)
		pass("another sweep", true)
		// once the key stands once, its row is compared as any other
		b.exec(`DELETE FROM livre WHERE quantidade = 2`)
		b.exec(`UPDATE livre SET atualizado = '2026-03-12 09:00:00'`)
		for _, sweep := range []bool{false, true} {
			b.wants(b.sync(engine.Options{Sweep: sweep}), "changed flags 1")
		}
		b.wantBridge("cured")
	})
}

// Both rows of a sent key differ from what was sent: it is told as changed, and always compared with
// the same one.
func TestASentKeyThatStandsTwiceWithOtherRowsOnlyDoesNotFlip(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.inSpellings("TEXT", `'0002'`, `'0002 '`)
		b.exec(`DELETE FROM livre WHERE quantidade = 1000`)
		b.sync(engine.Options{})
		b.exec(`UPDATE livre SET quantidade = 600, atualizado = '2026-03-12 08:00:00'`)
		b.spelled(`'0002 '`, 630, "2026-03-12 08:00:00")
		var first string
		for i, sweep := range []bool{false, true, true, false, true} {
			if i == 2 { // from now on the ERP returns them in the other order
				b.exec(`DELETE FROM livre WHERE quantidade = 600`)
				b.spelled(`'0002'`, 600, "2026-03-12 08:00:00")
			}
			b.clock.advance(time.Minute)
			r := b.sync(engine.Options{Sweep: sweep})
			e := b.row("contracts", "01|0002", trade.Accepted, "")
			if i == 0 {
				first = e.Quantity.Amount.String()
			}
			if r.Flags[trade.Changed] != 1 || e.Flags.Has(trade.Replaced) || e.Quantity.Amount.String() != first {
				t.Errorf("pass %d: flags %v, the entry %v and %v, at first %v", i, r.Flags, e.Flags, e.Quantity, first)
			}
			b.wantBridge(fmt.Sprint("pass ", i))
		}
	})
}

// The recheck finds each spelling that the readings saw.
func TestF022ARowThatWaitsIsNotSentWhenItsKeyComesToStandTwice(t *testing.T) {
	t.Parallel()
	eachSpelling(t, func(t *testing.T, b *bench, second, key string) {
		b.exec(`DELETE FROM livre WHERE quantidade = 1000`)
		b.api.SetFaults(faults(t, "any:status=401")...)
		b.sync(engine.Options{})
		b.row("contracts", key, trade.Pending, "")
		b.spelled(second, 1000, "2026-03-12 08:00:00")
		b.clock.advance(time.Minute)
		b.api.SetFaults()
		b.wants(b.sync(engine.Options{}), "sweep false, sent 0, held 1")
		b.row("contracts", key, trade.Held, trade.CauseDuplicateKey)
		b.wantBridge("a window")
		b.sync(engine.Options{Sweep: true})
		b.wantBridge("a sweep")
	})
}

// interrupted lets something happen before keys are looked up for the n-th time.
type interrupted struct {
	Ledger
	left *int
	do   func()
}

func (l interrupted) Known(ctx context.Context, job string, keys []string) (map[string]trade.Known, error) {
	*l.left--
	if *l.left == 0 {
		l.do()
	}
	return l.Ledger.Known(ctx, job, keys)
}

// F022: what a person dismisses while the ERP is read stays out, although the reading finds that its
// key does not stand twice any more.
func TestF022ARowThatIsDismissedWhileItsKeyIsCuredStaysOut(t *testing.T) {
	t.Parallel()
	times := 0
	for nth := 1; ; nth++ {
		b := newBench(t, sandbox.Options{})
		b.inSpellings("TEXT", `'0001'`, `'0001'`)
		b.sync(engine.Options{Sweep: true})
		b.row("contracts", "01|0001", trade.Held, trade.CauseDuplicateKey)
		b.exec(`DELETE FROM livre WHERE quantidade = 1000`)
		left, dismissed := nth, false
		b.wrap = func(l Ledger) Ledger {
			return interrupted{l, &left, func() {
				b.wrap = nil
				plan := must.Get(b.acts().Dismiss(t.Context(), "contracts", []string{"01|0001"}))(t)
				dismissed = must.Get(b.acts().Do(t.Context(), plan, maria))(t).Steps[0].Done
			}}
		}
		r := b.sync(engine.Options{Sweep: true})
		if left > 0 { // there are no more lookups
			break
		}
		if dismissed {
			times++
			if e := b.row("contracts", "01|0001", trade.Dismissed, trade.CauseDuplicateKey); r.Sent > 0 {
				t.Errorf("before lookup %d: sent %d, and it is %s", nth, r.Sent, e.State)
			}
		}
	}
	if times == 0 {
		t.Error("nothing was dismissed")
	}
}

// I9: a row that was sent and is cancelled after the last sweep is counted as cancelled, and no longer
// once it is approved again.
func TestI9ARowThatIsCancelledBetweenTwoSweepsIsCounted(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(3)
		b.sync(engine.Options{Sweep: true})
		for day, situation := range []string{"cancelado", "aprovado", "cancelado"} {
			b.clock.advance(time.Minute)
			b.exec(`UPDATE contrato SET situacao = ?, atualizado = ? WHERE num = '0002'`, situation,
				fmt.Sprintf("2026-03-%d 08:00:00", 12+day))
			b.wants(b.sync(engine.Options{}), "sweep false")
			b.wantBridge(situation)
		}
		b.sync(engine.Options{Sweep: true})
		b.wantBridge("a sweep")
	})
}
