package receiver

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// F152: what was answered with 200 is in the inbox, each once, while the ledger is written by
// others all the time. The long form sends 10,000 events; docs/reliability.md has the figures.
func TestF152WhatWasAnsweredIsStoredUnderLoad(t *testing.T) {
	t.Parallel()
	events := 1000
	if os.Getenv("SAFRASYNC_TEST_LONG") != "" {
		events = 10_000
	}
	w := newWorld(t)
	stop := make(chan struct{})
	var writing sync.WaitGroup
	acts := 0
	writing.Go(func() { // runs that go on: one transaction after the other, flushed each
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := w.store.AppendAudit(t.Context(),
				trade.AuditRecord{At: time.Now(), Who: "load", Act: "load", Target: "load"}); err != nil {
				t.Error(err)
				return
			}
			acts++
		}
	})
	began := time.Now()
	var next, taken, others atomic.Int64
	var sending sync.WaitGroup
	for range 8 {
		sending.Go(func() {
			for n := next.Add(1); n <= int64(events); n = next.Add(1) {
				switch status := w.post(
					strings.NewReader(fmt.Sprintf(`{"id":"%08d-0000-4000-8000-000000000000","n":%d}`, n, n)),
					func(r *http.Request) {
						r.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.2.%d", n%8))
					}); status {
				case http.StatusOK:
					taken.Add(1)
				default:
					others.Add(1)
				}
			}
		})
	}
	sending.Wait()
	took := time.Since(began)
	close(stop)
	writing.Wait()
	w.stored(int(taken.Load()))
	if others.Load() > 0 {
		t.Errorf("%d events were not taken", others.Load())
	}
	t.Logf("%d events in %s, %.0f a minute, beside %d other transactions, 0 lost", events,
		took.Round(time.Millisecond), float64(events)/took.Minutes(), acts)
}
