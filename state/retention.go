package state

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Retention states how long data of the ledger is kept; 0 = forever. Data that prevents a duplicate
// is not subject to it: entries and attempts with their keys, ids, states, times, outcomes and
// hashes are never deleted.
type Retention struct {
	Bodies   time.Duration // values, requests and answers of rows that are finished
	Runs     time.Duration // records of runs
	IdleRuns time.Duration // records of runs that found and did nothing
	Lookups  time.Duration // the platform's answers to lookups by document
	Inbox    time.Duration // events as received, and what was read back because of them
	Audit    time.Duration // persons, targets, reasons and details of acts
	Journal  int64         // bytes above which the journal begins again with what the ledger knows
	Kinds    []string      // only these kinds; nil: all
}

// wants reports whether a kind is to be processed.
func (k Retention) wants(kind string) bool { return k.Kinds == nil || slices.Contains(k.Kinds, kind) }

// The kinds of data that retention processes.
const (
	KeptBodies     = "bodies"
	KeptRuns       = "runs"
	KeptLookups    = "lookups"
	KeptQuarantine = "quarantine" // rows of doubts that are over, and of earlier boots
	KeptInbox      = "inbox"
	KeptAudit      = "audit"
	KeptJournal    = "journal"
)

// RetentionKinds are all kinds, in the order in which they are processed.
var RetentionKinds = []string{KeptBodies, KeptRuns, KeptLookups, KeptQuarantine, KeptInbox, KeptAudit, KeptJournal}

// oldBoots is the age at which the quarantine rows of other boots are removed. Removing one makes a
// quarantine begin anew, never end early (I14).
const oldBoots = 30 * 24 * time.Hour

// retentionBatch is how many rows one transaction of the retention processes, so that a run that
// wants to write waits only for milliseconds.
const retentionBatch = 200

// Retained is what retention removes of one kind of data.
type Retained struct {
	Kind   string     `json:"kind"`
	Before *time.Time `json:"before"` // what is older is removed; null if age does not count
	Rows   int        `json:"rows"`
	Bytes  int64      `json:"bytes"` // approximately
	Kept   int        `json:"kept"`  // rows of that age that stay because they are still needed
}

// RetentionPlan is what retention removes, by kind.
type RetentionPlan []Retained

// Empty reports whether nothing is removed.
func (p RetentionPlan) Empty() bool {
	for _, k := range p {
		if k.Rows > 0 {
			return false
		}
	}
	return true
}

// retaining is one execution of retention, or its plan.
type retaining struct {
	*Store
	Keep Retention
	Now  time.Time
}

// before returns the time before which data that is kept for keep is removed. ok is false if it is
// kept forever.
func (r *retaining) before(keep time.Duration) (at time.Time, ok bool) {
	return r.Now.Add(-keep).UTC(), keep > 0
}

// PlanRetention returns what Retain would remove now. It changes nothing.
func (s *Store) PlanRetention(ctx context.Context, keep Retention, now time.Time) (RetentionPlan, error) {
	r := &retaining{Store: s, Keep: keep, Now: now}
	var plan RetentionPlan
	for _, kind := range RetentionKinds {
		k := Retained{Kind: kind}
		var err error
		switch {
		case !keep.wants(kind):
		case kind == KeptBodies:
			err = r.countBodies(ctx, &k)
		case kind == KeptJournal:
			var due bool
			var bytes int64
			due, bytes, err = r.journalDue()
			if due {
				k.Rows, k.Bytes = 1, bytes
			}
		default:
			err = r.count(ctx, &k)
		}
		if err != nil {
			return nil, err
		}
		plan = append(plan, k)
	}
	return plan, nil
}

// Retain removes what has been kept for long enough, in short transactions that a run hardly
// notices, and returns its plan. If there is something to remove, the act is in the audit before
// the first row loses anything; otherwise nothing is written. A process that ends in the middle
// leaves a consistent ledger, and the next call continues.
func (s *Store) Retain(ctx context.Context, keep Retention, now time.Time,
	record trade.AuditRecord,
) (RetentionPlan, error) {
	// What nobody sends after, as logins, is in the journal at the latest now.
	if err := s.NoteEnd(ctx, now, 0); err != nil {
		return nil, err
	}
	plan, err := s.PlanRetention(ctx, keep, now)
	if err != nil {
		return plan, err
	}
	if plan.Empty() {
		return plan, s.db.EmptyLog(ctx) // the last one may have left it
	}
	r := &retaining{Store: s, Keep: keep, Now: now}
	through := int64(0)
	if keep.wants(KeptAudit) {
		through, err = r.auditThrough(ctx)
		if err != nil {
			return plan, err
		}
	}
	detail, err := json.Marshal(books.RetentionDetail{AuditThrough: through, Kinds: plan})
	if err != nil {
		return plan, err
	}
	record.At, record.Detail = now, string(detail)
	if record.Act == "" {
		record.Act = trade.ActRetention
	}
	if err := s.announce(ctx, record, now, through); err != nil {
		return plan, err
	}
	for _, k := range plan {
		switch {
		case k.Rows == 0:
		case k.Kind == KeptBodies:
			err = r.reduceBodies(ctx)
		case k.Kind == KeptAudit:
			err = r.reduceAudit(ctx, through)
		case k.Kind == KeptJournal:
			err = r.renewJournal(ctx)
		default:
			old, _ := r.old(k.Kind)
			for _, query := range old.deletes {
				if err == nil {
					err = r.batches(ctx, old.op,
						func(t *sqldb.Tx) (int, error) { return t.Changed(query, old.argsOf(query)...) })
				}
			}
		}
		if err != nil {
			return plan, err
		}
	}
	return plan, s.db.EmptyLog(ctx)
}

// announce records in the audit, and that in the journal, what is about to be removed, and up to which
// act the words of acts are.
func (s *Store) announce(ctx context.Context, record trade.AuditRecord, now time.Time, through int64) error {
	if err := s.AppendAudit(ctx, record); err != nil {
		return err
	}
	return s.NoteEnd(ctx, now, through)
}

// batches runs a step until it has no more rows.
func (r *retaining) batches(ctx context.Context, op string, step func(*sqldb.Tx) (rows int, err error)) error {
	for {
		rows := 0
		err := r.db.InTx(ctx, op, func(t *sqldb.Tx) (err error) {
			rows, err = step(t)
			return err
		})
		if err != nil {
			return err
		}
		if err := failpoint.Hit("retention.batch"); err != nil {
			return err
		}
		if rows == 0 {
			return nil
		}
	}
}

// isIdleRun is the SQL condition for the record of a run that ended, found nothing, did nothing, and was
// not stopped. Notes for IT do not count, because every run repeats them.
const isIdleRun = `ended_at IS NOT NULL AND report LIKE '%"sweep":false,%' AND report LIKE '%"new":0,%' AND report LIKE '%"changed":0,%' AND report LIKE '%"sent":0,%'
	AND report LIKE '%"stopped":null%' AND report NOT LIKE '%"alarms":%'`

// oldRuns selects the runs to remove: never the last of a job.
const oldRuns = `FROM run WHERE (started_at < ? OR started_at < ? AND ` + isIdleRun +
	`) AND seq NOT IN (SELECT MAX(seq) FROM run GROUP BY job)`

// overDoubts selects the quarantine rows of doubts that are over, and old ones of other boots.
const overDoubts = `FROM quarantine q CROSS JOIN sent a JOIN entry e ON e.id = a.origin
	WHERE a.attempt = q.attempt_id AND a.attempt <> '' AND (a.outcome <> 'unknown' OR e.state NOT IN ` + watchedStates +
	` OR q.boot <> ? AND a.finished_at < ?)`

// These select the events to remove, which are those without pending work, the records that were
// read back, and the reports about records, except the last of each (see LastNotes).
const (
	oldEvents     = `FROM inbox WHERE last_at < ? AND next_at IS NULL`
	oldCandidates = `FROM candidate WHERE last_at < ?`
	oldHeard      = `FROM heard WHERE at < ? AND EXISTS (SELECT 1 FROM heard h WHERE h.kind = heard.kind AND h.id = heard.id AND h.event = heard.event AND (h.at, h.seq) > (heard.at, heard.seq))`
)

// oldData is what a kind of data has that is to be removed.
type oldData struct {
	op      string
	before  *time.Time // nil: age does not count
	args    []any      // of each statement; nil: each ? is the time
	count   string     // returns n and bytes
	deletes []string   // each deletes some
}

// old returns what is to be removed of a kind that statements delete. ok is false if it is kept
// forever.
func (r *retaining) old(kind string) (d oldData, ok bool) {
	keep := map[string]time.Duration{
		KeptLookups: r.Keep.Lookups,
		KeptInbox:   r.Keep.Inbox,
		KeptAudit:   r.Keep.Audit,
	}
	before, ok := r.before(keep[kind])
	d.before = &before
	switch kind {
	case KeptRuns:
		d.op, d.before = "deleting old runs", nil
		for _, keep := range []time.Duration{r.Keep.Runs, r.Keep.IdleRuns} {
			before, ok := r.before(keep)
			if !ok {
				d.args = append(d.args, int64(-1)<<62)
				continue
			}
			d.args = append(d.args, before.UnixMilli())
			if d.before == nil || before.After(*d.before) {
				d.before = &before
			}
		}
		d.count = `SELECT COUNT(*) AS n, COALESCE(SUM(LENGTH(report)), 0) AS bytes ` + oldRuns
		d.deletes = []string{`DELETE FROM run WHERE seq IN (SELECT seq ` + oldRuns + ` LIMIT 500)`}
		return d, true
	case KeptLookups: // they are requested again if a row needs one
		d.op = "deleting old lookups"
		d.count = `SELECT COUNT(*) AS n, COALESCE(SUM(LENGTH(code) + LENGTH(id) + LENGTH(message)), 0) AS bytes FROM lookup WHERE asked_at < ?`
		d.deletes = []string{
			`DELETE FROM lookup WHERE (kind, code) IN (SELECT kind, code FROM lookup WHERE asked_at < ? LIMIT 500)`,
		}
	case KeptQuarantine:
		d.op, d.before = "deleting what is over from the quarantine", nil
		d.args = []any{sqldb.Self().Boot, r.Now.Add(-oldBoots).UnixMilli()}
		d.count = `SELECT COUNT(*) AS n, COUNT(*) * 80 AS bytes ` + overDoubts
		d.deletes = []string{
			`DELETE FROM quarantine WHERE (attempt_id, boot) IN (SELECT q.attempt_id, q.boot ` + overDoubts + ` LIMIT 500)`,
		}
		return d, true
	case KeptInbox:
		d.op = "deleting old events"
		d.count = `SELECT (SELECT COUNT(*) ` + oldEvents + `) + (SELECT COUNT(*) ` + oldCandidates + `) + (SELECT COUNT(*) ` + oldHeard + `) AS n,
			(SELECT COALESCE(SUM(LENGTH(body)), 0) ` + oldEvents + `) + (SELECT COALESCE(SUM(LENGTH(fields)), 0) ` + oldCandidates + `) AS bytes`
		d.deletes = []string{
			`DELETE FROM inbox WHERE seq IN (SELECT seq ` + oldEvents + ` LIMIT 500)`,
			`DELETE FROM candidate WHERE id IN (SELECT id ` + oldCandidates + ` LIMIT 500)`,
			`DELETE FROM heard WHERE (kind, id, seq) IN (SELECT kind, id, seq ` + oldHeard + ` LIMIT 500)`,
		}
	case KeptAudit: // reduceAudit does not delete them
		d.count = `SELECT COUNT(*) AS n, COALESCE(SUM(LENGTH(who) + LENGTH(origin) + LENGTH(target) + LENGTH(reason) + LENGTH(detail)), 0) AS bytes
			FROM audit WHERE reduced = 0 AND at < ?`
	}
	return d, ok
}

// count counts what is to be removed of a kind that old knows.
func (r *retaining) count(ctx context.Context, k *Retained) error {
	d, ok := r.old(k.Kind)
	if !ok {
		return nil
	}
	var sum struct {
		N     int
		Bytes int64
	}
	err := r.db.Get(ctx, fmt.Sprintf("counting what is old of %s", k.Kind), &sum, d.count, d.argsOf(d.count)...)
	k.Before, k.Rows, k.Bytes = d.before, sum.N, sum.Bytes
	return err
}

func (d oldData) argsOf(query string) []any {
	if d.args != nil {
		return d.args
	}
	return slices.Repeat([]any{d.before.UnixMilli()}, strings.Count(query, "?"))
}
