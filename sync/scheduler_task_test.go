package sync_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/trade"
)

// task makes one that notes when it begins.
func (o *office) task(name, schedule string, do func() error) (engine.Task, *[]string) {
	o.t.Helper()
	parsed := must.Get(clock.ParseSchedule(schedule, o.zone))(o.t)
	var began []string
	return engine.Task{Name: name, Schedule: parsed, Run: func(context.Context) error {
		began = append(began, time.Now().In(o.zone).Format("02 15:04"))
		return do()
	}}, &began
}

// Tasks keep to their own times, one at a time; one that fails, also by a panic, is tried at its
// next time, and holds up neither the others nor the jobs.
func TestTasksKeepToTheirTimes(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.schedules("0 * * * *", "@every 1000h", "@every 1000h")
		tries := 0
		digest, digests := o.task("digest", "0 7 * * *", func() error {
			switch tries++; tries {
			case 1:
				return errors.New("no mail server")
			case 2:
				panic("a mistake")
			}
			return nil
		})
		busy := 0
		together := 0
		both := func() error {
			busy++
			if busy > 1 {
				together++
			}
			time.Sleep(20 * time.Minute)
			busy--
			return nil
		}
		purge, purges := o.task("purge", "30 2 * * *", both)
		other, others := o.task("other", "35 2 * * *", both)
		o.config.Housekeeping = []engine.Task{digest, purge, other}
		o.open()
		o.pass(50 * time.Hour)
		for name, test := range map[string]struct{ got, want []string }{
			"digest": {*digests, []string{"21 07:00", "22 07:00", "23 07:00"}},
			"purge":  {*purges, []string{"22 02:30", "23 02:30"}},
			"other":  {*others, []string{"22 02:50", "23 02:50"}},
		} {
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				o.t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		if together > 0 {
			o.t.Errorf("two tasks ran at the same time, %d times", together)
		}
		if got := o.runs("contracts"); len(got) != 51 {
			o.t.Errorf("%d runs of contracts meanwhile, want 51", len(got))
		}
	})
}

// F076: a task that was missed while the process was off runs once; one that the ledger does not
// know yet waits for its first time.
func TestF076ATaskThatWasMissedRunsOnce(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		purge, purges := o.task("purge", "30 2 * * *", func() error { return nil })
		o.config.Housekeeping = []engine.Task{purge}
		o.open()
		o.pass(time.Hour)
		o.stop()
		o.pass(5 * 24 * time.Hour) // nobody has ever run it: the host is off at night
		o.open()
		o.pass(time.Hour)
		o.stop()
		o.pass(time.Hour)
		o.open()
		o.clock.jump(400 * 24 * time.Hour)
		o.pass(time.Hour)
		o.clock.jump(-400 * 24 * time.Hour)
		o.pass(time.Hour)
		if diff := cmp.Diff([]string{"26 07:00", "26 09:00", "26 10:00"}, *purges); diff != "" {
			o.t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// F074: a pass that hangs is no longer told to be alive, and one that only waits for a slow API is.
func TestF074TheWatchdogIsFedByProgress(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.config.Patience = 7 * time.Minute
		o.limits.MaxInFlight = 1
		o.contracts(60)
		o.api.SetFaults(faults(t, "slow=15s@1-")...)
		o.open()
		for range 12 {
			o.pass(time.Minute)
			if since := o.silent(); since > 30*time.Second {
				o.t.Fatalf("alive %s ago, although the pass gets on", since)
			}
		}
		o.stop()
		o.api.SetFaults()
		hang := make(chan struct{})
		o.breaker.before("Commit of intents of contracts", func() error { <-hang; return nil })
		o.contract(101)
		o.open()
		o.pass(10 * time.Minute)
		if since := o.silent(); since < 3*time.Minute || since > 4*time.Minute {
			o.t.Errorf("alive %s ago, want it to end 7 minutes after the last progress", since)
		}
		close(hang)
		o.pass(time.Minute)
		if since := o.silent(); since > 30*time.Second {
			o.t.Errorf("alive %s ago, although all goes on", since)
		}
	})
}

// A ledger that does not answer for a while keeps nothing from going on when it does, and is asked
// now and then, not all the time.
func TestALedgerThatComesBackFindsTheSchedulerWaiting(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		var asked atomic.Int32 // by several goroutines
		back := time.Date(2026, 11, 21, 7, 2, 0, 0, saoPaulo)
		o.breaker.around = func(call string, do func() error) error {
			if strings.HasPrefix(call, "JobStatus") && time.Now().Before(back) {
				asked.Add(1)
				return errors.New("connection refused")
			}
			return do()
		}
		o.contract(1)
		o.open()
		o.pass(time.Hour)
		// each five minutes for a run, each minute to tell that it stopped
		if n := asked.Load(); n < 10 || n > 75 {
			o.t.Errorf("asked %d times in an hour", n)
		}
		o.pass(8 * time.Minute)
		o.expect(1, trade.Accepted, "")
		if got := slices.Compact(o.runs("contracts")); len(got) != 1 {
			o.t.Errorf("runs: %q", got)
		}
	})
}
