package state

import (
	"database/sql"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/safrasync/safrasync/state/journal"
)

// noting gives the note of a transaction, which is flushed to the journal before the commit.
func (t *tx) noting(kind journal.Kind, at time.Time) *journal.Record {
	if t.note == nil {
		t.note = &journal.Record{Kind: kind, At: at.UTC()}
	}
	return t.note
}

// writeNote flushes the note to the journal and stores its number in the transaction. Journal first, ledger second: a crash between the two is seen at the next
// start, when the journal has one record more.
func (t *tx) writeNote() error {
	s := t.s
	switch {
	case t.note == nil:
		return nil
	case s.journal == nil && s.served:
		return &Error{
			Code: CodeJournal, Path: s.where, Hint: "set state.journal as the other processes have it",
			Err: errors.New("the ledger has a journal, and was opened without it"),
		}
	case s.journal == nil:
		return nil
	}
	id := s.journal.Header().Journal
	// Locked: one transaction of this journal at a time; those of other hosts go on.
	if err := t.all(&[]int64{}, s.d.locked(`SELECT seq FROM journal WHERE id = ?`, "journal"), id); err != nil {
		return err
	}
	rows, err := journalRows(t, false)
	if err != nil {
		return err
	}
	row, ok := rows[id]
	if !ok || row.RetiredAt.Valid {
		return &Error{Code: CodeRolledBack, Path: s.where, Hint: rebuildHint, Err: errors.New("the ledger no longer knows its journal")}
	}
	for other, r := range rows {
		if other != id && !r.RetiredAt.Valid {
			if t.note.Seen == nil {
				t.note.Seen = map[string]int64{}
			}
			t.note.Seen[other] = max(t.note.Seen[other], r.Seq)
		}
	}
	if t.audit != nil {
		t.note.Audit = &journal.AuditHead{Seq: t.audit.Seq, Hash: t.audit.Hash}
	}
	seq, mark, err := s.journal.Append(*t.note, row.Seq, row.Mark)
	if err != nil {
		return s.journalFault(err)
	}
	t.seq = seq
	return t.exec(`UPDATE journal SET seq = ?, mark = ?, at = ? WHERE id = ?`, seq, mark, t.note.At.UnixMilli(), id)
}

// noted tells the journal that the ledger has the note, and does what waited for that.
func (t *tx) noted() {
	for _, f := range t.then {
		f()
	}
	if t.seq > 0 {
		t.s.journal.Committed(t.seq)
	}
}

// journalFault says what is wrong with a journal, and what to do.
func (s *Store) journalFault(err error) error {
	e := &Error{Code: CodeJournal, Path: s.where, Err: err, Hint: "check the folder of state.journal, its rights and its disk"}
	var damage *journal.DamageError
	switch {
	case errors.Is(err, journal.ErrAhead), errors.Is(err, journal.ErrBack):
		e.Code, e.Hint = CodeRolledBack, "nothing more is sent; start again, which settles it or says what is missing"
	case errors.Is(err, journal.ErrBehind):
		e.Code, e.Hint = CodeJournalLost, newJournalHint
	case errors.Is(err, journal.ErrOther):
		e.Code, e.Hint = CodeCopied, newJournalHint
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		e.Code, e.Hint = CodeFull, "free space on the disk of the journal; "+afterRoom
	case errors.As(err, &damage):
		e.Hint = "restore the file; if it is gone, check on the platform what was sent last, and run `safrasync rebuild --new-journal --reason TEXT`"
		e.Err = fmt.Errorf("its journal cannot be trusted: %w", err)
	}
	return e
}

// What to do when ledger and journal do not fit.
const (
	rebuildHint    = "nothing is sent; `safrasync rebuild` shows what is missing and adds it"
	newJournalHint = "nothing is sent; if this ledger is the right one and no other is in use, run `safrasync rebuild --new-journal --reason TEXT`"
)

// journalRow is what the ledger knows of one of its journals.
type journalRow struct {
	ID        string        `db:"id"`
	Seq       int64         `db:"seq"`
	Mark      string        `db:"mark"`
	Host      string        `db:"host"`
	Path      string        `db:"path"`
	At        int64         `db:"at"`
	RetiredAt sql.NullInt64 `db:"retired_at"`
}

// journalRows gives the journals of the ledger by their ids.
func journalRows(t *tx, lock bool) (map[string]journalRow, error) {
	query := `SELECT id, seq, mark, host, path, at, retired_at FROM journal ORDER BY id`
	if lock {
		query = t.s.d.locked(query, "journal")
	}
	var rows []journalRow
	if err := t.all(&rows, query); err != nil {
		return nil, err
	}
	out := make(map[string]journalRow, len(rows))
	for _, r := range rows {
		out[r.ID] = r
	}
	return out, nil
}

// auditHead is the end of the chain. Whoever adds to it locks it first: two writers cannot go on from the same record, and a record that is missing at the end
// is missed. The index audit_one_chain refuses a fork in any case.
type auditHead struct {
	Seq  int64  `db:"seq"`
	Hash string `db:"hash"`
}
