package sync_test

import (
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

func TestF021TwoContractsTypedInARowGoInOneRunAndTheSecondHasARemark(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(3)
	b.exec(`INSERT INTO contrato SELECT filial, '0004', quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0003'`)
	reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
	if err != nil || reports[0].Sent != 4 || reports[0].Flags[trade.Twin] != 1 {
		t.Fatalf("want 4 sent and one twin: %+v, %v", reports, err)
	}
	b.adds(reports[0])
	if e := b.expect(3, trade.Accepted, ""); e.Flags.Has(trade.Twin) {
		t.Errorf("the first has the flags %v", e.Flags)
	}
	if e := b.expect(4, trade.Accepted, ""); !e.Flags.Has(trade.Twin) {
		t.Errorf("the second has the flags %v, want twin", e.Flags)
	}
}
