package sqldb

import (
	"cmp"
	"database/sql"
	"errors"
	"syscall"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
)

// Noting returns the journal record of a transaction. It is flushed to the journal before the
// commit.
func (t *Tx) Noting(at time.Time) *journal.Record {
	if t.Note == nil {
		t.Note = &journal.Record{Kind: journal.Tx, At: at.UTC()}
	}
	return t.Note
}

// WriteNote flushes the record to the journal and stores its number in the transaction. The journal
// is written first, the ledger second: after a crash between the two, the next start finds one
// record more in the journal.
func (t *Tx) WriteNote() error {
	s := t.S
	switch {
	case t.Note == nil:
		return nil
	case s.Journal == nil && s.Served:
		return s.Refuse(CodeJournal,
			errors.New("the ledger has a journal, and was opened without it"),
			phrase.New("set state.journal as the other processes have it"))
	case s.Journal == nil:
		return nil
	}
	id := s.Journal.Header().Journal
	// Locked: one transaction of this journal at a time; transactions of other hosts are not
	// blocked. SQLite has one at a time anyway.
	if s.D.Lock != "" {
		if err := t.All(&[]int64{}, s.D.Locked(`SELECT seq FROM journal WHERE id = ?`, "journal"), id); err != nil {
			return err
		}
	}
	rows, err := JournalRows(t, false)
	if err != nil {
		return err
	}
	row, ok := rows[id]
	if !ok || row.RetiredAt.Valid {
		return s.Refuse(CodeRolledBack, errors.New("the ledger no longer knows its journal"),
			phrase.New(RebuildHint))
	}
	if err := t.noteState(id, rows); err != nil {
		return err
	}
	if t.Audit == nil { // no act: the end is on disk already
		t.Audit = &AuditHead{}
		if err := t.Get(t.Audit, `SELECT seq, hash FROM audit_head WHERE one = 1`); err != nil {
			return err
		}
	}
	t.Note.Audit = &journal.AuditHead{Seq: t.Audit.Seq, Hash: t.Audit.Hash}
	seq, mark, err := s.Journal.Append(*t.Note, row.Seq, row.Mark)
	if err != nil {
		return s.JournalFault(err)
	}
	t.Seq, t.mark = seq, mark
	at := t.Note.At.UnixMilli()
	if t.Note.Quiet() && t.Note.Head == nil { // nothing of rows: the other hosts need not note it
		at = row.At
	}
	return t.Do(`UPDATE journal SET seq = ?, mark = ?, at = ? WHERE id = ?`, seq, mark, at, id)
}

// noteState adds to the record what this host has confirmed of the ledger: the last records of the
// other hosts' journals, and the server. It is what a committed transaction has shown, never what
// this one changes.
func (t *Tx) noteState(id string, rows map[string]JournalRow) error {
	at := map[string]int64{}
	for other, r := range rows {
		if other != id && !r.RetiredAt.Valid {
			if t.Note.Seen == nil {
				t.Note.Seen = map[string]int64{}
			}
			t.Note.Seen[other] = max(t.Note.Seen[other], r.Seq, t.had.Seen[other])
			at[other] = r.At
		}
	}
	t.Then = append(t.Then, func() {
		t.S.server.mu.Lock()
		defer t.S.server.mu.Unlock()
		t.S.server.noted = at
	})
	t.Note.On = t.Now.Server
	if t.Note.Term == nil && t.Now.Server != "" {
		term := t.had.Term
		if t.S.Unconfirmed(t.had, t.Now) == nil {
			term = t.Now.Term
		}
		t.Note.Term = &term
	}
	return nil
}

// noted runs Then, and reports to the journal that the ledger has the record.
func (t *Tx) noted() {
	for _, f := range t.Then {
		f()
	}
	if t.Seq > 0 {
		t.S.Journal.Committed(t.Seq)
		if t.S.Noted != nil {
			t.S.Noted(t.Seq, t.mark, t.Note.Open() > 0)
		}
		if t.Note.Term != nil {
			t.S.Confirm(Confirmed{*t.Note.Term, t.Note.Seen})
		}
	}
}

// JournalFault converts an error of the journal to an *Error that states what to do.
func (s *DB) JournalFault(err error) error {
	e := s.Refuse(CodeJournal, err,
		phrase.New("check the folder of state.journal, its rights and its disk"))
	var damage *journal.DamageError
	var end *journal.EndError
	switch {
	case errors.As(err, &end):
		e.Code, e.Hint = CodeJournalEnd, phrase.New("nothing is sent; `safrasync rebuild` keeps those bytes, and pauses every job "+
			"until somebody has looked on the platform for what was created after that time")
	case errors.Is(err, journal.ErrAhead), errors.Is(err, journal.ErrBack):
		e.Code, e.Hint = CodeRolledBack, phrase.New("nothing more is sent; start again, which settles it or says what is missing")
	case errors.Is(err, journal.ErrBehind):
		e.Code, e.Hint = CodeJournalLost, phrase.New(NewJournalHint)
	case errors.Is(err, journal.ErrOther):
		e.Code, e.Hint = CodeCopied, phrase.New(NewJournalHint)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		e.Code, e.Hint = CodeFull, phrase.New("free space on the disk of the journal; "+
			afterRoom)
	case errors.Is(err, syscall.EROFS):
		e.Hint = phrase.New("the disk is read-only, or the unit may not write there: `systemctl edit safrasync`, [Service], ReadWritePaths= with that folder")
	case errors.As(err, &damage):
		e.Hint = phrase.New("restore the file; if it is gone, check on the platform what was sent last, and run `safrasync rebuild --new-journal --reason TEXT`")
		e.Err = phrase.Errorf("its journal cannot be trusted: %w", err)
	}
	return e
}

// Hints for when ledger and journal do not fit.
const (
	RebuildHint    = "nothing is sent; stop the service here, run `safrasync rebuild --reason TEXT`, which shows what is missing and adds it, and start it again"
	NewJournalHint = "nothing is sent; if this ledger is the right one and no other is in use, run `safrasync rebuild --new-journal --reason TEXT`"
)

// JournalRow is what the ledger stores about one of its journals.
type JournalRow struct {
	ID, Mark, Host, Path string
	Seq, At              int64
	RetiredAt            sql.NullInt64
}

// JournalRows returns the journals of the ledger by id.
func JournalRows(t *Tx, lock bool) (map[string]JournalRow, error) {
	query := selectJournals
	if lock {
		query = t.S.D.Locked(query, "journal")
	}
	return JournalsBy(t.All, query)
}

const selectJournals = `SELECT id, seq, mark, host, path, at, retired_at FROM journal ORDER BY id`

// JournalsBy is JournalRows outside a transaction, by a query of these columns; "" for that of all.
func JournalsBy(read Select, query string) (map[string]JournalRow, error) {
	var rows []JournalRow
	if err := read(&rows, cmp.Or(query, selectJournals)); err != nil {
		return nil, err
	}
	out := make(map[string]JournalRow, len(rows))
	for _, r := range rows {
		out[r.ID] = r
	}
	return out, nil
}

// AuditHead is the end of the audit chain. Whoever appends to the chain locks it first, so that two
// writers cannot continue from the same record, and a record missing at the end is detected. The
// index audit_one_chain refuses a fork in any case.
type AuditHead struct {
	Seq  int64
	Hash string
}
