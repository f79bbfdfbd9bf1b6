package sync_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

func TestF021TwoContractsTypedInARowGoInOneRunAndTheSecondHasARemark(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(3)
	b.exec(
		`INSERT INTO contrato SELECT filial, '0004', quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0003'`)
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

// run is sync where equal amounts may be on the platform.
func (b *bench) run(opts engine.Options) trade.RunReport {
	b.t.Helper()
	reports, err := b.engine().Sync(b.t.Context(), nil, opts)
	if err != nil {
		b.t.Fatal(err)
	}
	return reports[0]
}

// again types contract 3 once more, under the number 4.
func (b *bench) again() {
	b.t.Helper()
	b.exec(
		`INSERT INTO contrato SELECT filial, '0004', quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0003'`)
}

// With `checks.twin: hold` the first of two equal rows goes, whether they come in one run or not;
// the second waits for a person: "two" sends it.
func TestEqualRowsAreHeldUntilAPersonSaysThatTheyAreTwo(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		for _, later := range []bool{false, true} {
			b := newBenchOn(t, db, sandbox.Options{})
			b.spec.Twin = mapping.TwinCheck{Mode: mapping.TwinHold, Days: 30}
			b.contracts(3)
			if later {
				b.run(engine.Options{})
			}
			b.again()
			b.adds(b.run(engine.Options{}))
			b.expect(3, trade.Accepted, "")
			e := b.expect(4, trade.Held, trade.CauseTwin)
			if !e.Flags.Has(trade.Twin) || !strings.Contains(e.Error.Text(), "01|0003") {
				t.Errorf("the held row has the flags %v and says %s", e.Flags, e.Error.Text())
			}
			if report := b.run(engine.Options{Sweep: true}); report.Sent != 0 {
				t.Errorf("a sweep sends %d", report.Sent)
			}
			b.expect(4, trade.Held, trade.CauseTwin)
			b.done(b.do(func(a *acts.Acts) (acts.RowPlan, error) {
				return a.Retry(t.Context(), "contracts", []string{"01|0004"}, true)
			}), acts.NotRefused)
			if report := b.run(engine.Options{}); report.Sent != 1 {
				t.Errorf("%d are sent of what a person called two contracts", report.Sent)
			}
			b.expect(4, trade.Accepted, "")
			if n := len(b.createdOf("order_commitments")); n != 4 {
				t.Errorf("the platform has %d contracts, want 4", n)
			}
		}
	})
}

// Which of two equal rows is the first is the order of the query or, where it has none, the key: however the
// database returns them.
func TestOfTwoEqualRowsTheFirstIsThatOfTheQueryOrTheKey(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		for order, held := range map[string]int{"": 9, " ORDER BY num DESC": 4} {
			b := newBenchOn(t, db, sandbox.Options{})
			b.spec.Twin = mapping.TwinCheck{Mode: mapping.TwinHold, Days: 30}
			b.spec.Query += order
			b.contract(9)
			b.exec(`INSERT INTO contrato SELECT filial, '0004', quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato`)
			b.sync(engine.Options{})
			b.expect(held, trade.Held, trade.CauseTwin)
		}
	})
}

// With `checks.near_twin: hold` a row for the same business at another price is held exactly as an
// equal one is, whether they come in one run or not.
func TestANearTwinIsHeldUntilAPersonSaysThatTheyAreTwo(t *testing.T) {
	t.Parallel()
	for _, later := range []bool{false, true} {
		b := newBench(t, sandbox.Options{})
		b.spec.Twin = mapping.TwinCheck{Near: mapping.TwinHold, Days: 30}
		b.contracts(3)
		if later {
			b.run(engine.Options{})
		}
		b.again()
		b.exec(`UPDATE contrato SET preco = 1 WHERE num = '0004'`)
		b.adds(b.run(engine.Options{}))
		b.expect(3, trade.Accepted, "")
		e := b.expect(4, trade.Held, trade.CauseTwin)
		if !e.Flags.Has(trade.NearTwin) || !strings.Contains(e.Error.Text(), "01|0003") {
			t.Errorf("the held row has the flags %v and says %s", e.Flags, e.Error.Text())
		}
		b.done(b.do(func(a *acts.Acts) (acts.RowPlan, error) {
			return a.Retry(t.Context(), "contracts", []string{"01|0004"}, true)
		}), acts.NotRefused)
		if report := b.run(engine.Options{}); report.Sent != 1 {
			t.Errorf("%d are sent of what a person called two contracts", report.Sent)
		}
		b.expect(4, trade.Accepted, "")
	}
}

// "One": the row is dismissed, and stays out. A held row that is edited in the ERP stays held, also
// if it is no twin any more or cannot be sent as it is: it goes only after a person has said so.
func TestAnEqualRowThatIsOneIsDismissedAndAnEditedOneStaysHeld(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.spec.Twin = mapping.TwinCheck{Mode: mapping.TwinHold, Days: 30}
	b.contracts(3)
	b.again()
	b.exec(
		`INSERT INTO contrato SELECT filial, '0005', quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0003'`)
	if report := b.run(engine.Options{}); report.Sent != 3 || report.States[trade.Held] != 2 {
		t.Fatalf("want 3 sent and 2 held: %+v", report)
	}
	b.done(b.do(func(a *acts.Acts) (acts.RowPlan, error) {
		return a.Dismiss(t.Context(), "contracts", []string{"01|0004"})
	}), acts.NotRefused)
	for _, edit := range []string{
		"quantidade = 0, preco = 1", "quantidade = 77, preco = 1", "produto = 'NADA'", "quantidade = 78, produto = (SELECT produto FROM contrato WHERE num = '0003')",
	} {
		b.exec(`UPDATE contrato SET ` + edit + ` WHERE num = '0005'`)
		b.adds(b.run(engine.Options{Sweep: true}))
		b.expect(4, trade.Dismissed, trade.CauseTwin)
		b.expect(5, trade.Held, trade.CauseTwin)
	}
	b.exec(`UPDATE contrato SET quantidade = 0 WHERE num = '0005'`)
	b.run(engine.Options{Sweep: true})
	if step := b.retry(5); step.Refused != acts.IsInvalid {
		t.Errorf("a held row that is invalid by now can be retried: %+v", step.Refused)
	}
	b.exec(`UPDATE contrato SET quantidade = 77 WHERE num = '0005'`)
	b.run(engine.Options{Sweep: true})
	b.done(b.retry(5), acts.NotRefused)
	b.run(engine.Options{})
	b.expect(5, trade.Accepted, "")
	if n := len(b.createdOf("order_commitments")); n != 4 {
		t.Errorf("the platform has %d contracts, want 4", n)
	}
}

// Rows that came further apart than twin_days are two, with a remark; another price is a remark
// only; off says nothing.
func TestWhatIsNoTwinGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		check mapping.TwinCheck
		wait  time.Duration
		also  string
		flag  trade.Flag
	}{
		"apart": {mapping.TwinCheck{Mode: mapping.TwinHold, Days: 2}, 49 * time.Hour, "", trade.Twin},
		"another price": {
			mapping.TwinCheck{Mode: mapping.TwinHold},
			0,
			`UPDATE contrato SET preco = 1 WHERE num = '0004'`, trade.NearTwin,
		},
		"off":  {mapping.TwinCheck{Mode: trade.Off}, 0, "", ""},
		"warn": {mapping.TwinCheck{}, 0, "", trade.Twin},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{})
			b.spec.Twin = c.check
			b.contracts(3)
			b.run(engine.Options{})
			b.clock.advance(c.wait)
			b.again()
			if c.also != "" {
				b.exec(c.also)
			}
			b.run(engine.Options{Sweep: true})
			e := b.expect(4, trade.Accepted, "")
			if want := (trade.Flags{}).With(c.flag, c.flag != ""); !slices.Equal(e.Flags, want) {
				t.Errorf("the second row has the flags %v, want %v", e.Flags, want)
			}
		})
	}
}

// A retyped contract is found across the jobs that send the same kind of record; equal rows of two
// jobs both go.
func TestF021TwinsAndRetypedRowsAcrossJobs(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		second := contractsSpec()
		second.Name, second.Query = "second", strings.Replace(second.Query, "FROM contrato", "FROM outra", 1)
		b.more = []mapping.JobSpec{second}
		b.exec(`CREATE TABLE outra AS SELECT * FROM contrato WHERE false`)
		b.contracts(3)
		b.exec(
			`INSERT INTO outra SELECT filial, '0091', quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0001'`)
		run := func() []trade.RunReport {
			t.Helper()
			reports, err := b.engine().Sync(t.Context(), nil, engine.Options{Sweep: true})
			if err != nil || len(reports) != 2 {
				t.Fatalf("%+v, %v", reports, err)
			}
			b.adds(reports[0])
			b.adds(reports[1])
			return reports
		}
		if r := run()[1]; r.Sent != 1 || r.Flags[trade.Twin] != 1 {
			t.Errorf("%+v", r)
		}
		b.exec(
			`INSERT INTO outra SELECT filial, '0092', quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0002'`)
		b.exec(`DELETE FROM contrato WHERE num = '0002'`)
		if r := run()[1]; r.Sent != 0 || r.States[trade.Held] != 1 {
			t.Errorf("%+v", r)
		}
	})
}

// Which of several like rows was found first does not decide: one that was first seen long ago is
// another row in any case, a recent one holds.
func TestAnOldTwinHidesNoRecentOne(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.spec.Twin = mapping.TwinCheck{Mode: mapping.TwinHold, Near: mapping.TwinHold, Days: 30}
	b.contracts(3)
	b.run(engine.Options{})
	again := func(num, price string) {
		b.exec(`INSERT INTO contrato SELECT filial, '` + num + `', quantidade, ` + price + `, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0003'`)
	}
	b.clock.advance(40 * 24 * time.Hour)
	again("0004", "preco")
	if r := b.run(engine.Options{Sweep: true}); r.Sent != 1 {
		t.Errorf("sent %d, states %v: the first was seen 40 days ago", r.Sent, r.States)
	}
	b.clock.advance(24 * time.Hour)
	again("0005", "preco")
	again("0006", "preco + 1")
	if r := b.run(engine.Options{Sweep: true}); r.Sent != 0 {
		t.Errorf("sent %d, states %v: the last was seen a day ago", r.Sent, r.States)
	}
	for _, num := range []int{5, 6} {
		e := b.expect(num, trade.Held, trade.CauseTwin)
		if c := e.Error.Counterpart; c == nil || c.Key != key(4) {
			t.Errorf("row %d was compared with %+v", num, c)
		}
	}
}
