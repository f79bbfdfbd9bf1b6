package state

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
)

// Opening describes what opening had to settle because an earlier process ended between journal and
// ledger.
type Opening struct {
	Settled int // answers that only the journal had
	Doubts  int // rows that may have been in flight, and are now in doubt
	Acts    int // acts of people that only the journal had
}

// Opening returns what opening the ledger had to settle.
func (s *Store) Opening() Opening { return s.opening }

// journalVerdict is the result of comparing the ledger with its journal. If the two do not fit, an error
// is returned instead.
type journalVerdict struct {
	dir    string // of the journal
	row    sqldb.JournalRow
	Fresh  bool // there is no journal yet, and none is missing
	unused bool // the folder is from a process that ended before the ledger knew it
	// The records that the ledger lacks, which opening replays: one if a process ended between journal and
	// ledger; several only if none of them sent anything, as when a process stored answers while the
	// database was not reachable, or the ledger is older by no more than that.
	left  []journal.Record
	moved bool // the place of the ledger differs from that in the journal
	// what the ledger lacks of another host's journal; nothing is sent until it has it
	others  error
	back    error // the ledger went back behind what this host has confirmed of its server
	Compare journal.Comparison
}

// journalDir returns the folder of the ledger's journal.
func (s *Store) journalDir(parent string) string { return filepath.Join(parent, s.db.ID) }

// attach is what opening a ledger does after a crash, or the first time. It compares the ledger with its
// journal (compareJournal), begins the journal if there is none (beginJournal), settles what a crash left
// between the two (settleJournalled), opens the journal for writing, compares with the witness (watch), and
// confirms the server (confirmServer).
func (s *Store) attach(ctx context.Context, o sqldb.OpenOptions) error {
	const op = "comparing the ledger with its journal"
	parent, err := filepath.Abs(o.Journal)
	if err != nil {
		hint := phrase.New("correct state.journal")
		return s.db.Refuse(sqldb.CodeConfig, err, hint)
	}
	if err := s.refuseNetwork(parent); err != nil {
		return err
	}
	dir := s.journalDir(parent)
	s.moving = o.Moving
	v, err := s.compareJournal(ctx, op, dir)
	// A ledger that went back, and has everything in this journal, is opened: that reports it, and
	// returns the error.
	if err != nil && (v.back == nil || v.others != nil) {
		return err
	}
	if v.Fresh || len(v.left) > 0 {
		err := s.db.InTx(ctx, op, func(t *sqldb.Tx) (err error) {
			// Compared again, now that nobody else writes.
			v, err = s.readAndCheckLocked(t, dir, nil)
			if err != nil {
				return err
			}
			switch {
			case v.Fresh:
				v.row, err = s.beginJournal(t, dir, v.unused, o.Version)
			case len(v.left) > 0:
				s.opening, err = s.settleJournalled(t, &v)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	s.db.Journal, err = journal.Open(dir, v.row.Seq, v.row.Mark)
	if err != nil {
		return s.db.JournalFault(err)
	}
	s.db.Served, s.db.JournalPath = true, dir
	err = s.watch(ctx, op, o, v)
	if err == nil && v.Fresh {
		err = s.closeFormer(ctx, op, parent)
	}
	if err != nil {
		return err
	}
	s.db.Confirm(sqldb.Confirmed{Term: v.Compare.Term, Seen: v.Compare.Seen})
	if err := s.confirmServer(ctx, op); err != nil {
		return err
	}
	var platform string
	if err := s.db.Get(ctx, op, &platform, `SELECT platform FROM ledger`); err != nil {
		return err
	}
	if !v.moved && s.db.Journal.Header().Platform == platform {
		return nil
	}
	return s.db.InTx(ctx, op, func(t *sqldb.Tx) error { return noteHeader(t, o.Version) })
}

// How often, and how long after each other, a ledger that is only read is compared with its journal.
const (
	compareMost  = 3
	compareAgain = time.Second
)

// compareJournal compares the ledger with its journal, and with what the journal has of other hosts and of
// the server, without writing. A ledger that is only read is compared again before it counts as older:
// beside a process that writes, ledger and journal are read at two moments.
func (s *Store) compareJournal(ctx context.Context, op, dir string) (v journalVerdict, err error) {
	for try := 1; ; try++ {
		v = journalVerdict{}
		err = s.db.Peek(ctx, op, func(t *sqldb.Tx) (err error) {
			var known *sqldb.Error
			v, err = s.readAndCheckJournal(t, dir, !s.db.ReadOnly)
			if err != nil && (!errors.As(err, &known) || known.Code != sqldb.CodeRolledBack) {
				return err
			}
			now, stateErr := t.State()
			if stateErr != nil {
				return stateErr
			}
			had := sqldb.Confirmed{Term: v.Compare.Term}
			switch reason, _ := s.db.ReasonOf(had, now); {
			case reason == sqldb.WentBack && known != nil: // the newer server may be one command away
				known.Hint = phrase.New(sqldb.WentBackHint)
				return known
			case reason == sqldb.WentBack:
				v.back = t.Unsettled(had, now)
				return v.back
			case known != nil:
				return known
			}
			return v.others
		})
		var found *sqldb.Error
		if !s.db.ReadOnly || try == compareMost || !errors.As(err, &found) || found.Code == sqldb.CodeMoved {
			return v, err
		}
		select {
		case <-ctx.Done():
			return v, err
		case <-time.After(compareAgain):
		}
	}
}

// readAndCheckLocked compares the ledger with the journal in a folder, in a transaction that changes the ledger.
// Other hosts that are gone are not missed.
func (s *Store) readAndCheckLocked(t *sqldb.Tx, dir string, gone []string) (journalVerdict, error) {
	v, err := s.readAndCheckJournal(t, dir, true, gone...)
	if err == nil {
		err = v.others
	}
	return v, err
}

// readAndCheckJournal reads both ends of the comparison, in a transaction that locks the ledger if it is to
// be changed; checkRecords judges them.
func (s *Store) readAndCheckJournal(t *sqldb.Tx, dir string, lock bool, gone ...string) (journalVerdict, error) {
	v := journalVerdict{dir: dir}
	if lock { // only one process at a time may begin a journal
		var id string
		if err := t.Get(&id, s.db.D.Locked(`SELECT id FROM ledger`, "ledger")); err != nil {
			return v, err
		}
	}
	rows, err := sqldb.JournalRows(t, lock)
	if err != nil {
		return v, err
	}
	for id, row := range rows {
		if slices.Contains(gone, row.Host) {
			row.RetiredAt.Valid = true
			rows[id] = row
		}
	}
	end, err := journal.ReadEnd(dir)
	if errors.Is(err, journal.ErrNone) {
		if row, missed := s.expectedJournal(rows, dir); missed {
			return v, s.errJournalLost(row, phrase.Errorf("its journal in %s is gone, which has %s of what was sent",
				row.Path, sqldb.Counted(row.Seq, "record", "records")))
		}
		v.Fresh = true
		if len(rows) > 0 {
			return v, nil
		}
		// The ledger never had a journal. Another ledger that was here may have one.
		return v, sqldb.RefuseForgotten(filepath.Dir(dir), s.db.Where)
	}
	if err != nil {
		return v, s.db.JournalFault(err)
	}
	row, known := rows[end.Header.Journal]
	v.Compare, err = journal.Compare(dir, row.Seq)
	if err != nil {
		return v, s.db.JournalFault(err)
	}
	v.row = row
	return v, s.checkRecords(t, &v, rows, known, dir)
}

// checkRecords judges the result of a comparison: it refuses a journal that is not the ledger's, a ledger
// that is older than its journal, and a copy; what a crash left between the two is v.left.
func (s *Store) checkRecords(t *sqldb.Tx, v *journalVerdict, rows map[string]sqldb.JournalRow, known bool, dir string,
) error {
	c, header := v.Compare, v.Compare.End.Header
	other, missed := s.expectedJournal(rows, dir)
	machine := s.db.Tune.Machine()
	switch {
	case header.Ledger != s.db.ID:
		return s.errJournalLost(v.row, phrase.Errorf("the journal in %s belongs to ledger %s", dir, header.Ledger))
	case header.Form != journal.NewestForm:
		return sqldb.FormerFormat(dir)
	case header.MovedTo != "" && !s.moving:
		return sqldb.MovedAway(s.db.Where, header.MovedTo)
	case !known && !c.Used && !missed && !c.End.Damaged:
		v.Fresh, v.unused = true, true
		return nil
	case known && v.row.RetiredAt.Valid && !missed && s.db.D.Name == sqldb.Postgres:
		return s.db.Refuse(sqldb.CodeJournalLost,
			errors.New("a person has said that this host is gone, and the ledger has gone on without it"),
			phrase.New("nothing is sent; stop the service here, run `safrasync rebuild --reason TEXT`, which adds what its journal has and takes it up again, and start it again"))
	case known && v.row.RetiredAt.Valid:
		return s.errJournalLost(other, phrase.Errorf("its journal in %s is gone: the one that stands there is another", dir))
	case !known: // begun for a newer state of this ledger
		return s.rolledBack(c)
	case header.Machine != "" && machine != "" && header.Machine != machine:
		return s.db.Refuse(sqldb.CodeCopied, phrase.Errorf(
			"the ledger and its journal were last used on the host %s, and this is another: a copy of both would send everything again that the other sends", header.Host),
			phrase.New(sqldb.NewJournalHint))
	case c.End.Seq < v.row.Seq:
		return s.errJournalLost(v.row, phrase.Errorf("its journal ends at record %d, and the ledger has %d: records were lost",
			c.End.Seq, v.row.Seq))
	case c.Older:
		return s.rolledBack(c)
	case v.row.Seq > 0 && c.Mark != v.row.Mark:
		return s.db.Refuse(sqldb.CodeCopied, phrase.Errorf(
			"record %d of its journal in %s is not the one that the ledger knows: another copy of the ledger wrote it", v.row.Seq, dir),
			phrase.New(sqldb.NewJournalHint))
	}
	for id, seq := range c.Seen { // what the ledger had of other hosts' journals, according to this host's
		have, ok := rows[id]
		if ok && (have.Seq >= seq || have.RetiredAt.Valid) {
			continue
		}
		var host any = have.Host
		if have.Host == "" {
			host = phrase.New("the one whose journal is %s", id)
		}
		v.others = s.errOtherHostBehind(host, seq, have.Seq)
		break
	}
	v.moved = header.Place != s.db.Where
	if v.moved && s.db.D.Name == sqldb.SQLite && !s.sameFile(header.Place) {
		return s.db.Refuse(sqldb.CodeCopied,
			phrase.Errorf("its journal is that of the ledger %s, which is still there: this is a copy", header.Place),
			phrase.New(sqldb.NewJournalHint))
	}
	// the records that the ledger lacks
	switch {
	case c.Missing == 0 && c.End.Damaged:
		return s.db.JournalFault(c.End.Fault())
	case c.Missing == 0:
		return nil
	case c.Missing == 1 && c.End.Torn == 0:
		fits, err := s.isCrashRecord(t, c.First)
		if fits {
			v.left = []journal.Record{c.First}
		}
		if fits || err != nil {
			return err
		}
	}
	if c.End.Torn > 0 || len(c.Answers) == 0 {
		return s.rolledBack(c)
	}
	v.left = c.Answers
	return nil
}

// errOtherHostBehind returns the error for a ledger that has less of another host's journal than it had.
func (s *Store) errOtherHostBehind(host any, seq, have int64) error {
	return s.db.Refuse(sqldb.CodeRolledBack, phrase.Errorf(
		"another host's journal had record %d in this ledger, which has %d of it now: it lacks what that host sent", seq, have),
		phrase.New("nothing is sent; run `safrasync rebuild --reason TEXT` on every host, in any order, also on %s (stop its service first, and start it after that); if that host is gone for ever (run `safrasync check` there: if it answers, it is not), look on the platform for what it sent last, and run `safrasync state rebind --gone HOST --old-server-off TEXT --reason TEXT`", host))
}

// expectedJournal returns the journal that the ledger expects in a folder: a SQLite ledger has one; on
// PostgreSQL each host and folder has its own.
func (s *Store) expectedJournal(rows map[string]sqldb.JournalRow, dir string) (sqldb.JournalRow, bool) {
	host, _, _ := sqldb.HostIdentity()
	for _, r := range rows {
		if !r.RetiredAt.Valid && (s.db.D.Name == sqldb.SQLite || r.Host == host && r.Path == dir) {
			return r, true
		}
	}
	return sqldb.JournalRow{}, false
}

// sameFile reports whether a path leads to this ledger, or does not exist any more.
func (s *Store) sameFile(path string) bool {
	there, err := os.Stat(path)
	if err != nil {
		return true
	}
	here, err := os.Stat(s.db.Where)
	return err == nil && os.SameFile(there, here)
}

func (s *Store) rolledBack(c journal.Comparison) error {
	return &sqldb.Error{
		Code: sqldb.CodeRolledBack, Path: s.db.Where, Records: c.Missing, Rows: c.Intents, Since: c.Since,
		Hint: phrase.New(sqldb.RebuildHint),
		Err: phrase.Errorf("it is older than its journal: since %s it lacks %s, with %s",
			c.Since.Format(time.RFC3339), sqldb.Counted(c.Missing, "record", "records"),
			sqldb.Counted(c.Intents, "row that was sent", "rows that were sent")),
	}
}

func (s *Store) errJournalLost(row sqldb.JournalRow, err error) error {
	if host, _, _ := sqldb.HostIdentity(); row.Host != "" && row.Host != host {
		err = phrase.Errorf("%w; the ledger was last used on the host %s, and this is %s", err, row.Host, host)
	}
	return s.db.Refuse(sqldb.CodeJournalLost, err, phrase.New(sqldb.NewJournalHint))
}

// CatchUp settles what another process left that ended between journal and ledger, as the next
// start would, so that a running process need not be restarted. What another process of this host
// has confirmed of the ledger's server since counts for this one too.
func (s *Store) CatchUp(ctx context.Context, op string, slot int) error {
	_, err := s.db.TryTx(ctx, op, slot, func(t *sqldb.Tx) error {
		v, err := s.readAndCheckLocked(t, s.db.JournalPath, nil)
		if err != nil {
			return err
		}
		s.db.Confirm(sqldb.Confirmed{Term: v.Compare.Term, Seen: v.Compare.Seen})
		if reason, back := s.db.ReasonOf(s.db.Confirmed(), t.Now); reason == sqldb.WentBack {
			return back
		}
		if len(v.left) > 0 {
			_, err = s.settleJournalled(t, &v)
		}
		return err
	})
	return err
}
