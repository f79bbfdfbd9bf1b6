package sync_test

import (
	"slices"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/erp"
	engine "github.com/safrasync/safrasync/sync"
)

// A reading says what it keeps of the keys, and that it keeps nothing any more, in a first pass and in a sweep.
func TestAReadingSaysWhatItHolds(t *testing.T) {
	t.Parallel()
	b := newBenchOn(t, databases[0], sandbox.Options{})
	var most, last int64
	b.holds = func(job string, bytes int64) {
		if job != "contracts" {
			t.Errorf("the job is %q", job)
		}
		most, last = max(most, bytes), bytes
	}
	b.contract(1)
	for _, opts := range []engine.Options{{}, {Sweep: true}} {
		most, last = 0, -1
		b.sync(opts)
		if most == 0 || last != 0 {
			t.Errorf("%+v: at most %d bytes, %d at the end", opts, most, last)
		}
	}
}

// A sweep says at its beginning what it will keep, of the roll and of the rows that were read: while both grew towards a limit that counted only a part of them, the collector worked all the time.
func TestASweepSaysAtItsBeginningWhatItWillHold(t *testing.T) {
	t.Parallel()
	b := newBenchOn(t, databases[0], sandbox.Options{})
	const rows = 40
	for i := range rows {
		b.contract(i + 1)
	}
	b.sync(engine.Options{})
	var told []int64
	b.holds = func(_ string, bytes int64) { told = append(told, bytes) }
	b.sync(engine.Options{Sweep: true})
	slot := int64(13 + 8) // of a key and its source
	if len(told) < 2 || told[0] < slices.Max(told) || told[0] < rows*(slot+erp.KeptOfARow) {
		t.Errorf("told %v", told)
	}
}
