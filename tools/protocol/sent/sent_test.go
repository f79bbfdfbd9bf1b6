package sent

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/trade"
)

func play(size limits, rules rule, wanted string) found {
	return playNoting(size, rules, wanted, map[[2]trade.State]bool{})
}

// playNoting adds the moves of the shown state to moves.
func playNoting(size limits, rules rule, wanted string, moves map[[2]trade.State]bool) found {
	p := &model{limits: size, rules: rules, moves: moves}
	start := world{ledger: ledger{state: stateNo(trade.Pending), gen: 1}}
	return explore(start, p.steps, p.fault, wanted)
}

// With all rules, no order of events leads to a fault; and the model makes the moves of the table
// between the states that it has, and no others.
func TestWithAllRulesNothingIsDoubledOrLost(t *testing.T) {
	t.Parallel()
	sizes := []limits{
		{attempts: 1, people: true, sweeps: true, foreign: true, told: true},
		{attempts: 2, people: true},
		{attempts: 2, sweeps: true},
		lying,
		{attempts: 2, calm: true, people: true, weak: true, exists: true},
		{attempts: 1, calm: true, sweeps: true, lies: true, told: true},
		{attempts: 1, calm: true, people: true, rollback: true, changes: 4},
		{attempts: 2, rollback: true, changes: 4},
		{attempts: 2, calm: true, lies: true, told: true, rollback: true, changes: 4},
		{attempts: 2, calm: true, rollback: true, blind: true, changes: 5},
		{attempts: 2, calm: true, lies: true, told: true, rollback: true, blind: true, changes: 4},
	}
	if os.Getenv("SAFRASYNC_TEST_LONG") != "" {
		sizes = append(sizes,
			limits{attempts: 2, people: true, weak: true, exists: true},
			limits{attempts: 2, people: true, foreign: true, told: true},
			limits{attempts: 2, people: true, lies: true, told: true},
			limits{attempts: 2, people: true, weak: true, lies: true, told: true},
			limits{attempts: 3, calm: true, people: true, lies: true, told: true},
			limits{attempts: 3, calm: true, people: true, weak: true},
			limits{attempts: 2, calm: true, people: true, foreign: true, weak: true, exists: true, told: true},
			limits{attempts: 2, people: true, sweeps: true},
			limits{attempts: 3, people: true},
			limits{attempts: 3, sweeps: true},
			limits{attempts: 3, calm: true, lies: true, told: true, rollback: true, changes: 5},
			lyingFork,
			limits{attempts: 3, calm: true, rollback: true, blind: true, changes: 5},
			limits{attempts: 1, calm: true, lies: true, told: true, rollback: true, blind: true, changes: 4},
			limits{attempts: 1, calm: true, people: true, foreign: true, rollback: true, blind: true, changes: 4},
			limits{attempts: 2, calm: true, people: true, weak: true, rollback: true, blind: true, changes: 4},
			limits{attempts: 2, calm: true, people: true, rollback: true, blind: true, changes: 5},
			limits{attempts: 2, people: true, rollback: true, blind: true, changes: 3})
	}
	moves := map[[2]trade.State]bool{}
	for _, size := range sizes {
		start := time.Now()
		f := playNoting(size, allRules, "", moves)
		t.Logf("%+v: %d worlds in %s", size, f.worlds, time.Since(start).Round(time.Millisecond))
		if f.fault != "" {
			t.Errorf("%+v: %s:\n  %s", size, f.fault, strings.Join(f.trace, "\n  "))
		}
	}
	// Here a row that is not sent yet is pending, whatever it waits for or lacks.
	pending := []trade.State{trade.Pending, trade.Waiting, trade.Invalid}
	for _, from := range trade.States {
		for _, to := range trade.States {
			if slices.Contains(pending[1:], from) || slices.Contains(pending[1:], to) {
				continue
			}
			may, made := slices.Contains(trade.Moves[from], to), moves[[2]trade.State{from, to}]
			switch {
			case from == to, may == made:
			case made:
				t.Errorf("the model moves from %s to %s, which the table forbids", from, to)
			default:
				t.Errorf("the table allows %s to %s, which the model never does", from, to)
			}
		}
	}
}

// without is a smallest set of rules without which there is a fault.
type without struct {
	dropped rule
	size    limits
	fault   string
}

// The sizes in which the lack of a rule shows.
var (
	sweeping = limits{attempts: 2, sweeps: true}
	deciding = limits{attempts: 1, people: true}
	lying    = limits{attempts: 3, lies: true, told: true}
	weakly   = limits{attempts: 2, people: true, weak: true}
	stating  = limits{attempts: 1, people: true, foreign: true, told: true}
	thrice   = limits{attempts: 3, people: true, calm: true}
	rolling  = limits{attempts: 1, people: true, calm: true, rollback: true, changes: 4}
	forked   = limits{attempts: 2, calm: true, rollback: true, blind: true, changes: 4}
	deciders = limits{attempts: 1, people: true, calm: true, rollback: true, blind: true, changes: 4}
	// A wrong refusal, a roll-back that one host does not notice, and evidence in between.
	lyingFork = limits{
		attempts: 3, calm: true, lies: true, told: true, rollback: true, blind: true,
		changes: 5,
	}
	telling = limits{attempts: 2, calm: true, lies: true, told: true, rollback: true, changes: 4}
)

var smallest = []without{
	{claimCompares, sweeping, apart},
	{claimRaises, sweeping, apart},
	{actCompares, sweeping, apart},
	{openLocked | shownView, deciding, posted},
	{newAttemptID, sweeping, nobody},
	{formerListed, lying, nobody},
	{certainStays, lying, nobody},
	{orderedAnew, weakly, nobody},
	{byAttempt, sweeping, nobody},
	{neverStored, sweeping, nobody},
	{listedApart, sweeping, nobody},
	{ownSent, lying, nobody},
	{twoIDs, stating, nobody},
	{quarantineOf, thrice, twice},
	{lateRaises, lying, apart},
	{oneLeft, lying, twice},
	{reopenKnows, limits{attempts: 2, people: true, lies: true, told: true}, apart},
	{bothFit, sweeping, apart},
	{outcomeBefore, sweeping, apart},
	{repeatOpen | repeatEpoch, deciding, posted},
	{openIsOpen, deciding, nothing},
	{deadOnly, deciding, posted},
	{doubts, deciding, nobody},
	{together, deciding, apart},
	{oneSnapshot, deciding, sums},
	{window, deciding, posted},
	// Where entry and sent contradict each other, only this rule prevents another request.
	{voidOnly | claimCompares, deciding, posted},
	{voidOnly | claimRaises, deciding, posted},
	{voidOnly | actCompares, sweeping, again},
	{voidOnly | bothFit, sweeping, again},
	{voidOnly | outcomeBefore, sweeping, again},
	{voidOnly | together, limits{attempts: 2}, again},

	{notedFirst, rolling, nobody},
	{notedAsDone, rolling, undone},
	{voided, rolling, unasked},
	{noticed, rolling, nobody},
	{outcomesJoined, forked, ordered},
	{voidOfAll, forked, nobody},
	{nextGeneration, forked, nobody},
	{smallerStays, forked, ordered},
	{besideFlagged, lyingFork, twice},
	{doubtAfter, rolling, apart},
	{doubtBelow, deciders, ordered},
	{decisionsStay, deciders, undone},
	{higherVersion, rolling, ordered},
	{tieBroken, forked, ordered},
	{answersKept, telling, nobody},
}

// Each rule is needed, by itself or as the second of two: without them there is a fault, and
// without one rule less there is none.
func TestWithoutARuleThereIsAFault(t *testing.T) {
	t.Parallel()
	var seen rule
	for _, c := range smallest {
		seen |= c.dropped
		start := time.Now()
		f := play(c.size, allRules&^c.dropped, c.fault)
		t.Logf("without %s, in %d steps, %d worlds and %s: %s\n  %s", strings.Join(namesOf(c.dropped, ruleNames), ", "),
			len(f.trace), f.worlds, time.Since(start).Round(time.Millisecond), f.fault, strings.Join(f.trace, "\n  "))
		if f.fault != c.fault {
			t.Errorf("without %s: %q, want %q", strings.Join(namesOf(c.dropped, ruleNames), ", "), f.fault, c.fault)
		}
		if c.dropped.count() == 1 {
			continue
		}
		for i := range ruleNames {
			one := c.dropped & (1 << i)
			if one == 0 {
				continue
			}
			if f := play(c.size, allRules&^c.dropped|one, c.fault); f.fault != "" {
				t.Errorf("without %s, but with %s: %s", strings.Join(namesOf(c.dropped, ruleNames), ", "), ruleNames[i], f.fault)
			}
		}
	}
	for _, name := range namesOf(allRules&^seen, ruleNames) {
		t.Errorf("nothing shows that %q is needed", name)
	}
}

// Of the rules that are not needed by themselves, no other set is needed: each backs up another one.
func TestTheOtherRulesAreBackups(t *testing.T) {
	t.Parallel()
	backups := []rule{openLocked, shownView, voidOnly, repeatOpen, repeatEpoch}
	pairs := []rule{openLocked | shownView, repeatOpen | repeatEpoch}
	sizes := []limits{deciding, {attempts: 2}}
	if os.Getenv("SAFRASYNC_TEST_LONG") != "" {
		sizes = append(sizes, sweeping, limits{attempts: 2, people: true}, weakly, lying, forked)
	}
	for set := range 1 << len(backups) {
		var dropped rule
		for i, r := range backups {
			if set&(1<<i) != 0 {
				dropped |= r
			}
		}
		if slices.ContainsFunc(pairs, func(pair rule) bool { return dropped&pair == pair }) {
			continue
		}
		for _, size := range sizes {
			if f := play(size, allRules&^dropped, ""); f.fault != "" {
				t.Errorf("%+v, without %q: %s:\n  %s", size, namesOf(dropped, ruleNames), f.fault,
					strings.Join(f.trace, "\n  "))
			}
		}
	}
}
