package sync_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// The id of a delivery is no order commitment, also where the delivery hangs on a contract itself.
func TestAGrandparentOfAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	b := withChildren(newBench(t, sandbox.Options{}))
	b.more[1].Fields["order_commitment_id"] = mapping.FieldSpec{
		Columns: []string{"filial", "num"},
		SentBy:  []mapping.ParentSpec{{Job: "deliveries", Columns: []string{"filial", "num"}}},
	}
	var jobs []*mapping.Job
	for _, spec := range append([]mapping.JobSpec{b.spec}, b.more...) {
		job := must.Get(mapping.Compile(spec, time.UTC))(t)
		jobs = append(jobs, job)
	}
	if _, err := engine.Order(jobs); err == nil ||
		!strings.Contains(err.Error(),
			"order_commitment_id is the id of order_commitments, and job deliveries sends deliveries") {
		t.Errorf("%v", err)
	}
}

// A row that may hang on one of two jobs differs from what was sent when its key in either changes.
func TestAMovedChildOfASecondJobIsFlagged(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.exec(`ALTER TABLE entrega ADD COLUMN fixacao TEXT`)
		other := b.spec
		other.Name, other.Query = "fixations", strings.Replace(b.spec.Query, "<> 'rascunho'", "= 'fixacao'", 1)
		b.spec.Query = strings.Replace(b.spec.Query, "<> 'rascunho'", "= 'aprovado'", 1)
		d := b.more[0]
		d.Query = `SELECT filial, ticket, num, fixacao, volume, um, dia, car FROM entrega`
		d.Fields["contract_id"] = mapping.FieldSpec{
			Columns: []string{"filial", "fixacao", "num"},
			SentBy: []mapping.ParentSpec{
				{Job: "fixations", Columns: []string{"filial", "fixacao"}},
				{Job: "contracts", Columns: []string{"filial", "num"}},
			},
		}
		b.more = []mapping.JobSpec{other, d}
		b.contracts(2)
		b.exec(`INSERT INTO entrega VALUES ('01', '0001', '0001', 7, 'KG', '2026-05-10', NULL, '0009')`)
		b.pass()
		b.row("deliveries", "01|0001", trade.Accepted, "")
		b.exec(`UPDATE entrega SET num = '0002'`)
		b.pass()
		b.flagsOf(b.row("deliveries", "01|0001", trade.Accepted, ""), "[changed]")
	})
}

// A contract that is renumbered takes its deliveries along: once its new number has the old record,
// none of them differs from what was sent.
func TestTheDeliveriesOfARenumberedContractDifferNoMore(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.delivery(1, 1, 10)
		b.delivery(2, 2, 10)
		b.pass()
		id := b.expect(1, trade.Accepted, "").RemoteID
		b.exec(`UPDATE contrato SET num = '0009' WHERE num = '0001'`)
		b.exec(`UPDATE entrega SET num = '0009' WHERE num = '0001'`)
		b.exec(`UPDATE entrega SET num = '0001', volume = 11 WHERE num = '0002'`)
		b.pass()
		b.expect(9, trade.Held, trade.CauseRetyped)
		b.flagsOf(b.row("deliveries", "01|0001", trade.Accepted, ""), "[changed]")
		b.done(b.adopt(9, id), acts.NotRefused)
		b.sweeps(2)
		if e := b.row("deliveries", "01|0001", trade.Accepted, ""); e.Flags.Has(trade.Changed) || e.Now != nil {
			t.Errorf("flags %v, now %v", e.Flags, e.Now)
		}
		e := b.row("deliveries", "01|0002", trade.Accepted, "")
		b.sweeps(1)
		again := b.row("deliveries", "01|0002", trade.Accepted, "")
		if !again.Flags.Has(trade.Changed) || again.Version != e.Version {
			t.Errorf("what differs: flags %v, version %d, was %d", again.Flags, again.Version, e.Version)
		}
	})
}

// A key that only looks like that of a contract, because its accents are stored in another form, says so.
func TestAParentKeyThatDiffersInTheFormOfItsAccentsSaysSo(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contracts(1)
		b.delivery(1, 1, 10)
		b.exec("UPDATE contrato SET num = 'S\u00c3O-1'")
		b.exec("UPDATE entrega SET num = 'SA\u0303O-1'")
		b.pass()
		e := b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
		if e.WaitingFor[0].Spelled != "01|S\u00c3O-1" {
			t.Errorf("it waits for %+v", e.WaitingFor)
		}
		what := e.WaitingFor[0].Sentence(trade.Portuguese)
		if !strings.Contains(what, "os acentos gravados de outra forma") {
			t.Error(what)
		}
		b.exec("UPDATE entrega SET num = 'S\u00c3O-1'")
		b.pass()
		b.row("deliveries", "01|0001", trade.Accepted, "")
	})
}

// A dry run tells of new rows where their parents stand also when rows beside them have changed.
func TestADryRunKnowsTheParentsOfNewRowsBesideChangedOnes(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.exec(`UPDATE contrato SET pagamento = NULL`)
		b.delivery(1, 1, 10)
		b.pass()
		b.delivery(2, 2, 20)
		b.exec(`UPDATE entrega SET volume = 11 WHERE ticket = '0001'`)
		got := map[string]trade.State{}
		must.Get(b.engine().Sync(t.Context(), nil, engine.Options{DryRun: true, Planned: func(e trade.Entry) {
			for _, w := range e.WaitingFor {
				got[e.Key] = w.ParentState
			}
		}}))(t)
		if diff := cmp.Diff(map[string]trade.State{"01|0001": trade.Invalid, "01|0002": trade.Invalid},
			got); diff != "" {
			t.Errorf("where the parents stand (-want +got):\n%s", diff)
		}
	})
}

// A code that a job does not look up leaves its rows alone: a hundred thousand deliveries are not
// mapped anew for one wallet.
func TestAReferenceOfAnotherJobMapsNothingAnew(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contract(1)
		b.exec(`UPDATE contrato SET carteira = '2'`)
		b.delivery(1, 1, 10)
		b.share("a", 1, 30)
		b.pass()
		before := b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
		b.imports("delivery_places", map[string]string{"1": placeID})
		b.pass()
		if after := b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent); after.Version != before.Version {
			t.Errorf("the delivery was stored anew: version %d, was %d", after.Version, before.Version)
		}
	})
}
