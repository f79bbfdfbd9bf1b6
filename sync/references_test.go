package sync_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// imports adds codes as `safrasync refs import` does.
func (b *bench) imports(kind string, codes map[string]string) {
	b.t.Helper()
	if _, _, err := b.ledger.ImportReferences(b.t.Context(), kind, codes, nil,
		trade.AuditRecord{At: b.clock.Now(), Who: "test", Act: "refs import", Target: kind}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) table(kind string) map[string]string {
	b.t.Helper()
	all, _, err := b.ledger.References(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return all[kind]
}

func TestARowThatWaitedGoesByItselfAfterAnImport(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.refs = nil
		b.contracts(3)
		b.exec(`UPDATE contrato SET pagamento = NULL, carteira = '2' WHERE num = '0003'`)
		b.wants(b.sync(engine.Options{}), "sent 0, waiting 2")
		e := b.expect(3, trade.Invalid, "rule:payday")
		if diff := cmp.Diff([]trade.Awaited{{Ref: "wallets", Code: "2"}}, e.WaitingFor); diff != "" {
			t.Errorf("an invalid row that is short of a reference says both (-want +got):\n%s", diff)
		}
		b.imports("wallets", map[string]string{"1": walletID})
		b.wants(b.sync(engine.Options{}), "sweep false, sent 2, accepted 2")
		for _, r := range b.api.Created() {
			if got := r.Fields["wallet_id"]; got != walletID {
				t.Errorf("wallet %v was sent", got)
			}
		}
	})
}

func TestAChangedOrRemovedCodeLeavesWhatWasSentAndMapsTheRestAgain(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.refs, b.limits.MaxInFlight = nil, 1
		other := uuid.NewString()
		b.imports("wallets", map[string]string{"1": walletID})
		b.contracts(1)
		b.sync(engine.Options{})
		sent := b.expect(1, trade.Accepted, "")

		b.contract(2)
		b.contract(3)
		b.api.SetFaults(faults(t, "throttle=1800s")...)
		b.sync(engine.Options{})
		b.expect(2, trade.Pending, "")
		b.api.SetFaults()
		b.clock.advance(2 * time.Hour)

		b.imports("wallets", map[string]string{"1": other})
		b.exec(`UPDATE contrato SET carteira = '9', atualizado = '2026-03-11 08:00:00' WHERE num = '0003'`)
		if r := b.sync(engine.Options{Sweep: true}); r.Sent != 1 || len(r.Flags) != 1 || r.Flags[trade.Recoded] != 1 {
			t.Errorf("sent %d, flags %v, stopped %+v", r.Sent, r.Flags, r.Stopped)
		}
		if got := b.api.Created()[1].Fields["wallet_id"]; got != other {
			t.Errorf("the row that had not gone was sent with wallet %v, want the new %s", got, other)
		}
		must.Get(b.ledger.RemoveReferences(t.Context(), "wallets", []string{"1"},
			trade.AuditRecord{At: b.clock.Now(), Act: "refs remove"}))(t)
		b.contract(4)
		b.wants(b.sync(engine.Options{Sweep: true}), "sent 0, flags 0")
		b.expect(2, trade.Accepted, "")
		b.expect(4, trade.Waiting, "ref:wallets")
		now := b.expect(1, trade.Accepted, "")
		sent.Version, sent.UpdatedAt = now.Version, now.UpdatedAt
		if !cmp.Equal(sent, now) {
			t.Errorf("what was sent changed with its reference (-before +after):\n%s", cmp.Diff(sent, now))
		}
		// the code comes back, with the id that the second row was sent with
		b.imports("wallets", map[string]string{"1": other})
		b.wants(b.sync(engine.Options{}), "recoded flags 1")
		b.flagged(trade.Recoded, 1)
		b.imports("wallets", map[string]string{"1": walletID})
		b.sync(engine.Options{})
		b.flagged(trade.Recoded, 2, 4)
	})
}

func TestReferencesAreReadFromTheERPAsItKeepsThem(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.exec(`CREATE TABLE carteiras (filial CHAR(4), cod CHAR(6), uuid CHAR(40))`)
		padded := func(filial, cod, id string) {
			b.exec(`INSERT INTO carteiras VALUES (?, ?, ?)`, fmt.Sprintf("%-4s", filial), fmt.Sprintf("%-6s", cod),
				fmt.Sprintf("%-40s", id))
		}
		padded("01", "0001", "{"+strings.ToUpper(walletID)+"}")
		padded("01", "0001", walletID) // the same id in another spelling is no second one
		padded("", "a|b", strings.ToUpper(walletID))
		padded("01", "", "no uuid")
		padded("", "", walletID)   // no code
		padded("02", "0002", "  ") // no id yet
		b.refs = []mapping.ReferenceSpec{{
			Kind: "wallets", Query: "SELECT filial, cod, uuid FROM carteiras",
			Code: []string{"FILIAL", "cod"}, ID: "uuid",
		}}
		b.spec.Query = strings.Replace(b.spec.Query, "carteira,", "'01  ' AS cart_filial, carteira,", 1)
		b.spec.Fields["wallet_id"] = mapping.FieldSpec{Columns: []string{"cart_filial", "carteira"}, Ref: "wallets"}
		b.contracts(3)
		b.exec(`UPDATE contrato SET carteira = '0001' WHERE num = '0001'`)
		b.exec(`UPDATE contrato SET carteira = '  ' WHERE num = '0002'`)
		b.wants(b.sync(engine.Options{}), "sent 1, notes 0")
		if diff := cmp.Diff(map[string]string{"01|0001": walletID, `|a\|b`: walletID, "01|": "no uuid"},
			b.table("wallets")); diff != "" {
			t.Errorf("wallets (-want +got):\n%s", diff)
		}
		b.expect(1, trade.Accepted, "")
		b.expect(2, trade.Invalid, "rule:wallet_id")
		b.expect(3, trade.Waiting, "ref:wallets")
	})
}

// twoJobs adds a job that needs no reference, for the contracts of branch 02.
func (b *bench) twoJobs() {
	second := contractsSpec()
	second.Name = "branch"
	second.Query = strings.Replace(second.Query, "WHERE", "WHERE filial = '02' AND", 1)
	wallet := walletID
	second.Fields["wallet_id"] = mapping.FieldSpec{Const: &wallet}
	b.spec.Query = strings.Replace(b.spec.Query, "WHERE", "WHERE filial = '01' AND", 1)
	b.more = []mapping.JobSpec{second}
	b.contracts(1)
	b.contract(2)
	b.exec(`UPDATE contrato SET filial = '02' WHERE num = '0002'`)
}

func TestACodeWithTwoIdsStopsOnlyTheJobThatNeedsIt(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.twoJobs()
		b.exec(`INSERT INTO de_para VALUES ('carteira', ' 1 ', ?)`, uuid.NewString())
		reports := must.Get(b.engine().Sync(t.Context(), nil, engine.Options{}))(t)
		if stop := reports[0].Stopped; stop == nil || stop.Code != "references" ||
			!strings.Contains(stop.Text(), "references.wallets: 1 code has two ids (1)") {
			t.Errorf("stopped %+v", stop)
		}
		if r := reports[1]; r.Stopped != nil || r.Sent != 1 {
			t.Errorf("the other job: sent %d, stopped %+v", r.Sent, r.Stopped)
		}
		b.exec(`DELETE FROM de_para WHERE codigo = ' 1 '`)
		b.wants(b.sync(engine.Options{}), "stop none, sent 1")
	})
}

func TestATableOfTheERPThatIsEmptyAllAtOnceIsNotBelieved(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.twoJobs()
		b.sync(engine.Options{})
		b.expect(1, trade.Accepted, "")
		b.contract(3)
		b.exec(`UPDATE de_para SET id = ' '`) // the view broke: rows, but no ids
		for _, dry := range []bool{true, false} {
			reports := must.Get(b.engine().Sync(t.Context(), nil, engine.Options{DryRun: dry}))(t)
			if stop := reports[0].Stopped; stop == nil || stop.Code != "references" ||
				!strings.Contains(stop.Text(),
					"references.wallets: the query returns no code with an id, but 1 is known") {
				t.Errorf("dry run %t: stopped %+v", dry, stop)
			}
			if r := reports[1]; r.Stopped != nil {
				t.Errorf("the other job stopped: %+v", r.Stopped)
			}
		}
		if diff := cmp.Diff(map[string]string{"1": walletID}, b.table("wallets")); diff != "" {
			t.Errorf("the de-para was not kept (-want +got):\n%s", diff)
		}
		b.exec(`UPDATE de_para SET id = ?`, walletID)
		b.wants(b.sync(engine.Options{}), "stop none, sent 1")
	})
}

func TestATableOfTheERPThatNeverHadARowIsJustEmpty(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.exec(`DELETE FROM de_para`)
	b.contracts(1)
	b.wants(b.sync(engine.Options{}), "stop none, waiting 1")
}

// flagged checks which contracts have a flag.
func (b *bench) flagged(flag trade.Flag, nums ...int) {
	b.t.Helper()
	var got, want []string
	for _, e := range b.entries(trade.RowQuery{Flags: []trade.Flag{flag}}) {
		got = append(got, e.Key)
	}
	for _, num := range nums {
		want = append(want, key(num))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		b.t.Errorf("contracts with the flag %s (-want +got):\n%s", flag, diff)
	}
}

// A de-para that is corrected while a run sends is used within seconds; what left before is shown.
func TestADeParaThatIsCorrectedWhileARunSendsIsUsedByTheRestOfIt(t *testing.T) {
	other := uuid.NewString()
	for name, correct := range map[string]func(b *bench){
		"in the ERP": func(b *bench) { b.exec(`UPDATE de_para SET id = ?`, other) },
		"by an import": func(b *bench) {
			b.imports("wallets", map[string]string{"1": other, "2": other})
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEither(t, plain, func(t *testing.T, b *bench) {
				if name != "in the ERP" {
					b.refs = nil
					b.imports("wallets", map[string]string{"1": walletID})
				}
				b.limits.MaxInFlight = 1
				b.contracts(6)
				b.exec(`UPDATE contrato SET carteira = '2' WHERE num = '0006'`) // it waits for a code
				posted := 0
				b.posting = func(ctx context.Context, submit submission) (apiclient.Answer, error) {
					posted++
					if posted == 2 {
						correct(b)
						b.clock.advance(8 * time.Second)
					}
					return submit(ctx)
				}
				r := b.sync(engine.Options{})
				var old []int
				for i, c := range b.api.Created() {
					switch c.Fields["wallet_id"] {
					case walletID:
						old = append(old, i+1)
					case other:
					default:
						t.Errorf("wallet %v was sent", c.Fields["wallet_id"])
					}
				}
				if want := 5 + len(b.table("wallets")) - 1; r.Sent != want || len(old) < 2 || len(old) > 3 {
					t.Errorf("sent %d, want %d; with the former id went %v; %+v", r.Sent, want, old, r.Stopped)
				}
				b.flagged(trade.Recoded, old...)
				b.sync(engine.Options{})
				b.sync(engine.Options{Sweep: true})
				b.flagged(trade.Recoded, old...)
				for _, num := range old {
					b.expect(num, trade.Accepted, "")
				}
			})
		})
	}
}
