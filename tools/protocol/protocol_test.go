package protocol

import (
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// I3: with all rules, no order of events creates the record twice, loses track of it, or accepts a
// record that does not exist; and every move of the table that a process or a person can make was
// made.
func TestI3NoOrderOfEventsDoublesARecord(t *testing.T) {
	t.Parallel()
	sizes := []limits{
		{workers: 3, crashes: 2, generations: 3},
		{workers: 2, crashes: 1, generations: 2, rollback: true},
		{workers: 2, generations: 2, timed: true, quarantine: run.Limits{Timeout: modelTimeout}.LeastQuarantine()},
	}
	if os.Getenv("SAFRASYNC_TEST_LONG") != "" {
		sizes = append(sizes,
			limits{workers: 2, crashes: 2, generations: 3, rollback: true},
			limits{workers: 3, crashes: 1, generations: 2, rollback: true},
			limits{
				workers: 2, crashes: 1, generations: 2, timed: true,
				quarantine: run.Limits{Timeout: modelTimeout}.LeastQuarantine(),
			})
	}
	for i, size := range sizes {
		start := time.Now()
		f := explore(size, allRules, "")
		t.Logf("%+v: %d worlds in %s", size, f.worlds, time.Since(start).Round(time.Millisecond))
		if f.fault != "" {
			t.Errorf("%+v: %s:\n  %s", size, f.fault, strings.Join(f.trace, "\n  "))
		}
		if i == 0 {
			f.walked(t)
		}
	}
}

// walked checks that the model made the moves of the table, and no others.
func (f found) walked(t *testing.T) {
	t.Helper()
	for move := range f.moves {
		if !trade.CanMove(move[0], move[1]) {
			t.Errorf("the model moves from %s to %s, which the table forbids", move[0], move[1])
		}
	}
	for _, from := range trade.States {
		for _, to := range trade.Moves[from] {
			switch {
			case from == trade.Dismissed && to != trade.InDoubt && to != trade.Accepted, to == trade.Dismissed &&
				from != trade.InDoubt:
				// A row that was never sent is dismissed and reopened without a consequence for the
				// platform.
				continue
			case to == trade.Accepted && !from.MayBeOnPlatform() && from != trade.Dismissed:
				continue // the late answer after a wrong decision of a person; here no decision was wrong
			}
			if !f.moves[[2]trade.State{from, to}] {
				t.Errorf("the table allows %s to %s, which the model never does", from, to)
			}
		}
	}
}

// Each rule that is necessary by itself, and the pairs of which one is sufficient: without them the
// record is created twice. In a pair, each backs up the other, so that dropping only one has no
// effect.
func TestWithoutARuleTheRecordIsDoubled(t *testing.T) {
	t.Parallel()
	want := []rule{
		intentFirst, recoveryDoubts, windowChecked, quarantined, unknownDoubts, journalled, markedFirst, provedDead,
		compareAndSet | fenced, // the intent of a former leaseholder, after a person has ordered another sending
		oneShot | movesKept,    // the index remains if the engine takes a row in doubt for one that may be sent
	}
	var minimal []rule
	for n := 1; n <= len(ruleNames); n++ {
		for dropped := rule(1); dropped <= allRules; dropped++ {
			if bits.OnesCount16(uint16(dropped)) != n ||
				slices.ContainsFunc(minimal, func(m rule) bool { return dropped&m == m }) {
				continue
			}
			f := explore(limits{workers: 2, crashes: 1, generations: 2, rollback: dropped&journalled != 0},
				allRules&^dropped, twice)
			if f.fault == "" {
				continue
			}
			minimal = append(minimal, dropped)
			t.Logf("without %s, in %d steps:\n  %s", strings.Join(dropped.names(), ", "), len(f.trace),
				strings.Join(f.trace, "\n  "))
		}
	}
	slices.Sort(want)
	slices.Sort(minimal)
	if !slices.Equal(minimal, want) {
		t.Errorf("the smallest sets without which a record is doubled:")
		for _, m := range minimal {
			t.Errorf("  %s", strings.Join(m.names(), ", "))
		}
	}
}

// I14: on a clock, with the window and the time-outs of the product, the quarantine is longer than
// the shortest one that prevents a second record; one tick less does not prevent it.
func TestI14TheQuarantineIsLongerThanWhatDoubles(t *testing.T) {
	t.Parallel()
	size := limits{workers: 2, generations: 2, timed: true}
	for explore(size, allRules, twice).fault != "" {
		size.quarantine += tick
	}
	least := run.Limits{Timeout: modelTimeout}.LeastQuarantine()
	t.Logf("time-out %s: the shortest quarantine that doubles nothing is %s; the product's is at least %s",
		modelTimeout, size.quarantine, least)
	if size.quarantine > least {
		t.Errorf("the product's quarantine of %s doubles; %s is the least", least, size.quarantine)
	}
	if size.quarantine <= 2*modelTimeout {
		t.Errorf("a quarantine of %s is enough in the model: its clock is wrong", size.quarantine)
	}
}
