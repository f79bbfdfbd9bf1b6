package sync_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// A sweep takes a row for unchanged by what the ledger said when it began. A cancelled row of the
// same key, which it has read and recorded on an earlier page, is news since then.
func TestALivingRowTakesBackWhatItsCancelledPastSaidPagesBefore(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contract(1)
		for i := 2; i <= 1300; i++ { // they wait for a wallet
			b.exec(
				`INSERT INTO contrato VALUES ('01', ?, ?, 120.5, 'soja', '77', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00')`, fmt.Sprintf("%04d", i), i)
		}
		b.exec(`CREATE TABLE passado AS SELECT * FROM contrato WHERE num = '0001'`)
		b.exec(`UPDATE passado SET situacao = 'cancelado'`)
		b.wants(b.sync(engine.Options{}), "sent 1, waiting 1299, stop none")
		plain := b.spec.Query
		columns, _, _ := strings.Cut(plain, " FROM ")
		b.spec.Query = columns + ` FROM passado UNION ALL ` + columns +
			` FROM contrato WHERE num <> '0001' UNION ALL ` + columns + ` FROM contrato WHERE num = '0001'`
		for range 2 {
			r := b.sync(engine.Options{Sweep: true})
			if *r.InScope != 1300 || *r.Gone != 0 || r.New+r.Sent != 0 || r.Flags[trade.Cancelled] != 0 ||
				r.Stopped != nil {
				t.Errorf("in scope %d, gone %d, new %d, flags %v, stopped %+v", *r.InScope, *r.Gone, r.New,
					r.Flags, r.Stopped)
			}
		}

		// Alone, the past is what counts, and its entry is found all the same.
		b.exec(`DELETE FROM contrato WHERE num = '0001'`)
		b.wants(b.sync(engine.Options{Sweep: true}), "in_scope 1300, gone 0, cancelled flags 1")
		b.exec(`DELETE FROM passado`)
		b.wants(b.sync(engine.Options{Sweep: true}), "in_scope 1299, gone 1, missing flags 1")
		b.spec.Query = plain
		b.contract(1)
		b.wants(b.sync(engine.Options{Sweep: true}), "in_scope 1300, gone 0, flags 0, sent 0")
	})
}

// A page is recorded while the next one is read. Where both have a row of the same key, the second
// is judged by what the first made of it.
func TestALivingRowTakesBackWhatItsCancelledPastSaysOnThePageThatIsBeingStored(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contract(1)
		b.wants(b.sync(engine.Options{}), "sent 1, stop none")
		for i := 2; i <= 500; i++ { // with the past of the first row they are one page
			b.exec(
				`INSERT INTO contrato VALUES ('01', ?, ?, 120.5, 'soja', '77', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00')`, fmt.Sprintf("%04d", i), i)
		}
		b.exec(`CREATE TABLE passado AS SELECT * FROM contrato WHERE num = '0001'`)
		b.exec(`UPDATE passado SET situacao = 'cancelado'`)
		columns, _, _ := strings.Cut(b.spec.Query, " FROM ")
		b.spec.Query = columns + ` FROM passado UNION ALL ` + columns +
			` FROM contrato WHERE num <> '0001' UNION ALL ` + columns + ` FROM contrato WHERE num = '0001'`
		// so many new ones make a brake act, which does not matter here
		b.wants(b.sync(engine.Options{Sweep: true}), "new 499, cancelled flags 0, in_scope 500")
	})
}

func TestASoftDeletedTwinOfAKeyIsItsPast(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.exec(`CREATE TABLE copia AS SELECT * FROM contrato WHERE false`)
		b.contracts(2)
		b.exec(
			`INSERT INTO copia SELECT filial, num, 99, preco, produto, carteira, 'cancelado', data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0002'`)
		for _, order := range []string{
			`SELECT * FROM contrato UNION ALL SELECT * FROM copia`,
			`SELECT * FROM copia UNION ALL SELECT * FROM contrato`,
		} {
			b.spec.Query = order
			b.sync(engine.Options{Sweep: true})
			b.flags(2, "[]")
		}
		b.records("order_commitments", 2)
	})
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
	b.limits.MaxInFlight, b.brakes = 32, run.Brakes{}
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
