package sync_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

// At its start every job runs once, with a sweep; then each at its own times.
func TestJobsRunAtTheStartAndThenAtTheirTimes(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:05", func(o *office) {
		o.schedules("*/10 * * * *", "0 7,19 * * *", "@every 90m")
		o.contract(1)
		o.delivery(1, 1, 10)
		o.config.AtStart = true
		o.open()
		swept, want := map[string]bool{}, map[string]bool{"contracts": true, "deliveries": true, "traceability": true}
		for _, r := range o.reports {
			swept[r.Job] = r.Sweep
		}
		if !maps.Equal(swept, want) {
			o.t.Errorf("at the start swept %v", swept)
		}
		o.row("deliveries", "01|0001", trade.Accepted, "")
		o.pass(40 * time.Minute)
		o.want("contracts", "21 06:05", "21 06:10", "21 06:20", "21 06:30", "21 06:40")
		o.want("deliveries", "21 06:05")
		o.pass(13 * time.Hour)
		o.want("deliveries", "21 07:00", "21 19:00")
		if got := o.runs("traceability"); len(got) != 10 || got[1] != "21 07:35" {
			o.t.Errorf("every 90 minutes: %q", got)
		}
		if got := o.runs("contracts"); len(got) != 78 {
			o.t.Errorf("%d runs in 13 hours, want 78", len(got))
		}
	})
}

// F076: what was missed while the process was off runs once when it starts, however often it was
// missed, and what was not missed waits for its time.
func TestF076WhatWasMissedRunsOnce(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-20 06:05", func(o *office) {
		o.schedules("*/10 * * * *", "0 7 * * *", "0 12 * * 0")
		o.config.AtStart = true
		o.open()
		o.stop()
		o.config.AtStart = false
		for _, job := range []string{"contracts", "deliveries", "traceability"} {
			o.want(job, "20 06:05")
		}
		o.pass(27 * time.Hour) // Saturday, 09:05
		o.open()
		o.pass(20 * time.Minute)
		o.want("contracts", "21 09:05", "21 09:10", "21 09:20")
		o.want("deliveries", "21 09:05")
		o.want("traceability")
		o.stop()
		o.pass(24 * time.Hour)
		o.config.AtStart = true // the same with a new process: its start is the run that was missed
		o.open()
		o.pass(5 * time.Minute)
		o.want("deliveries", "22 09:25")
	})
}

// A sweep keeps its own hour: a job of the day compares everything at night, and by day only reads
// what is new.
func TestASweepKeepsItsOwnHour(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-20 17:10", func(o *office) {
		o.schedules("0 8-18 * * *", "@every 1000h", "@every 1000h")
		o.spec.Sweep = "0 3 * * *"
		o.open()
		o.pass(16 * time.Hour)
		var sweeps []string
		for _, r := range o.reports {
			if r.Job == "contracts" && r.Sweep {
				sweeps = append(sweeps, r.StartedAt.In(o.zone).Format("02 15:04"))
			}
		}
		if diff := cmp.Diff([]string{"20 17:10", "21 03:00"}, sweeps); diff != "" {
			o.t.Errorf("sweeps (-want +got):\n%s", diff)
		}
		o.want("contracts", "20 17:10", "20 18:00", "21 03:00", "21 08:00", "21 09:00")
	})
}

// F077: a job of once a day runs once on each day, also where midnight does not exist or the last
// hour comes twice.
func TestF077AJobOfEachDayRunsOnceWhenTheClocksAreSet(t *testing.T) {
	for name, test := range map[string]struct {
		at   string
		want [2][]string // of "0 0 * * *" and of "30 23 * * *"
	}{
		"forward": {"2018-11-02 12:00", [2][]string{
			{"03 00:00", "04 01:00", "05 00:00", "06 00:00"},
			{"02 23:30", "03 23:30", "04 23:30", "05 23:30"},
		}},
		"back": {"2018-02-16 12:00", [2][]string{
			{"17 00:00", "18 00:00", "19 00:00"},
			{"16 23:30", "17 23:30", "18 23:30"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, saoPaulo, test.at, func(o *office) {
				o.schedules("0 0 * * *", "30 23 * * *", "@every 1000h")
				o.config.AtStart = true
				o.open()
				o.runs("contracts")
				o.runs("deliveries")
				o.pass(time.Duration(len(test.want[0]))*24*time.Hour - 8*time.Hour)
				o.want("contracts", test.want[0]...)
				o.want("deliveries", test.want[1]...)
			})
		})
	}
}

// F078: a clock that is set a year ahead, or back by a day, makes every job run once, not 50,000
// times and not never; then all goes on.
func TestF078AClockThatIsSetMakesEachJobRunOnce(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:05", func(o *office) {
		o.schedules("*/10 * * * *", "0 7 * * *", "@every 1h")
		o.config.AtStart = true
		o.open()
		o.pass(time.Hour) // 07:05
		o.want("contracts", "21 06:05", "21 06:10", "21 06:20", "21 06:30", "21 06:40", "21 06:50", "21 07:00")
		o.want("deliveries", "21 06:05", "21 07:00")
		o.want("traceability", "21 06:05", "21 07:05")
		o.clock.jump(365 * 24 * time.Hour)
		o.pass(10 * time.Minute)
		o.want("contracts", "21 07:05", "21 07:10")
		o.want("deliveries", "21 07:05")
		o.want("traceability", "21 07:05")
		o.clock.jump(-366 * 24 * time.Hour) // and one day too far back
		o.pass(10 * time.Minute)
		o.want("contracts", "20 07:15", "20 07:20")
		o.want("deliveries", "20 07:15")
		o.want("traceability", "20 07:15")
		o.stop()
		o.config.AtStart = false
		o.clock.jump(-24 * time.Hour) // the ledger's runs are of the future now
		o.open()
		o.pass(10 * time.Minute)
		o.want("contracts", "19 07:25", "19 07:30")
		o.want("deliveries", "19 07:25")
		for _, num := range []int{1, 2} {
			o.contract(num)
		}
		o.pass(10 * time.Minute)
		o.expect(1, trade.Accepted, "")
	})
}

// F075: a job whose run takes longer than its schedule is not begun twice: what it missed runs once
// when it ends. A job that becomes due meanwhile reads and sends in between, and ends while the
// long one still sends.
func TestF075ALongRunIsNotDoubledAndHoldsUpNobody(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-21 06:00", func(o *office) {
		o.schedules("*/10 * * * *", "5 6 * * *", "6-8 6 * * *")
		o.limits.MaxInFlight = 1
		o.contracts(200)
		o.api.SetFaults(faults(t, "slow=10s@1-")...)
		o.config.AtStart = true
		o.open()
		o.pass(4 * time.Minute)
		o.stands("contracts", trade.Running, "")
		o.delivery(1, 1, 10)
		o.share("a", 1, 3)
		o.pass(5 * time.Minute) // 06:09
		o.stands("contracts", trade.Running, "")
		o.row("deliveries", "01|0001", trade.Accepted, "")
		o.row("traceability", "a", trade.Accepted, "")
		o.want("contracts")
		o.want("deliveries", "21 06:00")
		o.want("traceability", "21 06:00", "21 06:06", "21 06:07")
		o.pass(51 * time.Minute) // 07:00
		got := o.runs("contracts")
		if len(got) < 2 || got[0] != "21 06:00" || got[1] <= "21 06:30" || len(got) > 5 {
			o.t.Errorf("the long run and what it missed: %q", got)
		}
		if n := o.postsSince(); n != 202 {
			o.t.Errorf("%d POSTs, want 202", n)
		}
	})
}
