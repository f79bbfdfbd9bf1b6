package sqldb

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
)

// RefuseForgotten refuses to create a ledger if the journal of an earlier ledger here records that
// rows were sent (F057).
func RefuseForgotten(parent, where string) error {
	if parent == "" {
		return nil
	}
	f, err := JournalOf(parent, where)
	if err != nil || f.rows == 0 {
		return err
	}
	if to := f.End.Header.MovedTo; to != "" && f.End.Header.Place == where {
		return MovedAway(where, to)
	}
	e := &Error{
		Code: CodeEmptied, Path: where, Records: int(f.End.Seq), Rows: f.rows, Since: f.End.Header.Created,
		Hint: phrase.New("restore it (`safrasync restore FILE`), or run `safrasync rebuild`, which makes it anew from its journal"),
		Err: phrase.Errorf("the ledger is empty or gone, but its journal in %s says that %s",
			f.Dir, Counted(f.rows, "row was sent", "rows were sent")),
	}
	if place := f.End.Header.Place; place != where {
		e.Place = place
		e.Hint = phrase.New("%w; if that is another ledger, set state.journal to a folder of its own", e.Hint)
		e.Err = phrase.Errorf(
			"the ledger is new, but the journal in %s, of the ledger that stood at %s, says that %s",
			f.Dir, place, Counted(f.rows, "row was sent", "rows were sent"))
	}
	return e
}

// Unfinished begins the place in moved_to and moved_from until the copy is complete.
const Unfinished = "unfinished copy: "

// CopyAgain is what to do about a copy that is not complete.
const CopyAgain = "run the same `safrasync state copy` once more, which goes on; until then nothing is sent from either"

// MovedAway returns the error for a ledger that was moved, for copies of it, and for its journal.
func MovedAway(where, to string) error {
	if to, unfinished := strings.CutPrefix(to, Unfinished); unfinished {
		return Refuse(CodeCopy, where,
			phrase.Errorf("its copy to %s was begun and is not finished", to),
			phrase.New(CopyAgain))
	}
	return Refuse(CodeMoved, where, phrase.Errorf("the ledger was moved to %s", to),
		phrase.New("set state.driver and state.dsn to the new place; this one is kept for people to look at"))
}

// ForgottenJournal is a journal found for a place where a ledger is to be.
type ForgottenJournal struct {
	Dir  string // "" if there is none
	End  journal.End
	rows int // that were sent
}

// JournalOf finds the journal of a ledger that was at a place, or of one that is no longer where it
// was: the folder may have moved, or the server may have another name. It ignores the journal of
// another SQLite ledger whose file still exists. If there are several, it prefers journals of
// ledgers that have sent rows, then one with this place, then the newest.
func JournalOf(parent, where string) (ForgottenJournal, error) {
	found, broken, err := journal.Find(parent)
	if err != nil {
		return ForgottenJournal{}, Refuse(CodeJournal, where, err,
			phrase.New("let the user %s read the folder of state.journal", userName()))
	}
	var all []ForgottenJournal
	for dir, end := range found {
		if end.Header.Place != where && elsewhere(end.Header.Place, where) {
			continue
		}
		if end.Header.Form != journal.NewestForm {
			return ForgottenJournal{}, FormerFormat(dir)
		}
		rows := 0
		_, err := journal.Read(dir, -1, func(r journal.Record, _ string) error {
			rows += r.Open()
			if r.Kind == journal.Base {
				rows += len(r.Rows)
			}
			return nil
		})
		if err != nil {
			return ForgottenJournal{}, Refuse(CodeJournal, where,
				phrase.Errorf("the ledger is gone, and its journal cannot be read: %w", err),
				phrase.New("restore the ledger's backup"))
		}
		all = append(all, ForgottenJournal{dir, end, rows})
	}
	if len(all) > 0 {
		order := func(yes bool) int { return map[bool]int{true: 0, false: 1}[yes] }
		return slices.MinFunc(all, func(a, b ForgottenJournal) int {
			return cmp.Or(order(a.rows > 0)-order(b.rows > 0),
				order(a.End.Header.Place == where)-order(b.End.Header.Place == where), b.End.At.Compare(a.End.At))
		}), nil
	}
	for _, dir := range slices.Sorted(maps.Keys(broken)) {
		return ForgottenJournal{}, Refuse(CodeJournal, where,
			phrase.Errorf("the ledger is new, and the journal in %s cannot be read: %w", dir, broken[dir]),
			phrase.New("restore the ledger's backup, or move the folder away if it belongs to another ledger"))
	}
	return ForgottenJournal{}, nil
}

// elsewhere reports whether a journal belongs to another ledger whose file still exists.
func elsewhere(place, where string) bool {
	if !filepath.IsAbs(place) || !filepath.IsAbs(where) {
		return false
	}
	_, err := os.Stat(place)
	return err == nil
}
