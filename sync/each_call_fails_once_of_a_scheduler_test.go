package sync_test

import (
	"errors"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// F052: whatever call of the scheduler or of its runs fails, and while the API refuses its key, the
// jobs go on at the next time; each row goes once.
func TestEveryCallOfASchedulerFailsOnce(t *testing.T) {
	inOffice(t, time.UTC, "2026-11-21 06:00", func(o *office) {
		o.schedules("*/10 * * * *", "@every 1000h", "@every 1000h")
		purge, began := o.task("purge", "*/30 * * * *", func() error { return nil })
		o.config.Housekeeping = []engine.Task{purge}
		fail := func(at int, do func()) string {
			o.breaker.arm(at, false)
			do()
			hit := o.breaker.disarm()
			o.leasesEnd()
			return hit
		}
		for at := 1; at <= 12; at++ { // from the start on
			fail(at, o.open)
			o.pass(10 * time.Minute)
			o.stop()
			o.leasesEnd()
		}
		rows := 1
		o.contract(1)
		o.api.SetAPIKey("another key")
		o.open()
		o.pass(10 * time.Minute)
		o.stands("contracts", trade.Stopped, "api_key")
		for at := 1; at <= 20; at++ { // while a harmless question is asked each few minutes
			fail(at, func() { o.pass(10 * time.Minute) })
			if at%4 == 0 {
				o.pass(20 * time.Minute)
			}
		}
		o.api.SetAPIKey("a-key-of-the-tests")
		o.pass(time.Hour)
		for at, step := 1, 3; at < 60; at += step { // while it works
			rows++
			o.contract(rows)
			if fail(at, func() { o.pass(10 * time.Minute) }) == "" {
				break
			}
			if at%2 == 1 {
				err := errors.New("none")
				if fail(1, func() { err = o.scheduler.Trigger(o.t.Context(), "contracts", false) }) != "" &&
					err == nil {
					o.t.Error("a job was started of which the ledger does not say whether it is paused")
				}
			}
		}
		o.pass(2 * time.Hour)
		o.stop()
		o.leasesEnd()
		o.sync(engine.Options{})
		for n := 1; n <= rows; n++ {
			o.expect(n, trade.Accepted, "")
		}
		o.records(sandbox.ResourceOrderCommitments, rows)
		if len(*began) == 0 {
			o.t.Error("the task never ran")
		}
		o.t.Logf("%d rows", rows)
	})
}
