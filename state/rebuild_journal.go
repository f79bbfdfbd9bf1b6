package state

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/state/witness"
	"github.com/safrasync/safrasync/trade"
)

// NewJournalPlan describes what beginning a new journal changes.
type NewJournalPlan struct {
	Ledger  string `json:"ledger"`
	Journal string `json:"journal"` // the folder
	Sent    int    `json:"sent"`    // rows in state accepted
	// rows in flight as far as the ledger knows; they become in doubt
	Doubts int    `json:"doubts"`
	Aside  string `json:"aside"` // where the existing journal is moved to; "" if there is none
	// what happened later is not in the ledger, and what was sent later is sent again
	Until time.Time `json:"until"`
	Jobs  []string  `json:"jobs"` // they are paused until a person releases them
	// what the witness knows beyond this ledger; null if nothing, or if there is none
	Witness *WitnessAhead `json:"witness"`
	// why the witness could not be asked
	WitnessFault *phrase.Text `json:"witness_fault,omitempty"`
}

// NewJournal begins a new journal for a ledger whose own is lost, damaged, or another host's. A
// person thereby confirms that this ledger is the right one. Nobody can tell what was sent after the
// newest thing that it knows, so a brake pauses the given jobs and those of the ledger. If apply is
// false, NewJournal changes nothing.
func NewJournal(ctx context.Context, o sqldb.OpenOptions, configured []string, apply bool,
	record trade.AuditRecord,
) (plan NewJournalPlan, err error) {
	if o.Journal == "" {
		none := errors.New("no folder for a journal is configured")
		return plan, &sqldb.Error{Code: sqldb.CodeConfig, Hint: phrase.New("set state.journal"), Err: none}
	}
	parent, err := filepath.Abs(o.Journal)
	if err != nil {
		return plan, &sqldb.Error{Code: sqldb.CodeConfig, Hint: phrase.New("correct state.journal"), Err: err}
	}
	s, err := openToMend(ctx, o)
	if err != nil {
		return plan, err
	}
	defer phrase.Join(&err, s.Close)
	if err := s.refuseNetwork(parent); err != nil {
		return plan, err
	}
	dir := s.journalDir(parent)
	plan.Ledger, plan.Journal = s.db.ID, dir
	folders, err := s.copyFolders(ctx)
	if err != nil {
		return plan, err
	}
	var lines []witness.Line // how far the journals had come when the newest copies were made
	for _, dir := range folders {
		if newest := s.copyInTime(ctx, dir); newest.file != "" {
			lines = append(lines, newest.Line)
		}
	}
	if s.options.Witness != "" {
		var known []witness.Line
		place, _, err := openWitness(s.options)
		if err == nil {
			known, err = inTime(ctx, witnessWait, func(ctx context.Context) ([]witness.Line, error) {
				lines, err := place.Lines(ctx, s.db.ID)
				return lines, errors.Join(err, place.Close())
			})
		}
		if err != nil { // it need not be waited for: the jobs are paused in any case
			plan.WitnessFault = phrase.New("%w", err)
		}
		lines = append(known, lines...)
	}
	there := false // a journal stands there already
	look := func(t *sqldb.Tx) error {
		if err := nobodyRuns(t); err != nil {
			return err
		}
		var err error
		plan.Sent, plan.Doubts, err = countKnown(t)
		if err != nil {
			return err
		}
		if err := t.Get(&plan.Until, latestMoment); err != nil {
			return err
		}
		plan.Jobs, err = jobsOf(t, configured)
		if err != nil {
			return err
		}
		if err := plan.acceptWitness(t, lines); err != nil {
			return err
		}
		// A journal that cannot be read is what a new one is for. It must not replace that of a ledger that
		// was moved, or one with records that the ledger lacks.
		end, err := journal.ReadEnd(dir)
		there = !errors.Is(err, journal.ErrNone)
		if there {
			plan.Aside = dir
		}
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		if to := end.Header.MovedTo; to != "" && end.Header.Ledger == s.db.ID {
			return sqldb.MovedAway(s.db.Where, to)
		}
		return s.refuseNewer(t, dir)
	}
	err = s.planned(ctx, "beginning a new journal", apply, look, func(t *sqldb.Tx) error {
		now := time.Now()
		if err := doubtAll(t, now); err != nil {
			return err
		}
		host, _, _ := sqldb.HostIdentity()
		query, args := `UPDATE journal SET retired_at = ? WHERE retired_at IS NULL`, []any{now.UnixMilli()}
		if s.db.D.Name == sqldb.Postgres { // the journals of other hosts stay
			query, args = query+` AND host = ? AND path = ?`, append(args, host, dir)
		}
		err := t.Do(query, args...)
		if err == nil && there {
			plan.Aside, err = journal.SetAside(dir, now)
			if err != nil {
				err = s.db.JournalFault(err)
			}
		}
		if err == nil {
			err = brakeAll(t, plan.Jobs, brakeNewJournal, plan.Until, now, nil)
		}
		if err == nil {
			_, err = s.beginJournal(t, dir, false, o.Version) // it begins with the pauses
		}
		if err == nil {
			_, err = addPlan(t, record, &plan)
		}
		return err
	})
	return plan, err
}

// refuseNewer refuses to set aside a journal that has records about rows which the ledger lacks:
// they would be forgotten, and the rows sent again.
func (s *Store) refuseNewer(t *sqldb.Tx, dir string) error {
	h, err := readHistory(dir)
	if err != nil || h.End.Header.Ledger != s.db.ID {
		return nil //nolint:nilerr // a journal that cannot be read is what a new one is for
	}
	rows, err := sqldb.JournalRows(t, false)
	if err != nil {
		return err
	}
	c, err := journal.Compare(dir, rows[h.End.Header.Journal].Seq)
	if err != nil || c.Missing == 0 {
		return nil //nolint:nilerr // the same
	}
	r := &replay{
		Tx: t, History: h, Plan: &RebuildPlan{}, Now: time.Now(),
	}
	work, err := r.compare()
	if err != nil || len(work) == 0 {
		return err
	}
	return &sqldb.Error{
		Code: sqldb.CodeRolledBack, Path: s.db.Where, Records: c.Missing, Rows: len(work), Since: c.Since,
		Hint: phrase.New("run `safrasync rebuild` first, which adds them"),
		Err: phrase.Errorf("the journal in %s knows of %s what this ledger does not, and a new one would forget it",
			dir, sqldb.Counted(len(work), "row", "rows")),
	}
}

// The brakes that pause all jobs at once: [outcome.StopNewJournal] and [outcome.StopAbsent].
const (
	brakeNewJournal = "brake_new_journal"
	brakeAbsent     = "brake_absent"
)

// brakeAll pauses the ledger and its jobs until a person has compared the platform with the ledger,
// which knows only what happened until a time. A job that it does not know yet is paused, too.
// was is how a job was paused before, if the ledger does not know that; nil if it does.
// From then on the silence before it is no news.
func brakeAll(t *sqldb.Tx, names []string, code string, until, now time.Time,
	was func(job string) (trade.JobStatus, bool),
) error {
	if err := lives(t, now); err != nil {
		return err
	}
	for _, job := range append(slices.Clone(names), theLedger) {
		if job == theLedger { // what is not among the names takes it over
			if err := t.Do(`DELETE FROM job_status WHERE state <> 'paused'`); err != nil {
				return err
			}
		}
		before, err := lockStatus(t, job)
		if err != nil {
			return err
		}
		if was != nil && before.State != trade.Paused {
			if known, ok := was(job); ok {
				before = known
			}
		}
		brake := trade.Brake{Job: job, Until: until}
		switch {
		case before.State != trade.Paused || before.Stop == nil:
		case before.Stop.Code == brakeAbsent && code == brakeAbsent: // it knows no more than then
			continue
		case before.Stop.Brake != nil && code == brakeNewJournal:
			brake.Paused = before.Stop.Brake.Paused
		default:
			brake.Paused = &before
		}
		status := trade.JobStatus{Job: job, State: trade.Paused, Since: now, Stop: &trade.Stop{
			Code: code, Brake: &brake,
		}}
		if err := putStatus(t, status); err != nil {
			return err
		}
		if t.S.Journal != nil { // who begins or mends one writes it there
			note := t.Noting(now)
			note.Jobs = append(note.Jobs, jobFactOf(status))
		}
	}
	return nil
}

// endBrake ends a brake of the ledger when a person has released the last job that it held.
func endBrake(t *sqldb.Tx, code string, at time.Time) error {
	held, err := pauseFacts(t)
	holds := func(f journal.JobFact) bool { return f.Job != theLedger && f.Code == code }
	if err != nil || slices.ContainsFunc(held, holds) {
		return err
	}
	status, err := lockStatus(t, theLedger)
	if err != nil || status.State != trade.Paused || status.Stop.Code != code {
		return err
	}
	before := trade.JobStatus{Job: theLedger, State: trade.Idle}
	if was := status.Stop.Brake.Paused; was != nil {
		before = *was
	} else if err := t.Do(`DELETE FROM job_status WHERE job = ?`, theLedger); err != nil {
		return err
	}
	note := t.Noting(at)
	note.Jobs = append(note.Jobs, jobFactOf(before))
	if before.State == trade.Idle {
		return nil
	}
	return putStatus(t, before)
}

// jobsOf returns the given jobs and those of the ledger.
func jobsOf(t *sqldb.Tx, configured []string) ([]string, error) {
	var names []string
	err := t.All(&names, `SELECT DISTINCT job FROM entry`)
	names = append(append([]string{}, configured...), names...)
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == theLedger }), err
}

// doubtAll moves every entry in state sending to in doubt.
func doubtAll(t *sqldb.Tx, now time.Time) error {
	var ids []int64
	if err := t.All(&ids, t.S.D.Locked(`SELECT e.id FROM entry e WHERE e.state = 'sending' ORDER BY e.id`,
		"e")); err != nil || len(ids) == 0 {
		return err
	}
	if err := leaveUnknown(t, `origin IN (SELECT id FROM entry WHERE state = 'sending')`, now); err != nil {
		return err
	}
	return moveAll(t, ids, (*trade.Entry).Doubt, 1, now)
}
