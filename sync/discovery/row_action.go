// The decision what a row of the ERP means for its entry. Pure.

package discovery

import (
	"reflect"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// rowAction is what discovery does with a row of the ERP.
type rowAction int

const (
	same  rowAction = iota // nothing relevant has changed
	seen                   // found again: only the marks of absence are removed
	remap                  // map and check it again
	// it was sent, or may have been, or a person dismissed it: find out whether it differs now
	compare
	cancel   // it was sent, or may have been, and is cancelled now
	revive   // its double key or its absence may be cured: decided at the end of the reading
	leave    // only a person can change it
	absentee // cancelled and never sent: counts as gone
	redraw   // only the displayed columns changed: nothing else of the entry changes
)

// decideRow returns what to do with a row of the ERP, given what the ledger knows of its key.
func decideRow(known *trade.Known, hash trade.Hash, mappedWith string, cancelled bool) rowAction {
	switch {
	case known.State == trade.Sending:
		return leave // its owner decides; the next run compares
	case known.State.MayBeOnPlatform():
		switch {
		case cancelled:
			return cancel
		// an entry that was rebuilt from the journal has no values and no MappedWith
		case known.SourceHash != hash, known.MappedWith == "":
			return compare
		case known.Flags.Has(trade.Cancelled), known.Flags.Has(trade.MissingInERP), known.GoneSweeps > 0,
			known.Acknowledged.Has(trade.Cancelled),
			known.Acknowledged.Has(trade.MissingInERP), known.Flags.Has(trade.Replaced) &&
				!known.Flags.Has(trade.Changed):
			return seen
		// its parent may have got the record that was sent
		case known.Flags.Has(trade.Changed) && !known.Flags.Has(trade.Replaced):
			return compare
		}
		return same
	case cancelled:
		return absentee
	case (known.State == trade.Dismissed || known.State == trade.Held && known.Cause == trade.CauseExists) &&
		(known.SourceHash != hash || known.MappedWith == ""):
		return compare // people are shown that it is another row than the one that was decided about
	case known.State == trade.Held && known.Cause == trade.CauseTwin && known.MappedWith != mappedWith,
		// rebuilt from the journal, without its values and amount
		known.State == trade.Held && known.MappedWith == "" &&
			(known.Cause == trade.CauseRetyped || known.Cause == trade.CauseOtherJob),
		known.State == trade.Held && (known.Cause == trade.CauseRetyped || known.Cause == trade.CauseTwin ||
			known.Cause == trade.CauseOtherJob) &&
			(known.SourceHash != hash || known.Flags.Has(trade.Changed) || known.Acknowledged.Has(trade.Changed)):
		// The key has another row now. It stays held, with what it would send now, until it is judged.
		return remap
	case known.State == trade.Dismissed, known.State == trade.Held && known.Cause != trade.CauseDuplicateKey &&
		known.Cause != trade.CauseVanished:
		if known.GoneSweeps > 0 {
			return seen
		}
		return leave
	case known.State == trade.Held && known.Cause == trade.CauseDuplicateKey:
		return revive
	case known.State == trade.Held, known.State == trade.Withdrawn, known.SourceHash != hash,
		known.MappedWith != mappedWith,
		// it was in doubt while the ERP changed it, and then refused: the ledger has what was sent
		known.Flags.Has(trade.Changed):
		return remap
	case known.GoneSweeps > 0:
		return seen
	}
	return same
}

// touch sets the time of the last change, if people would see one: a row that was only judged again
// keeps its time. It is that of the discovery: the start of a long run may be before the row was sent.
func (r *Discoverer) touch(entry *trade.Entry, old trade.Entry) {
	if entry.State != old.State || entry.Cause != old.Cause || entry.SourceHash != old.SourceHash ||
		entry.PayloadHash != old.PayloadHash ||
		!slices.Equal(entry.Flags, old.Flags) || !slices.Equal(entry.WaitingFor, old.WaitingFor) ||
		!reflect.DeepEqual(entry.Error, old.Error) || !reflect.DeepEqual(entry.Now, old.Now) {
		entry.UpdatedAt = r.Clock.Now()
	}
}
