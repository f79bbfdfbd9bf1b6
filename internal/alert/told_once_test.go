package alert

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

func TestAStopIsToldOnceAndOnceWhenItIsOver(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.tick(0)
		w.wantMails()
		w.status("contracts", trade.Stopped, "api_key")
		w.tick(time.Minute)
		m := w.wantMails(begins(Stopped, "api_key", "contracts"))[0]
		m.says(t, "contracts (contratos)", trade.ExplainStop("api_key", trade.Portuguese).What,
			portuguese.text("Since when")+"\n10/08/2026 09:00", portuguese.text("Nothing is lost: the data waits in the ERP."))
		for range 5 {
			w.tick(time.Minute)
		}
		w.wantMails()
		w.status("contracts", trade.Idle, "")
		w.tick(time.Minute)
		w.tick(Settling - time.Minute)
		w.wantMails() // it may come back
		w.tick(time.Minute)
		m = w.wantMails(ends(Stopped, "api_key", "contracts"))[0]
		m.says(t, "O envio de contracts (contratos) estava parado: ", "10/08/2026 09:00", "10/08/2026 09:07", "7 minutos")
		w.tick(time.Hour)
		w.wantMails()
		if n := len(w.hook.take()); n != 2 {
			t.Errorf("the webhook got %d messages, want 2", n)
		}
	})
}

func TestWhatEndsAndComesBackSoonIsOneMessage(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		for range 6 {
			w.status("contracts", trade.Stopped, "erp")
			w.tick(4 * time.Minute)
			w.status("contracts", trade.Idle, "")
			w.tick(5 * time.Minute)
		}
		w.wantMails(begins(Stopped, "erp", "contracts"))
		w.tick(Settling)
		w.wantMails(ends(Stopped, "erp", "contracts"))
		w.status("contracts", trade.Stopped, "erp")
		w.tick(time.Minute)
		w.wantMails(begins(Stopped, "erp", "contracts"))
	})
}

// A brake that a person released before anybody looked is noted, and nobody is told of it; what is
// open comes before all that is over.
func TestABrakeThatWasReleasedAtOnceIsNoted(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.status("contracts", trade.Stopped, "api_key")
		w.tick(0)
		w.wantMails(begins(Stopped, "api_key", "contracts"))
		w.run("deliveries", func(r *trade.RunReport) {
			r.Stopped = &trade.Stop{Code: "brake_new_rows", Brake: &trade.Brake{Rows: 900, Usual: 12}}
		})
		w.status("deliveries", trade.Idle, "") // it was released
		w.tick(46 * time.Second)
		for range 20 {
			w.tick(time.Minute)
		}
		w.wantMails()
		var got []string
		for _, a := range must.Get(w.store.LatestAlerts(t.Context(), 2))(t) {
			got = append(got, a.Subject)
			if brake := a.Subject != "api_key"; brake != !a.ClosedAt.IsZero() || brake != a.RaisedAt.IsZero() {
				t.Errorf("%+v", a)
			}
		}
		if want := []string{"api_key", "brake_new_rows deliveries"}; !slices.Equal(got, want) {
			t.Errorf("alerts %q, want %q", got, want)
		}
	})
}

// What an open alert says of its oldest row is as it is now, also where the number is the same.
func TestAnOpenAlertSaysWhatIsSoNow(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		rows := w.record("contracts", w.contract("1", "{}"), w.contract("2", "{}"))
		w.send("contracts", rows[0], trade.OutcomeUnknown, "")
		w.tick(time.Hour)
		w.settleDoubt("contracts", "1", "11111111-1111-4111-8111-111111111119")
		w.send("contracts", rows[1], trade.OutcomeUnknown, "")
		w.tick(time.Minute)
		var d Detail
		open := must.Get(w.store.Alerts(t.Context()))(t)
		must.Do(t, unmarshalDetail(open[0], &d))
		if d.Rows != 1 || !d.Oldest.After(monday) {
			t.Errorf("%+v", d)
		}
	})
}

func TestOneReasonForSeveralJobsIsOneMessage(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		w.status("contracts", trade.Stopped, "api_certificate")
		w.status("deliveries", trade.Stopped, "api_certificate")
		w.tick(time.Minute)
		w.wantMails(begins(Stopped, "api_certificate", "contracts", "deliveries"))
		w.status("contracts", trade.Idle, "")
		w.tick(time.Hour)
		w.tick(time.Hour)
		w.wantMails() // one of them still stands
		w.status("deliveries", trade.Idle, "")
		w.tick(time.Minute)
		w.tick(Settling)
		w.wantMails(ends(Stopped, "api_certificate", "contracts", "deliveries"))
	})
}

func TestAnotherReasonIsAnotherMessage(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		w.status("contracts", trade.Stopped, "api_key")
		w.tick(time.Minute)
		w.status("contracts", trade.Stopped, "in_doubt")
		w.tick(time.Minute)
		w.wantMails(begins(Stopped, "api_key", "contracts"), begins(Stopped, "in_doubt", "contracts"))
	})
}

func TestARestartAndASecondInstanceRepeatNothing(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.status("contracts", trade.Stopped, "api_key")
		w.tick(time.Minute)
		w.wantMails(begins(Stopped, "api_key", "contracts"))
		other := w.another()
		for range 3 {
			w.now = w.now.Add(time.Minute)
			for _, s := range []*Service{other, w.another(), w.Service} {
				must.Do(t, s.Tick(t.Context()))
			}
		}
		w.wantMails()
		w.status("contracts", trade.Idle, "")
		for range 12 {
			w.now = w.now.Add(time.Minute)
			for _, s := range []*Service{other, w.Service} {
				must.Do(t, s.Tick(t.Context()))
			}
		}
		w.wantMails(ends(Stopped, "api_key", "contracts"))
	})
}

func TestAPauseOfAPersonAndASignalAreNoAlert(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		w.status("contracts", trade.Stopped, "interrupted")
		w.status("deliveries", trade.Paused, "paused")
		w.tick(time.Hour)
		w.tick(time.Hour)
		w.wantMails()
	})
}

func TestAPlatformThatIsAwayForShortIsNoAlert(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		w.status("contracts", trade.BackingOff, "api_unreachable")
		w.tick(time.Minute)
		w.tick(20 * time.Minute)
		w.status("contracts", trade.Idle, "")
		w.tick(time.Minute)
		w.tick(Settling)
		w.wantMails()
		w.status("contracts", trade.BackingOff, "api_unreachable")
		w.tick(time.Minute)
		w.status("contracts", trade.Running, "") // the next try
		w.tick(5 * time.Minute)
		w.status("contracts", trade.BackingOff, "api_unreachable")
		w.tick(25 * time.Minute)
		w.wantMails(begins(Stopped, "api_unreachable", "contracts"))
	})
}

func TestADoubtIsOneMessageHoweverManyRows(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		rows := w.record("contracts", w.contract("1", `{}`), w.contract("2", `{}`), w.contract("3", `{}`))
		w.send("contracts", rows[0], trade.OutcomeUnknown, "")
		w.tick(time.Minute)
		w.wantMails() // its answer may come late
		w.send("contracts", rows[1], trade.OutcomeUnknown, "")
		w.tick(2 * time.Minute)
		m := w.wantMails(begins(InDoubt, "", "contracts"))[0]
		m.says(t, "2 contratos", "10/08/2026 09:00")
		w.send("contracts", rows[2], trade.OutcomeUnknown, "")
		w.tick(time.Hour)
		w.wantMails()
		for i, key := range []string{"1", "2", "3"} {
			w.settleDoubt("contracts", key, "00000000-0000-4000-8000-00000000000"+string(rune('1'+i)))
		}
		w.tick(time.Minute)
		w.tick(Settling)
		w.wantMails(ends(InDoubt, "", "contracts"))
	})
}

func TestRefusalsAboveTheLimitAreToldWithTheirCauses(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		w.Causes = func(context.Context, string, []trade.State) ([]Cause, error) {
			return []Cause{{
				State: trade.Rejected, Cause: "message.wallet.not-found", Rows: 3, Subjects: 1, Oldest: w.now,
			}}, nil
		}
		rows := w.record("contracts", w.contract("1", `{}`), w.contract("2", `{}`), w.contract("3", `{}`))
		for i, r := range rows {
			w.send("contracts", r, trade.OutcomeNotCreated, "")
			w.tick(time.Minute)
			if i < 2 {
				w.wantMails()
			}
		}
		m := w.wantMails(begins(Rejected, "", "contracts"))[0]
		m.says(t, "3 contratos", "limite do alerta: 2",
			portuguese.text("Why")+"\n  • 3 × "+
				trade.Explain(trade.Rejected, "message.wallet.not-found", trade.Portuguese).What,
			"1 código")
	})
}

func TestNothingNewCountsWorkingDaysAndNeedsARunThatLooked(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		w.now = monday.AddDate(0, 0, 3) // Thursday
		w.record("contracts", w.contract("1", `{"a":1}`))
		w.run("contracts")
		w.now = w.now.AddDate(0, 0, 4) // Monday: two working days
		w.run("contracts")
		w.OldestLimitOff()
		w.tick(0)
		w.wantMails()
		w.now = w.now.AddDate(0, 0, 1).Add(time.Minute) // Tuesday: three
		w.tick(0)
		w.wantMails() // nobody has looked since
		w.run("contracts", func(r *trade.RunReport) { r.Stopped = &trade.Stop{Code: "erp"} })
		w.tick(time.Minute)
		w.wantMails() // and this one did not see anything
		w.run("contracts")
		w.tick(time.Minute)
		w.wantMails(begins(NothingNew, "", "contracts"))
		w.record("contracts", w.contract("2", `{"a":2}`))
		w.tick(time.Minute)
		w.tick(Settling)
		w.wantMails(ends(NothingNew, "", "contracts"))
	})
}

// OldestLimitOff leaves the age of waiting rows out of a test about something else.
func (w *world) OldestLimitOff() { w.Limits.OldestWaiting = 0 }

func TestARowThatWaitsTooLongIsTold(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		waiting := func(e *trade.Entry) {
			e.State, e.Cause, e.Payload, e.PayloadHash = trade.Waiting, "ref:wallets", nil, ""
			e.WaitingFor = []trade.Awaited{{Ref: "wallets", Code: "12"}}
		}
		w.record("deliveries", w.contract("1", `{}`, waiting, func(e *trade.Entry) { e.Sends = trade.Deliveries }))
		w.tick(48 * time.Hour)
		w.wantMails()
		w.tick(time.Minute)
		m := w.wantMails(begins(LongWaiting, "", "deliveries"))[0]
		m.says(t, "1 entrega", "10/08/2026 09:00")
	})
}

func TestWhatTheSweepHadToFindIsToldUntilOneFindsNothing(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		w.Jobs[0].NothingNew = 0
		w.run("contracts", sweep(4))
		w.tick(time.Minute)
		m := w.wantMails(begins(SweepMissed, "", "contracts"))[0]
		m.says(t, "4 linhas", "3 horas")
		w.run("contracts")
		w.tick(5 * 24 * time.Hour) // no sweep since, and none that a new process would remember
		w.Service = w.another()
		w.Jobs[0].NothingNew = 0
		w.tick(time.Minute)
		w.tick(Settling)
		w.wantMails()
		w.run("contracts", sweep(0))
		w.tick(time.Minute)
		w.tick(Settling)
		w.wantMails(ends(SweepMissed, "", "contracts"))
	})
}

func TestALateAnswerThatEndsADecisionIsToldAndNeverOver(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		w.run("contracts", func(r *trade.RunReport) {
			r.Alarms = []trade.Alarm{{Kind: trade.LateAfterDismissal, Job: "contracts", Key: "1"}}
		})
		w.tick(time.Minute)
		w.wantMails(begins(LateAnswer, "", "contracts"))
		for range 30 {
			w.tick(time.Hour)
		}
		w.wantMails()
	})
}

func TestTheCertificateIsJudgedOnlyWhenAConnectionShowedIt(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		until := time.Time{}
		w.Certificate = func() time.Time { return until }
		w.tick(time.Minute)
		until = w.now.Add(10 * 24 * time.Hour)
		w.tick(time.Minute)
		m := w.wantMails(begins(Certificate, ""))[0]
		m.says(t, "20/08/2026")
		w.Service = w.another() // after a restart nothing is known
		w.Certificate = func() time.Time { return until }
		until = time.Time{}
		w.tick(time.Hour)
		w.tick(time.Hour)
		w.wantMails()
		until = w.now.Add(90 * 24 * time.Hour)
		w.tick(time.Minute)
		w.tick(Settling)
		w.wantMails(ends(Certificate, ""))
	})
}

// While an act waits for another person, each account that is created or reset is told, without a
// name.
func TestAnAccountThatIsMadeWhileSomethingWaitsIsTold(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		user := func(name string, at time.Time) {
			must.Do(t, w.store.AddUser(t.Context(), trade.User{Name: name, Role: trade.Accountant, Password: "x"},
				trade.AuditRecord{At: at, Who: "ana", Act: "user add", Target: name}))
		}
		user("old", w.now.Add(-25*time.Hour))
		user("new", w.now.Add(-time.Hour))
		w.tick(0)
		w.wantMails()
		must.Get(w.store.AskApproval(t.Context(), trade.Approval{
			Act: "dismiss", Target: "contracts", Mark: "m", Plan: []byte("{}"), Needs: 2,
			People: []trade.Consent{{Name: "ana", At: w.now}}, Until: w.now.Add(48 * time.Hour),
		}, trade.AuditRecord{At: w.now, Who: "ana", Act: "approval ask"}))(t)
		w.tick(time.Minute)
		m := w.wantMails(begins(Accounts, "accounts"))[0]
		m.says(t, "1 usuário do painel foi criado", "1 pedido espera", "registro 2")
		user("newer", w.now)
		user("newest", w.now)
		w.tick(time.Minute)
		m = w.wantMails(begins(Accounts, "accounts"))[0] // one for all
		m.says(t, "3 usuários do painel foram criados", "registro 5")
		w.tick(time.Minute)
		w.wantMails()
		if open := must.Get(w.store.Alerts(t.Context()))(t); len(open) != 1 {
			t.Errorf("%d alerts are open, want one", len(open))
		}
	})
}

// People are told when the ledger has no recent copy, and when there is one again. A ledger in
// PostgreSQL is copied by its server.
func TestALedgerWithoutARecentBackup(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.Limits.BackupOlder = 48 * time.Hour
		w.now = time.Now().Add(time.Hour)
		w.tick(0)
		w.wantMails()
		w.tick(48 * time.Hour)
		if last := must.Get(w.store.LastBackup(t.Context()))(t); !last.Ours {
			w.wantMails()
			return
		}
		m := w.wantMails(begins(BackupOld, ""))[0]
		m.says(t, "nenhum foi feito até agora")
		must.Do(t, w.store.BackupMade(t.Context(), w.now, ""))
		w.tick(Settling)
		w.tick(Settling)
		w.wantMails(ends(BackupOld, ""))
		w.tick(49 * time.Hour)
		w.wantMails(begins(BackupOld, ""))
	})
}
