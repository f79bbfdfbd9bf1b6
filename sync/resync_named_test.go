package sync_test

import (
	"testing"
	"time"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/trade"
)

// Rows that are named are read by their keys, not with the whole query, and no other row of the job goes.
func TestNamedRowsAreReadByTheirKeysAlone(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(6)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num >= '0004'`)
		b.sync(engine.Options{})
		b.exec(`UPDATE contrato SET pagamento = '2026-07-01' WHERE num >= '0004'`)
		named := &discovery.Resync{Keys: []string{key(4)}}
		r := b.sync(engine.Options{Resync: named, RunID: "01a00000-0000-7000-8000-000000000001"})
		if r.Read != 1 || r.Sent != 1 || r.ID != "01a00000-0000-7000-8000-000000000001" {
			t.Errorf("run %s: %d rows read and %d sent, want one of each", r.ID, r.Read, r.Sent)
		}
		b.expect(4, trade.Accepted, "")
		b.expect(5, trade.Invalid, "rule:payday")
	})
}

// A period has both ends.
func TestAPeriodIsReadAgainFromItsFirstToItsLastDay(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(3)
		b.exec(`UPDATE contrato SET pagamento = NULL`)
		for num, day := range map[string]string{"0001": "2026-01-10", "0002": "2026-02-10", "0003": "2026-03-10"} {
			b.exec(`UPDATE contrato SET atualizado = '` + day + ` 08:00:00' WHERE num = '` + num + `'`)
		}
		b.sync(engine.Options{})
		b.exec(`UPDATE contrato SET pagamento = '2026-07-01'`)
		day := func(month, day int) time.Time { return time.Date(2026, time.Month(month), day, 0, 0, 0, 0, time.UTC) }
		b.wants(b.sync(engine.Options{Resync: &discovery.Resync{Since: day(2, 1), Until: day(2, 28)}}), "sent 1")
		b.expect(1, trade.Invalid, "rule:payday")
		b.expect(2, trade.Accepted, "")
		b.expect(3, trade.Invalid, "rule:payday")
	})
}
