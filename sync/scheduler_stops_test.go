package sync_test

import (
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// A key that the API refuses stops all jobs. One GET each five minutes asks whether it is good
// again, and then they go on by themselves.
func TestAStopForTheKeyEndsByItself(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.contract(1)
		o.api.SetAPIKey("another key")
		o.config.AtStart = true
		o.open()
		stop := o.stands("contracts", trade.Stopped, "api_key").Stop
		if want := time.Now().Add(5 * time.Minute); !stop.Until.Equal(want) {
			o.t.Errorf("asked again at %s, want %s", stop.Until, want)
		}
		o.expect(1, trade.Pending, "")
		o.runs("contracts")
		o.pass(7 * time.Minute)
		if stop := o.stands("contracts", trade.Stopped,
			"api_key").Stop; !stop.Until.Equal(time.Now().Add(3 * time.Minute)) {
			o.t.Errorf("after a probe that failed it is asked again at %s", stop.Until)
		}
		o.pass(23 * time.Minute)
		o.want("contracts")
		o.api.SetAPIKey("a-key-of-the-tests")
		o.pass(5 * time.Minute)
		o.want("contracts", "21 06:35")
		o.stands("contracts", trade.Idle, "")
		o.stands("deliveries", trade.Idle, "")
		o.expect(1, trade.Accepted, "")
	})
}

// A new process asks at once: whoever changed the key has restarted the service, perhaps.
func TestANewProcessAsksAtOnceWhetherAStopIsOver(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.contract(1)
		o.api.SetAPIKey("another key")
		o.open()
		o.stands("contracts", trade.Stopped, "api_key")
		o.stop()
		o.open()
		o.pass(time.Second)
		o.stands("contracts", trade.Stopped, "api_key")
		o.stop()
		o.api.SetAPIKey("a-key-of-the-tests")
		o.open()
		o.pass(time.Second)
		o.expect(1, trade.Accepted, "")
	})
}

// A stop that only a person ends is not tried again by the clock; a run by hand ends it, here and
// in another process.
func TestAStopForAPersonWaitsForThem(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.contracts(4)
		o.limits.MaxInFlight = 1
		o.api.SetFaults(faults(t, "malformed@1-")...)
		o.config.AtStart = true
		o.open()
		o.stands("contracts", trade.Stopped, "malformed")
		o.runs("contracts")
		o.runs("deliveries")
		o.pass(25 * time.Minute)
		o.want("contracts")
		o.want("deliveries", "21 06:10", "21 06:20")
		o.api.SetFaults()
		must.Do(o.t, o.scheduler.Trigger(o.t.Context(), "contracts", false))
		o.pass(time.Second)
		o.want("contracts", "21 06:25")
		o.stands("contracts", trade.Idle, "")
		o.expect(4, trade.Accepted, "")
		o.pass(10 * time.Minute)
		o.want("contracts", "21 06:30")

		for n := 5; n <= 8; n++ {
			o.contract(n)
		}
		o.exec(`UPDATE contrato SET atualizado = ? WHERE num > '0004'`, stamp(0))
		o.api.SetFaults(faults(t, "malformed@1-")...)
		o.pass(10 * time.Minute)
		o.stands("contracts", trade.Stopped, "malformed")
		o.api.SetFaults()
		must.Get(o.engine().Sync(o.t.Context(), []string{"contracts"}, engine.Options{}))(o.t)
		o.runs("contracts")
		o.pass(10 * time.Minute)
		o.want("contracts", "21 06:50")
	})
}

// 429 rests as long as it was asked for, says until when, and goes on then, not at the next time of
// its schedule.
func TestARestThatTheAPIAskedForIsKept(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.schedules("0 * * * *", "0 * * * *", "0 * * * *")
		o.contracts(3)
		o.api.SetFaults(faults(t, "throttle=12m@1")...)
		o.config.AtStart = true
		o.open()
		stop := o.stands("contracts", trade.BackingOff, "api_throttled").Stop
		if want := time.Now().Add(12 * time.Minute); stop.Until.Sub(want).Abs() > time.Second {
			o.t.Errorf("rests until %s, want %s", stop.Until, want)
		}
		o.pass(11 * time.Minute)
		o.postsSince()
		o.pass(2 * time.Minute)
		o.want("contracts", "21 06:00", "21 06:12")
		o.expect(3, trade.Accepted, "")
	})
}

// Where the API cannot reach its own service (502), only the jobs that send that kind of record
// rest, longer with each failure, and one row tries whether it is over.
func TestACircuitIsThatOfOneRoute(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.contract(1)
		o.config.AtStart = true
		o.open()
		for n := range 6 {
			o.delivery(n, 1, 10+n)
		}
		o.contract(2)
		o.exec(`UPDATE contrato SET atualizado = ? WHERE num = '0002'`, stamp(0))
		o.api.SetFaults(faults(t, "deliveries:refused@1-")...)
		o.pass(10 * time.Minute)
		o.expect(2, trade.Accepted, "")
		stop := o.stands("deliveries", trade.BackingOff, "api_unreachable").Stop
		if !stop.Until.After(time.Now()) {
			o.t.Errorf("tried again at %s", stop.Until)
		}
		o.stands("contracts", trade.Idle, "")
		o.pass(20 * time.Minute)
		o.runs("deliveries")
		o.postsSince()
		o.pass(time.Hour)
		if n, runs := o.postsSince(), o.runs("deliveries"); n != len(runs) || n < 3 || n > 5 {
			o.t.Errorf("%d POSTs in %d runs of an hour, want one each quarter of an hour", n, len(runs))
		}
		o.api.SetFaults()
		o.pass(16 * time.Minute)
		o.stands("deliveries", trade.Idle, "")
		o.row("deliveries", "01|0005", trade.Accepted, "")
	})
}

// An ERP that cannot be read is tried at the times of the job, less and less often.
func TestAnERPThatIsDownIsTriedLessAndLessOften(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.schedules("* * * * *", "@every 1000h", "@every 1000h")
		o.contract(1)
		o.open()
		o.expect(1, trade.Accepted, "")
		o.exec(`ALTER TABLE contrato RENAME TO gone`)
		o.runs("contracts")
		o.pass(2 * time.Hour)
		o.stands("contracts", trade.Stopped, "erp")
		o.want("contracts", "21 06:01", "21 06:02", "21 06:04", "21 06:08", "21 06:16", "21 06:32", "21 07:02",
			"21 07:32")
		o.exec(`ALTER TABLE gone RENAME TO contrato`)
		o.pass(4 * time.Minute)
		o.want("contracts", "21 08:02", "21 08:03", "21 08:04")
		o.stands("contracts", trade.Idle, "")
	})
}

// A pause holds from the next group on, whatever is due; its end makes up for what was missed,
// once.
func TestAPauseHoldsWhileTheSchedulerRuns(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.limits.MaxInFlight = 1
		o.contracts(20)
		o.api.SetFaults(faults(t, "slow=10s@1-")...)
		o.config.AtStart = true
		o.open()
		o.pass(25 * time.Second)
		ana := trade.Person{Name: "Ana", Reason: "balance"}
		do := func(plan acts.JobPlan, err error) {
			o.t.Helper()
			if err == nil {
				_, err = o.acts().DoJob(o.t.Context(), plan, ana)
			}
			if err != nil {
				o.t.Fatal(err)
			}
		}
		do(o.acts().Pause(o.t.Context(), "contracts", ana))
		o.pass(30 * time.Minute)
		o.stands("contracts", trade.Paused, "paused")
		if n := o.postsSince(); n != 3 {
			o.t.Errorf("%d POSTs, want the 3 that had left", n)
		}
		o.want("contracts", "21 06:00")
		if err := o.scheduler.Trigger(o.t.Context(), "contracts", false); err == nil {
			o.t.Error("a paused job was started")
		}
		do(o.acts().Resume(o.t.Context(), "contracts"))
		o.pass(time.Minute)
		o.stands("contracts", trade.Running, "")
		o.pass(30 * time.Minute)
		o.expect(20, trade.Accepted, "")
	})
}

// A job that another process runs is left to it, without a storm of questions.
func TestAJobOfAnotherProcessIsLeftToIt(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.contract(1)
		o.more = nil
		leased := 0
		o.breaker.before("AcquireLease: BEGIN", func() error {
			leased++
			if time.Now().Before(time.Date(2026, 11, 21, 6, 25, 0, 0, saoPaulo)) {
				return &trade.LeasedError{Job: "contracts", Until: time.Now().Add(time.Minute)}
			}
			return nil
		})
		o.open()
		o.pass(24 * time.Minute)
		if leased != 3 {
			o.t.Errorf("the lease was asked for %d times, want 3", leased)
		}
		o.want("contracts")
		o.pass(10 * time.Minute)
		o.want("contracts", "21 06:30")
		o.expect(1, trade.Accepted, "")
	})
}

// A run that is ended by a reload begins again at once; what was in flight is settled.
func TestARunThatWasInterruptedBeginsAgain(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.limits.MaxInFlight = 1
		o.contracts(5)
		o.api.SetFaults(faults(t, "slow=10s@1-")...)
		o.open()
		o.pass(15 * time.Second)
		o.stop()
		o.stands("contracts", trade.Stopped, "interrupted")
		o.want("contracts", "21 06:00")
		o.expect(2, trade.Accepted, "")
		o.expect(3, trade.Pending, "")
		o.open()
		o.pass(40 * time.Second)
		o.want("contracts", "21 06:00")
		o.expect(5, trade.Accepted, "")
		if n := o.postsSince(); n != 5 {
			o.t.Errorf("%d POSTs, want 5", n)
		}
	})
}

// What does not exist, or is ending, is not started.
func TestATriggerThatCannotBeHeardIsRefused(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.open()
		if err := o.scheduler.Trigger(o.t.Context(), "contratos", false); err == nil {
			o.t.Error("a job that does not exist was started")
		}
		o.stop()
		if err := o.scheduler.Trigger(o.t.Context(), "contracts", false); err == nil {
			o.t.Error("a scheduler that has ended started a job")
		}
	})
}

// A job of once a day whose ERP is down at its time does not wait for the next day.
func TestADailyJobDoesNotLoseItsDayToAnERPThatIsDown(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:55", func(o *office) {
		o.schedules("0 7 * * *", "@every 1000h", "@every 1000h")
		o.open()
		o.exec(`ALTER TABLE contrato RENAME TO gone`)
		o.runs("contracts")
		o.pass(10 * time.Minute)
		if stop := o.stands("contracts", trade.Stopped, "erp").Stop; !stop.Until.After(time.Now()) {
			o.t.Errorf("tried again at %s", stop.Until)
		}
		o.exec(`ALTER TABLE gone RENAME TO contrato`)
		o.contract(1)
		o.pass(10 * time.Minute)
		o.expect(1, trade.Accepted, "")
		o.want("contracts", "21 07:00", "21 07:01", "21 07:03", "21 07:07")
	})
}

// Rows that wait for the hours of their job go when those begin, whatever its schedule.
func TestRowsThatWaitForTheirHoursGoWhenTheyBegin(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-23 05:10", func(o *office) { // a Monday
		o.schedules("0 6 * * *", "@every 1000h", "@every 1000h")
		o.spec.Hours = []string{"mon-fri 07:30-19:00"}
		o.contract(1)
		o.config.AtStart = true
		o.open()
		o.expect(1, trade.Pending, "")
		o.pass(2 * time.Hour)
		o.expect(1, trade.Pending, "")
		o.pass(30 * time.Minute)
		o.expect(1, trade.Accepted, "")
		o.want("contracts", "23 05:10", "23 06:00", "23 07:30")
	})
}

// A reload makes a new scheduler: what a run left for a time of its own, before the next one of its
// schedule, does not wait for that.
func TestAReloadForgetsNothingThatARunLeftForLater(t *testing.T) {
	t.Run("hours", func(t *testing.T) {
		inOffice(t, saoPaulo, "2026-11-23 05:10", func(o *office) { // a Monday
			o.schedules("0 6 * * *", "@every 1000h", "@every 1000h")
			o.spec.Hours = []string{"mon-fri 07:30-19:00"}
			o.contract(1)
			o.config.AtStart = true
			o.open()
			o.pass(time.Hour)
			o.stop()
			o.config.AtStart = false
			o.open()
			o.want("contracts", "23 05:10", "23 06:00")
			o.pass(2 * time.Hour)
			o.expect(1, trade.Accepted, "")
			o.want("contracts", "23 07:30")
		})
	})
	t.Run("ERP", func(t *testing.T) {
		inOffice(t, saoPaulo, "2026-11-21 06:55", func(o *office) {
			o.schedules("0 7 * * *", "@every 1000h", "@every 1000h")
			o.open()
			o.exec(`ALTER TABLE contrato RENAME TO gone`)
			o.runs("contracts")
			o.pass(5*time.Minute + 30*time.Second)
			o.stands("contracts", trade.Stopped, "erp")
			o.stop()
			o.open()
			o.exec(`ALTER TABLE gone RENAME TO contrato`)
			o.contract(1)
			o.pass(10 * time.Minute)
			o.expect(1, trade.Accepted, "")
		})
	})
}

// A job that rests because the API asked for it holds up no other job of the pass.
func TestAJobThatRestsHoldsUpNobody(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.schedules("0 * * * *", "1 6 * * *", "@every 1000h")
		o.contract(1)
		o.open()
		o.expect(1, trade.Accepted, "")
		o.contract(2)
		o.exec(`UPDATE contrato SET atualizado = ? WHERE num = '0002'`, stamp(0))
		o.api.SetFaults(faults(t, "order_commitments:throttle=4m@1-2")...)
		must.Do(o.t, o.scheduler.Trigger(o.t.Context(), "contracts", false))
		o.delivery(1, 1, 10)
		o.pass(3 * time.Minute)
		o.stands("contracts", trade.Running, "")
		o.row("deliveries", "01|0001", trade.Accepted, "")
		o.pass(2 * time.Minute)
		o.expect(2, trade.Accepted, "")
	})
}

// While the ledger is locked a stop cannot be stored. It is stored as soon as the ledger opens: until
// the next try people read why the job stands still and when that is, not the times of its schedule.
func TestAStopThatTheLedgerDidNotTakeIsToldWhenItOpens(t *testing.T) {
	for name, locks := range map[string]func(call string) bool{
		"before a run": func(call string) bool { return strings.HasSuffix(call, ": BEGIN") },
		"in a run": func(call string) bool {
			return strings.HasSuffix(call, ": BEGIN") && !strings.HasPrefix(call, "AcquireLease")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, saoPaulo, "2026-11-21 06:05", func(o *office) {
				o.open()
				o.pass(6 * time.Minute)
				o.stands("contracts", trade.Idle, "")
				o.breaker.set(func(call string, do func() error) error {
					if locks(call) {
						return errBroken
					}
					return do()
				})
				o.pass(10 * time.Minute) // 06:21: it failed at 06:20
				o.breaker.mend()
				o.leasesEnd()
				o.runs("contracts")
				o.pass(90 * time.Second)
				stop := o.stands("contracts", trade.Stopped, "ledger").Stop
				if want := time.Date(2026, 11, 21, 6, 25, 0, 0, saoPaulo); stop != nil && !stop.Until.Equal(want) {
					o.t.Errorf("tried again at %s, want %s", stop.Until, want)
				}
				o.pass(4 * time.Minute)
				o.want("contracts", "21 06:25")
				o.stands("contracts", trade.Idle, "")
			})
		})
	}
}
