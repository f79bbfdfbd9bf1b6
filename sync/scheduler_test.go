package sync_test

import (
	"testing"
	"time"

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
		for _, r := range o.reports {
			if !r.Sweep {
				t.Errorf("the first run of %s did not sweep", r.Job)
			}
		}
		o.row("deliveries", "01|0001", trade.Accepted, "")
		o.pass(40 * time.Minute)
		o.want("contracts", "21 06:05", "21 06:10", "21 06:20", "21 06:30", "21 06:40")
		o.want("deliveries", "21 06:05")
		o.pass(24 * time.Hour)
		o.want("deliveries", "21 07:00", "21 19:00")
		if got := o.runs("traceability"); len(got) != 17 || got[1] != "21 07:35" {
			t.Errorf("every 90 minutes: %q", got)
		}
		if got := o.runs("contracts"); len(got) != 144 {
			t.Errorf("%d runs in a day, want 144", len(got))
		}
	})
}

// F076: what was missed while the process was off runs once when it starts, however often it was missed, and what was not missed waits for its time.
func TestF076WhatWasMissedRunsOnce(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-20 06:05", func(o *office) {
		o.schedules("*/10 * * * *", "0 7 * * *", "0 12 * * 0")
		o.config.AtStart = true
		o.open()
		o.stop()
		o.reports, o.config.AtStart = nil, false
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
