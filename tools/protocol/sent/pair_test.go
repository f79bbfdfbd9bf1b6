package sent

import (
	"math/bits"
	"slices"
	"strings"
	"testing"
)

func playPair(rules rule, oneJob bool) found {
	p := &pairModel{rules: rules}
	return explore(pair{oneJob: oneJob}, p.steps, pair.fault, "")
}

// Two rows of one document: with all rules none is claimed beside a record of the other. The smallest
// sets of rules without which there is a fault are these, and no others.
func TestTwoRowsOfOneDocument(t *testing.T) {
	t.Parallel()
	want := []rule{
		kindLock, look | groupsRaise, actsRaise, numberShared, jobShared, leaseShared, takenApart,
		statedLooked,
	}
	var minimal []rule
	for n := range len(pairRuleNames) + 1 {
		for dropped := range rule(allOfPair + 1) {
			if bits.OnesCount64(uint64(dropped)) != n ||
				slices.ContainsFunc(minimal, func(m rule) bool { return dropped&m == m }) {
				continue
			}
			for _, oneJob := range []bool{false, true} {
				f := playPair(allOfPair&^dropped, oneJob)
				if f.fault == "" {
					continue
				}
				t.Logf("without %q, %d worlds: %s\n  %s", namesOf(dropped, pairRuleNames), f.worlds, f.fault,
					strings.Join(f.trace, "\n  "))
				minimal = append(minimal, dropped)
				break
			}
		}
	}
	slices.Sort(want)
	slices.Sort(minimal)
	if !slices.Equal(minimal, want) {
		for _, m := range minimal {
			t.Errorf("there is a fault without %q", namesOf(m, pairRuleNames))
		}
	}
}

// An image that names a row by its number in the ledger is replayed into another row.
func TestAnImageWithNumbersIsReplayedIntoAnotherRow(t *testing.T) {
	t.Parallel()
	if f := explore(numbered{}, numberedSteps(true), numbered.fault, ""); f.fault != "" {
		t.Errorf("named by key: %s:\n  %s", f.fault, strings.Join(f.trace, "\n  "))
	}
	f := explore(numbered{}, numberedSteps(false), numbered.fault, noRecord)
	t.Logf("%d worlds: %s\n  %s", f.worlds, f.fault, strings.Join(f.trace, "\n  "))
	if f.fault != noRecord {
		t.Error("nothing shows that images must not have numbers")
	}
}

// Transactions that lock in one order never wait for each other; each that locks what it changes when
// it changes it can wait for one that does not.
func TestTransactionsThatLockInOneOrderDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	play := func(a, b tx) found {
		both := [2]tx{a, b}
		return explore(locking{}, lockSteps(both), lockFault(both), "")
	}
	for _, a := range inOneOrder {
		for _, b := range inOneOrder {
			if f := play(a, b); f.fault != "" {
				t.Errorf("%s:\n  %s", f.fault, strings.Join(f.trace, "\n  "))
			}
		}
	}
	for _, a := range asTheyCome {
		found := slices.ContainsFunc(inOneOrder, func(b tx) bool {
			f := play(a, b)
			if f.fault != "" {
				t.Logf("%s:\n  %s", f.fault, strings.Join(f.trace, "\n  "))
			}
			return f.fault != ""
		})
		if !found {
			t.Errorf("%s waits for nothing", a.name)
		}
	}
}
