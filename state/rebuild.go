package state

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// errPlanned rolls back the transaction of a plan.
var errPlanned = errors.New("only planned")

// openToMend opens a ledger as it is, without its journal, to compare and to confirm: nothing is
// sent. It does not create an absent one.
func openToMend(ctx context.Context, o sqldb.OpenOptions) (*Store, error) {
	o.Journal, o.Mending, o.Begin = "", true, false
	return Open(ctx, o)
}

// planned plans what a person is to confirm (look) and, if apply is true, does it, in one transaction.
func (s *Store) planned(ctx context.Context, op string, apply bool, look, do func(*sqldb.Tx) error) error {
	err := s.db.InTx(ctx, op, func(t *sqldb.Tx) error {
		err := look(t)
		switch {
		case err != nil:
			return err
		case !apply:
			return errPlanned
		}
		return do(t)
	})
	if errors.Is(err, errPlanned) {
		return nil
	}
	return err
}

// addPlan adds an act to the audit, with its plan, and returns its number.
func addPlan(t *sqldb.Tx, act trade.AuditRecord, plan any) (int64, error) {
	detail, err := json.Marshal(plan)
	if err != nil {
		return 0, err
	}
	act.Detail = string(detail)
	return books.AddNumbered(t, act)
}

// Rebuild adds to the ledger what its journal has and the ledger lacks, after the ledger was rolled
// back, deleted or emptied. If apply is false, it changes nothing and returns what it would do.
// Rows come back as accepted with their id, or in doubt if no answer is known, with their
// generation. The next sweep restores their contents. If the journal's end is damaged, nobody can
// tell what was sent after its last record, so a brake pauses the given jobs, and those of ledger
// and journal.
func Rebuild(ctx context.Context, o sqldb.OpenOptions, configured []string, apply bool,
	record trade.AuditRecord,
) (plan RebuildPlan, err error) {
	where, err := whereOf(o)
	if err != nil {
		return plan, err
	}
	dir, exists, damaged, err := rebuildFrom(ctx, o, where)
	if err != nil {
		return plan, err
	}
	h, err := readHistory(dir)
	if err != nil {
		return plan, (&sqldb.DB{Where: where}).JournalFault(err)
	}
	if to := h.End.Header.MovedTo; to != "" {
		return plan, sqldb.MovedAway(where, to)
	}
	plan = RebuildPlan{
		Ledger: h.End.Header.Ledger, Absent: !exists, Journal: dir,
		Records: h.End.Seq, Until: h.End.At, Braked: []string{},
	}
	if damaged {
		plan.Damaged = where
	}
	if damaged && apply {
		plan.Damaged, err = setAside(ctx, where, o.Tuning())
		if err != nil {
			return plan, err
		}
		if err := os.Remove(where); err != nil {
			return plan, sqldb.Permission(where, err)
		}
		if err := syncFolder(filepath.Dir(where)); err != nil {
			return plan, err
		}
	}
	var s *Store
	if exists || apply {
		o.Journal, o.Identity, o.Mending = "", h.End.Header.Ledger, true
		s, err = Open(ctx, o)
	} else { // a plan uses an empty one
		s, err = openMemory(ctx, o.Tuning())
	}
	if err != nil {
		return plan, err
	}
	defer phrase.Join(&err, s.Close)
	// The bytes after the journal's last record may have been records. What one interrupted write has left
	// was none, if the ledger has all records before it.
	if err := s.db.Peek(ctx, "comparing the ledger with its journal", func(t *sqldb.Tx) error {
		rows, err := sqldb.JournalRows(t, false)
		inStep := rows[h.End.Header.Journal].Seq == h.End.Seq
		if err != nil || !h.End.Damaged && (h.End.Torn == 0 || inStep) {
			return err
		}
		plan.Lost = h.End.Torn
		jobs := append(slices.Collect(maps.Keys(h.Jobs)), configured...)
		for _, m := range h.Order {
			jobs = append(jobs, m.Job)
		}
		plan.Braked, err = jobsOf(t, jobs)
		return err
	}); err != nil {
		return plan, err
	}
	if apply && plan.Lost > 0 { // nobody knows what the bytes were: every job is paused before they are cut off
		if err := s.replay(ctx, h, &plan, false, trade.AuditRecord{}); err != nil {
			return plan, err // the rebuild cannot even be planned
		}
		now := time.Now()
		if err := s.db.InTx(ctx, "pausing every job", func(t *sqldb.Tx) error {
			return brakeAll(t, plan.Braked, brakeNewJournal, plan.Until, now, h.pause)
		}); err != nil {
			return plan, err
		}
		if err := journal.Mend(dir, now); err != nil { // a process that dies before this leaves the pauses
			return plan, s.db.JournalFault(err)
		}
	}
	if apply {
		s.db.Journal, err = journal.Open(dir, h.End.Seq, h.Mark)
		if err != nil {
			return plan, s.db.JournalFault(err)
		}
	}
	return plan, s.replay(ctx, h, &plan, apply, record)
}

// replay adds to the ledger what the journal has; if apply is false, it only plans that.
func (s *Store) replay(ctx context.Context, h *journalHistory, plan *RebuildPlan, apply bool,
	record trade.AuditRecord,
) error {
	var r *replay
	var work []replayedRow
	return s.planned(ctx, "rebuilding the ledger", apply, func(t *sqldb.Tx) (err error) {
		plan.Changes, plan.Same, plan.Paused = []RebuildChange{}, 0, []string{}
		r = &replay{Tx: t, History: h, Plan: plan, Now: time.Now(), Who: record.Who, writes: apply}
		if apply { // what the replay tells is told anew, too
			err = aloneWithEntries(t)
			if err == nil {
				err = newLife(t)
			}
		}
		if err == nil {
			work, err = r.look()
		}
		return err
	}, func(t *sqldb.Tx) (err error) {
		r.audit, err = addPlan(t, record, plan) // what is written names it
		if err == nil {
			err = r.apply(work)
		}
		if err == nil {
			err = adoptJournal(r, plan.Journal)
		}
		return err
	})
}

// whereOf returns the place of a ledger, which need not exist.
func whereOf(o sqldb.OpenOptions) (string, error) {
	if o.Driver == sqldb.Postgres {
		cfg, err := sqldb.PostgresConfig(o)
		if err != nil {
			return "", err
		}
		return sqldb.PostgresPlace(cfg), nil
	}
	path, _, err := sqldb.SqlitePath(o, o.Tuning())
	return path, err
}

// rebuildFrom returns the folder of the journal of a ledger, or of the ledger that was in its
// place. If the ledger exists, only a journal that names exactly this place is accepted for its
// own.
func rebuildFrom(ctx context.Context, o sqldb.OpenOptions, where string) (dir string, exists, damaged bool, err error) {
	parent, err := filepath.Abs(o.Journal)
	if err != nil || o.Journal == "" {
		return "", false, false, sqldb.Refuse(sqldb.CodeConfig, where,
			errors.Join(errors.New("the ledger has no journal"), err),
			phrase.New("set state.journal"))
	}
	look := o
	look.ReadOnly, look.Verify, look.Journal = true, true, ""
	s, err := Open(ctx, look)
	var known *sqldb.Error
	switch {
	case err == nil:
		exists, dir = true, s.journalDir(parent)
		if err := s.Close(); err != nil {
			return "", false, false, err
		}
		_, err := journal.ReadEnd(dir)
		if !errors.Is(err, journal.ErrNone) {
			return dir, true, false, nil // problems with it are reported when it is read
		}
	case errors.As(err, &known) && known.Code == sqldb.CodeCorrupt && o.Driver == sqldb.SQLite:
		damaged = true
	case !errors.Is(err, sqldb.ErrNoLedger):
		return "", false, false, err
	}
	f, err := sqldb.JournalOf(parent, where)
	if err == nil && (f.Dir == "" || exists && f.End.Header.Place != where) {
		err = sqldb.Refuse(sqldb.CodeJournalLost, where,
			phrase.Errorf("in %s there is no journal of this ledger", parent),
			phrase.New(sqldb.NewJournalHint))
	}
	return f.Dir, exists, damaged, err
}

// adoptJournal makes the journal the ledger's own and records that the two are in step.
func adoptJournal(r *replay, dir string) error {
	t, end := r.Tx, r.History.End
	if err := t.Do(`UPDATE ledger SET id = ?`, end.Header.Ledger); err != nil {
		return err
	}
	if err := setPlatform(t, end.Header.Platform); err != nil {
		return err
	}
	row := sqldb.JournalRow{ID: end.Header.Journal, Seq: end.Seq, Path: dir, At: r.Now.UnixMilli()}
	row.Host, _, _ = sqldb.HostIdentity()
	if end.Seq > 0 {
		row.Mark = r.History.Mark
	}
	if err := putJournal(t, row); err != nil {
		return err
	}
	if t.S.D.Name == sqldb.SQLite { // a SQLite ledger has one journal
		if err := t.Do(`UPDATE journal SET retired_at = ? WHERE id <> ? AND retired_at IS NULL`, r.Now.UnixMilli(),
			end.Header.Journal); err != nil {
			return err
		}
	}
	// The next run of each job sweeps: it finds the remaining rows and fills in what the journal
	// does not keep.
	if err := t.Do(`UPDATE job_cursor SET swept_at = NULL, refs = ''`); err != nil {
		return err
	}
	// The ledger may have been lost with its signs of life: the end of the journal is one.
	if err := t.Do(`INSERT INTO task (name, ran_at) SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM task WHERE name IN (?, ?))`,
		lifeTask, sqldb.Millis(end.At), lifeTask, passTask); err != nil {
		return err
	}
	note := t.Noting(r.Now)
	note.ActName, note.Who = books.RebuildName, r.Who
	if header := end.Header; r.Plan.Absent || r.Plan.Damaged != "" { // its audit begins anew
		header.Reduced = 0
		note.Head = &header
	}
	// The records of other hosts' journals are still missing: they must be replayed too, before
	// anything is sent.
	note.Seen = maps.Clone(r.History.Seen)
	for _, job := range append(slices.Clone(r.Plan.Braked), theLedger) {
		status, err := lockStatus(t, job)
		if err != nil {
			return err
		}
		note.Jobs = append(note.Jobs, jobFactOf(status))
	}
	if t.S.D.Name != sqldb.Postgres {
		return nil
	}
	// The ledger gets the term that this host had confirmed, and the report for its journal, which is in
	// step now. That the ledger is on an earlier server, or an older state of it, is for a person to
	// confirm (Rebind).
	had := int64(0)
	if term := r.History.Term; term != nil {
		t.Note.Term, had = term, term.Number
		if err := t.Do(`UPDATE ledger SET term = ?, term_value = ? WHERE term < ?`, had, term.Value, had); err != nil {
			return err
		}
	}
	return t.Report(end.Header.Journal, had)
}
