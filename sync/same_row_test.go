package sync_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// What is the same row? The tests judge from outside: of each content, which is the amount here,
// the platform never has more records than rows with it stood at once in the ERP.

// write replaces what stands in the ERP: the contract with the number i+1 has the i-th amount; 0
// leaves a number out.
func (b *bench) write(amounts ...int) {
	b.t.Helper()
	b.exec(`DELETE FROM contrato`)
	for i, amount := range amounts {
		if amount != 0 {
			b.exec(
				`INSERT INTO contrato VALUES ('01', ?, ?, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00')`,
				fmt.Sprintf("%04d", i+1), amount)
		}
	}
}

// sweep makes one pass that compares everything, and gives what was sent.
func (b *bench) sweep() int {
	b.t.Helper()
	r := b.run(engine.Options{Sweep: true})
	b.adds(r)
	return r.Sent
}

// amounts are those of the records on the platform, sorted.
func (b *bench) amounts() []string {
	b.t.Helper()
	out := []string{}
	for _, r := range b.api.Created() {
		out = append(out, fmt.Sprint(r.Fields["amount"]))
	}
	slices.Sort(out)
	return out
}

func (b *bench) onPlatform(want ...string) {
	b.t.Helper()
	if got := b.amounts(); !slices.Equal(got, want) {
		b.t.Errorf("the platform has records with the amounts %v, want %v", got, want)
	}
}

// A line that is typed in front of others shifts their keys by one.
func TestALineInFrontDoesNotSendTheLastOneAgain(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10, 20, 30)
		b.sweep()
		b.write(99, 10, 20, 30)
		b.sweep()
		b.sweep()
		b.onPlatform("10", "20", "30")
		b.expect(4, trade.Held, trade.CauseRetyped)
		for n := 1; n <= 3; n++ {
			b.flags(n, "[changed replaced]")
		}
		// The record of the last one goes with it, although its old key still stands in the ERP:
		// another row stands there.
		id := b.entry(3).RemoteID
		b.done(b.adopt(4, id), acts.NotRefused)
		b.gave(3, id)
		b.got(4, id)
		b.sweep()
		b.onPlatform("10", "20", "30")
		// Put right in the ERP, all is as it was.
		b.write(10, 20)
		b.sweep()
		for n := 1; n <= 2; n++ {
			b.flags(n, "[]")
		}
	})
}

// A row that is held stays held when its key holds something else later: whether that is the
// document that was sent, corrected, only a person knows.
func TestARowThatComesToStandUnderAHeldKeyIsHeld(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10)
		b.sweep()
		b.write(0, 10)
		b.sweep()
		b.expect(2, trade.Held, trade.CauseRetyped)
		b.exec(`UPDATE contrato SET preco = 99`)
		b.sweep()
		b.expect(2, trade.Held, trade.CauseRetyped)
		b.write(0, 77, 10)
		b.sweep()
		b.expect(2, trade.Held, trade.CauseRetyped)
		b.expect(3, trade.Held, trade.CauseRetyped)
		b.onPlatform("10")
	})
}

// A contract that is held because it was typed again stays held when it is corrected then: it may
// still be the one that was sent, and only a person knows. Where the content that was sent has come
// to stand under another key, another row stands under the held one.
func TestF021AContractThatIsHeldAndThenCorrectedWaitsForAPerson(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.sweep()
		b.write(0, 20, 10)
		b.sweep()
		b.expect(3, trade.Held, trade.CauseRetyped)
		b.write(0, 20, 11)
		b.sweep()
		b.sweep()
		b.expect(3, trade.Held, trade.CauseRetyped)
		b.onPlatform("10", "20")
		b.write(0, 20, 77, 12)
		b.sweep()
		b.expect(3, trade.Held, trade.CauseRetyped)
		b.expect(4, trade.Held, trade.CauseRetyped) // it may be the one that was sent, corrected
		b.done(b.retry(3), "")
		b.sweep()
		b.expect(3, trade.Accepted, "")
		b.onPlatform("10", "20", "77")
	})
}

// What is in doubt counts as sent.
func TestAContentInDoubtIsNotSentUnderANewKey(t *testing.T) {
	onEither(t, failing("lost-after@1"), func(t *testing.T, b *bench) {
		b.write(10)
		b.sweep()
		b.expect(1, trade.InDoubt, trade.CauseUnknown)
		b.write(99, 10)
		b.sweep()
		b.onPlatform("10")
		b.expect(2, trade.Held, trade.CauseRetyped)
	})
}

// A row of equal content goes for as many records as rows stand at once, whichever keys they have
// by then.
func TestOneOfTwoEqualRowsThatMovesDoesNotGoAgain(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10, 10)
		b.sweep()
		b.onPlatform("10", "10")
		b.write(10, 55, 10) // the second moved to 3, and another stands at 2
		b.sweep()
		b.onPlatform("10", "10")
		b.expect(3, trade.Held, trade.CauseRetyped)
		b.write(10, 10, 10)
		b.sweep()
		b.expect(3, trade.Accepted, "") // the record of the second has its row again
		b.onPlatform("10", "10", "10")
		b.write(10, 10, 0, 10)
		b.sweep()
		b.expect(4, trade.Held, trade.CauseRetyped)
		b.onPlatform("10", "10", "10")
	})
}

// Two rows that change places cover each other's records: a third of the same content is a row of
// its own.
func TestRowsThatChangedPlacesCoverTheirRecords(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.sweep()
		b.write(20, 10)
		b.sweep()
		b.onPlatform("10", "20")
		for n := 1; n <= 2; n++ {
			b.flags(n, "[changed replaced]")
		}
		b.write(20, 10, 10)
		b.sweep()
		b.onPlatform("10", "10", "20")
	})
}

// Keys that are positions. One line less moves all that follow.
func TestDeliveriesThatAreKeyedByPositionDoNotGoTwice(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contract(1)
		for i := range b.more {
			if b.more[i].Name == "deliveries" {
				b.more[i].Query = `SELECT filial, row_number() OVER (ORDER BY ticket) AS ticket, num, volume, um, dia, car FROM entrega`
			}
		}
		for n := 1; n <= 3; n++ {
			b.delivery(n, 1, 100*n)
		}
		b.pass()
		b.delivery(0, 1, 50) // in front of them
		b.pass()
		b.pass()
		b.records("deliveries", 3)
		b.row("deliveries", "01|4", trade.Held, trade.CauseRetyped)
	})
}

// The ERP shifts its rows while the pass sends: what is on its way to the disk counts as sent.
func TestARowThatMovesWhileItsGroupIsStoredGoesOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.limits.MaxInFlight = 1
	b.write(10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
	first := true
	b.observe = func(p run.Progress) {
		if p.Phase == run.Sending && first {
			first = false
			b.write(99, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
		}
	}
	b.sweep()
	b.observe = nil
	b.sweep()
	b.sweep()
	b.once()
}

// The platform says that it exists already. Neither its absence from the ERP nor its return
// sends it.
func TestARowThatThePlatformSaysExistsIsNeverWithdrawn(t *testing.T) {
	onEither(t, failing("status=409@1"), func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.sweep()
		n := 1
		if b.entry(1).State == trade.Accepted {
			n = 2
		}
		b.expect(n, trade.Held, trade.CauseExists)
		there := b.amounts()
		b.write([]int{0, 20}[n-1], []int{10, 0}[n-1]) // the other one only
		for range 3 {
			b.sweep()
		}
		if e := b.expect(n, trade.Held, trade.CauseExists); e.GoneSweeps < 2 {
			t.Errorf("it was missed %d times", e.GoneSweeps)
		}
		b.write(10, 20)
		b.sweep()
		b.expect(n, trade.Held, trade.CauseExists)
		b.onPlatform(there...)
	})
}

// After a rebuilding the journal knows only what was sent. What the row has become since is
// kept from then on.
func TestAChangedRowThatIsTypedAgainAfterARebuildIsHeld(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.write(10, 20)
	b.sweep()
	b.write(10, 25)
	b.sweep()
	b.rebuilt()
	b.sweep()
	b.sweep()
	b.flags(2, "[changed]")
	b.write(10, 0, 25) // typed again under another key
	b.sweep()
	b.sweep()
	b.onPlatform("10", "20")
	b.expect(3, trade.Held, trade.CauseRetyped)
	b.write(10, 20)
	b.sweep()
	b.flags(2, "[]")
}

// The journal has no amounts: a row that was held before a rebuilding has its own again once it was read.
func TestARowThatWasHeldBeforeARebuildingIsCountedWithItsAmount(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.write(10, 20)
	b.sweep()
	b.write(10, 0, 20) // typed again
	b.sweep()
	before := b.expect(3, trade.Held, trade.CauseRetyped)
	b.rebuilt()
	b.sweep()
	after := b.expect(3, trade.Held, trade.CauseRetyped)
	if diff := cmp.Diff(before.Quantity, after.Quantity); diff != "" {
		t.Errorf("the amount (-before +after the rebuilding):\n%s", diff)
	}
	b.onPlatform("10", "20")
}

// rebuilt takes the ledger away and makes it anew from its journal.
func (b *bench) rebuilt() {
	b.t.Helper()
	o := state.OpenOptions{Driver: state.SQLite, DSN: b.parts.LedgerDSN, Journal: b.parts.Journal}
	must.Do(b.t, errors.Join(b.ledger.Close(), os.Remove(o.DSN)))
	audit := trade.AuditRecord{At: time.Now(), Who: "ana", Act: "rebuild", Reason: "test"}
	must.Get(state.Rebuild(b.t.Context(), o, nil, true, audit))(b.t)
	must.Do(b.t, b.reopenLedger(o))
}

// A key that was gone and comes back with another content is another row: it is told, and
// never sent by itself.
func TestAKeyThatIsUsedAgainIsToldAsAnotherRow(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.sweep()
		b.write(10)
		b.sweep()
		b.write(10, 77)
		b.sweep()
		b.flags(2, "[changed replaced]")
		b.write(10, 20)
		b.sweep()
		b.flags(2, "[]")
		b.onPlatform("10", "20")
	})
}

func TestAKeyThatCountsPositionsIsTold(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		`SELECT filial, num FROM contrato`: "[]",
		`SELECT filial, row_number() OVER (PARTITION BY filial ORDER BY coalesce(data, 'x')) AS num FROM contrato`: "[num]",
		"SELECT filial, ROW_NUMBER ( ) OVER (ORDER BY id) \"num\" FROM contrato":                                   "[num]",
		`SELECT filial, num, row_number() OVER (ORDER BY id) AS linha FROM contrato`:                               "[]",
	} {
		spec := contractsSpec()
		spec.Query = query
		job := must.Get(mapping.Compile(spec, time.UTC))(t)
		if got := fmt.Sprint(job.PositionsInKey()); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// What hangs on a contract goes under the record of that contract, or waits.
func TestNothingGoesUnderTheRecordOfAnotherRow(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.pass()
		b.write(99, 10, 20)
		b.delivery(1, 2, 500) // of the contract that has the number 2 now, and went under 1
		b.sweep()
		e := b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
		if len(e.WaitingFor) != 1 || e.WaitingFor[0].ParentState != trade.Accepted ||
			e.WaitingFor[0].ParentCause != trade.CauseReplaced {
			t.Errorf("waits for %+v", e.WaitingFor)
		}
		b.write(10, 20) // put right
		b.sweep()
		if e := b.row("deliveries", "01|0001", trade.Accepted, ""); !strings.Contains(string(e.Payload),
			b.entry(2).RemoteID) {
			t.Errorf("it went as %s", e.Payload)
		}
	})
}

// A correction of one of two equal contracts is no change of places.
func TestACorrectionBesideAnEqualRowIsOnlyAChange(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10, 10)
		b.sweep()
		b.write(15, 10)
		b.sweep()
		b.flags(1, "[changed]")
	})
}

// After a rebuilding under another mapping, what was sent is recognised by its content all the
// same.
func TestARebuiltLedgerRecognisesAContentThatIsMappedInAnotherWay(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	fixed := "A_FIXAR" // which needs no price
	b.spec.Fields["order_type"] = mapping.FieldSpec{Const: &fixed}
	b.write(10, 20)
	b.sweep()
	b.rebuilt()
	delete(b.spec.Fields, "price")
	b.write(10, 55, 20)
	b.sweep()
	b.sweep()
	b.onPlatform("10", "20")
}

// A rebuilding knows why a row is held.
func TestWhatThePlatformSaysExistsIsKnownAfterARebuild(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "status=409,commit@1")})
	b.write(10)
	b.sweep()
	b.expect(1, trade.Held, trade.CauseExists)
	b.rebuilt()
	b.expect(1, trade.Held, trade.CauseExists)
	b.write(0, 10)
	b.sweep()
	b.onPlatform("10")
	b.expect(2, trade.Held, trade.CauseRetyped)
}

// A row that is held, or that a person has dismissed, is edited. What it has become is known when it
// is typed again, whatever happened to the ledger since.
func TestWhatAHeldRowHasBecomeIsKnownWhenItIsTypedAgain(t *testing.T) {
	const other = `UPDATE contrato SET quantidade = 15, data_contrato = '2026-03-12'`
	for name, happens := range map[string]func(b *bench){
		"nothing else":      func(b *bench) { b.exec(other); b.sweep() },
		"rebuilt":           func(b *bench) { b.exec(other); b.sweep(); b.rebuilt(); b.sweep() },
		"rebuilt and gone":  func(b *bench) { b.exec(other); b.sweep(); b.rebuilt() },
		"edited afterwards": func(b *bench) { b.rebuilt(); b.sweep(); b.exec(other); b.sweep() },
		"edited at once":    func(b *bench) { b.rebuilt(); b.exec(other); b.sweep() },
		"mapped otherwise": func(b *bench) {
			b.exec(other)
			b.sweep()
			b.spec.Fields["haverst"] = mapping.FieldSpec{Const: new("2026/2027")}
			b.sweep()
		},
	} {
		for _, dismissed := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", dismissed ", dismissed), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, sandbox.Options{Faults: faults(t, "status=409,commit@1")})
				b.write(10)
				b.sweep()
				b.expect(1, trade.Held, trade.CauseExists)
				if dismissed {
					b.done(b.dismiss(1), acts.NotRefused)
				}
				happens(b)
				b.exec(`UPDATE contrato SET num = '0002', preco = 99`)
				for range 3 {
					b.sweep()
				}
				b.onPlatform("10")
				b.expect(2, trade.Held, trade.CauseRetyped)
			})
		}
	}
}

// A delivery is known by the record that it went under. A contract that comes to stand under another
// number beside an equal one goes when a person says that it is another one, and what hangs on the
// second record is another delivery. A share that differs in nothing else may be the same, corrected.
func TestADeliveryIsKnownUnderEachRecordOfItsContract(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.delivery(1, 2, 500)
		b.share("A", 2, 7)
		b.pass()
		b.write(20, 30, 20)
		b.exec(`DELETE FROM entrega`)
		b.delivery(2, 3, 500)
		b.exec(`UPDATE rateio SET id = 'B', num = '0003'`)
		b.pass()
		b.expect(3, trade.Held, trade.CauseRetyped) // the first contract has lost its row, and had another amount
		b.done(b.retry(3), "")
		b.pass()
		b.onPlatform("10", "20", "20")
		for resource, want := range map[string]int{"deliveries": 2, "traceability": 1} {
			b.records(resource, want)
		}
		b.row("traceability", "B", trade.Held, trade.CauseRetyped)
	})
}

// What was sent is recognised also where one field less is sent by now, or one more, of a record
// whose every field counts.
func TestARecordIsRecognisedAfterAChangeOfTheMapping(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := withChildren(newBenchOn(t, db, sandbox.Options{}))
		farm := producerID
		b.more[1].Fields["farm_id"] = mapping.FieldSpec{Const: &farm}
		b.write(10)
		b.share("A", 1, 7)
		b.share("B", 1, 8)
		b.pass()
		delete(b.more[1].Fields, "farm_id")
		b.pass()
		if db.Ledger == state.SQLite {
			b.rebuilt()
		}
		b.exec(`UPDATE rateio SET volume = 7 WHERE id = 'B'`) // a row in front of it
		b.share("C", 1, 8)
		b.pass()
		b.records("traceability", 2)
		b.row("traceability", "C", trade.Held, trade.CauseRetyped)
	})
}

// A number that its contract has left names nothing: what refers to it may be of another contract,
// which is not read.
func TestNothingGoesUnderANumberThatItsContractHasLeft(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.write(0, 20)
		b.delivery(1, 1, 500) // of a contract that the query leaves out
		b.pass()
		b.write(20)
		b.exec(`UPDATE entrega SET num = '0002'`) // the two have changed numbers
		b.pass()
		b.expect(1, trade.Held, trade.CauseRetyped)
		e := b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
		if len(e.WaitingFor) != 1 || e.WaitingFor[0].ParentCause != trade.CauseReplaced {
			t.Errorf("waits for %+v", e.WaitingFor)
		}
		b.write(0, 20)
		b.exec(`UPDATE entrega SET num = '0001'`)
		b.delivery(2, 2, 600)
		b.pass()
		b.pass()
		b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
		b.row("deliveries", "01|0002", trade.Accepted, "")
		b.flags(2, "[]")
	})
}

// One row less, and all that follow have other numbers: the place that a contract came to is not
// its record.
func TestARowThatComesToThePlaceOfADeletedOneReplacesIt(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.sweep()
		b.write(20)
		b.sweep()
		b.flags(1, "[changed replaced]")
		b.onPlatform("10", "20")
	})
}

// A content that was never sent, because its row was changed afterwards, changes places too.
func TestAnEditedRowThatMovesOntoAnotherReplacesIt(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.sweep()
		b.write(15, 20)
		b.sweep()
		b.write(30, 15) // in front, and the last one is gone
		b.sweep()
		b.flags(2, "[changed replaced]")
	})
}

// Two contracts change their numbers, and one of them is cancelled at once: its number names the
// record of the other.
func TestNothingGoesUnderTheNumberOfACancelledRowThatChangedPlaces(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.sweep()
		b.write(20, 10)
		b.exec(`UPDATE contrato SET situacao = 'cancelado' WHERE num = '0002'`)
		b.delivery(1, 2, 500)
		b.sweep()
		b.pass()
		b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
		b.records("deliveries", 0)
	})
}

// What the platform says it has is not sent by another job either.
func TestWhatThePlatformSaysExistsIsNotSentByAnotherJob(t *testing.T) {
	onEither(t, failing("status=409,commit@1"), func(t *testing.T, b *bench) {
		b.write(10)
		b.sweep()
		b.expect(1, trade.Held, trade.CauseExists)
		second := b.spec
		second.Name = "more"
		b.more = append(b.more, second)
		b.pass()
		b.onPlatform("10")
		b.row("more", key(1), trade.Held, trade.CauseOtherJob)
	})
}

// What a row has become since it was sent is known after a rebuilding, although the row itself
// is gone by then.
func TestWhatAChangedRowHasBecomeIsKnownAfterARebuild(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.write(10, 20)
	b.sweep()
	b.write(10, 5, 5) // the second was split
	b.sweep()
	b.rebuilt()
	b.write(10, 0, 5, 5) // and its first part typed again
	b.sweep()
	b.sweep()
	b.onPlatform("10", "20", "5")
	b.expect(4, trade.Held, trade.CauseRetyped)
}

// Contracts come from two jobs, and one of them was never read: a row that stands there may have
// the number of one that the other job has sent.
func TestNothingGoesWhileAJobOfItsContractsWasNeverRead(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		more := b.spec
		more.Name, more.Query = "more", b.spec.Query+" AND num > '0001'"
		b.spec.Query += " AND num = '0001'"
		deliveries := &b.more[0]
		parent := deliveries.Fields["contract_id"]
		parent.SentBy = append(slices.Clone(parent.SentBy),
			mapping.ParentSpec{Job: "more", Columns: []string{"filial", "num"}})
		deliveries.Fields["contract_id"] = parent
		b.more = append(b.more, more)
		b.write(10, 20)
		b.delivery(1, 1, 500)
		b.pass("contracts", "deliveries")
		b.expect(1, trade.Accepted, "")
		if e := b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent); len(e.WaitingFor) != 1 ||
			e.WaitingFor[0].Job != "more" {
			t.Errorf("waits for %+v", e.WaitingFor)
		}
		b.pass()
		b.row("deliveries", "01|0001", trade.Accepted, "")
	})
}

// Contracts that change numbers after they were read: what hangs on them is not sent before they
// are read again.
func TestNothingGoesUnderAContractThatHasAnotherRowByNow(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.sweep()
		b.write(99, 10, 20)
		b.delivery(1, 2, 500)
		b.pass("deliveries") // the contracts are not read
		b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
		b.write(10, 20)
		b.pass("deliveries")
		b.row("deliveries", "01|0001", trade.Accepted, "")
	})
}

// A contract that is cancelled takes the number of one that was sent: what hangs on the number does
// not go under the record of that one.
func TestNothingGoesUnderANumberThatACancelledContractHasByNow(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.write(10)
		b.sweep()
		b.write(20)
		b.exec(`UPDATE contrato SET situacao = 'cancelado'`)
		b.delivery(1, 1, 500)
		b.sweep()
		b.sweep()
		b.records("deliveries", 0)
		b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
	})
}

// Two equal contracts were sent, and rows typed in front take both their numbers: nothing goes
// under the record of either.
func TestBothOfTwoEqualContractsThatMoveAreReplaced(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.write(10, 10)
		b.pass()
		b.write(99, 55, 10, 10)
		b.delivery(1, 1, 500) // of 99
		b.delivery(2, 2, 600) // of 55
		for range 2 {
			b.sweep()
		}
		for n := 1; n <= 2; n++ {
			b.flagsOf(b.entry(n), map[int]string{1: "[changed replaced]", 2: "[changed replaced twin]"}[n])
		}
		if got := b.createdOf("deliveries"); len(got) > 0 {
			t.Errorf("%d deliveries went under the record of another contract", len(got))
		}
	})
}

// Two jobs read the same columns and make records of two types of them: the row of one covers no
// record of the other.
func TestARowOfAnotherTypeDoesNotCoverARecord(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		other, fixation := b.spec, "FIXACAO_COMPRA"
		other.Name, other.Fields = "fixations", maps.Clone(b.spec.Fields)
		other.Fields["order_type"] = mapping.FieldSpec{Const: &fixation}
		other.Query = strings.Replace(b.spec.Query, "situacao <> 'rascunho'", "num >= '0100'", 1)
		b.spec.Query = strings.Replace(b.spec.Query, "situacao <> 'rascunho'", "num < '0100'", 1)
		b.more = append(b.more, other)
		b.write(10)
		b.exec(
			`INSERT INTO contrato SELECT filial, '0100', quantidade, 130, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato`)
		b.pass()
		b.onPlatform("10", "10")                                                   // of each type
		b.exec(`UPDATE contrato SET num = '0002', preco = 130 WHERE num = '0001'`) // typed again
		for range 2 {
			b.pass()
		}
		b.onPlatform("10", "10")
		b.exec(`UPDATE contrato SET num = '0001', preco = 120.5 WHERE num = '0002'`)
		b.exec(
			`INSERT INTO contrato SELECT filial, '0003', 44, 130, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0100'`)
		b.exec(
			`INSERT INTO contrato SELECT filial, '0103', 44, 130, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0100'`)
		for range 2 {
			b.pass() // each is a row of its own
		}
		b.onPlatform("10", "10", "44", "44")
	})
}

// A number that a person has dismissed is given to another contract: the row is shown, and goes
// when a person says so.
func TestADismissedNumberThatAnotherContractTakesIsShown(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10, 20, 30)
		b.sweep()
		b.write(99, 10, 20, 30)
		b.sweep()
		b.expect(4, trade.Held, trade.CauseRetyped)
		b.done(b.dismiss(4), acts.NotRefused) // it is the record of number 3, says the person
		b.sweep()
		if e := b.entry(4); len(e.Flags) != 0 {
			t.Fatalf("flags %v", e.Flags)
		}
		b.write(99, 10, 20, 77, 30)
		for range 2 {
			b.sweep()
		}
		b.expect(4, trade.Dismissed, trade.CauseRetyped)
		if e := b.entry(4); !e.Flags.Has(trade.Changed) || e.Flags.Has(trade.Replaced) || len(e.Now) == 0 {
			t.Errorf("flags %v, now %v", e.Flags, e.Now)
		}
		b.done(b.actOn("contracts", key(4), (*acts.Acts).Acknowledge), acts.NotRefused)
		b.sweep()
		if e := b.entry(4); e.State != trade.Dismissed || len(e.Flags) != 0 {
			t.Errorf("acknowledged it is %s, flags %v", e.State, e.Flags)
		}
		b.done(b.reopen(4), acts.NotRefused)
		b.sweep()
		b.expect(4, trade.Held, trade.CauseRetyped) // it is held as it was before
		b.onPlatform("10", "20", "30")
		b.done(b.retry(4), acts.NotRefused)
		b.sweep()
		b.expect(4, trade.Accepted, "")
		b.onPlatform("10", "20", "30", "77")
	})
}

// A field that tells contracts apart is mapped otherwise, and in the same breath one is
// numbered anew and gets another price: it is known.
func TestAContractIsRecognisedWhenAFieldIsMappedOtherwiseAndItIsTypedAgain(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10, 20, 30)
		b.sweep()
		season := "2026/2027"
		b.spec.Fields["haverst"] = mapping.FieldSpec{Const: &season}
		b.exec(`UPDATE contrato SET num = '0013', preco = preco + 1 WHERE num = '0003'`)
		for range 3 {
			b.sweep()
		}
		b.row("contracts", key(13), trade.Held, trade.CauseRetyped)
		b.onPlatform("10", "20", "30")
	})
}

// The same, of contracts whose values the retention has taken, and of those that were rebuilt
// from the journal: the ERP's rows tell.
func TestAContractIsRecognisedAfterAChangeOfTheMappingWithoutItsValues(t *testing.T) {
	for name, lose := range map[string]func(*bench){
		"reduced": func(b *bench) { b.clock.advance(200 * 24 * time.Hour); b.retain() },
		"rebuilt": func(b *bench) { b.rebuilt() },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBenchOn(t, databases[0], sandbox.Options{})
			b.write(10, 20, 30)
			b.sweep()
			lose(b)
			season := "2026/2027"
			b.spec.Fields["haverst"] = mapping.FieldSpec{Const: &season}
			b.sweep()
			b.exec(`UPDATE contrato SET num = '0013', preco = preco + 1 WHERE num = '0003'`)
			for range 3 {
				b.sweep()
			}
			b.row("contracts", key(13), trade.Held, trade.CauseRetyped)
			b.onPlatform("10", "20", "30")
		})
	}
}

// F022: a row in doubt that came to stand twice in the ERP is not sent again, because nobody knows
// which of the two it would be.
func TestARowThatStandsTwiceIsNotSentAgain(t *testing.T) {
	t.Parallel()
	b := withChildren(newBench(t, sandbox.Options{Faults: faults(t, "lost-after@2")}))
	b.contracts(1)
	b.delivery(1, 1, 10)
	b.pass()
	b.row("deliveries", "01|0001", trade.InDoubt, trade.CauseUnknown)
	b.delivery(1, 1, 11)
	people := b.acts()
	must.Do(t, people.Watch(t.Context(), "deliveries"))
	b.clock.advance(16 * time.Minute)
	plan, err := people.Resend(t.Context(), "deliveries", "01|0001", true)
	if err != nil || plan.Possible() || plan.Steps[0].Refused != acts.DoubleKey {
		t.Errorf("%+v, %v", plan, err)
	}
}
