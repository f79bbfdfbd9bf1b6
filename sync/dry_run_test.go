package sync_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// agrees makes a dry run, and then the run: the same rows go, and as many are held.
func (b *bench) agrees(what string, opts engine.Options, sent, held int) {
	b.t.Helper()
	dry := opts
	dry.DryRun = true
	planned := must.Get(b.engine().Sync(b.t.Context(), nil, dry))(b.t)
	reports := must.Get(b.engine().Sync(b.t.Context(), nil, opts))(b.t)
	would, went, wouldHold, isHeld := 0, 0, 0, 0
	for i, r := range reports {
		if r.Stopped != nil || planned[i].Stopped != nil {
			b.t.Fatalf("%s: stopped %+v, the dry run %+v", what, r.Stopped, planned[i].Stopped)
		}
		would, went = would+planned[i].WouldSend.Rows, went+r.Sent
		if diff := cmp.Diff(r.States, planned[i].States); diff != "" && sent == 0 {
			b.t.Errorf("%s: the states of %s (-run +dry run):\n%s", what, r.Job, diff)
		}
		wouldHold, isHeld = wouldHold+planned[i].States[trade.Held], isHeld+r.States[trade.Held]
	}
	if would != went || went != sent || wouldHold != isHeld || isHeld != held {
		b.t.Errorf("%s: the dry run would send %d and hold %d, the run sends %d and holds %d, want %d and %d", what,
			would, wouldHold, went, isHeld, sent, held)
	}
}

// The dry run looks at the rows just before they would go, as the run does: what changed or left
// the ERP since it was read, and what went under another key or by another job, is not promised.
func TestADryRunTakesTheLastLookOfTheRun(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(5) // which were read and did not go, because the key was refused
		b.api.SetFaults(faults(t, "any:status=401")...)
		b.wants(b.sync(engine.Options{}), "pending 5")
		b.api.SetFaults()
		b.exec(`UPDATE contrato SET quantidade = 70 WHERE quantidade = 1`) // without a new time of change
		b.exec(`DELETE FROM contrato WHERE quantidade = 2`)
		b.exec(`UPDATE contrato SET quantidade = 0 WHERE quantidade = 3`)
		dry := b.sync(engine.Options{DryRun: true})
		if q := dry.WouldSend.Quantities; len(q) != 1 || q[0].Amount.String() != "79" {
			t.Errorf("it would send %v", q)
		}
		b.agrees("changed and gone since", engine.Options{}, 3, 1)
		b.records("order_commitments", 3)
	})
}

func TestADryRunHoldsWhatWentUnderAnotherKey(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10, 20, 30)
		b.sweep()
		b.write(99, 10, 20, 30)
		b.agrees("a line in front", engine.Options{Sweep: true}, 0, 1)
	})
}

// A row that changes its state is counted in its new state alone, also where the old one has no row then.
func TestADryRunCountsARowInItsNewStateAlone(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(3)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0003'`)
		b.sweep()
		b.expect(3, trade.Invalid, "rule:payday")
		b.exec(`DELETE FROM contrato WHERE num = '0003'`)
		for range 3 {
			b.agrees("gone", engine.Options{Sweep: true}, 0, 0)
		}
		b.expect(3, trade.Withdrawn, "")
	})
}

func TestADryRunHoldsWhatAnotherJobHasSent(t *testing.T) {
	onEither(t, with(withTypes, plain), func(t *testing.T, b *bench) {
		b.contracts(3)
		b.pass()
		b.becomes(1, "fixacao")
		b.exec(`UPDATE contrato SET atualizado = '2026-03-11 08:00:00'`)
		b.contract(4)
		b.agrees("another type", engine.Options{}, 1, 1)
	})
}

func TestADryRunCountsARowOfTwoJobsOnce(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		twice := b.spec
		twice.Name = "again"
		b.more = append(b.more, twice)
		b.contracts(90)
		b.agrees("two jobs", engine.Options{}, 90, 90)
		b.contract(91)
		b.agrees("one row more", engine.Options{}, 1, 91)
	})
}

func TestADryRunHoldsWhatWasTypedTwice(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.spec.Twin = mapping.TwinCheck{Mode: mapping.TwinHold}
		b.write(10, 20, 10, 30, 20)
		b.agrees("twins of one reading", engine.Options{}, 3, 2)
		b.write(10, 20, 10, 30, 20, 30, 40)
		b.agrees("a twin of a row that went", engine.Options{Sweep: true}, 1, 3)
	})
}

// A dry run names each row that is like another one, and that one: those that would be held first,
// then those that would go with a remark.
func TestADryRunNamesBothTwins(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.spec.Twin = mapping.TwinCheck{Near: mapping.TwinHold}
	b.write(10, 20, 10, 20)
	b.exec(`UPDATE contrato SET preco = 1 WHERE num = '0004'`)
	dry := b.run(engine.Options{DryRun: true}).Twins.Rows
	if len(dry) != 2 || dry[0].Key != "01|0004" || dry[0].Other != "01|0002" || !dry[0].Near || !dry[0].Held ||
		dry[1].Key != "01|0003" || dry[1].Other != "01|0001" || dry[1].Near || dry[1].Held {
		t.Errorf("the dry run names %+v", dry)
	}
	b.agrees("a near twin", engine.Options{}, 3, 1)
}

// A row that was typed again under another number is named with the number that it had.
func TestADryRunNamesTheFormerNumber(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(2)
	b.sync(engine.Options{})
	b.exec(`UPDATE contrato SET num = '0009' WHERE num = '0001'`)
	dry := b.run(engine.Options{DryRun: true, Sweep: true}).Twins.Rows
	if len(dry) != 1 || dry[0].Key != "01|0009" || dry[0].Other != "01|0001" || dry[0].RemoteID == "" || !dry[0].Lost ||
		!dry[0].Held {
		t.Errorf("the dry run names %+v", dry)
	}
}

// What one run may send is judged by weight and value in a dry run, too.
func TestADryRunWeighsWhatIsNew(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.spec.Most = &trade.Freight{Load: trade.Load{Kilograms: decimalOf(t, "360")}}
	b.contracts(4)
	dry := b.sync(engine.Options{DryRun: true})
	if dry.Stopped == nil || dry.Stopped.Code != "brake_most" || dry.Stopped.Brake.Freight.Kilograms.String() != "600" {
		t.Errorf("the dry run stopped %+v", dry.Stopped)
	}
	b.expectBrake(b.sync(engine.Options{}), "brake_most", 4)
}

func TestADryRunCountsADoubleKeyAsHeld(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(3)
	b.spec.Query = `SELECT * FROM contrato UNION ALL SELECT * FROM contrato WHERE num = '0002'`
	b.wants(b.run(engine.Options{DryRun: true}), "pending 2, held 1")
}

func TestADryRunWritesNothingAndSendsNothing(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(3)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0003'`)
		reports := must.Get(b.engine().Sync(t.Context(), nil, engine.Options{DryRun: true}))(t)
		if r := reports[0]; r.New != 3 || r.Sent != 0 || r.States[trade.Pending] != 2 || r.States[trade.Invalid] != 1 {
			t.Errorf("report %+v", r)
		}
		tallies, err := b.ledger.Counts(t.Context(), "contracts")
		if err != nil || len(tallies) != 0 || b.api.Requests() != 0 {
			t.Errorf("the ledger has %v (%v), the API got %d requests", tallies, err, b.api.Requests())
		}
	})
}

func TestADryRunTellsOnlyWhatWouldChange(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(3)
	b.exec(`UPDATE contrato SET pagamento = NULL WHERE num > '0001'`)
	b.sync(engine.Options{})
	b.exec(`UPDATE contrato SET pagamento = '2026-08-01' WHERE num = '0002'`)
	var told []string
	_, err := b.engine().Sync(t.Context(), nil,
		engine.Options{
			DryRun: true, Sweep: true,
			Planned: func(e trade.Entry) { told = append(told, e.Key+" "+string(e.State)) },
		})
	if err != nil || fmt.Sprint(told) != "[01|0002 pending]" {
		t.Errorf("%v, %v", told, err)
	}
}
