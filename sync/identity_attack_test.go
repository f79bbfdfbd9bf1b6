package sync_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// What two edits at once, or an edit after a person's decision, must not send twice. Each test says
// first what the platform has, and then what a person sees.

// heldFor checks that a row is held, and that its text names the row whose record it may be.
func (b *bench) heldFor(job, key, cause, counterpart string) {
	b.t.Helper()
	e := b.row(job, key, trade.Held, cause)
	if e.State == trade.Held && (e.Error == nil || !strings.Contains(e.Error.Text(), counterpart)) {
		b.t.Errorf("%s %s does not name %s: %+v", job, key, counterpart, e.Error)
	}
}

// records checks how many records of a kind the platform has.
func (b *bench) records(resource string, want int) {
	b.t.Helper()
	if got := len(b.createdOf(resource)); got != want {
		b.t.Errorf("the platform has %d %s, want %d", got, resource, want)
	}
}

// sweeps makes n passes over all jobs that compare everything.
func (b *bench) sweeps(n int) {
	b.t.Helper()
	for range n {
		reports := must.Get(b.engine().Sync(b.t.Context(), nil, engine.Options{Sweep: true}))(b.t)
		for _, r := range reports {
			b.adds(r)
			if r.Stopped != nil {
				b.t.Fatalf("%s stopped: %+v", r.Job, r.Stopped)
			}
		}
	}
}

// A contract is corrected after it and what hangs on it went, and then its tickets and shares are
// typed again: they are known by the record that they went under.
func TestWhatHangsOnACorrectedContractIsRecognised(t *testing.T) {
	season, wallet := "2026/2027", uuid.NewString()
	for name, correct := range map[string]func(b *bench){
		"its quantity in the ERP": func(b *bench) { b.exec(`UPDATE contrato SET quantidade = 4000`) },
		"its harvest in the mapping": func(b *bench) {
			b.spec.Fields["haverst"] = mapping.FieldSpec{Const: &season}
		},
		"its wallet in the mapping": func(b *bench) {
			b.spec.Fields["wallet_id"] = mapping.FieldSpec{Const: &wallet}
		},
		"its wallet in the de-para": func(b *bench) { b.exec(`UPDATE de_para SET id = ?`, wallet) },
	} {
		t.Run(name, func(t *testing.T) {
			onEither(t, family, func(t *testing.T, b *bench) {
				farm := uuid.NewString()
				b.more[1].Fields["farm_id"] = mapping.FieldSpec{Columns: []string{"fazenda"}}
				b.contract(3000)
				b.delivery(1, 3000, 200)
				b.delivery(2, 3000, 206)
				b.share("R1", 3000, 7)
				b.share("R2", 3000, 8)
				b.delivery(5, 3000, 50) // which stays
				b.share("R5", 3000, 9)
				b.sweeps(1)
				b.records("deliveries", 3)
				b.records("traceability", 3)

				correct(b)
				b.sweeps(1)
				b.exec(`UPDATE entrega SET ticket = '9' || ticket, car = 'RS-4314100-B5C72DC4EE60CAEA63367C29A80B21EA' WHERE ticket < '0005'`)
				b.exec(`UPDATE rateio SET id = 'X' || id, fazenda = ? WHERE id < 'R5'`, farm)
				b.sweeps(2)
				b.records("deliveries", 3)
				b.records("traceability", 3)
				b.heldFor("deliveries", "01|90001", trade.CauseRetyped, "01|0001")
				b.heldFor("deliveries", "01|90002", trade.CauseRetyped, "01|0002")
				b.heldFor("traceability", "XR1", trade.CauseRetyped, "R1")
				b.heldFor("traceability", "XR2", trade.CauseRetyped, "R2")
			})
		})
	}
}

// A contract is amended, and later renumbered together with its tickets. A person gives its record
// to the new number, as the manual says: the tickets have gone, and do not go again.
func TestTicketsOfAnAmendedContractThatIsRenumberedDoNotGoAgain(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contracts(2)
		const tickets = 4
		for n := 1; n <= tickets; n++ {
			b.delivery(n, 1, 100+n)
			b.share(fmt.Sprint("R", n), 1, n)
		}
		b.delivery(5, 2, 50) // of a contract that stays
		b.share("R5", 2, 9)
		b.sweeps(1)
		id := b.entry(1).RemoteID
		b.exec(`UPDATE contrato SET quantidade = 500 WHERE num = '0001'`)
		b.sweeps(1)
		b.renumber(1, 9)
		b.exec(`UPDATE entrega SET ticket = '9' || ticket WHERE num = '0009'`)
		b.exec(`UPDATE rateio SET id = 'X' || id WHERE num = '0009'`)
		b.sweeps(1)
		b.heldFor("contracts", key(9), trade.CauseRetyped, key(1))
		b.done(b.adoptRow("contracts", key(9), acts.Adoption{ID: id, DespiteDifferences: true}), acts.NotRefused)
		b.sweeps(2)
		b.records("order_commitments", 2)
		b.records("deliveries", tickets+1)
		b.records("traceability", tickets+1)
		for n := 1; n <= tickets; n++ {
			b.heldFor("deliveries", fmt.Sprintf("01|9%04d", n), trade.CauseRetyped, fmt.Sprintf("01|%04d", n))
			b.heldFor("traceability", fmt.Sprint("XR", n), trade.CauseRetyped, fmt.Sprint("R", n))
		}
	})
}

// twoKeys adds a job that returns each contract under another key.
func twoKeys(b *bench) *bench {
	second := b.spec
	second.Name, second.Fields = "again", maps.Clone(b.spec.Fields)
	second.Query = strings.Replace(b.spec.Query, "num,", "'X' || num AS num,", 1)
	b.more = append(b.more, second)
	return b
}

// twoSpaces adds a job that returns each contract under the same key, and says that its keys are of
// another ERP.
func twoSpaces(b *bench) *bench {
	second := b.spec
	second.Name, second.Fields, second.Identity = "again", maps.Clone(b.spec.Fields), "erp2"
	b.more = append(b.more, second)
	return b
}

// The queries of two jobs return the same contracts, and both jobs find them in the same pass: the
// first one sends, and the second waits for a person. check and the dry run say so before.
func TestRowsThatTwoJobsFindInTheSamePassPauseTheSecond(t *testing.T) {
	const n = 12
	for name, add := range map[string]func(*bench) *bench{"two keys": twoKeys, "two spaces": twoSpaces} {
		t.Run(name, func(t *testing.T) {
			onEither(t, with(add, plain), func(t *testing.T, b *bench) {
				b.contracts(n)
				found := must.Get(dryrun.CheckIdentity(t.Context(), b.ledger, b.source,
					b.engine().Jobs))(t)
				if !slices.ContainsFunc(found, func(f dryrun.IdentityFinding) bool {
					return f.Job == "again" || slices.Contains(f.Others, "again")
				}) {
					t.Errorf("check says %+v", found)
				}
				would := 0
				for _, r := range must.Get(b.engine().Sync(t.Context(), nil, engine.Options{DryRun: true}))(t) {
					if r.Stopped == nil {
						would += r.WouldSend.Rows
					}
					if r.Job == "again" && (r.Stopped == nil || r.Stopped.Brake == nil) {
						t.Errorf("the dry run does not tell: %+v", r.Stopped)
					}
				}
				if would != n {
					t.Errorf("the dry run would send %d contracts, want %d", would, n)
				}
				for range 2 {
					if stop := b.pass()["again"].Stopped; stop == nil || stop.Brake == nil || stop.Brake.Rows != n {
						t.Errorf("stopped %+v", stop)
					}
				}
				b.records("order_commitments", n)

				// Later rows are found by both in one pass as well.
				for i := 1; i <= n; i++ {
					b.contract(100 + i)
				}
				b.pass()
				b.records("order_commitments", 2*n)
			})
		})
	}
}

// Few of them are no reason to stop: what the second job finds is told as equal rows are.
func TestAFewRowsThatTwoJobsFindInTheSamePassAreToldAsTwins(t *testing.T) {
	onEither(t, with(twoKeys, plain), func(t *testing.T, b *bench) {
		b.contracts(2)
		b.wants(b.pass()["again"], "stop none, sent 2, twin flags 2")
	})
}

// A number that was sent stands for a contract of another producer, or of another product, from one
// pass to the next: what hangs on the number waits until somebody has looked.
func TestWhatHangsOnARecycledNumberWaitsUntilSomebodyHasLooked(t *testing.T) {
	other := uuid.NewString()
	for name, recycle := range map[string]func(b *bench){
		"another producer": func(b *bench) {
			b.exec(`UPDATE contrato SET quantidade = 700, obs = ?, data_contrato = '2026-04-01' WHERE num = '0001'`,
				other)
		},
		"another product": func(b *bench) {
			b.exec(`UPDATE contrato SET quantidade = 700, produto = 'milho', data_contrato = '2026-04-01' WHERE num = '0001'`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEither(t, family, func(t *testing.T, b *bench) {
				b.spec.Fields["producer_id"] = mapping.FieldSpec{Columns: []string{"obs"}}
				b.contracts(2)
				b.exec(`UPDATE contrato SET obs = ?`, producerID)
				b.delivery(1, 1, 100)
				b.sweeps(1)
				b.records("deliveries", 1)
				id := b.entry(1).RemoteID

				recycle(b)
				b.delivery(2, 1, 300)
				b.share("R1", 1, 9)
				b.delivery(3, 2, 400) // of a contract that stands
				b.sweeps(2)
				b.flags(1, "[changed replaced]")
				b.records("deliveries", 2)
				b.records("traceability", 0)
				for job, k := range map[string]string{"deliveries": "01|0002", "traceability": "R1"} {
					e := b.row(job, k, trade.Waiting, trade.CauseParent)
					if len(e.WaitingFor) != 1 || e.WaitingFor[0].Key != key(1) {
						t.Errorf("%s %s waits for %+v", job, k, e.WaitingFor)
					}
				}
				b.row("deliveries", "01|0003", trade.Accepted, "")

				if got := b.acknowledge(1); got[0] != acts.NotRefused {
					t.Fatalf("refused: %s", got)
				}
				b.sweeps(2)
				e := b.row("deliveries", "01|0002", trade.Accepted, "")
				if !strings.Contains(string(e.Payload), id) {
					t.Errorf("it went as %s, not under %s", e.Payload, id)
				}
				b.row("traceability", "R1", trade.Accepted, "")
			})
		})
	}
}

// Something on the way refused a contract with a page, and the platform has made it: under another
// key, or in another job, it does not go by itself.
func TestARefusalInNoFormOfTheAPIHoldsTheContentUnderAnotherKeyToo(t *testing.T) {
	for _, status := range []int{400, 413, 422} {
		for name, move := range map[string]func(b *bench) (job, key, cause string){
			"another key": func(b *bench) (string, string, string) {
				b.exec(`UPDATE contrato SET num = '0009' WHERE num = '0001'`)
				return "contracts", key(9), trade.CauseRetyped
			},
			"another key and price": func(b *bench) (string, string, string) {
				b.exec(`UPDATE contrato SET num = '0009', preco = 99 WHERE num = '0001'`)
				return "contracts", key(9), trade.CauseRetyped
			},
			"another job": func(b *bench) (string, string, string) {
				b.becomes(1, "fixacao")
				return "fixations", key(1), trade.CauseOtherJob
			},
		} {
			t.Run(fmt.Sprint(status, " ", name), func(t *testing.T) {
				either(t, func(t *testing.T, db database) {
					fault := fmt.Sprintf("status=%d,commit,type=text/html@1,body=<html>blocked</html>", status)
					b := withTypes(newBenchOn(t, db, sandbox.Options{Faults: faults(t, fault)}))
					b.limits.MaxInFlight = 1
					b.contracts(2)
					b.pass()
					if e := b.entry(1); e.State != trade.Rejected {
						t.Fatalf("it is %s (%s)", e.State, e.Cause)
					}
					job, k, cause := move(b)
					b.sweeps(3)
					b.onPlatform("1", "2")
					b.heldFor(job, k, cause, map[bool]string{true: key(1), false: "job contracts"}[job == "contracts"])
				})
			})
		}
	}
}

// A refusal that proves nothing may have made a record. The mapping is corrected, and later the row
// gets another number while its own one gets another contract: what was sent is known still.
func TestWhatARefusalWithoutProofSentIsKnownUnderACorrectedMapping(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{
			Faults: faults(t, "status=422,commit,type=text/html@1,body=<html>blocked</html>"),
		})
		b.write(10)
		b.sweep()
		b.expect(1, trade.Rejected, "")
		b.spec.Fields["initial_delivery_date"] = mapping.FieldSpec{Columns: []string{"data_contrato"}}
		b.spec.Fields["payday"] = mapping.FieldSpec{Columns: []string{"data_contrato"}} // other cells, another payload
		b.sweep()
		b.write(20, 10)
		b.sweep()
		b.sweep()
		b.onPlatform("10")
		b.heldFor("contracts", key(2), trade.CauseRetyped, key(1))
	})
}

// A row that was held, dismissed, and reopened on a ledger that was rebuilt says again for which
// record it is held.
func TestARowThatIsReopenedAfterARebuildSaysForWhichRecordItIsHeld(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.write(10)
	b.sweep()
	b.write(0, 10)
	b.sweep()
	b.done(b.dismiss(2), acts.NotRefused)
	b.rebuilt()
	b.sweep()
	b.done(b.reopen(2), acts.NotRefused)
	b.sweep()
	b.onPlatform("10")
	b.heldFor("contracts", key(2), trade.CauseRetyped, key(1))
}

// A row that somebody typed on the platform was dismissed, and another document has its number by
// now. To reopen that number would let the dismissed content go under its new one.
func TestANumberIsNotReopenedWhileARowIsHeldForWhatWasDismissed(t *testing.T) {
	onBoth(t, plain, func(t *testing.T, b *bench) {
		b.write(10)
		b.run(engine.Options{RecordOnly: true})
		b.done(b.dismiss(1), acts.NotRefused) // it is on the platform
		b.write(20, 10)
		b.sweep()
		b.heldFor("contracts", key(2), trade.CauseRetyped, key(1))
		b.done(b.reopen(1), acts.HeldForIt)
		b.done(b.dismiss(2), acts.NotRefused)
		both := must.Get(b.acts().Reopen(t.Context(), "contracts", []string{key(1), key(2)}))(t)
		if both.Steps[0].Refused != acts.HeldForIt || both.Steps[1].Refused != acts.NotRefused {
			t.Errorf("both in one order: %q and %q", both.Steps[0].Refused, both.Steps[1].Refused)
		}
		b.done(b.reopen(1), acts.NotRefused)
		b.sweep()
		b.sweep()
		b.onPlatform("20")
	})
}

// A traceability record is typed again, and its farm, which was open, is filled in: it is the same,
// as a delivery is whose CAR is filled in.
func TestAShareThatIsTypedAgainWithItsFarmIsHeld(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.more[1].Fields["farm_id"] = mapping.FieldSpec{Columns: []string{"fazenda"}}
		b.contracts(1)
		b.share("R1", 1, 7)
		b.share("R2", 1, 8)
		b.delivery(1, 1, 100)
		b.share("R5", 1, 10) // which stay
		b.delivery(5, 1, 50)
		b.sweeps(1)
		b.exec(`UPDATE rateio SET id = 'X' || id, fazenda = ? WHERE id < 'R5'`, uuid.NewString())
		b.exec(
			`UPDATE entrega SET ticket = '0009', car = 'RS-4314100-B5C72DC4EE60CAEA63367C29A80B21EA' WHERE ticket = '0001'`)
		b.share("R3", 1, 9) // another one, but which of the three is R1 only a person knows
		b.sweeps(2)
		b.records("traceability", 3)
		b.records("deliveries", 2)
		b.heldFor("traceability", "XR1", trade.CauseRetyped, "R1")
		b.heldFor("traceability", "XR2", trade.CauseRetyped, "R2")
		b.heldFor("traceability", "R3", trade.CauseRetyped, "R1")
		b.heldFor("deliveries", "01|0009", trade.CauseRetyped, "01|0001")
	})
}

// A contract is deleted and typed again under another number, and one thing is otherwise: who typed
// it, in which unit, when, or where.
func TestAContractThatIsTypedAgainWithOneThingOtherwiseIsHeld(t *testing.T) {
	for name, set := range map[string]string{
		"issuer": `situacao = 'outro'`, "unit": `quantidade = 60 * quantidade, obs = 'KG', preco = preco / 60`,
		"unit and not the price": `quantidade = 60 * quantidade, obs = 'KG'`, "order date": `data_contrato = '2026-03-12'`,
		"wallet": `carteira = '2'`, "delivery place": `situacao = 'filial'`, "quantity": `quantidade = 7 + quantidade`,
		"payday": `pagamento = '2026-08-01'`, "price": `preco = 99`,
	} {
		t.Run(name, func(t *testing.T) {
			onEither(t, plain, func(t *testing.T, b *bench) {
				b.exec(`INSERT INTO de_para VALUES ('carteira', '2', ?)`, uuid.NewString())
				for field, values := range map[string]map[string]string{
					"issuer_id":           {"aprovado": issuerID, "outro": uuid.NewString(), "filial": issuerID},
					"delivery_place_id":   {"aprovado": placeID, "outro": placeID, "filial": uuid.NewString()},
					"unit_of_measurement": {"SC": "SC", "KG": "KG"},
				} {
					column := "situacao"
					if field == "unit_of_measurement" {
						column = "obs"
					}
					b.spec.Fields[field] = mapping.FieldSpec{
						Columns: []string{column}, ValuesName: column, Values: values,
					}
				}
				b.exec(
					`INSERT INTO contrato VALUES ('01', '0001', 10, 120, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', 'SC', '2026-03-10 08:00:00')`)
				b.exec(
					`INSERT INTO contrato VALUES ('01', '0002', 20, 120, 'milho', '1', 'aprovado', '2026-03-10', '2026-07-01', 'SC', '2026-03-10 08:00:00')`)
				b.sweeps(1)
				b.records("order_commitments", 2)
				b.exec(`UPDATE contrato SET num = '0009', ` + set + ` WHERE num = '0001'`)
				b.sweeps(3)
				b.records("order_commitments", 2)
				b.heldFor("contracts", key(9), trade.CauseRetyped, key(1))
			})
		})
	}
}

// Somebody typed contracts on the platform by hand, and a person dismissed their rows: under
// another number they do not go by themselves. Taken back, they are rows as any other.
func TestADismissedRowThatIsRenumberedDoesNotGo(t *testing.T) {
	for name, arrive := range map[string]func(b *bench){
		"it had not gone yet": func(b *bench) {
			must.Get(b.engine().Sync(b.t.Context(), nil, engine.Options{RecordOnly: true}))(b.t)
		},
		"it was refused": func(b *bench) {
			b.api.Forget(sandbox.Wallets, walletID)
			b.pass()
			b.api.Know(sandbox.Wallets, walletID)
			b.clock.advance(25 * time.Hour) // the platform is asked again
		},
		"it lacked a code": func(b *bench) {
			b.exec(`UPDATE de_para SET codigo = '2'`)
			b.pass()
			b.exec(`UPDATE de_para SET codigo = '1'`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEither(t, plain, func(t *testing.T, b *bench) {
				b.contract(5) // which stays
				b.pass()
				b.contracts(3)
				arrive(b)
				b.onPlatform("5")
				for n := 1; n <= 3; n++ {
					b.done(b.dismiss(n), acts.NotRefused)
				}
				b.exec(`UPDATE contrato SET num = '9' || num WHERE num < '0005'`)
				b.contract(6)
				b.sweeps(3)
				b.onPlatform("5", "6")
				for n := 1; n <= 3; n++ {
					b.heldFor("contracts", fmt.Sprintf("01|9%04d", n), trade.CauseRetyped, key(n))
				}
			})
		})
	}
}

// The platform says that a contract exists, and a person dismisses its row, because it does: under
// another number, or in another job, it does not go by itself, as if nobody had dismissed it.
func TestWhatThePlatformSaysExistsStaysSoWhenItIsDismissed(t *testing.T) {
	for name, move := range map[string]func(b *bench) (job, key, cause string){
		"another key": func(b *bench) (string, string, string) {
			b.exec(`UPDATE contrato SET num = '0009', preco = 99 WHERE num = '0001'`)
			return "contracts", key(9), trade.CauseRetyped
		},
		"another job": func(b *bench) (string, string, string) {
			b.becomes(1, "fixacao")
			return "fixations", key(1), trade.CauseOtherJob
		},
	} {
		for _, dismissed := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", dismissed ", dismissed), func(t *testing.T) {
				onEither(t, with(withTypes, failing("status=409,commit@1")), func(t *testing.T, b *bench) {
					b.limits.MaxInFlight = 1
					b.contracts(2)
					b.pass()
					b.expect(1, trade.Held, trade.CauseExists)
					if dismissed {
						b.done(b.dismiss(1), acts.NotRefused)
					}
					job, k, cause := move(b)
					b.sweeps(3)
					b.onPlatform("1", "2")
					b.heldFor(job, k, cause, map[bool]string{true: key(1), false: "job contracts"}[job == "contracts"])
				})
			})
		}
	}
}

// The same of a delivery, which nobody can read back: dismissing it is the natural thing to do.
func TestADeliveryThatThePlatformSaysExistsStaysSoWhenItIsDismissed(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := withChildren(newBenchOn(t, db, sandbox.Options{
			Faults: faults(t, "deliveries:status=409,commit@1", "traceability:status=409,commit@1"),
		}))
		b.limits.MaxInFlight = 1
		b.contracts(1)
		b.delivery(1, 1, 100)
		b.share("R1", 1, 7)
		b.pass()
		for job, k := range map[string]string{"deliveries": "01|0001", "traceability": "R1"} {
			b.row(job, k, trade.Held, trade.CauseExists)
			b.done(b.actOn(job, k, (*acts.Acts).Dismiss), acts.NotRefused)
		}
		b.exec(`UPDATE entrega SET ticket = '0009'`)
		b.exec(`UPDATE rateio SET id = 'X'`)
		b.sweeps(3)
		b.records("deliveries", 1)
		b.records("traceability", 1)
		b.heldFor("deliveries", "01|0009", trade.CauseRetyped, "01|0001")
		b.heldFor("traceability", "X", trade.CauseRetyped, "R1")
	})
}

// A delivery that cannot go yet comes in front of another one, which is typed again with its CAR: its
// number holds nothing that is like it any more.
func TestADeliveryThatIsTypedAgainBehindAnotherOneIsHeld(t *testing.T) {
	onEither(t, family, func(t *testing.T, b *bench) {
		b.contract(1)
		b.delivery(1, 1, 500)
		b.pass()
		b.records("deliveries", 1)
		b.exec(`UPDATE entrega SET ticket = '0002', car = 'GO-5221601-0123456789ABCDEF0123456789ABCDEF'`)
		b.delivery(1, 7, 700)
		b.sweeps(3)
		b.records("deliveries", 1)
		b.heldFor("deliveries", key(2), trade.CauseRetyped, key(1))
	})
}

// A row that was refused without proof is dismissed, a de-para is corrected, and the row is reopened:
// what goes then is what it is today.
func TestARowRefusedWithoutProofThatIsReopenedGoesAsItIsToday(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{
			Faults: faults(t, "status=422,type=text/html@1,body=<html>blocked</html>"),
		})
		b.write(10)
		b.sweep()
		b.expect(1, trade.Rejected, "")
		b.done(b.dismiss(1), acts.NotRefused)
		season := "2027/2028"
		b.spec.Fields["haverst"] = mapping.FieldSpec{Const: &season}
		b.done(b.reopen(1), acts.NotRefused)
		b.sweep()
		b.done(b.retry(1), acts.NotRefused)
		b.sweep()
		made := b.api.Created()
		if len(made) != 1 || made[0].Fields["haverst"] != season {
			t.Errorf("the platform has %d records, or one of the former season", len(made))
		}
	})
}

// A row that was refused without proof, and edited after a rebuild, is sent as it is when a person
// orders that.
func TestARowRefusedWithoutProofThatIsEditedAfterARebuildCanGo(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "status=422,type=text/html@1,body=<html>blocked</html>")})
	b.write(10)
	b.sweep()
	b.rebuilt()
	b.write(20)
	b.sweep()
	season := "2027/2028"
	b.spec.Fields["haverst"] = mapping.FieldSpec{Const: &season}
	b.sweep()
	b.done(b.retry(1), acts.NotRefused)
	b.sweep()
	b.onPlatform("20")
}

// Two jobs return the same contracts, and one of them maps another column: what hangs on a contract goes
// under the record of the other one.
func TestChildrenGoWhereAnotherJobMapsTheirContractInAnotherWay(t *testing.T) {
	t.Parallel()
	b := withChildren(newBench(t, sandbox.Options{}))
	second := b.spec
	second.Name, second.Fields = "again", maps.Clone(b.spec.Fields)
	second.Fields["payday"] = mapping.FieldSpec{Columns: []string{"data_contrato"}} // other cells, too
	b.more[0].Fields["contract_id"] = mapping.FieldSpec{
		Columns: []string{"filial", "num"},
		SentBy: []mapping.ParentSpec{
			{Job: "contracts", Columns: []string{"filial", "num"}}, {Job: "again", Columns: []string{"filial", "num"}},
		},
	}
	b.more = append(b.more, second)
	b.contract(1)
	b.sweeps(1)
	b.delivery(1, 1, 100)
	b.sweeps(1)
	b.records("order_commitments", 1)
	b.records("deliveries", 1)
}

// While the first contracts of a pass go, one of them is deleted, and a later one becomes what it
// was, with one field corrected.
func TestARowThatIsEditedWhileItsPassSendsIsComparedWithWhatWentInIt(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		var b *bench
		b = newBenchOn(t, db, sandbox.Options{OnExecuted: func(n int, _ sandbox.Record) {
			if n == 1 {
				b.exec(`UPDATE contrato SET (quantidade, preco, produto, data_contrato) =
					(SELECT quantidade + 1, preco, produto, data_contrato FROM contrato WHERE num = '0001') WHERE num = '0200'`)
				b.exec(`DELETE FROM contrato WHERE num = '0001'`)
			}
		}})
		b.limits.MaxInFlight = 1
		b.contracts(200)
		b.sweeps(2)
		b.records("order_commitments", 199)
		b.heldFor("contracts", key(200), trade.CauseRetyped, key(1))
	})
}
