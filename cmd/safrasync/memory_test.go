package main

import (
	"slices"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// A report has more memory while it is made, beside what the console holds, whichever of the two begins first; and afterwards what is held still counts.
func TestAReportHasMoreMemoryBesideWhatIsHeld(t *testing.T) {
	t.Parallel()
	var limit int64
	m := &memoryLimit{}
	m.report()() // the environment says what the limit is
	m.limit(func(n int64) int64 { limit = n; return 0 })
	is := func(what string, want int64) {
		t.Helper()
		if limit != want {
			t.Errorf("%s: %d bytes, want %d", what, limit, want)
		}
	}
	m.hold("stuck", 30)
	first := m.report()
	is("a report beside what is held", reportMemory+30)
	second := m.report()
	m.hold("keys", 1000)
	is("keys that are read beside it", reportMemory+1030)
	first()
	is("another report", reportMemory+1030)
	second()
	is("no report any more", softMemory+1030)
}

// What the console holds for long is no garbage: the limit from which the collector works all the time is as much higher, and never where the environment has set one.
func TestWhatIsHeldRaisesTheLimitOfMemory(t *testing.T) {
	t.Parallel()
	var limits []int64
	m := &memoryLimit{}
	m.hold("keys", 7) // the environment says what the limit is
	m.limit(func(n int64) int64 { limits = append(limits, n); return 0 })
	m.hold("keys", 1000)
	m.hold("stuck", 30)
	m.hold("stuck", 30)
	m.hold("keys", 0)
	if want := []int64{softMemory, softMemory + 1000, softMemory + 1030, softMemory + 30}; !slices.Equal(limits, want) {
		t.Errorf("limits %v, want %v", limits, want)
	}
	d := newDemoDesk(t)
	desk := newConsoleDesk(d.g)
	if _, err := desk.Stuck(t.Context(), trade.Portuguese, true); err != nil {
		t.Fatal(err)
	}
	desk.ExpectSearch()
	desk.working.Wait()
	if desk.board.Bytes() == 0 || d.g.daemon.store.KeyBytes() == 0 {
		t.Errorf("the console holds %d bytes of what is stuck and %d of keys", desk.board.Bytes(), d.g.daemon.store.KeyBytes())
	}
}
