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
	"github.com/safrasync/safrasync/sync/run"
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

// A key that is NULL or blank, or cannot be kept.
func TestAKeyThatIsBlankOrCannotBeKeptIsCountedAndStopsNobody(t *testing.T) {
	t.Parallel()
	insert := `INSERT INTO contrato VALUES (?, ?, 9, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00')`
	for _, db := range append(slices.Clone(databases), database{state.SQLite, state.Postgres}) {
		t.Run(db.ERP+" to "+db.Ledger, func(t *testing.T) {
			t.Parallel()
			b := newBenchOn(t, db, sandbox.Options{})
			b.contracts(2)
			b.exec(insert, "01", nil)
			b.exec(insert, " ", "")
			b.exec(insert, "01", noise(2600))
			b.exec(insert, "01", noise(2600)+"1")
			want := 4
			if db.ERP == state.SQLite { // PostgreSQL has no NUL in a text
				b.exec(insert, "01", "00\x0007")
				want++
			}
			r := b.sync(engine.Options{})
			if r.Unreadable != want || r.Sent != 2 || r.InScope == nil || *r.InScope != 2 || r.Stopped != nil ||
				len(r.Notes) != 3 { // one for each cause
				t.Errorf("%+v", r)
			}
		})
	}
}

// F022: a window shows only a part of the rows, so that a key that is seen once there may still
// stand twice.
func TestF022AWindowProvesNoDoubleKeyCured(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
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
		b.wants(b.sync(engine.Options{}), "sweep false")
		if e := b.expect(2, trade.Held, trade.CauseDuplicateKey); e.Version != held.Version {
			t.Error("the entry was written although nothing of it changed")
		}
		b.exec(`DELETE FROM copia`)
		b.exec(`UPDATE contrato SET pagamento = '2026-08-01', atualizado = '2026-03-12 08:30:00' WHERE num = '0002'`)
		b.wants(b.sync(engine.Options{}), "sweep false, sent 1")
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

// F024: a key of more columns makes every row look new. What went out under the shorter key is
// found by its content, also without the brake, and a person decides.
func TestF024AKeyOfOtherColumnsSendsNothingAgain(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.brakes = run.Brakes{}
		b.contracts(12)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0012'`)
		b.sync(engine.Options{})
		b.spec.Key = []string{"filial", "num", "produto"}
		for range 3 {
			b.wants(b.sync(engine.Options{Sweep: true}), "sent 0, stop empty_sweep")
		}
		b.expect(1, trade.Accepted, "")
	})
}

// Below the brake, a row whose stored key has another number of parts is gone, and what it sent is
// not sent again.
func TestAKeyOfMorePartsLeavesTheOldEntriesGone(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.brakes = run.Brakes{}
		b.contracts(1)
		b.sync(engine.Options{})
		b.spec.Key = []string{"filial", "num", "produto"}
		b.wants(b.sync(engine.Options{Sweep: true}), "sent 0, stop none, held 1")
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
			onEither(t, plain, func(t *testing.T, b *bench) {
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
	onEither(t, plain, func(t *testing.T, b *bench) {
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
		b.wants(b.sync(engine.Options{}), "stop none, held 3")
	})
}
