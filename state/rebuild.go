package state

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/trade"
)

// Rows is how many rows the plan changes.
func (p RebuildPlan) Rows() int {
	n := 0
	for _, c := range p.Changes {
		n += c.Rows
	}
	return n
}

// errPlanned ends the transaction of a plan.
var errPlanned = errors.New("only planned")

// Rebuild adds to the ledger what its journal knows and it does not: one that was rolled back, deleted or emptied. With apply false it changes nothing and says
// what it would do. Rows come back accepted with their id, in doubt where no answer is known, with their generation; what they held comes with the next sweep.
func Rebuild(ctx context.Context, o Options, apply bool, record trade.AuditRecord) (RebuildPlan, error) {
	return rebuild(ctx, o, defaultTuning, apply, record)
}

func rebuild(ctx context.Context, o Options, tune tuning, apply bool, record trade.AuditRecord) (plan RebuildPlan, err error) {
	where, err := whereOf(o, tune)
	if err != nil {
		return plan, err
	}
	dir, exists, err := rebuildFrom(ctx, o, tune, where)
	var damaged *Error
	if errors.As(err, &damaged) && damaged.Code == CodeCorrupt && o.Driver == SQLite {
		exists = false
		if dir, err = journalFor(o, where, false); err == nil {
			plan.Damaged = where
		}
	}
	if err != nil {
		return plan, err
	}
	h, err := readHistory(dir)
	if err != nil {
		return plan, (&Store{where: where}).journalFault(err)
	}
	plan = RebuildPlan{Ledger: h.end.Header.Ledger, Damaged: plan.Damaged, Absent: !exists, Journal: dir, Records: h.end.Seq, Until: h.end.At}
	if plan.Damaged != "" && apply {
		if plan.Damaged, err = setDamagedAside(ctx, where, tune); err != nil {
			return plan, err
		}
	}
	bare := o
	bare.Journal, bare.identity, bare.mending = "", h.end.Header.Ledger, true
	var s *Store
	if exists || apply {
		s, err = open(ctx, bare, tune)
	} else {
		s, err = openMemory(ctx, tune)
	}
	if err != nil {
		return plan, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if apply {
		if s.journal, err = journal.Open(dir, h.end.Seq, h.mark); err != nil {
			return plan, s.journalFault(err)
		}
	}
	err = s.inTx(ctx, "rebuilding the ledger", func(t *tx) error {
		plan.Changes, plan.Same, plan.Paused = []RebuildChange{}, 0, []string{}
		r := &rebuilding{tx: t, history: h, plan: &plan, now: time.Now(), sums: tallyChange{}}
		if err := r.run(apply, record); err != nil {
			return err
		}
		if !apply {
			return errPlanned
		}
		return r.takeOver(dir)
	})
	if errors.Is(err, errPlanned) {
		err = nil
	}
	return plan, err
}

// whereOf names the place of a ledger that may not be there.
func whereOf(o Options, tune tuning) (string, error) {
	if o.Driver == Postgres {
		cfg, err := postgresConfig(o)
		if err != nil {
			return "", err
		}
		return postgresPlace(cfg), nil
	}
	path, _, err := sqlitePath(o, tune)
	return path, err
}

// rebuildFrom finds the journal of a ledger, or of the one that stood in its place.
func rebuildFrom(ctx context.Context, o Options, tune tuning, where string) (dir string, exists bool, err error) {
	parent, err := filepath.Abs(o.Journal)
	if err != nil || o.Journal == "" {
		return "", false, &Error{Code: CodeConfig, Path: where, Hint: "set state.journal", Err: errors.Join(errors.New("the ledger has no journal"), err)}
	}
	look := o
	look.ReadOnly, look.Verify, look.Journal = true, true, ""
	s, err := open(ctx, look, tune)
	switch {
	case errors.Is(err, ErrNoLedger):
	case err != nil:
		return "", false, err
	default:
		id := s.id
		if err := s.Close(); err != nil {
			return "", false, err
		}
		exists, dir = true, filepath.Join(parent, id)
		_, err := journal.Read(dir, 1<<62, func(journal.Record, string) error { return nil })
		if !errors.Is(err, journal.ErrNone) {
			return dir, exists, nil // what is wrong with it is told when it is read
		}
	}
	dir, err = journalFor(o, where, exists)
	return dir, exists, err
}

// journalFor finds the journal of a ledger by where it stood. For a ledger that is there, only its own place counts.
func journalFor(o Options, where string, exists bool) (string, error) {
	parent, err := filepath.Abs(o.Journal)
	if err != nil {
		return "", err
	}
	f, err := journalOf(parent, where)
	if err == nil && (f.dir == "" || exists && f.end.Header.Place != where) {
		err = &Error{
			Code: CodeJournalLost, Path: where, Hint: newJournalHint,
			Err: fmt.Errorf("in %s there is no journal of this ledger", parent),
		}
	}
	return f.dir, err
}

// setDamagedAside keeps a file that cannot be read under another name, once nobody has it open.
func setDamagedAside(ctx context.Context, path string, tune tuning) (string, error) {
	if err := nobodyHas(ctx, path, tune); err != nil {
		return "", err
	}
	kept, err := keepAside(path)
	if err != nil {
		return "", err
	}
	if err := os.Remove(path); err != nil {
		return "", permission(path, err)
	}
	return kept, syncFolder(filepath.Dir(path))
}

// takeOver makes the journal the ledger's own, in step.
func (r *rebuilding) takeOver(dir string) error {
	t, end := r.tx, r.history.end
	if err := t.exec(`UPDATE ledger SET id = ?`, end.Header.Ledger); err != nil {
		return err
	}
	if err := t.setPlatform(end.Header.Platform); err != nil {
		return err
	}
	mark := r.history.mark
	if end.Seq == 0 {
		mark = ""
	}
	host, _, _ := hostIdentity()
	if err := t.exec(`INSERT INTO journal (id, seq, mark, host, path, at, retired_at) VALUES (?, ?, ?, ?, ?, ?, NULL) ON CONFLICT (id) DO UPDATE
		SET seq = excluded.seq, mark = excluded.mark, host = excluded.host, path = excluded.path, at = excluded.at, retired_at = NULL`,
		end.Header.Journal, end.Seq, mark, host, dir, r.now.UnixMilli()); err != nil {
		return err
	}
	if t.s.d.name == SQLite { // a SQLite ledger has one journal
		if err := t.exec(`UPDATE journal SET retired_at = ? WHERE id <> ? AND retired_at IS NULL`, r.now.UnixMilli(), end.Header.Journal); err != nil {
			return err
		}
	}
	// The next run of each job sweeps: it finds the rest, and fills in what the journal does not keep.
	if err := t.exec(`UPDATE job_cursor SET swept_at = NULL`); err != nil {
		return err
	}
	note := t.noting(journal.Act, r.now)
	note.ActName, note.Who = rebuildName, r.who
	note.Seen = maps.Clone(r.history.seen) // what other hosts' journals know is still missing: they must be replayed too, before anything is sent
	return nil
}
