package sync_test

import (
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/trade"
)

// Whoever types a document again corrects one thing of it.
func TestWhatIsTypedAgainWithOneCorrectedFieldIsHeld(t *testing.T) {
	for name, c := range map[string]struct{ job, key, again string }{
		"a ticket of another contract": {
			"deliveries", "01|0009", `UPDATE entrega SET ticket = '0009', num = '0002' WHERE ticket = '0001'`,
		},
		"a ticket of another day": {
			"deliveries", "01|0009", `UPDATE entrega SET ticket = '0009', dia = '2026-05-27' WHERE ticket = '0001'`,
		},
		"a share of another contract": {
			"traceability", "b", `UPDATE rateio SET id = 'b', num = '0002' WHERE id = 'a'`,
		},
		"a share of another quantity": {
			"traceability", "b", `UPDATE rateio SET id = 'b', volume = 31 WHERE id = 'a'`,
		},
		"a contract of another day": {
			"contracts", "01|0009", `UPDATE contrato SET num = '0009', data_contrato = '2026-03-12' WHERE num = '0003'`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEither(t, family, func(t *testing.T, b *bench) {
				b.write(10, 20, 30)
				b.delivery(1, 1, 300)
				b.share("a", 1, 30)
				b.pass()
				b.exec(c.again)
				b.pass()
				b.row(c.job, c.key, trade.Held, trade.CauseRetyped)
				n := [3]int{len(b.api.Created()), len(b.createdOf("deliveries")), len(b.createdOf("traceability"))}
				if n != [3]int{3, 1, 1} {
					t.Errorf("the platform has %v records of the kinds", n)
				}
			})
		})
	}
}

// A row that is held is corrected until nothing of it is as it was sent, and gets another number.
func TestWhatAHeldRowWasCorrectedToIsKnownUnderItsNextNumber(t *testing.T) {
	for name, happens := range map[string]func(b *bench){
		"seen":          func(b *bench) { b.sweep() },
		"rebuilt":       func(b *bench) { b.sweep(); b.rebuilt() },
		"rebuilt, seen": func(b *bench) { b.sweep(); b.rebuilt(); b.sweep() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{})
			b.write(10, 20, 30, 40) // an empty sweep after a rebuild is a brake of its own
			b.sweep()
			b.exec(`UPDATE contrato SET num = '0005' WHERE num = '0001'`)
			b.sweep()
			b.expect(5, trade.Held, trade.CauseRetyped)
			b.exec(`UPDATE contrato SET quantidade = 77, data_contrato = '2026-03-12', preco = 99 WHERE num = '0005'`)
			happens(b)
			b.exec(`UPDATE contrato SET num = '0006' WHERE num = '0005'`)
			for range 3 {
				b.sweep()
			}
			b.onPlatform("10", "20", "30", "40")
			b.expect(6, trade.Held, trade.CauseRetyped)
			// A person says that it is another one: what it held counts no more.
			b.done(b.retry(6), "")
			b.sweep()
			b.expect(6, trade.Accepted, "")
		})
	}
}

// Two numbers are swapped; then one of the two documents is corrected and gets a number of its own.
func TestADocumentIsFollowedUnderTheNumberOfAnother(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.sweep()
		b.write(20, 10)
		b.sweep()
		b.sweep()
		b.exec(`UPDATE contrato SET quantidade = 77 WHERE num = '0002'`)
		b.sweep()
		b.sweep()
		b.exec(`UPDATE contrato SET data_contrato = '2026-03-12' WHERE num = '0002'`)
		b.sweep()
		b.sweep()
		b.exec(`UPDATE contrato SET num = '0003' WHERE num = '0002'`)
		b.sweep()
		b.sweep()
		b.onPlatform("10", "20")
		b.expect(3, trade.Held, trade.CauseRetyped)
	})
}

// A ticket and one that waits for its contract swap numbers: when the contract comes, the first is still
// another row, not an amended one.
func TestATicketThatSwappedItsNumberStaysReplacedWhenAContractComes(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.write(10)
		b.delivery(1, 1, 300)
		b.delivery(2, 7, 444) // its contract is not there yet
		b.pass()
		b.row("deliveries", "01|0002", trade.Waiting, trade.CauseParent)
		b.exec(`UPDATE entrega SET ticket = 'x' WHERE ticket = '0001'`)
		b.exec(`UPDATE entrega SET ticket = '0001' WHERE ticket = '0002'`)
		b.exec(`UPDATE entrega SET ticket = '0002' WHERE ticket = 'x'`)
		b.pass()
		b.pass()
		b.row("deliveries", "01|0002", trade.Held, trade.CauseRetyped)
		b.write(10, 0, 0, 0, 0, 0, 70)
		b.pass()
		b.pass()
		b.flagsOf(b.row("deliveries", "01|0001", trade.Accepted, ""), "[changed replaced]")
		b.records("deliveries", 1)
	})
}

// A row that is held because two records are like it may be that of each, also when one of them has its
// row back.
func TestWhatIsHeldMayBeTheRowOfEachRecordThatIsLikeIt(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.write(10, 20, 30, 40)
	b.sweep()
	b.exec(`CREATE TABLE kept AS SELECT * FROM contrato WHERE num = '0001'`)
	b.exec(`DELETE FROM contrato WHERE num = '0001'`)
	b.exec(`UPDATE contrato SET num = '0005', quantidade = 25 WHERE num = '0002'`)
	b.sweep()
	b.expect(5, trade.Held, trade.CauseRetyped)
	b.exec(`UPDATE contrato SET data_contrato = '2026-03-12' WHERE num = '0005'`)
	b.sweep()
	b.exec(`INSERT INTO contrato SELECT * FROM kept`)
	for range 3 {
		b.sweep()
	}
	b.onPlatform("10", "20", "30", "40")
	b.expect(5, trade.Held, trade.CauseRetyped)
}

// What a row held while it was held counts no more once it goes as a document of its own.
func TestADocumentOfItsOwnHoldsNobodyForAnotherRecord(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.write(10, 20, 30, 40)
	b.sweep()
	b.exec(`CREATE TABLE kept AS SELECT * FROM contrato WHERE num = '0001'`)
	b.exec(`UPDATE contrato SET num = '0005', quantidade = 25 WHERE num = '0001'`)
	b.sweep()
	b.expect(5, trade.Held, trade.CauseRetyped)
	b.exec(`CREATE TABLE five AS SELECT * FROM contrato WHERE num = '0005'`)
	b.exec(`DELETE FROM contrato WHERE num = '0005'`)
	for range 3 {
		b.sweep()
	}
	b.exec(`INSERT INTO contrato SELECT * FROM kept`)
	b.sweep()
	b.exec(`INSERT INTO contrato SELECT * FROM five`)
	b.sweep()
	b.sweep()
	b.expect(5, trade.Accepted, "")
	b.exec(`DELETE FROM contrato WHERE num = '0001'`)
	b.sweep()
	b.exec(`UPDATE five SET num = '0006', data_contrato = '2026-03-19'`)
	b.exec(`INSERT INTO contrato SELECT * FROM five`)
	b.sweep()
	b.sweep()
	b.expect(6, trade.Accepted, "")
}
