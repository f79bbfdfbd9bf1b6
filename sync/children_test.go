package sync_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// withChildren returns a bench the two other kinds of records.
func withChildren(b *bench) *bench {
	b.t.Helper()
	b.exec(`CREATE TABLE entrega (filial TEXT, ticket TEXT, num TEXT, volume NUMERIC, um TEXT, dia DATE, car TEXT)`)
	b.exec(`CREATE TABLE rateio (id TEXT, filial TEXT, num TEXT, fazenda TEXT, volume NUMERIC, um TEXT)`)
	column := func(name string) mapping.FieldSpec { return mapping.FieldSpec{Columns: []string{name}} }
	always := func(text string) mapping.FieldSpec { return mapping.FieldSpec{Const: &text} }
	b.more = []mapping.JobSpec{
		{
			Name: "deliveries", Sends: trade.Deliveries, Sweep: sweepFarFromNow(), Key: []string{"filial", "ticket"},
			Query: `SELECT filial, ticket, num, volume, um, dia, car FROM entrega`,
			Fields: map[string]mapping.FieldSpec{
				"delivered_volume": column("volume"), "delivery_date": column("dia"),
				"car": column("car"),
				"delivered_volume_unit_of_measure": {
					Columns: []string{"um"}, ValuesName: "units",
					Values: map[string]string{"KG": "kg"},
				},
			},
		},
		{
			Name: "traceability", Sends: trade.Traceability, Sweep: sweepFarFromNow(), Key: []string{"id"},
			Query: `SELECT id, filial, num, fazenda, volume, um FROM rateio`,
			Fields: map[string]mapping.FieldSpec{
				"producer_id": always(producerID), "user_id": always(issuerID),
				"farm_id": {Columns: []string{"fazenda"}, Ref: "farms"}, "allocated_volume": column("volume"),
				"unit_of_measurement": column("um"),
			},
		},
	}
	b.parentJobs("contracts")
	return b
}

// parentJobs lets what hangs on contracts be of the first of these jobs that has sent its contract.
func (b *bench) parentJobs(names ...string) {
	columns := []string{"filial", "num"}
	parent := mapping.FieldSpec{Columns: columns}
	for _, name := range names {
		parent.SentBy = append(parent.SentBy, mapping.ParentSpec{Job: name, Columns: columns})
	}
	b.more[0].Fields["contract_id"], b.more[1].Fields["order_commitment_id"] = parent, parent
}

func (b *bench) delivery(ticket, num, volume int) {
	b.t.Helper()
	b.exec(`INSERT INTO entrega VALUES ('01', ?, ?, ?, 'KG', ?, NULL)`, fmt.Sprintf("%04d", ticket),
		fmt.Sprintf("%04d", num), volume, fmt.Sprintf("2026-05-%02d", 1+(ticket+8)%28))
}

func (b *bench) share(id string, num, volume int) {
	b.t.Helper()
	b.exec(`INSERT INTO rateio VALUES (?, '01', ?, NULL, ?, 'TON')`, id, fmt.Sprintf("%04d", num), volume)
}

// pass makes one pass over all jobs and checks that each adds up.
func (b *bench) pass(names ...string) map[string]trade.RunReport {
	b.t.Helper()
	reports := must.Get(b.engine().Sync(b.t.Context(), names, engine.Options{}))(b.t)
	out := map[string]trade.RunReport{}
	for _, r := range reports {
		b.adds(r)
		out[r.Job] = r
	}
	return out
}

// row checks where one row of a job stands.
func (b *bench) row(job, key string, state trade.State, cause string) trade.Entry {
	b.t.Helper()
	e := must.Get(b.ledger.Entry(b.t.Context(), job, key))(b.t)
	if e.State != state || e.Cause != cause {
		b.t.Errorf("%s %s is %s (%s), want %s (%s); error %+v, waits for %+v", job, key, e.State, e.Cause, state, cause,
			e.Error, e.WaitingFor)
	}
	return e
}

func (b *bench) createdOf(resource string) []sandbox.Record {
	b.t.Helper()
	return b.api.CreatedOf(resource)
}

// F044: a child waits for its parent and goes when that is there.
func TestChildrenGoInTheRunOfTheirParent(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.delivery(1, 1, 27480)
		b.delivery(2, 2, 31020)
		b.exec(`UPDATE entrega SET car = 'rs-4314100-b5c7.2dc4.ee60.caea.6336.7c29.a80b.21ea' WHERE ticket = '0002'`)
		b.share("a", 1, 30)
		reports := b.pass()
		for job, want := range map[string]int{"contracts": 2, "deliveries": 2, "traceability": 1} {
			if r := reports[job]; r.Stopped != nil || r.States[trade.Accepted] != want {
				t.Errorf("%s: %+v", job, r)
			}
		}
		parents := map[string]string{}
		for n := 1; n <= 2; n++ {
			parents[key(n)] = b.expect(n, trade.Accepted, "").RemoteID
		}
		delivery := b.row("deliveries", "01|0002", trade.Accepted, "")
		want := fmt.Sprintf(
			`{"contract_id":%q,"delivered_volume":31020,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-05-11","car":"RS-4314100-B5C72DC4EE60CAEA63367C29A80B21EA"}`, parents[key(2)])
		if diff := cmp.Diff(want, string(delivery.Payload)); diff != "" {
			t.Errorf("the delivery's body (-want +got):\n%s", diff)
		}
		share := b.row("traceability", "a", trade.Accepted, "")
		want = fmt.Sprintf(`{"producer_id":%q,"user_id":%q,"allocated_volume":30,"unit_of_measurement":"TON"}`,
			producerID, issuerID)
		if diff := cmp.Diff(want, string(share.Payload)); diff != "" || share.Target != parents[key(1)] {
			t.Errorf("the traceability's body (-want +got):\n%starget %s, want %s", diff, share.Target, parents[key(1)])
		}
		again := b.pass()
		for job, r := range again {
			if r.Sent != 0 || r.Stopped != nil {
				t.Errorf("%s, again: %+v", job, r)
			}
		}
		b.records(sandbox.ResourceDeliveries, 2)
	})
}

// F044, F045: the parent is refused, invalid, or left out.
func TestAChildSaysWhichParentItWaitsForAndWhy(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		world := sandbox.OpenWorld()
		world.Forget(sandbox.Users, issuerID)
		b := withChildren(newBenchOn(t, db, sandbox.Options{World: world}))
		b.contracts(3)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0002'`)
		b.exec(`UPDATE contrato SET situacao = 'rascunho' WHERE num = '0003'`)
		for n := 1; n <= 3; n++ {
			b.delivery(n, n, 100*n)
		}
		b.exec(`INSERT INTO entrega VALUES ('01', '0004', NULL, 1, 'KG', '2026-05-10', NULL)`)
		b.pass()
		parent := b.expect(1, trade.Rejected, "message.user.not-found")
		waits := func(ticket string, want trade.Awaited, sentence string) {
			t.Helper()
			e := b.row("deliveries", "01|"+ticket, trade.Waiting, trade.CauseParent)
			if diff := cmp.Diff([]trade.Awaited{want}, e.WaitingFor); diff != "" {
				t.Errorf("delivery %s waits for (-want +got):\n%s", ticket, diff)
			} else if got := e.WaitingFor[0].Sentence(trade.English); got != sentence {
				t.Errorf("delivery %s: %q, want %q", ticket, got, sentence)
			}
		}
		waits("0001", trade.Awaited{
			Job: "contracts", Key: "01|0001", ParentState: trade.Rejected,
			ParentCause: parent.Cause,
		},
			"waits for contract 01|0001, which was rejected: user (issuer) not found on the platform")
		waits("0002", trade.Awaited{
			Job: "contracts", Key: "01|0002", ParentState: trade.Invalid,
			ParentCause: "rule:payday",
		},
			"waits for contract 01|0002, which is invalid: payday: missing or wrong in the ERP")
		waits("0003", trade.Awaited{Job: "contracts", Key: "01|0003"},
			"waits for contract 01|0003, which is not in the ERP, is cancelled there, or is left out by the query of the contracts")
		b.row("deliveries", "01|0004", trade.Invalid, "rule:contract_id")
		b.records(sandbox.ResourceDeliveries, 0)
	})
}

// F045: A parent in doubt holds its children; they go when somebody, here the late answer, says
// that it is there.
func TestAParentInDoubtHoldsItsChildren(t *testing.T) {
	onEither(t, with(withChildren, failing("lost-after@1")), func(t *testing.T, b *bench) {
		b.contract(1)
		b.delivery(1, 1, 10)
		b.pass()
		b.expect(1, trade.InDoubt, trade.CauseUnknown)
		e := b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
		if e.WaitingFor[0].ParentState != trade.InDoubt {
			t.Errorf("it waits for %+v", e.WaitingFor)
		}
		attempts := must.Get(b.ledger.Attempts(t.Context(), b.entry(1).ID))(t)
		late := attempts[0]
		late.Outcome, late.RemoteID, late.FinishedAt = trade.OutcomeCreated, b.api.Created()[0].ID, time.Now()
		must.Get(b.ledger.Commit(t.Context(), trade.Lease{Job: "contracts"}, trade.Group{
			Settle: []trade.Settlement{{Attempt: late, State: trade.Accepted, Counts: true}},
		}))(t)
		b.pass("deliveries")
		b.row("deliveries", "01|0001", trade.Accepted, "")
	})
}

// The deliveries of the first contracts go while the many contracts behind them are still being
// sent.
func TestChildrenDoNotStarveBehindALargeParentJob(t *testing.T) {
	t.Parallel()
	const contracts = 2500
	b := withChildren(newBench(t, sandbox.Options{}))
	b.limits.MaxInFlight = 32
	var rows []string
	for n := 1; n <= contracts; n++ {
		rows = append(rows,
			fmt.Sprintf(
				`('01', '%04d', %d, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00')`, n, n))
	}
	b.exec(`INSERT INTO contrato VALUES ` + strings.Join(rows, ", "))
	b.delivery(1, 1, 10)
	b.pass()
	b.records("order_commitments", contracts)
	if at := b.createdOf(sandbox.ResourceDeliveries)[0].N; at > contracts/2 {
		t.Errorf("the delivery was request %d", at)
	}
}

func TestAMovedDeliveryIsFlaggedAndATouchedOneIsNot(t *testing.T) {
	t.Parallel()
	b := withChildren(newBench(t, sandbox.Options{}))
	b.contracts(2)
	b.delivery(1, 1, 10)
	b.delivery(2, 1, 20)
	b.pass()
	b.exec(`UPDATE entrega SET num = '0002' WHERE ticket = '0001'`)
	b.exec(`UPDATE entrega SET volume = 20.00 WHERE ticket = '0002'`)
	b.pass()
	b.flagsOf(b.row("deliveries", "01|0001", trade.Accepted, ""), "[changed]")
	b.flagsOf(b.row("deliveries", "01|0002", trade.Accepted, ""), "[]")
}

func TestAPreviewNamesThePathOfItsKind(t *testing.T) {
	t.Parallel()
	b := withChildren(newBench(t, sandbox.Options{}))
	b.contract(1)
	b.delivery(1, 1, 10)
	b.share("a", 1, 30)
	b.pass()
	for job, want := range map[string][2]string{
		"contracts":    {key(1), "/api/v1/integration/order-commitments"},
		"deliveries":   {"01|0001", "/api/v1/integration/deliveries"},
		"traceability": {"a", "/api/v1/integration/traceability/-/commitments/" + b.entry(1).RemoteID},
	} {
		p, err := b.engine().Preview(t.Context(), job, want[0])
		if err != nil || p.Path != want[1] {
			t.Errorf("%s: path %q, %v; want %q", job, p.Path, err, want[1])
		}
	}
}

// A dry run stores nothing, and yet tells of each row where its contract would stand after it.
func TestADryRunKnowsWhereTheParentsWouldStand(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contracts(3)
		b.exec(`UPDATE contrato SET pagamento = NULL WHERE num = '0002'`)
		b.exec(`UPDATE contrato SET situacao = 'rascunho' WHERE num = '0003'`)
		for n := 1; n <= 3; n++ {
			b.delivery(n, n, 100*n)
		}
		plan := func() map[string]trade.Awaited {
			t.Helper()
			out := map[string]trade.Awaited{}
			must.Get(b.engine().Sync(t.Context(), nil, engine.Options{DryRun: true, Planned: func(e trade.Entry) {
				for _, a := range e.WaitingFor {
					out[e.Job+" "+e.Key] = a
				}
			}}))(t)
			return out
		}
		want := map[string]trade.Awaited{
			"deliveries 01|0001": {Job: "contracts", Key: key(1), ParentState: trade.Pending},
			"deliveries 01|0002": {
				Job: "contracts", Key: key(2), ParentState: trade.Invalid,
				ParentCause: "rule:payday",
			},
			"deliveries 01|0003": {Job: "contracts", Key: key(3)},
		}
		if diff := cmp.Diff(want, plan()); diff != "" {
			t.Errorf("a first dry run (-want +got):\n%s", diff)
		}
		b.pass()
		b.exec(`UPDATE contrato SET pagamento = '2026-07-01', atualizado = '2026-12-01 00:00:00' WHERE num = '0002'`)
		b.delivery(4, 2, 400)
		want = map[string]trade.Awaited{
			"deliveries 01|0002": {Job: "contracts", Key: key(2), ParentState: trade.Pending}, // in the ledger already
			"deliveries 01|0003": {Job: "contracts", Key: key(3)},
			"deliveries 01|0004": {Job: "contracts", Key: key(2), ParentState: trade.Pending},
		}
		if diff := cmp.Diff(want, plan()); diff != "" {
			t.Errorf("a dry run over a corrected contract (-want +got):\n%s", diff)
		}
	})
}

// The same CAR, and the same id, in another spelling would send the same request: that is no
// change.
func TestAnotherSpellingOfTheSameValueIsNoChange(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.more[1].Fields["farm_id"] = mapping.FieldSpec{Columns: []string{"fazenda"}} // the platform's id itself
		b.contract(1)
		b.delivery(1, 1, 10)
		b.delivery(2, 1, 20)
		b.share("a", 1, 30)
		b.exec(`UPDATE entrega SET car = 'RS-4314100-B5C72DC4EE60CAEA63367C29A80B21EA'`)
		b.exec(`UPDATE rateio SET fazenda = 'b9b338eb-3fdf-4348-9c46-1cb5d15b77f2'`)
		b.pass()
		b.exec(`UPDATE entrega SET car = 'rs-4314100-b5c7.2dc4.ee60.caea.6336.7c29.a80b.21ea' WHERE ticket = '0001'`)
		b.exec(`UPDATE entrega SET car = 'RS-4314100-B5C72DC4EE60CAEA63367C29A80B21EB' WHERE ticket = '0002'`)
		b.exec(`UPDATE rateio SET fazenda = '{B9B338EB-3FDF-4348-9C46-1CB5D15B77F2}'`)
		b.pass()
		for _, e := range []trade.Entry{
			b.row("deliveries", "01|0001", trade.Accepted, ""),
			b.row("traceability", "a", trade.Accepted, ""),
		} {
			if len(e.Flags) != 0 {
				t.Errorf("%s %s has flags %v", e.Job, e.Key, e.Flags)
			}
		}
		b.flagsOf(b.row("deliveries", "01|0002", trade.Accepted, ""), "[changed]")
	})
}

func TestTraceabilityWaitsForItsFarmAndRefusesAVolumeWithoutAUnit(t *testing.T) {
	t.Parallel()
	b := withChildren(newBench(t, sandbox.Options{}))
	b.contract(1)
	b.share("farm", 1, 10)
	b.exec(`UPDATE rateio SET fazenda = '77'`)
	b.share("unit", 1, 20)
	b.exec(`UPDATE rateio SET um = NULL WHERE id = 'unit'`)
	b.share("bare", 1, 0)
	b.exec(`UPDATE rateio SET um = NULL, volume = NULL WHERE id = 'bare'`)
	b.pass()
	b.row("traceability", "farm", trade.Waiting, "ref:farms")
	e := b.row("traceability", "unit", trade.Invalid, "rule:unit_of_measurement")
	if got := e.Error.Fields[0].Rule; got != "required_with_allocated_volume" {
		t.Errorf("the rule is %s", got)
	}
	b.row("traceability", "bare", trade.Accepted, "")
}

// Jobs run parents first, whatever their order in the file, and a circle is refused.
func TestParentsComeFirst(t *testing.T) {
	t.Parallel()
	compile := func(spec mapping.JobSpec) *mapping.Job {
		t.Helper()
		job := must.Get(mapping.Compile(spec, time.UTC))(t)
		return job
	}
	b := withChildren(newBench(t, sandbox.Options{}))
	contracts, deliveries := compile(b.spec), b.more[0]
	order, err := engine.Order([]*mapping.Job{compile(deliveries), contracts})
	if err != nil || order[0].Name() != "contracts" {
		t.Fatalf("order %v, %v", order, err)
	}
	parents := func(parents ...mapping.ParentSpec) mapping.JobSpec {
		spec := deliveries
		spec.Fields = map[string]mapping.FieldSpec{}
		for name, f := range deliveries.Fields {
			spec.Fields[name] = f
		}
		spec.Fields["contract_id"] = mapping.FieldSpec{Columns: []string{"filial", "num"}, SentBy: parents}
		return spec
	}
	two := []string{"filial", "num"}
	for _, tt := range []struct {
		name string
		jobs []mapping.JobSpec
		want string
	}{
		{
			"nobody",
			[]mapping.JobSpec{b.spec, parents(mapping.ParentSpec{Job: "invoices", Columns: two})},
			`no job is named "invoices"`,
		},
		{
			"itself",
			[]mapping.JobSpec{b.spec, parents(mapping.ParentSpec{Job: "deliveries", Columns: two})},
			"hangs on itself",
		},
		{
			"key",
			[]mapping.JobSpec{b.spec, parents(mapping.ParentSpec{Job: "contracts", Columns: two[:1]})},
			"name 1 columns, and the key of job contracts has 2 (filial, num)",
		},
		{"circle", func() []mapping.JobSpec {
			a, z := parents(mapping.ParentSpec{Job: "z", Columns: two}),
				parents(mapping.ParentSpec{Job: "a", Columns: two})
			a.Name, z.Name = "a", "z"
			return []mapping.JobSpec{a, z}
		}(), "circle (sent_by): a → z → a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var jobs []*mapping.Job
			for _, spec := range tt.jobs {
				jobs = append(jobs, compile(spec))
			}
			if _, err := engine.Order(jobs); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// F044: a child of a contract that a person has dealt with goes at the next sweep, though as many
// contracts have the flag as before: another one got it meanwhile.
func TestAChildGoesWhenItsContractWasDealtWithAndAnotherIsFlagged(t *testing.T) {
	t.Parallel()
	b := withChildren(newBench(t, sandbox.Options{}))
	b.contracts(3)
	b.pass()
	for _, step := range [][2]string{{"0001", "x"}, {"0002", "0001"}, {"x", "0002"}} { // the two change places
		b.exec(`UPDATE contrato SET num = ? WHERE num = ?`, step[1], step[0])
	}
	b.delivery(2, 2, 20)
	b.sweep()
	b.row("deliveries", "01|0002", trade.Waiting, trade.CauseParent)
	b.acknowledge(2)
	b.exec(`UPDATE contrato SET quantidade = 1, data_contrato = ? WHERE num = '0003'`, contractDay(1))
	b.sweep()
	for n, want := range map[int]bool{1: true, 2: false, 3: true} {
		if e := b.entry(n); e.Flags.Has(trade.Replaced) != want {
			t.Errorf("contract %d has the flags %v", n, e.Flags)
		}
	}
	b.row("deliveries", "01|0002", trade.Accepted, "")
}

// A contract that was sent cannot be mapped for a while, because a code is missing: whose row it is
// is judged again when the code is there, and what waited for it goes.
func TestChildrenGoOnceTheirParentCanBeReadAgain(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contracts(2)
		b.pass()
		b.exec(`UPDATE contrato SET preco = preco + 1, carteira = '9', atualizado = '2026-12-01 00:00:00' WHERE num = '0002'`)
		b.delivery(1, 2, 500)
		b.pass()
		b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent)
		b.exec(`INSERT INTO de_para VALUES ('carteira', '9', ?)`, walletID)
		b.clock.advance(24 * time.Hour)
		b.pass()
		b.pass()
		b.row("deliveries", "01|0001", trade.Accepted, "")
	})
}

// Of a child whose contract is before the cut-over people are told that there is nothing to do, and not
// that they should look for the contract; of one whose contract is left out for another reason they are
// not. The next sweep judges anew.
func TestAChildOfAContractBeforeTheCutOverSaysSo(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.spec.Query += ` AND data_contrato >= '2026-03-11'`
		b.contracts(2) // the first one is of the tenth
		b.contract(30)
		b.exec(`UPDATE contrato SET situacao = 'rascunho' WHERE num = '0030'`)
		b.delivery(1, 1, 27480)
		b.delivery(2, 2, 31020)
		b.delivery(3, 30, 31020)
		b.share("a", 1, 30)
		b.pass()
		b.row("deliveries", "01|0002", trade.Accepted, "")
		told := func(job, key, want string) {
			t.Helper()
			e := b.row(job, key, trade.Waiting, trade.CauseParent)
			if got := e.WaitingFor[0].Sentence(trade.Portuguese); !strings.HasPrefix(got, want) {
				t.Errorf("%s %s: %s, want %s", job, key, got, want)
			}
		}
		const early = "aguarda o contrato 01|0001, que é anterior à data de corte: nem ele nem esta linha são enviados"
		told("deliveries", "01|0001", early)
		told("traceability", "a", early)
		told("deliveries", "01|0003", "aguarda o contrato 01|0030, que não está no ERP, está cancelado")
		advice := trade.ExplainEntry(b.row("deliveries", "01|0001", trade.Waiting, trade.CauseParent),
			trade.Portuguese)
		if advice.Fixer != trade.FixNobody || advice.What != "o contrato é anterior à data de corte" {
			t.Errorf("the advice is %+v", advice)
		}

		b.exec(`UPDATE entrega SET volume = 27481 WHERE ticket = '0001'`)
		b.contract(3)
		b.pass() // a row that is mapped again keeps what the last sweep found
		told("deliveries", "01|0001", early)
		told("traceability", "a", early)

		b.exec(`DELETE FROM contrato WHERE num = '0001'`)
		must.Get(b.engine().Sync(t.Context(), nil, engine.Options{Sweep: true}))(t)
		told("deliveries", "01|0001", "aguarda o contrato 01|0001, que não está no ERP, está cancelado")
	})
}

// A delivery that is no living document has the product of the first of its contracts that the ledger has: a
// contract that was cancelled before it was sent takes no delivery from the one of the other job, and one
// that no job has leaves its product unknown. Neither keys of contracts nor the order of reading are stored.
func TestADeliveryThatIsCancelledHasTheProductOfItsContract(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.exec(`CREATE TABLE antigo (filial TEXT, num TEXT, quantidade NUMERIC, preco NUMERIC, produto TEXT, carteira TEXT, situacao TEXT,
			data_contrato DATE, pagamento DATE, obs TEXT, atualizado TIMESTAMP)`)
		b.exec(`ALTER TABLE entrega ADD situacao TEXT`)
		b.contracts(2)
		b.exec(`UPDATE contrato SET produto = 'milho' WHERE num = '0002'`)
		b.exec(`INSERT INTO antigo SELECT * FROM contrato WHERE num = '0001'`)
		b.exec(`UPDATE antigo SET situacao = 'cancelado', produto = 'milho'`)
		early := b.spec
		early.Name, early.Query = "early", strings.Replace(b.spec.Query, "FROM contrato", "FROM antigo", 1)
		deliveries := b.more[0]
		deliveries.Cancelled = b.spec.Cancelled
		parent := deliveries.Fields["contract_id"]
		parent.SentBy = []mapping.ParentSpec{{Job: "early", Columns: parent.Columns}, parent.SentBy[0]}
		deliveries.Fields["contract_id"] = parent
		for ticket, num := range []int{1, 2, 99, 1} {
			b.delivery(ticket, num, 10)
		}
		b.exec(`UPDATE entrega SET situacao = 'cancelado' WHERE ticket <> '0000'`)
		var was []trade.Beside
		for _, order := range []string{" ORDER BY ticket", " ORDER BY ticket DESC"} {
			deliveries.Query = `SELECT filial, ticket, num, volume, um, dia, car, situacao FROM entrega` + order
			b.more = []mapping.JobSpec{early, deliveries}
			b.pass()
			cursor := must.Get(b.ledger.Cursor(t.Context(), "deliveries"))(t)
			beside := cursor.Sweep.Beside
			got := map[string]int{}
			for _, of := range beside[0].Products {
				got[of.Product] = of.Rows
			}
			if diff := cmp.Diff(map[string]int{"SOJA": 1, "MILHO": 1, "": 1}, got); len(beside) != 1 || diff != "" {
				t.Errorf("cancelled deliveries by product (-want +got):\n%s", diff)
			}
			if text := string(must.Get(json.Marshal(beside))(t)); strings.Contains(text, "01|0099") ||
				strings.Contains(text, "contracts") {
				t.Errorf("the sweep keeps contracts: %s", text)
			}
			if diff := cmp.Diff(was, beside); was != nil && diff != "" {
				t.Errorf("the order of reading is in the sums (-first +then):\n%s", diff)
			}
			was = beside
		}
	})
}
