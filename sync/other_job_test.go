package sync_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// withTypes makes two jobs of the contracts, by a column that may change.
func withTypes(b *bench) *bench {
	b.t.Helper()
	other := b.spec
	other.Name, other.Query = "fixations", strings.Replace(b.spec.Query, "<> 'rascunho'", "= 'fixacao'", 1)
	b.spec.Query = strings.Replace(b.spec.Query, "<> 'rascunho'", "= 'aprovado'", 1)
	b.more = append(b.more, other)
	return b
}

func (b *bench) becomes(num int, kind string) {
	b.t.Helper()
	b.exec(`UPDATE contrato SET situacao = ? WHERE quantidade = ?`, kind, num)
}

// A job under another name, with one more column mapped, in one edit: nothing leaves, with or
// without a person's release.
func TestAJobUnderAnotherNameSendsNothingTwice(t *testing.T) {
	onEither(t, failing("lost-after@3"), func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.contracts(5)
		b.sync(engine.Options{})
		b.api.SetFaults()
		b.spec.Name = "contratos"
		b.spec.Fields["pricing_date"] = mapping.FieldSpec{Columns: []string{"data_contrato"}}
		delete(b.spec.Fields, "pricing_date")
		b.spec.Query = strings.Replace(b.spec.Query, "'rascunho'", "'esboco'", 1)
		b.wants(b.sync(engine.Options{DryRun: true}), "stop brake_new_job")
		brake := b.expectBrake(b.sync(engine.Options{}), "brake_new_job", 5)
		if len(brake.Former) != 1 ||
			brake.Former[0] != (trade.KnownJob{
				Job: "contracts", Sends: trade.OrderCommitments, Entries: 5, Accepted: 4,
				InDoubt: 1,
			}) {
			t.Errorf("the brake shows %+v", brake.Former)
		}
		if status, err := b.ledger.JobStatus(t.Context(), "contratos"); err != nil ||
			!strings.Contains(status.Stop.Text(), "safrasync job move contracts contratos") {
			t.Errorf("%+v, %v", status.Stop, err)
		}
		b.release("contratos")
		b.contract(6)
		for range 3 {
			b.wants(b.sync(engine.Options{Sweep: true}), "stop none, held 5, accepted 1")
		}
		e := b.row("contratos", key(1), trade.Held, trade.CauseOtherJob)
		if e.Error == nil || e.Error.Kind != trade.ConflictError ||
			!strings.Contains(e.Error.Text(), "job contracts") ||
			!strings.Contains(e.Error.Text(), b.entry(1).RemoteID) {
			t.Errorf("error %+v", e.Error)
		}
		if e := b.row("contratos", key(3), trade.Held, trade.CauseOtherJob); !strings.Contains(e.Error.Text(),
			"in doubt") {
			t.Errorf("error %+v", e.Error)
		}
		b.records("order_commitments", 6)
	})
}

// One job for each type: a contract that changes its type goes to the other job under the same
// key. It is the same contract.
func TestAContractThatGoesToAnotherJobUnderItsKeyIsTheSame(t *testing.T) {
	onEither(t, with(withTypes, plain), func(t *testing.T, b *bench) {
		b.contracts(4)
		b.pass()
		b.becomes(1, "fixacao")
		b.becomes(2, "fixacao")
		b.exec(`UPDATE contrato SET preco = 99 WHERE quantidade = 2`)
		for range 3 {
			b.exec(`UPDATE contrato SET atualizado = '2026-03-11 08:00:00'`)
			b.pass()
		}
		b.once()
		b.row("fixations", key(1), trade.Held, trade.CauseOtherJob)
		b.row("fixations", key(2), trade.Held, trade.CauseOtherJob)

		// Its record goes with it, when a person says so; and what is another record goes, too.
		id := b.entry(1).RemoteID
		step := b.adoptRow("fixations", key(1), acts.Adoption{ID: id})
		b.done(step, acts.NotRefused)
		b.gave(1, id)
		if e := b.row("fixations", key(1), trade.Accepted, ""); e.RemoteID != id {
			t.Errorf("it has the id %q", e.RemoteID)
		}
		b.done(b.retryRow("fixations", key(2)), acts.NotRefused)
		b.pass()
		b.row("fixations", key(2), trade.Accepted, "")
		b.records("order_commitments", 5)
		b.becomes(1, "aprovado") // and back
		b.becomes(3, "rascunho")
		for range 2 {
			b.pass()
		}
		b.records("order_commitments", 5)
	})
}

// A job is split, and the new one tells its rows apart by another key, or maps a required field
// in another way: nothing goes before a person has seen it.
func TestAJobThatIsSplitUnderAnotherKeyWaits(t *testing.T) {
	for _, field := range []string{"", "order_type", "haverst", "price"} {
		t.Run(field, func(t *testing.T) {
			b := newBenchOn(t, databases[0], sandbox.Options{})
			b.write(10, 20, 30, 40)
			b.pass()
			other := b.spec
			other.Name, other.Fields = "fixations", maps.Clone(b.spec.Fields)
			other.Query = strings.Replace(strings.Replace(b.spec.Query, "<> 'rascunho'", "= 'fixacao'", 1), "num,",
				"'X' || num AS num,", 1)
			b.spec.Query = strings.Replace(b.spec.Query, "<> 'rascunho'", "= 'aprovado'", 1)
			if value := map[string]string{
				"order_type": "FIXACAO_COMPRA", "haverst": "2026/2027",
				"price": "99",
			}[field]; value != "" {
				other.Fields[field] = mapping.FieldSpec{Const: &value}
			}
			b.more = append(b.more, other)
			b.exec(`UPDATE contrato SET situacao = 'fixacao' WHERE quantidade > 20`)
			ledger := b.ledger
			found, err := dryrun.CheckIdentity(t.Context(), ledger, b.source, b.engine().Jobs)
			if err != nil || len(found) == 0 || found[0].Kind != dryrun.SplitJob || found[0].Known.Gone != 2 ||
				!slices.Equal(found[0].Others, []string{"fixations"}) {
				t.Errorf("check says %+v, %v", found, err)
			}
			for range 2 {
				stop := b.pass()["fixations"].Stopped
				if stop == nil || stop.Code != "brake_new_job" || len(stop.Brake.Former) != 1 ||
					stop.Brake.Former[0].Gone != 2 {
					t.Fatalf("stopped %+v", stop)
				}
			}
			b.onPlatform("10", "20", "30", "40")
			b.exec(`UPDATE contrato SET situacao = 'aprovado'`) // they are taken back, and the new job is for others
			b.release("fixations")
			b.exec(
				`INSERT INTO contrato SELECT filial, '0077', 77, preco, produto, carteira, 'fixacao', data_contrato, pagamento, obs, atualizado FROM contrato LIMIT 1`)
			b.pass()
			b.row("fixations", "01|X0077", trade.Accepted, "")
			b.onPlatform("10", "20", "30", "40", "77")
		})
	}
}

// The queries of two jobs return the same rows under two keys: the second job waits for a
// person, whatever it maps otherwise.
func TestRowsThatTwoJobsReturnUnderTwoKeysPauseTheSecond(t *testing.T) {
	for field, value := range map[string]string{"": "", "order_type": "FIXACAO_COMPRA", "price": "99"} {
		b := newBenchOn(t, databases[0], sandbox.Options{})
		b.contracts(12)
		b.pass()
		other := b.spec
		other.Name, other.Fields, other.Query = "again", maps.Clone(b.spec.Fields),
			strings.Replace(b.spec.Query, "num,", "'X' || num AS num,", 1)
		if value != "" {
			other.Fields[field] = mapping.FieldSpec{Const: &value}
		}
		b.more = append(b.more, other)
		if stop := b.pass()["again"].Stopped; stop == nil || stop.Code != "brake_retyped" || stop.Brake.Rows != 12 {
			t.Errorf("%s: stopped %+v", field, stop)
		} else if told := stop.Text(); !strings.Contains(told, "12 of another job") ||
			!strings.Contains(told, "and 7 more") || !strings.Contains(told, "WOULD BE SENT AGAIN") {
			t.Errorf("%s: the brake does not say what a release sends: %s", field, told)
		}
		if plan, err := b.acts().Release(t.Context(), "again"); err != nil || !plan.Unchecked() ||
			plan.Release.Exists.Rows != 12 {
			t.Errorf("%s: the release would send what is on the platform: %+v, %v", field, plan.Release, err)
		}
		b.records("order_commitments", 12)
	}
}

// The second job runs before any row comes to it; a contract that comes later, under another
// key and with another type, is the one that has left the first.
func TestAContractThatGoesToAJobWithAnotherKeyAndTypeIsHeld(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.write(10, 20, 30, 40)
		b.pass()
		other := b.spec
		kind := "FIXACAO_COMPRA"
		other.Name, other.Fields = "fixations", maps.Clone(b.spec.Fields)
		other.Fields["order_type"] = mapping.FieldSpec{Const: &kind}
		other.Query = strings.Replace(strings.Replace(b.spec.Query, "<> 'rascunho'", "= 'fixacao'", 1), "num,",
			"'X' || num AS num,", 1)
		b.spec.Query = strings.Replace(b.spec.Query, "<> 'rascunho'", "= 'aprovado'", 1)
		b.more = append(b.more, other)
		b.pass()
		b.exec(`UPDATE contrato SET situacao = 'fixacao' WHERE quantidade > 20`)
		for range 2 {
			b.pass()
		}
		b.row("fixations", "01|X0003", trade.Held, trade.CauseRetyped)
		b.onPlatform("10", "20", "30", "40")
	})
}

// A row that was changed after it was sent, and is typed again under another key and in the
// scope of another job, is held there.
func TestAChangedRowThatIsTypedAgainIsHeldInAnotherJobToo(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		other := b.spec
		other.Name, other.Query = "fixations",
			strings.Replace(b.spec.Query, "<> 'rascunho'", "<> 'rascunho' AND num > '0005'", 1)
		b.spec.Query = strings.Replace(b.spec.Query, "<> 'rascunho'", "<> 'rascunho' AND num < '0005'", 1)
		b.more = append(b.more, other)
		b.contracts(2)
		b.pass()
		b.exec(`UPDATE contrato SET quantidade = 25, atualizado = '2026-03-11 08:00:00' WHERE quantidade = 2`)
		b.sweep()
		b.exec(`UPDATE contrato SET num = '0009', atualizado = '2026-03-12 08:00:00' WHERE quantidade = 25`)
		for range 3 {
			b.sweep()
		}
		b.records("order_commitments", 2)
		b.row("fixations", key(9), trade.Held, trade.CauseRetyped)
	})
}

// A delivery does not go under the record of a contract under whose number another row stands
// by now, in the scope of another job; it waits, and says so.
func TestADeliveryWaitsWhereItsContractsNumberHasGoneToAnotherJob(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		children := b.more
		b.more = nil
		withTypes(b)
		for i := range children {
			for name, f := range children[i].Fields {
				if len(f.SentBy) > 0 {
					f.SentBy = append(slices.Clone(f.SentBy),
						mapping.ParentSpec{Job: "fixations", Columns: []string{"filial", "num"}})
					children[i].Fields[name] = f
				}
			}
		}
		b.more = append(b.more, children...)
		b.contracts(2)
		for num := 11; num < 31; num++ { // so many that one may leave
			b.contract(num)
			b.becomes(num, "fixacao")
		}
		b.pass()
		b.becomes(2, "fixacao")
		b.pass() // it is held in the other job
		b.exec(`UPDATE contrato SET num = '0003' WHERE quantidade = 2`)
		b.exec(
			`INSERT INTO contrato SELECT filial, '0002', 77, preco, produto, carteira, 'fixacao', data_contrato, pagamento, obs, '2026-03-12 08:00:00' FROM contrato WHERE quantidade = 2`)
		b.delivery(1, 2, 10)
		for range 3 {
			b.sweep()
		}
		b.records("deliveries", 0)
		e := b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
		if len(e.WaitingFor) != 1 || e.WaitingFor[0].Job != "fixations" || e.WaitingFor[0].ParentState != trade.Held {
			t.Errorf("it waits for %+v", e.WaitingFor)
		}
		b.exec(`UPDATE contrato SET num = '0004' WHERE quantidade = 77`)
		b.exec(`UPDATE contrato SET num = '0002', situacao = 'aprovado' WHERE quantidade = 2`)
		for range 3 { // after two of them the other job's row is withdrawn
			b.sweep()
		}
		b.row("deliveries", "01|0001", trade.Accepted, "")
	})
}

// A row that the queries of two jobs return goes once, also when both send at the same time,
// and is shown in the other; what hangs on it goes.
func TestARowThatTwoJobsReturnGoesOnce(t *testing.T) {
	onBoth(t, family, func(t *testing.T, b *bench) {
		twice := b.spec
		twice.Name = "again"
		b.parentJobs("again", "contracts")
		b.more = append([]mapping.JobSpec{twice}, b.more...)
		const n = 300
		b.contracts(n)
		b.delivery(1, 1, 100)
		b.share("A", 2, 300)
		reports := b.pass()
		b.records("order_commitments", n)
		a, c := reports["again"].States, reports["contracts"].States
		if a[trade.Accepted]+c[trade.Accepted] != n || a[trade.Held]+c[trade.Held] != n {
			t.Errorf("again %v, contracts %v", a, c)
		}
		b.row("deliveries", "01|0001", trade.Accepted, "")
		b.row("traceability", "A", trade.Accepted, "")
	})
}

// A row that was held for another job's goes by itself when that was not sent after all, and is
// withdrawn without its own.
func TestARowThatIsHeldForAnotherJobGoesWhenThatWasNotSent(t *testing.T) {
	onEither(t, with(withTypes, failing("lost-before@1")), func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.contracts(2)
		b.pass()
		b.expect(1, trade.InDoubt, trade.CauseUnknown)
		b.becomes(1, "fixacao")
		b.becomes(2, "fixacao")
		b.pass()
		b.row("fixations", key(1), trade.Held, trade.CauseOtherJob)
		b.row("fixations", key(2), trade.Held, trade.CauseOtherJob)
		b.done(b.dismiss(1), acts.NotRefused)
		b.pass()
		b.row("fixations", key(1), trade.Held, trade.CauseOtherJob) // dismissed while nobody knew: it may be there
		b.done(b.reopen(1), acts.NotRefused)
		attempts, err := b.ledger.Attempts(t.Context(), b.entry(1).ID)
		if err != nil || len(attempts) == 0 {
			t.Fatal(attempts, err)
		}
		late := attempts[0] // a late answer: nothing was created
		late.Outcome, late.FinishedAt = trade.OutcomeNotCreated, b.clock.Now()
		group := trade.Group{Settle: []trade.Settlement{{
			Attempt: late, State: trade.Rejected, Cause: "message.price.invalid",
		}}}
		must.Get(b.ledger.Commit(t.Context(), trade.Lease{Job: "contracts"}, group))(t)
		b.expect(1, trade.Rejected, "message.price.invalid")
		b.exec(`UPDATE contrato SET preco = 77 WHERE quantidade = 1`)
		b.pass()
		if e := b.row("fixations", key(1), trade.Accepted, ""); !strings.Contains(string(e.Payload), "77") {
			t.Errorf("it went as it was: %s", e.Payload)
		}
		b.exec(`DELETE FROM contrato WHERE quantidade = 2`)
		b.pass()
		for range 2 {
			must.Get(b.engine().Sync(t.Context(), nil, engine.Options{Sweep: true}))(t)
		}
		b.row("fixations", key(2), trade.Withdrawn, "")
		b.once()
	})
}

// Jobs of two ERPs have keys of their own.
func TestJobsOfTwoSpacesDoNotShareKeys(t *testing.T) {
	onEither(t, with(withTypes, plain), func(t *testing.T, b *bench) {
		b.more[0].Identity = "erp2"
		b.more[0].Query = strings.Replace(b.more[0].Query, "quantidade, preco",
			"quantidade + 1000 AS quantidade, preco", 1)
		b.more[0].Query = strings.Replace(b.more[0].Query, "= 'fixacao'", "= 'aprovado'", 1)
		b.contracts(3)
		b.pass()
		b.pass()
		b.records("order_commitments", 6)
		// A job whose space nobody knows is compared.
		b.more[0].Name, b.more[0].Identity = "third", ""
		b.release("third")
		b.pass()
		b.release("third")
		b.pass()
		b.row("third", key(1), trade.Held, trade.CauseOtherJob)
	})
}

// A job whose rows stand in another key space than its configuration says is paused before
// anything is sent: rows that another job has sent would look new.
func TestAChangedIdentityPausesTheJobUntilAPersonAcceptsIt(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.sync(engine.Options{})
		second := b.spec
		second.Name, second.Query = "again",
			strings.Replace(b.spec.Query, "quantidade, preco", "quantidade + 1000 AS quantidade, preco", 1)
		b.more = []mapping.JobSpec{second}
		b.pass() // its rows are held: another job has sent their keys
		b.more[0].Identity = "erp2"
		for range 2 {
			b.pass()
		}
		b.records("order_commitments", 2)
		status, err := b.ledger.JobStatus(t.Context(), "again")
		if err != nil || status.State != trade.Paused || status.Stop.Code != "brake_new_job" {
			t.Fatalf("%+v, %v", status, err)
		}
		for _, part := range []string{`says "erp2"`, `identity ""`, "safrasync release again"} {
			if !strings.Contains(status.Stop.Text(), part) {
				t.Errorf("%q is not in %q", part, status.Stop.Text())
			}
		}
		// With the old one it goes on as before.
		b.more[0].Identity = ""
		b.release("again")
		b.pass()
		b.row("again", key(1), trade.Held, trade.CauseOtherJob)
		// A person who says that it is another ERP lets it go.
		b.more[0].Identity = "erp2"
		b.pass()
		b.release("again")
		for range 2 {
			b.pass()
		}
		b.row("again", key(1), trade.Accepted, "")
		b.records("order_commitments", 4)
	})
}

// A job that is new beside one whose identity changed with it sends nothing until somebody has
// accepted that: the keys that were sent stand in the old space.
func TestANewJobWaitsForAnIdentityThatNobodyHasAccepted(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.sync(engine.Options{})
		b.spec.Identity = "erp1"
		second := b.spec
		second.Name = "a copy" // its pass comes first
		b.more = []mapping.JobSpec{second}
		for range 2 {
			b.pass()
		}
		b.records("order_commitments", 2)
		status, err := b.ledger.JobStatus(t.Context(), "a copy")
		if err != nil || status.Stop == nil || status.Stop.Code != "brake_new_job" ||
			!strings.Contains(status.Stop.Text(), "safrasync release contracts") {
			t.Errorf("%+v, %v", status, err)
		}
		b.release("a copy") // before the other one: it waits again
		b.pass()
		b.records("order_commitments", 2)
		b.release("contracts")
		b.pass()
		b.release("a copy")
		b.pass()
		b.row("a copy", key(1), trade.Held, trade.CauseOtherJob)
	})
}

// The rows of a renamed job are what they were under its new name: what hangs on them finds them,
// and a change in the ERP is seen.
func TestWhatHangsOnAJobFindsItUnderItsNewName(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contracts(3)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE quantidade = 2`)
		b.delivery(1, 1, 100)
		b.delivery(2, 2, 200)
		b.pass()
		b.row("deliveries", "01|0002", trade.Waiting, trade.CauseParent)
		b.spec.Name = "contratos"
		b.parentJobs("contratos")
		b.pass()
		people := b.acts()
		plan, err := people.MoveJob(t.Context(), "contracts", "contratos")
		if err == nil {
			plan, err = people.DoMoveJob(t.Context(), plan, maria)
		}
		if err != nil || !plan.Done || plan.Entries != 3 {
			t.Fatalf("%+v, %v", plan, err)
		}
		b.exec(`UPDATE contrato SET pagamento = '2026-07-01', atualizado = '2026-03-12 08:00:00' WHERE quantidade = 2`)
		b.exec(`UPDATE contrato SET preco = 99, atualizado = '2026-03-12 08:00:00' WHERE quantidade = 3`)
		b.delivery(3, 3, 300)
		for range 2 {
			b.pass()
		}
		for _, ticket := range []string{"01|0001", "01|0002", "01|0003"} {
			b.row("deliveries", ticket, trade.Accepted, "")
		}
		b.flagsOf(b.row("contratos", key(3), trade.Accepted, ""), "[changed]")
		if contracts, deliveries := len(b.createdOf("order_commitments")),
			len(b.createdOf("deliveries")); contracts != 3 || deliveries != 3 {
			t.Errorf("the platform has %d contracts and %d deliveries", contracts, deliveries)
		}
		if found, err := dryrun.CheckIdentity(t.Context(), b.ledger, b.source,
			b.engine().Jobs); err != nil || len(found) != 0 {
			t.Errorf("%+v, %v", found, err)
		}
	})
}

// What a configuration would do to identity is told before it runs.
func TestWhatAConfigurationDoesToIdentityIsToldBefore(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(4)
		b.sync(engine.Options{})
		b.spec.Key, b.spec.Identity = []string{"filial", "num", "quantidade"}, "erp2"
		twice := b.spec
		twice.Name = "again"
		b.more = []mapping.JobSpec{twice}
		found, err := dryrun.CheckIdentity(t.Context(), b.ledger, b.source, b.engine().Jobs)
		if err != nil || len(found) != 4 {
			t.Fatalf("%+v, %v", found, err)
		}
		if f := found[0]; f.Kind != dryrun.SplitJob || f.Known.Gone != 4 {
			t.Errorf("%+v", f)
		}
		if f := found[1]; f.Kind != dryrun.ChangedSpace || f.Now.Space != "erp2" || f.Known.Accepted != 4 {
			t.Errorf("%+v", f)
		}
		if f := found[2]; f.Kind != dryrun.ChangedKey || f.Change == nil || f.Change.Known != 4 ||
			f.Change.Found != 0 || f.Change.Rows != 4 {
			t.Errorf("%+v", f)
		}
		if f := found[3]; f.Kind != dryrun.SharedKeys || f.Job != "again" || f.Rows != 4 || !f.Whole ||
			len(f.Sample) != 4 {
			t.Errorf("%+v", f)
		}
	})
}

// A number that is used again while two jobs return its contract: what hangs on it goes under the
// record of the new contract, whichever job sent it, and never under that of the old one.
func TestWhatHangsOnANumberThatIsUsedAgainGoesUnderItsOwnRecord(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.sweep()
		again := b.spec
		again.Name = "again"
		b.parentJobs("contracts", "again")
		b.more = append(b.more, again)
		b.write(10, 55)
		b.delivery(1, 2, 500)
		b.sweep()
		b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
		b.row("again", key(2), trade.Held, trade.CauseOtherJob)
		b.done(b.retryRow("again", key(2)), acts.NotRefused)
		for range 2 {
			b.sweep()
		}
		own := b.row("again", key(2), trade.Accepted, "").RemoteID
		for _, d := range b.createdOf("deliveries") {
			if got := d.Fields["contract_id"]; got != own {
				t.Errorf("it hangs on %v, want %s; contracts: %+v", got, own, b.entry(2).Flags)
			}
		}
	})
}

// A contract is corrected, and a person sends it once more from a second job. When that job is gone,
// the number has two records of different content: what hangs on it waits until a person has dealt
// with the change, of which the plan says so.
func TestWhatHangsOnANumberWithTwoRecordsWaitsForAPerson(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.sweep()
		b.sentAgain(21)
		b.more = b.more[:len(b.more)-1]
		b.delivery(1, 2, 500)
		for range 2 {
			b.agrees("two records of one number", engine.Options{Sweep: true}, 0, 0)
		}
		e := b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
		if len(e.WaitingFor) != 1 || e.WaitingFor[0].ParentCause != trade.CauseReplaced {
			t.Errorf("it waits for %+v", e.WaitingFor)
		}
		plan, err := b.acts().Acknowledge(t.Context(), "contracts", []string{key(1), key(2)})
		if err != nil || plan.Steps[1].Refused != acts.Alone {
			t.Errorf("%+v, %v", plan.Steps, err)
		}
		plan, err = b.acts().Acknowledge(t.Context(), "contracts", []string{key(2)})
		if err != nil || plan.Steps[0].Under == nil || plan.Steps[0].Under.Rows != 1 {
			t.Errorf("%+v, %v", plan.Steps, err)
		}
		b.acknowledge(2)
		b.agrees("acknowledged", engine.Options{}, 1, 0)
		b.row("deliveries", "01|0001", trade.Accepted, "")
		if got := b.createdOf("deliveries")[0].Fields["contract_id"]; got != b.entry(2).RemoteID {
			t.Errorf("it hangs on %v", got)
		}
	})
}

// sentAgain corrects the second contract, and sends it from a second job by order of a person.
func (b *bench) sentAgain(amount int) {
	b.t.Helper()
	again := b.spec
	again.Name = "again"
	b.more = append(b.more, again)
	b.write(10, amount)
	b.sweep()
	b.row("again", key(2), trade.Held, trade.CauseOtherJob)
	b.done(b.do(func(a *acts.Acts) (acts.RowPlan, error) {
		return a.Retry(b.t.Context(), "again", []string{key(2)}, true)
	}), acts.NotRefused)
	b.sweep()
	b.row("again", key(2), trade.Accepted, "")
}

// While both jobs are configured, what hangs on the number goes, before and after the change is
// acknowledged.
func TestWhatHangsOnANumberOfTwoJobsGoes(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.write(10, 20)
		b.sweep()
		b.parentJobs("contracts", "again")
		b.sentAgain(21)
		b.delivery(1, 2, 500)
		b.sweep()
		b.row("deliveries", "01|0001", trade.Accepted, "")
		b.acknowledge(2)
		b.delivery(2, 2, 600)
		b.sweep()
		b.row("deliveries", "01|0002", trade.Accepted, "")
	})
}

// A row goes to another job under another key while the first is about to store its intent: it
// goes once, and the second of the two is shown.
func TestARowThatGoesToAnotherJobBetweenTheLookAndTheIntentGoesOnce(t *testing.T) {
	onBoth(t, with(withTypes, plain), func(t *testing.T, b *bench) {
		b.write(90, 80)
		b.becomes(90, "fixacao")
		b.pass()
		b.write(90, 80, 10)
		b.breaker.before("Commit of intents of contracts", func() error {
			b.breaker.mend()
			b.exec(`UPDATE contrato SET num = '0004', situacao = 'fixacao' WHERE num = '0003'`)
			_, err := b.engine().Sync(t.Context(), []string{"fixations"}, engine.Options{Sweep: true})
			return err
		})
		if _, err := b.engine().Sync(t.Context(), []string{"contracts"}, engine.Options{Sweep: true}); err != nil {
			t.Error(err)
		}
		b.pass()
		b.onPlatform("10", "80", "90")
		b.row("fixations", key(4), trade.Accepted, "")
	})
}

// A contract changes its type and is held in the other job; typed again there, under a new key,
// it is still the one that was sent.
func TestARowThatIsHeldForAnotherJobAndTypedAgainIsHeld(t *testing.T) {
	onEither(t, with(withTypes, plain), func(t *testing.T, b *bench) {
		kind := "FIXACAO_COMPRA"
		b.more[0].Fields = maps.Clone(b.spec.Fields)
		b.more[0].Fields["order_type"] = mapping.FieldSpec{Const: &kind}
		b.write(10, 20)
		b.pass()
		b.becomes(20, "fixacao")
		b.exec(`UPDATE contrato SET quantidade = 25 WHERE quantidade = 20`) // and it is edited, too
		b.sweep()
		b.row("fixations", key(2), trade.Held, trade.CauseOtherJob)
		b.exec(`UPDATE contrato SET num = '0009' WHERE quantidade = 25`)
		for range 2 {
			b.sweep()
		}
		b.row("fixations", key(9), trade.Held, trade.CauseRetyped)
		b.onPlatform("10", "20")
		b.duplicate("0001", "0010")
		b.sweep()
		b.row("contracts", key(10), trade.Held, trade.CauseRetyped) // what a corrected quantity leaves is the same
		b.onPlatform("10", "20")
	})
}

// A row goes to another job under its key, and is edited, while the first is about to store its
// intent: their common key space tells that it is one, also where a rate limit lets rows go one by one.
func TestARowOfACommonKeySpaceThatGoesToAnotherJobGoesOnce(t *testing.T) {
	onEither(t, with(withTypes, plain), func(t *testing.T, b *bench) {
		b.spec.Identity, b.more[0].Identity = "contratos", "contratos"
		b.limits.RateLimit = 1
		for _, amounts := range [][]int{{90, 80}, {90, 80, 30, 40, 10, 20}} {
			b.write(amounts...)
			b.exec(`UPDATE contrato SET situacao = 'fixacao', produto = 'milho' WHERE quantidade = 90`)
			if len(amounts) == 2 {
				b.pass()
			}
		}
		b.wrap = func(l Ledger) Ledger { return &beforeIntents{Ledger: l, then: b.movedOn} }
		if _, err := b.engine().Sync(t.Context(), []string{"contracts"}, engine.Options{Sweep: true}); err != nil {
			t.Error(err)
		}
		b.wrap = nil
		b.pass()
		sent := map[string]int{}
		for _, record := range b.api.Created() {
			sent[fmt.Sprint(record.Fields["amount"])]++
		}
		if len(sent) != 6 || sent["15"] != 1 {
			t.Errorf("the platform has records with these amounts: %v", sent)
		}
	})
}

// beforeIntents lets something happen before the intent of the second row of a run is stored.
type beforeIntents struct {
	Ledger
	then func(key string)
	rows int
}

func (l *beforeIntents) Commit(ctx context.Context, lease trade.Lease, group trade.Group) (trade.GroupResult, error) {
	if len(group.Intents) > 0 {
		l.rows += len(group.Intents)
		if l.rows == 2 {
			l.then(group.Intents[0].Entry.Key)
		}
	}
	return l.Ledger.Commit(ctx, lease, group)
}

// Where a rate limit lets rows go one by one, each is claimed at once although another job has sent
// similar ones: the recheck knew these.
func TestRowsLikeThoseOfAnotherJobAreClaimedAtOnce(t *testing.T) {
	t.Parallel()
	b := withTypes(newBench(t, sandbox.Options{}))
	b.limits.RateLimit = 2
	b.write(90, 80)
	b.becomes(90, "fixacao")
	b.pass()
	b.write(90, 80, 30, 40, 10, 20, 50, 60)
	b.becomes(90, "fixacao")
	counted := &beforeIntents{then: func(string) {}}
	b.wrap = func(l Ledger) Ledger { counted.Ledger = l; return counted }
	b.pass()
	b.onPlatform("10", "20", "30", "40", "50", "60", "80", "90")
	if counted.rows != 6 {
		t.Errorf("%d intents were stored for 6 rows", counted.rows)
	}
}

// movedOn edits a contract and lets it go to the other job, which sends it.
func (b *bench) movedOn(key string) {
	b.t.Helper()
	_, num, _ := strings.Cut(key, "|")
	b.exec(`UPDATE contrato SET quantidade = 15, produto = 'milho', situacao = 'fixacao' WHERE num = ?`, num)
	b.wrap = nil
	if _, err := b.engine().Sync(b.t.Context(), []string{"fixations"}, engine.Options{Sweep: true}); err != nil {
		b.t.Error(err)
	}
}

// A job is split, and a person dismisses its rows in the new job, because the platform has them from
// the old one. What hangs on them goes under the records that they have.
func TestWhatHangsOnTheRowsOfASplitJobGoesUnderTheirRecords(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.write(10, 20, 30, 40)
		b.sweep()
		ids := map[string]string{}
		for num := 3; num <= 4; num++ {
			ids[key(num)] = b.entry(num).RemoteID
		}
		again := b.spec
		again.Name = "again"
		again.Query = strings.Replace(b.spec.Query, "<> 'rascunho'", "<> 'rascunho' AND num > '0002'", 1)
		b.spec.Query = strings.Replace(b.spec.Query, "<> 'rascunho'", "<> 'rascunho' AND num <= '0002'", 1)
		b.parentJobs("contracts", "again")
		b.more = append(b.more, again)
		b.delivery(1, 3, 500)
		b.pass()
		b.release("again")
		b.sweep()
		for num := 3; num <= 4; num++ {
			b.row("again", key(num), trade.Held, trade.CauseOtherJob)
		}
		b.row("deliveries", "01|0001", trade.Accepted, "") // also before somebody has decided
		for num := 3; num <= 4; num++ {
			b.done(b.actOn("again", key(num), (*acts.Acts).Dismiss), acts.NotRefused)
		}
		b.delivery(2, 4, 600)
		b.sweep()
		b.row("deliveries", "01|0002", trade.Accepted, "")
		for i, d := range b.createdOf("deliveries") {
			if got, want := d.Fields["contract_id"], ids[key(3+i)]; got != want {
				t.Errorf("delivery %d hangs on %v, want %s", i+1, got, want)
			}
		}
		b.records("order_commitments", 4)
	})
}
