package sync_test

import (
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// F028, F030: what is no amount and no day makes its own row invalid, named with its field, and no
// other.
func TestF028AnInfiniteOrImpossibleValueStopsNobody(t *testing.T) {
	t.Parallel()
	b := newBenchOn(t, database{state.Postgres, state.SQLite}, sandbox.Options{})
	b.contracts(7)
	for num, set := range map[int]string{
		2: `preco = 'NaN'`, 3: `quantidade = 'Infinity'`, 4: `data_contrato = 'infinity'`,
		5: `data_contrato = '0044-03-15 BC'`, 6: `pagamento = '0001-01-01'`,
	} {
		b.exec(`UPDATE contrato SET `+set+` WHERE num = ?`, key(num)[3:])
	}
	b.sync(engine.Options{})
	for num, want := range map[int]string{
		2: "rule:price", 3: "rule:amount", 4: "rule:order_date", 5: "rule:order_date",
		6: "rule:payday",
	} {
		e := b.expect(num, trade.Invalid, want)
		if e.Error == nil || len(e.Error.Fields) != 1 || e.Error.Fields[0].Column == "" {
			t.Errorf("row %d: %+v", num, e.Error)
		}
	}
	b.expect(1, trade.Accepted, "")
	b.expect(7, trade.Accepted, "")
}

// F033: characters that nobody sees make no row that cannot be kept or told, and no row that others
// stumble over.
func TestF033CharactersThatNobodySeesStopNobody(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(2)
		odd := []string{"a\u202eb", "a\u200bb", "a\x07b", "a\nb", "a🌾b", "a\ufeffb"}
		for i, text := range odd {
			b.exec(
				`INSERT INTO contrato VALUES ('01', ?, ?, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00')`, text, 100+i)
		}
		b.exec(`UPDATE contrato SET produto = ? WHERE num = '0002'`, "so\u200bja")
		r := b.sync(engine.Options{})
		if r.Stopped != nil || r.States[trade.Accepted]+r.Unreadable != 1+len(odd) || r.States[trade.Invalid] != 1 {
			t.Errorf("%+v", r)
		}
		b.expect(2, trade.Invalid, "rule:product")
		if again := b.sync(engine.Options{Sweep: true}); again.Sent != 0 ||
			again.States[trade.Accepted] != r.States[trade.Accepted] {
			t.Errorf("a sweep of the same keys: sent %d, %v", again.Sent, again.States)
		}
	})
}

func TestATextThatIsNoUnitAndACodeThatCannotBeKeptStopNobody(t *testing.T) {
	t.Parallel()
	b := newBenchOn(t, database{state.SQLite, state.Postgres}, sandbox.Options{})
	b.spec.Fields["unit_of_measurement"] = mapping.FieldSpec{Columns: []string{"obs"}}
	b.contracts(3)
	b.exec(`UPDATE contrato SET obs = 'SC'`)
	b.exec(`UPDATE contrato SET obs = ? WHERE num = '0002'`, noise(4000))
	b.exec(`UPDATE contrato SET obs = ?, carteira = ? WHERE num = '0003'`, "S\x00", "1\x00")
	b.exec(`INSERT INTO de_para VALUES ('carteira', ?, ?), ('carteira', ?, ?)`, "1\x00", walletID, noise(5000), "x\x00")
	b.wants(b.sync(engine.Options{}), "accepted 1, invalid 2, stop none")
}
