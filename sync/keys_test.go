package sync_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// noise is a text of n letters that no database can shorten.
func noise(n int) string {
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range n {
		b.WriteByte(byte('a' + random.IntN(26)))
	}
	return b.String()
}

func TestAKeyThatIsBlankOrCannotBeKeptIsCountedAndStopsNobody(t *testing.T) {
	t.Parallel()
	insert := `INSERT INTO contrato VALUES (?, ?, 9, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00')`
	for _, db := range append(slices.Clone(databases), database{state.SQLite, state.Postgres}) {
		t.Run(db.ERP+" to "+db.Ledger, func(t *testing.T) {
			t.Parallel()
			b := newBenchOn(t, db, sandbox.Options{})
			b.contracts(2)
			b.exec(insert, " ", "")
			b.exec(insert, "01", noise(2600))
			b.exec(insert, "01", noise(2600)+"1")
			want := 3
			if db.ERP == state.SQLite { // PostgreSQL has no NUL in a text
				b.exec(insert, "01", "00\x0007")
				want++
			}
			r := b.sync(engine.Options{})
			if r.Unreadable != want || r.Sent != 2 || r.InScope == nil || *r.InScope != 2 || r.Stopped != nil {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestATextThatIsNoUnitAndACodeThatCannotBeKeptStopNobody(t *testing.T) {
	t.Parallel()
	b := newBenchOn(t, database{state.SQLite, state.Postgres}, sandbox.Options{})
	b.spec.Fields["unit_of_measurement"] = engine.FieldSpec{Columns: []string{"obs"}}
	b.contracts(3)
	b.exec(`UPDATE contrato SET obs = 'SC'`)
	b.exec(`UPDATE contrato SET obs = ? WHERE num = '0002'`, noise(4000))
	b.exec(`UPDATE contrato SET obs = ?, carteira = ? WHERE num = '0003'`, "S\x00", "1\x00")
	b.exec(`INSERT INTO de_para VALUES ('carteira', ?, ?), ('carteira', ?, ?)`, "1\x00", walletID, noise(5000), "x\x00")
	r := b.sync(engine.Options{})
	if r.States[trade.Accepted] != 1 || r.States[trade.Invalid] != 2 || r.Stopped != nil {
		t.Errorf("%+v", r)
	}
}

// F022: a window shows only a part of the rows, so that a key that is seen once there may still
// stand twice.
func TestF022AWindowProvesNoDoubleKeyCured(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.exec(`CREATE TABLE copia AS SELECT * FROM contrato WHERE false`)
		b.contracts(3)
		b.exec(
			`INSERT INTO copia SELECT filial, num, 99, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0002'`)
		b.exec(`UPDATE copia SET atualizado = '2026-01-10 08:00:00'`)
		b.spec.Query = `SELECT * FROM contrato UNION ALL SELECT * FROM copia`
		b.sync(engine.Options{})
		held := b.expect(2, trade.Held, trade.CauseDuplicateKey)
		b.exec(`UPDATE contrato SET obs = 'x', pagamento = NULL, atualizado = '2026-03-12 08:00:00' WHERE num = '0002'`)
		b.clock.advance(time.Minute)
		if r := b.sync(engine.Options{}); r.Sweep {
			t.Fatal("this run must read a window")
		}
		if e := b.expect(2, trade.Held, trade.CauseDuplicateKey); e.Version != held.Version {
			t.Error("the entry was written although nothing of it changed")
		}
		b.exec(`DELETE FROM copia`)
		b.exec(`UPDATE contrato SET pagamento = '2026-08-01', atualizado = '2026-03-12 08:30:00' WHERE num = '0002'`)
		if r := b.sync(engine.Options{}); r.Sweep || r.Sent != 1 {
			t.Errorf("sweep %t, sent %d: the cured key goes in the run that sees it", r.Sweep, r.Sent)
		}
		b.expect(2, trade.Accepted, "")
	})
}

func TestF022AJoinThatDoublesEverythingIsToldInFewWords(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(30)
	b.sync(engine.Options{})
	b.spec.Query = `SELECT * FROM contrato UNION ALL SELECT * FROM contrato`
	if r := b.sync(engine.Options{Sweep: true}); len(r.Notes) > 5 || !strings.Contains(fmt.Sprint(r.Notes), "30") {
		t.Errorf("%d notes: %q", len(r.Notes), r.Notes)
	}
}

// A soft-deleted row may come many pages before the living one of the same key.
func TestASoftDeletedTwinOnAnotherPageIsItsPast(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(1)
	b.sync(engine.Options{})
	b.exec(
		`CREATE TABLE copia AS SELECT filial, num, quantidade, preco, produto, carteira, 'cancelado' AS situacao, data_contrato, pagamento, obs, atualizado FROM contrato`)
	b.exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) INSERT INTO contrato
		SELECT '01', printf('%04d', i), i, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00' FROM n`)
	b.limits.MaxInFlight, b.brakes = 32, engine.Brakes{}
	for _, order := range []string{
		`SELECT * FROM (SELECT * FROM copia UNION ALL SELECT * FROM contrato) ORDER BY situacao DESC, num DESC`,
		`SELECT * FROM (SELECT * FROM copia UNION ALL SELECT * FROM contrato) ORDER BY situacao, num DESC`,
	} {
		b.spec.Query = order
		for range 2 {
			r := b.sync(engine.Options{Sweep: true})
			if e := b.expect(1, trade.Accepted, ""); len(e.Flags) != 0 || len(r.Notes) != 0 || *r.Gone != 0 {
				t.Errorf("flags %v, notes %q, gone %d", e.Flags, r.Notes, *r.Gone)
			}
		}
	}
}

// F024: a key of more columns makes every row look new. What went out under the shorter key is
// found by its content, also without the brake, and a person decides.
func TestF024AKeyOfOtherColumnsSendsNothingAgain(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.brakes = engine.Brakes{}
		b.contracts(12)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0012'`)
		b.sync(engine.Options{})
		b.spec.Key = []string{"filial", "num", "produto"}
		for range 3 {
			r := b.sync(engine.Options{Sweep: true})
			if r.Sent != 0 || r.Stopped == nil || r.Stopped.Code != "empty_sweep" {
				t.Errorf("sent %d, stopped %+v", r.Sent, r.Stopped)
			}
		}
		b.expect(1, trade.Accepted, "")
	})
}

// Below the brake, a row whose stored key has another number of parts is gone, and what it sent is
// not sent again.
func TestAKeyOfMorePartsLeavesTheOldEntriesGone(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.brakes = engine.Brakes{}
		b.contracts(1)
		b.sync(engine.Options{})
		b.spec.Key = []string{"filial", "num", "produto"}
		r := b.sync(engine.Options{Sweep: true})
		if r.Sent != 0 || r.Stopped != nil || r.States[trade.Held] != 1 {
			t.Errorf("sent %d, states %v, stopped %+v", r.Sent, r.States, r.Stopped)
		}
	})
}

func TestF026NewRowsDoNotMakeAnEmptySweepWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(12)
	b.sync(engine.Options{})
	b.exec(`DELETE FROM contrato WHERE num > '0004'`)
	for i := 21; i <= 40; i++ {
		b.contract(i)
	}
	for range 3 {
		if r := b.sync(engine.Options{Sweep: true}); r.Stopped == nil || r.Stopped.Code != "empty_sweep" {
			t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
		}
	}
	if e := b.entry(12); len(e.Flags) != 0 || e.GoneSweeps != 0 {
		t.Errorf("flags %v, gone %d", e.Flags, e.GoneSweeps)
	}
}
