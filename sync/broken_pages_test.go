package sync_test

import (
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
)

// F047, I4, I5: a page is stored while the next one is read. Where it cannot be stored, the run stops
// before anything leaves, whether the next page needs to know what became of it or not; the next
// run finds all of it again.
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
			b.limits.MaxInFlight, b.brakes = 32, engine.Brakes{}
			b.spec.Query = c.query
			br := &breaker{}
			b.breaks(br, true)
			br.armNamed("Record")
			reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
			if hit := br.disarm(); hit == "" || err != nil || reports[0].Stopped == nil || reports[0].Sent != 0 ||
				len(b.api.Created()) != 0 {
				t.Fatalf("%q failed: %v, %+v, and %d records are on the platform", hit, err, reports,
					len(b.api.Created()))
			}
			b.breaks(br, false)
			reports, err = b.engine().Sync(t.Context(), nil, engine.Options{DryRun: true})
			if err != nil || reports[0].New != c.rows || reports[0].Stopped != nil {
				t.Errorf("the next run would find %d new rows, want %d: %+v, %v", reports[0].New, c.rows,
					reports[0].Stopped, err)
			}
		})
	}
}
