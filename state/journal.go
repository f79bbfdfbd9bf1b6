package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/safrasync/safrasync/state/journal"
)

// Opening says what the comparison with the journal had to settle: an earlier process ended between journal and ledger.
type Opening struct {
	Settled int // answers that only the journal had
	Doubts  int // rows that may have been on the wire, and are in doubt now
	Acts    int // acts of people that only the journal had
}

// Opening says what opening the ledger had to settle.
func (s *Store) Opening() Opening { return s.opening }

// verdict is what the comparison of the ledger with its journal found. An error takes its place when the two do not fit.
type verdict struct {
	dir     string // of the journal
	row     journalRow
	fresh   bool            // there is no journal yet, and none is missed
	unused  bool            // a folder that a process left which ended before the ledger knew it
	record  *journal.Record // the one record that the ledger lacks: a process ended between journal and ledger
	moved   bool            // the ledger stands elsewhere than the journal says
	compare journal.Comparison
}

// journalDir is the folder of the ledger's journal.
func (s *Store) journalDir(parent string) string { return filepath.Join(parent, s.id) }

// attach compares the ledger with its journal, settles what a crash left between the two, and opens the journal for writing.
func (s *Store) attach(ctx context.Context, o Options) error {
	const op = "comparing the ledger with its journal"
	parent, err := filepath.Abs(o.Journal)
	if err != nil {
		return &Error{Code: CodeConfig, Path: s.where, Hint: "correct state.journal", Err: err}
	}
	if err := s.refuseNetwork(parent); err != nil {
		return err
	}
	dir := s.journalDir(parent)
	v, err := s.look(ctx, op, dir)
	if err != nil {
		return err
	}
	if v.fresh || v.record != nil {
		err := s.inTx(ctx, op, func(t *tx) (err error) {
			// Looked at again, now that nobody else writes.
			if v, err = s.judge(t, dir, true); err != nil {
				return err
			}
			switch {
			case v.fresh:
				v.row, err = s.beginJournal(t, dir, v.unused, o.Version)
			case v.record != nil:
				s.opening, err = s.settleRecord(t, &v)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if s.journal, err = journal.Open(dir, v.row.Seq, v.row.Mark); err != nil {
		return s.journalFault(err)
	}
	s.served, s.journalPath = true, dir
	var platform string
	if err := s.read.GetContext(ctx, &platform, `SELECT platform FROM ledger`); err != nil {
		return s.fault(ctx, op, err)
	}
	if !v.moved && s.journal.Header().Platform == platform {
		return nil
	}
	return s.inTx(ctx, op, func(t *tx) error { return t.noteHeader(o.Version) })
}

// look judges without writing.
func (s *Store) look(ctx context.Context, op, dir string) (v verdict, err error) {
	err = s.peek(ctx, op, func(t *tx) (err error) {
		v, err = s.judge(t, dir, !s.readOnly)
		return err
	})
	return v, err
}

// judge compares the ledger with the journal in a folder.
func (s *Store) judge(t *tx, dir string, lock bool) (verdict, error) {
	v := verdict{dir: dir}
	if lock { // one process at a time begins a journal
		var id string
		if err := t.get(&id, s.d.locked(`SELECT id FROM ledger`, "ledger")); err != nil {
			return v, err
		}
	}
	rows, err := journalRows(t, lock)
	if err != nil {
		return v, err
	}
	end, err := journal.Read(dir, 1<<62, func(journal.Record, string) error { return nil })
	if errors.Is(err, journal.ErrNone) {
		if row, missed := s.missed(rows, dir); missed {
			return v, s.lost(row, fmt.Errorf("its journal in %s is gone, which has %d records of what was sent", row.Path, row.Seq))
		}
		v.fresh = true
		return v, s.forgotten(rows, dir)
	}
	if err != nil {
		return v, s.journalFault(err)
	}
	row, known := rows[end.Header.Journal]
	if v.compare, err = journal.Compare(dir, row.Seq); err != nil {
		return v, s.journalFault(err)
	}
	v.row = row
	return v, s.weigh(t, &v, rows, known, dir)
}

// weigh draws the conclusion of a comparison.
func (s *Store) weigh(t *tx, v *verdict, rows map[string]journalRow, known bool, dir string) error {
	c, header := v.compare, v.compare.End.Header
	other, missed := s.missed(rows, dir)
	machine := s.tune.machine()
	switch {
	case header.Ledger != s.id:
		return s.lost(v.row, fmt.Errorf("the journal in %s belongs to ledger %s", dir, header.Ledger))
	case !known && !c.Used && !missed:
		v.fresh, v.unused = true, true
		return nil
	case known && v.row.RetiredAt.Valid:
		return s.lost(other, fmt.Errorf("its journal in %s is gone: the one that stands there is another", dir))
	case !known: // begun for a newer state of this ledger
		return s.rolledBack(c)
	case header.Machine != "" && machine != "" && header.Machine != machine:
		return &Error{
			Code: CodeCopied, Path: s.where, Hint: newJournalHint,
			Err: fmt.Errorf("the ledger and its journal were last used on the host %s, and this is another: a copy of both would send everything again that the other sends", header.Host),
		}
	case c.End.Seq < v.row.Seq:
		return s.lost(v.row, fmt.Errorf("its journal ends at record %d, and the ledger has %d: records were lost", c.End.Seq, v.row.Seq))
	case c.Older:
		return s.rolledBack(c)
	case v.row.Seq > 0 && c.Mark != v.row.Mark:
		return &Error{
			Code: CodeCopied, Path: s.where, Hint: newJournalHint,
			Err: fmt.Errorf("record %d of its journal in %s is not the one that the ledger knows: another copy of the ledger wrote it", v.row.Seq, dir),
		}
	}
	for id, seq := range c.Seen {
		if have, ok := rows[id]; !ok || have.Seq < seq {
			host := have.Host
			if host == "" {
				host = "whose journal is " + id
			}
			return &Error{
				Code: CodeRolledBack, Path: s.where, Hint: "run `safrasync rebuild` on the host " + host + " first; if that host is gone for ever, " + newJournalHint,
				Err: fmt.Errorf("another host's journal had record %d in this ledger, which has %d of it now: it lacks what that host sent", seq, have.Seq),
			}
		}
	}
	if v.moved = header.Place != s.where; v.moved && s.d.name == SQLite && !s.sameFile(header.Place) {
		return &Error{
			Code: CodeCopied, Path: s.where, Hint: newJournalHint,
			Err: fmt.Errorf("its journal is that of the ledger %s, which is still there: this is a copy", header.Place),
		}
	}
	switch {
	case c.Missing == 0:
		return nil
	case c.Missing == 1 && stepsOver[c.First.Kind]:
		v.record = &c.First
		fits, err := s.fits(t, c.First)
		if fits || err != nil {
			return err
		}
	}
	return s.rolledBack(c)
}

// stepsOver are the kinds of records that a process may have left which ended between journal and ledger, and that the opening settles.
var stepsOver = map[journal.Kind]bool{journal.Group: true, journal.Moved: true, journal.Act: true, journal.Snapshot: true, journal.Base: true}

// missed gives the journal that the ledger expects in a folder: a SQLite ledger has one; on PostgreSQL each host and folder has its own.
func (s *Store) missed(rows map[string]journalRow, dir string) (journalRow, bool) {
	host, _, _ := hostIdentity()
	for _, r := range rows {
		if !r.RetiredAt.Valid && (s.d.name == SQLite || r.Host == host && r.Path == dir) {
			return r, true
		}
	}
	return journalRow{}, false
}

// forgotten refuses to begin a journal for a ledger that never had one where another that stood here has.
func (s *Store) forgotten(rows map[string]journalRow, dir string) error {
	if len(rows) > 0 {
		return nil
	}
	return refuseForgotten(filepath.Dir(dir), s.where)
}

// sameFile tells whether a path leads to this ledger, or to nothing any more.
func (s *Store) sameFile(path string) bool {
	there, err := os.Stat(path)
	if err != nil {
		return true
	}
	here, err := os.Stat(s.where)
	return err == nil && os.SameFile(there, here)
}

func (s *Store) rolledBack(c journal.Comparison) error {
	return &Error{
		Code: CodeRolledBack, Path: s.where, Records: c.Missing, Rows: c.Intents, Since: c.Since, Hint: rebuildHint,
		Err: fmt.Errorf("it is older than its journal: %d records since %s are missing, with %d rows that were sent", c.Missing, c.Since.Format(time.RFC3339), c.Intents),
	}
}

func (s *Store) lost(row journalRow, err error) error {
	if host, _, _ := hostIdentity(); row.Host != "" && row.Host != host {
		err = fmt.Errorf("%w; the ledger was last used on the host %s, and this is %s", err, row.Host, host)
	}
	return &Error{Code: CodeJournalLost, Path: s.where, Hint: newJournalHint, Err: err}
}

// catchUp settles what another process left that ended between journal and ledger, as the next start would: a process that goes on need not start again for it.
func (s *Store) catchUp(ctx context.Context, op string, slot int) error {
	_, err := s.tryTx(ctx, op, slot, func(t *tx) error {
		v, err := s.judge(t, s.journalPath, true)
		if err != nil || v.record == nil {
			return err
		}
		_, err = s.settleRecord(t, &v)
		return err
	})
	return err
}
