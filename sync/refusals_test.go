package sync_test

import (
	"fmt"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// Twenty refusals for the same reason are no longer a matter of single rows.
func TestManyEqualRefusalsInARowStopTheJob(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{Faults: faults(t, "status=422@1-")})
		b.limits.MaxInFlight = 1
		b.contracts(25)
		r := b.sync(engine.Options{})
		if r.Stopped == nil || r.Stopped.Code != "refusals" || r.States[trade.Rejected] != 20 ||
			r.States[trade.Pending] != 5 {
			t.Fatalf("states %v, stopped %+v", r.States, r.Stopped)
		}
		b.api.SetFaults()
		if r := b.sync(engine.Options{}); r.Stopped != nil || r.States[trade.Accepted] != 5 {
			t.Errorf("by hand, after it was put right: states %v, stopped %+v", r.States, r.Stopped)
		}
	})
}

// Refusals that are not in a row are those of single rows.
func TestRefusalsBetweenAcceptedRowsStopNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "status=422@1-19", "status=422@21-39")})
	b.limits.MaxInFlight = 1
	b.contracts(41)
	if r := b.sync(engine.Options{}); r.Stopped != nil || r.States[trade.Rejected] != 38 ||
		r.States[trade.Accepted] != 3 {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
}

// Doubts that never come three in a row are bounded all the same: each of them costs a person's
// time.
func TestTwentyDoubtsInARunStopTheJob(t *testing.T) {
	t.Parallel()
	var specs []string
	for n := 1; n <= 41; n += 2 {
		specs = append(specs, fmt.Sprintf("lost-after@%d", n))
	}
	for name, want := range map[string]struct {
		limit, doubts int
		code          string
	}{"as configured": {3, 20, "in_doubt"}, "never": {0, 21, ""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{Faults: faults(t, specs...)})
			b.limits.MaxInFlight, b.limits.StopAfterUnknown = 1, want.limit
			b.contracts(42)
			r := b.sync(engine.Options{})
			code := ""
			if r.Stopped != nil {
				code = r.Stopped.Code
			}
			if code != want.code || r.States[trade.InDoubt] != want.doubts {
				t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
			}
		})
	}
}
