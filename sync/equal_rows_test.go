package sync_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

func TestF021TwoContractsTypedInARowGoInOneRunAndTheSecondHasARemark(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(3)
	b.duplicate("0003", "0004")
	reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
	if err != nil || reports[0].Sent != 4 || reports[0].Flags[trade.Twin] != 1 {
		t.Fatalf("want 4 sent and one twin: %+v, %v", reports, err)
	}
	b.adds(reports[0])
	if e := b.expect(3, trade.Accepted, ""); e.Flags.Has(trade.Twin) {
		t.Errorf("the first has the flags %v", e.Flags)
	}
	b.flags(4, "[twin]")
}

// run is sync where equal amounts may be on the platform.
func (b *bench) run(opts engine.Options) trade.RunReport {
	b.t.Helper()
	reports := must.Get(b.engine().Sync(b.t.Context(), nil, opts))(b.t)
	return reports[0]
}

// again types contract 3 once more, under the number 4.
func (b *bench) again() {
	b.t.Helper()
	b.duplicate("0003", "0004")
}

// duplicate types a contract once more, under another number.
func (b *bench) duplicate(num, as string) {
	b.t.Helper()
	b.exec(`INSERT INTO contrato SELECT filial, ?, quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado
		FROM contrato WHERE num = ?`, as, num)
}

// With `checks.twin: hold` the first of two equal rows goes, whether they come in one run or not; the second
// waits for a person: "two" sends it. With `checks.near_twin: hold` so does one at another price.
func TestEqualRowsAreHeldUntilAPersonSaysThatTheyAreTwo(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		for flag, check := range map[trade.Flag]mapping.TwinCheck{
			trade.Twin: {Mode: mapping.TwinHold, Days: 30}, trade.NearTwin: {Near: mapping.TwinHold, Days: 30},
		} {
			for _, later := range []bool{false, true} {
				b := newBenchOn(t, db, sandbox.Options{})
				b.spec.Twin = check
				b.contracts(3)
				if later {
					b.run(engine.Options{})
				}
				b.again()
				if flag == trade.NearTwin {
					b.exec(`UPDATE contrato SET preco = 1 WHERE num = '0004'`)
				}
				b.adds(b.run(engine.Options{}))
				b.expect(3, trade.Accepted, "")
				e := b.expect(4, trade.Held, trade.CauseTwin)
				if !e.Flags.Has(flag) || !strings.Contains(e.Error.Text(), "01|0003") {
					t.Errorf("the held row has the flags %v and says %s", e.Flags, e.Error.Text())
				}
				b.wants(b.run(engine.Options{Sweep: true}), "sent 0")
				b.expect(4, trade.Held, trade.CauseTwin)
				b.done(b.retryRow("contracts", "01|0004"), acts.NotRefused)
				b.wants(b.run(engine.Options{}), "sent 1")
				b.expect(4, trade.Accepted, "")
				b.records("order_commitments", 4)
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

// "One": the row is dismissed, and stays out. A held row that is edited in the ERP stays held, also
// if it is no twin any more or cannot be sent as it is: it goes only after a person has said so.
func TestAnEqualRowThatIsOneIsDismissedAndAnEditedOneStaysHeld(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.spec.Twin = mapping.TwinCheck{Mode: mapping.TwinHold, Days: 30}
	b.contracts(3)
	b.again()
	b.duplicate("0003", "0005")
	b.wants(b.run(engine.Options{}), "sent 3, held 2")
	b.done(b.actOn("contracts", "01|0004", (*acts.Acts).Dismiss), acts.NotRefused)
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
	b.records("order_commitments", 4)
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
	onEither(t, plain, func(t *testing.T, b *bench) {
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
	b.wants(b.run(engine.Options{Sweep: true}), "sent 1")
	b.clock.advance(24 * time.Hour)
	again("0005", "preco")
	again("0006", "preco + 1")
	b.wants(b.run(engine.Options{Sweep: true}), "sent 0")
	for _, num := range []int{5, 6} {
		e := b.expect(num, trade.Held, trade.CauseTwin)
		if c := e.Error.Counterpart; c == nil || c.Key != key(4) {
			t.Errorf("row %d was compared with %+v", num, c)
		}
	}
}
