package sync_test

import (
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
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
