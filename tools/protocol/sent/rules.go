package sent

import "math/bits"

// rule is a rule of the protocol that the model can be told to drop.
type rule uint64

// The rules, in the order of the promise that they keep.
const (
	// The claim changes the entry.
	claimCompares rule = 1 << iota // a claim changes only an entry that is as it was read
	claimRaises                    // a claim raises the version of the entry, and so locks it
	actCompares                    // acts and sweeps change only an entry that is as they read it
	openLocked                     // the database refuses changes of an entry with an open sent
	// Re-opening.
	voidOnly     // a sent is re-opened only if its record is proved not to exist
	newAttemptID // a re-opened sent has a new attempt id
	formerListed // the former attempt goes whole to the list
	certainStays // a certain outcome does not change, and made never does
	orderedAnew  // an order after a refusal that proves nothing opens a new generation
	// Settling.
	byAttempt    // an outcome is settled by attempt id, not by generation
	neverStored  // an attempt id that is nowhere was never stored, and changes nothing
	listedApart  // an answer of a listed attempt does not touch the attempt of its sent
	ownSent      // a late record gets a sent of its own
	twoIDs       // the id of an answer and the id that a person stated are two columns
	quarantineOf // a quarantine is that of an attempt, not of a generation
	lateRaises   // an answer raises the version of the entry also if it changes only a flag
	oneLeft      // the flag goes only if one record is left
	reopenKnows  // a reopened row follows from its attempts
	// The two statements of a settlement, and a call that is repeated.
	bothFit       // a settlement is done only if both of its statements change their row
	outcomeBefore // what does not fit is judged with the outcome before the group
	repeatOpen    // a repeated claim counts only if its attempt is open
	repeatEpoch   // and if the lease is that of the claim
	// Recovery, and what people and lists see.
	openIsOpen  // open is an outcome, not the lack of one
	deadOnly    // recovery is for the open sents of dead owners
	doubts      // what recovery ends is in doubt
	together    // it ends the attempt and moves the entry in one transaction
	shownView   // people and engine see the state that the view derives
	oneSnapshot // sums take states and open sents from one snapshot
	window      // no byte leaves after the send window
	// Journals and replay.
	notedFirst     // the journal has a change before it is committed
	notedAsDone    // it has what the statements changed, not what was asked
	voided         // a record of a commit that was refused is void
	noticed        // a ledger that is older than a journal is noticed before anything is sent
	outcomesJoined // replay: open, unknown, certain; nothing goes back
	voidOfAll      // replay: void only by the certain outcomes of all attempts
	nextGeneration // replay: the second attempt of a generation that may exist gets the next free one
	smallerStays   // replay: of two such attempts, the one with the smaller id stays
	besideFlagged  // replay: a late record with a sent of its own is flagged if another may exist
	doubtAfter     // replay: what is open or unknown is in doubt
	doubtBelow     // replay: an image with an open or unknown attempt has no state of its own
	decisionsStay  // replay: accepted and dismissed stay, whatever the version
	higherVersion  // replay: the version is the higher one, and not one more
	tieBroken      // replay: of two images of one version the same one counts in every order
	answersKept    // an answer of an attempt that the ledger lacks is a record of its own
	allRules       = 1<<iota - 1
)

// ruleNames has the names of the rules, in their order.
var ruleNames = []string{
	"claim compares the version",
	"claim raises the version",
	"acts compare the version",
	"entry locked while a sent is open",
	"re-open void only",
	"new attempt id",
	"former attempt listed",
	"certain stays",
	"checked retry in a new generation",
	"settled by attempt id",
	"an id that is nowhere changes nothing",
	"listed attempts apart",
	"a late record has its own sent",
	"two columns of ids",
	"quarantine by attempt",
	"every answer raises the version",
	"flag gone with one record left",
	"reopened by its attempts",
	"both statements fit",
	"outcome before the group",
	"repeated claim is open",
	"repeated claim of the own epoch",
	"open is an outcome",
	"recovery of the dead only",
	"recovery doubts",
	"recovery in one transaction",
	"shown state",
	"one snapshot",
	"send window",
	"journal before commit",
	"journal as done, not as asked",
	"refused commits void",
	"older ledger noticed",
	"outcomes joined",
	"void by all attempts",
	"next free generation",
	"smaller id stays",
	"late record flagged while another may exist",
	"doubt after replay",
	"no state beside a doubt",
	"decisions stay",
	"higher version, not one more",
	"ties broken",
	"answers without a row kept",
}

// namesOf returns the names of rules.
func namesOf(r rule, all []string) (out []string) {
	for i, name := range all {
		if r&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

func (r rule) count() int { return bits.OnesCount64(uint64(r)) }
