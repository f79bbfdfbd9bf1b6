package sync

import (
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// found is what an exploration found.
type found struct {
	worlds int
	fault  string
	trace  []string
	moves  map[[2]trade.State]bool // that were made
}

// explore looks at every world that can be reached, nearest first, until one has the fault that is
// looked for; "" = any.
func explore(size protocolSize, rules protocolRule, wanted string) found {
	type came struct {
		from  int32
		label string
	}
	start := world{state: stateNo(trade.Pending), gen: 1}
	seen := map[world]struct{}{start: {}}
	queue := []world{start}
	from := []came{{-1, ""}}
	p := &protocol{protocolSize: size, rules: rules, verdicts: verdicts(rules)}
	f := found{moves: map[[2]trade.State]bool{}}
	at := 0
	p.push = func(w world, label string, args ...any) {
		if w.state != queue[at].state && !w.restored {
			f.moves[[2]trade.State{trade.States[queue[at].state], trade.States[w.state]}] = true
		}
		if _, ok := seen[w]; ok {
			return
		}
		seen[w] = struct{}{}
		queue = append(queue, w)
		from = append(from, came{int32(at), label})
		if len(args) > 0 {
			from[len(from)-1].label = fmt.Sprintf(label, args...)
		}
	}
	for ; at < len(queue); at++ {
		w := queue[at]
		if fault := w.fault(); fault != "" && (wanted == "" || fault == wanted) {
			for i := int32(at); from[i].from >= 0; i = from[i].from {
				f.trace = append(f.trace, from[i].label)
			}
			slices.Reverse(f.trace)
			f.fault = fault
			break
		}
		if w.created < 2 {
			p.steps(w)
		}
	}
	f.worlds = len(seen)
	return f
}

// I3: with all rules no order of events puts the record on the platform twice, loses it from the
// books, or accepts what is not there; and every move of the table that a process or a person can
// make was made.
func TestI3NoOrderOfEventsDoublesARecord(t *testing.T) {
	t.Parallel()
	sizes := []protocolSize{
		{workers: 3, crashes: 2, generations: 3},
		{workers: 2, crashes: 1, generations: 2, rollback: true},
		{workers: 2, generations: 2, timed: true, quarantine: run.Limits{Timeout: modelTimeout}.LeastQuarantine()},
	}
	if os.Getenv("SAFRASYNC_TEST_LONG") != "" {
		sizes = append(sizes,
			protocolSize{workers: 2, crashes: 2, generations: 3, rollback: true},
			protocolSize{workers: 3, crashes: 1, generations: 2, rollback: true},
			protocolSize{
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

// walked checks that the model makes the moves of the table, and no others.
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
				// a row that was never sent is dismissed and reopened without a consequence for what the platform has
				continue
			case to == trade.Accepted && !from.Created() && from != trade.Dismissed:
				continue // the late answer after a person was wrong; this one never is
			}
			if !f.moves[[2]trade.State{from, to}] {
				t.Errorf("the table allows %s to %s, which the model never does", from, to)
			}
		}
	}
}

const twice = "the record is on the platform twice"

// Each rule that is necessary by itself, and the pairs of which one is enough: without them the
// record is doubled. In a pair each is the second line behind the other, so that dropping it alone
// doubles nothing.
func TestWithoutARuleTheRecordIsDoubled(t *testing.T) {
	t.Parallel()
	want := []protocolRule{
		intentFirst, recoveryDoubts, windowChecked, quarantined, unknownDoubts, journalled, markedFirst, provedDead,
		compareAndSet | fenced, // the intent of a former owner, after a person has ordered another sending
		oneShot | movesKept,    // the index is what is left when the engine takes a doubt for a row that may go
	}
	var minimal []protocolRule
	for n := 1; n <= len(ruleNames); n++ {
		for dropped := protocolRule(1); dropped <= allRules; dropped++ {
			if bits.OnesCount16(uint16(dropped)) != n ||
				slices.ContainsFunc(minimal, func(m protocolRule) bool { return dropped&m == m }) {
				continue
			}
			f := explore(protocolSize{workers: 2, crashes: 1, generations: 2, rollback: dropped&journalled != 0},
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
// the shortest one that doubles nothing; one tick less doubles.
func TestI14TheQuarantineIsLongerThanWhatDoubles(t *testing.T) {
	t.Parallel()
	size := protocolSize{workers: 2, generations: 2, timed: true}
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
