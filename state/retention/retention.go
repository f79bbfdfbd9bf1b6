package retention

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/jobs"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Reducer takes away what is old.
type Reducer struct {
	db    *sqldb.DB
	trail *audit.Trail
}

// New returns the Reducer of a ledger.
func New(db *sqldb.DB, trail *audit.Trail) *Reducer { return &Reducer{db: db, trail: trail} }

// Retention says how long what the ledger holds is kept; 0 = for ever. What prevents a duplicate is
// not in it: entries and attempts with their keys, ids, states, times, outcomes and hashes are
// never deleted.
type Retention struct {
	Bodies   time.Duration // values, requests and answers of rows that are finished
	Runs     time.Duration // records of runs
	IdleRuns time.Duration // records of runs that found and did nothing
	Lookups  time.Duration // answers of the platform to questions by document
	Inbox    time.Duration // events as they came, and what was read back because of them
	Audit    time.Duration // persons, targets, reasons and details of acts
	Journal  int64         // bytes above which the journal begins again with what the ledger knows
	Kinds    []string      // only these kinds; nil: all
}

// wants reports whether a kind is among those that are asked for.
func (k Retention) wants(kind string) bool { return k.Kinds == nil || slices.Contains(k.Kinds, kind) }

// The kinds of data that the retention knows.
const (
	KeptBodies     = "bodies"
	KeptRuns       = "runs"
	KeptLookups    = "lookups"
	KeptQuarantine = "quarantine" // lines of doubts that are over, and of boots long past
	KeptInbox      = "inbox"
	KeptAudit      = "audit"
	KeptJournal    = "journal"
)

// RetentionKinds are all kinds, in the order in which they go.
var RetentionKinds = []string{KeptBodies, KeptRuns, KeptLookups, KeptQuarantine, KeptInbox, KeptAudit, KeptJournal}

// oldBoots is after how long the lines of other boots in the quarantine go. Taking one away lets a
// quarantine begin anew, never end early (I14).
const oldBoots = 30 * 24 * time.Hour

// retentionBatch is how many rows one transaction of the retention takes: a run that wants to write
// waits for milliseconds.
const retentionBatch = 200

// Retained is what one kind of data loses.
type Retained struct {
	Kind   string     `json:"kind"`
	Before *time.Time `json:"before"` // what is older goes; null where age does not count
	Rows   int        `json:"rows"`
	Bytes  int64      `json:"bytes"` // about
	Kept   int        `json:"kept"`  // rows of that age that stay, because they are needed still
}

// Plan is what the retention takes away, by kind.
type Plan []Retained

// Empty reports whether nothing goes.
func (p Plan) Empty() bool {
	for _, k := range p {
		if k.Rows > 0 {
			return false
		}
	}
	return true
}

// Retaining is one execution of the retention, or its plan.
type Retaining struct {
	*Reducer
	Keep Retention
	Now  time.Time
	plan Plan
}

// before returns the time before which what is kept so long goes; ok is false when it never does.
func (r *Retaining) before(keep time.Duration) (at time.Time, ok bool) {
	return r.Now.Add(-keep).UTC(), keep > 0
}

// PlanRetention reports what Retain would take away now. It changes nothing.
func (s *Reducer) PlanRetention(ctx context.Context, keep Retention, now time.Time) (Plan, error) {
	r := &Retaining{Reducer: s, Keep: keep, Now: now}
	counts := map[string]func(context.Context) error{
		KeptBodies: r.countBodies, KeptRuns: r.countRuns, KeptLookups: r.countLookups,
		KeptQuarantine: r.countQuarantine, KeptInbox: r.countInbox,
		KeptAudit: r.countAudit, KeptJournal: r.countJournal,
	}
	for _, kind := range RetentionKinds {
		count := counts[kind]
		if !keep.wants(kind) {
			count = func(context.Context) error { return r.nothing(kind) }
		}
		if err := count(ctx); err != nil {
			return nil, err
		}
	}
	return r.plan, nil
}

// Retain takes away what has been kept for long enough, in short transactions that a run hardly
// notices, and says what it planned. Nothing is written when nothing goes; else the act stands in
// the audit before the first row loses anything. A process that ends in between leaves a ledger in
// order: the next call goes on.
func (s *Reducer) Retain(ctx context.Context, keep Retention, now time.Time, record trade.AuditRecord) (Plan, error) {
	plan, err := s.PlanRetention(ctx, keep, now)
	if err != nil || plan.Empty() {
		return plan, err
	}
	r := &Retaining{Reducer: s, Keep: keep, Now: now, plan: plan}
	through := int64(0)
	if keep.wants(KeptAudit) {
		if through, err = r.auditThrough(ctx); err != nil {
			return plan, err
		}
	}
	detail, err := json.Marshal(retentionDetail{AuditThrough: through, Kinds: plan})
	if err != nil {
		return plan, err
	}
	record.At, record.Detail = now, string(detail)
	if record.Act == "" {
		record.Act = audit.ActRetention
	}
	if err := s.trail.AppendAudit(ctx, record); err != nil {
		return plan, err
	}
	works := map[string]func(context.Context) error{
		KeptBodies: r.reduceBodies, KeptRuns: r.deleteRuns, KeptLookups: r.deleteLookups,
		KeptQuarantine: r.deleteQuarantine, KeptInbox: r.deleteInbox,
		KeptAudit: func(ctx context.Context) error { return r.reduceAudit(ctx, through) }, KeptJournal: r.RenewJournal,
	}
	for _, k := range plan {
		if k.Rows == 0 {
			continue
		}
		if err := works[k.Kind](ctx); err != nil {
			return plan, err
		}
	}
	return plan, s.checkpoint(ctx)
}

// retentionDetail is the detail of the act.
type retentionDetail struct {
	AuditThrough int64 `json:"audit_through"` // acts up to this number may have lost their persons: see VerifyAudit
	Kinds        Plan  `json:"kinds"`
}

// batches runs a step until it has nothing more to do.
func (r *Retaining) batches(ctx context.Context, op string, step func(*sqldb.Tx) (rows int, err error)) error {
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

// checkpoint brings the write-ahead log into the file, so that it does not stay as large as the
// work made it. Somebody who reads keeps it for the next time.
func (s *Reducer) checkpoint(ctx context.Context) error {
	if s.db.D.Name != sqldb.SQLite || s.db.Memory {
		return nil
	}
	var state struct {
		Busy, Log int
		Done      int `db:"checkpointed"`
	}
	return s.db.Fault(ctx, "emptying the write-ahead log",
		s.db.Write.GetContext(ctx, &state, `PRAGMA wal_checkpoint(TRUNCATE)`))
}

// idle is true of the record of a run that ended and found nothing, did nothing, and was not
// stopped. Remarks for IT do not count: they come with every run.
const idle = `ended_at IS NOT NULL AND report LIKE '%"sweep":false,%' AND report LIKE '%"new":0,%' AND report LIKE '%"changed":0,%' AND report LIKE '%"sent":0,%'
	AND report LIKE '%"stopped":null%' AND report NOT LIKE '%"alarms":%'`

// oldRuns selects the runs that go: never the last of a job.
const oldRuns = `FROM run WHERE (started_at < ? OR started_at < ? AND ` + idle +
	`) AND seq NOT IN (SELECT MAX(seq) FROM run GROUP BY job)`

func (r *Retaining) runBounds() (times []any, at *time.Time) {
	for _, keep := range []time.Duration{r.Keep.Runs, r.Keep.IdleRuns} {
		before, ok := r.before(keep)
		if !ok {
			times = append(times, int64(-1)<<62)
			continue
		}
		times = append(times, before.UnixMilli())
		if at == nil || before.After(*at) {
			at = &before
		}
	}
	return times, at
}

func (r *Retaining) countRuns(ctx context.Context) error {
	times, at := r.runBounds()
	return r.count(ctx, KeptRuns, at, `SELECT COUNT(*) AS n, COALESCE(SUM(LENGTH(report)), 0) AS bytes `+
		oldRuns, times...)
}

func (r *Retaining) deleteRuns(ctx context.Context) error {
	times, _ := r.runBounds()
	return r.batches(ctx, "deleting old runs", func(t *sqldb.Tx) (int, error) {
		return t.Changed(`DELETE FROM run WHERE seq IN (SELECT seq `+oldRuns+` LIMIT 500)`, times...)
	})
}

func (r *Retaining) countLookups(ctx context.Context) error {
	return r.countOlder(ctx, KeptLookups, r.Keep.Lookups,
		`SELECT COUNT(*) AS n, COALESCE(SUM(LENGTH(code) + LENGTH(id) + LENGTH(message)), 0) AS bytes FROM lookup WHERE asked_at < ?`)
}

// deleteLookups lets old answers be asked for again, should a row need one.
func (r *Retaining) deleteLookups(ctx context.Context) error {
	before, ok := r.before(r.Keep.Lookups)
	if !ok {
		return nil
	}
	return r.batches(ctx, "deleting old lookups", func(t *sqldb.Tx) (int, error) {
		return t.Changed(
			`DELETE FROM lookup WHERE (kind, code) IN (SELECT kind, code FROM lookup WHERE asked_at < ? LIMIT 500)`,
			before.UnixMilli())
	})
}

// overDoubts selects the lines of doubts that are over, and those of other boots that are long
// past.
const overDoubts = `FROM quarantine q JOIN attempt a ON a.id = q.attempt_id JOIN entry e ON e.id = a.entry_id
	WHERE a.outcome <> 'unknown' OR e.state NOT IN ` + jobs.Watched + ` OR q.boot <> ? AND a.finished_at < ?`

func (r *Retaining) quarantineArgs() []any {
	return []any{sqldb.Self().Boot, r.Now.Add(-oldBoots).UnixMilli()}
}

func (r *Retaining) countQuarantine(ctx context.Context) error {
	return r.count(ctx, KeptQuarantine, nil, `SELECT COUNT(*) AS n, COUNT(*) * 80 AS bytes `+overDoubts,
		r.quarantineArgs()...)
}

func (r *Retaining) deleteQuarantine(ctx context.Context) error {
	return r.batches(ctx, "deleting what is over from the quarantine", func(t *sqldb.Tx) (int, error) {
		return t.Changed(`DELETE FROM quarantine WHERE (attempt_id, boot) IN (SELECT q.attempt_id, q.boot `+overDoubts+
			` LIMIT 500)`, r.quarantineArgs()...)
	})
}

// countOlder adds a kind to the plan of which goes what is older; each ? of the query is the time.
func (r *Retaining) countOlder(ctx context.Context, kind string, keep time.Duration, query string) error {
	before, ok := r.before(keep)
	if !ok {
		return r.nothing(kind)
	}
	return r.count(ctx, kind, &before, query,
		slices.Repeat([]any{before.UnixMilli()}, strings.Count(query, "?"))...)
}

// count adds a kind to the plan. The query gives n and bytes.
func (r *Retaining) count(ctx context.Context, kind string, before *time.Time, query string, args ...any) error {
	var sum struct {
		N     int
		Bytes int64
	}
	if err := r.db.Get(ctx, fmt.Sprintf("counting what is old of %s", kind), &sum, query, args...); err != nil {
		return err
	}
	r.plan = append(r.plan, Retained{Kind: kind, Before: before, Rows: sum.N, Bytes: sum.Bytes})
	return nil
}

func (r *Retaining) nothing(kind string) error {
	r.plan = append(r.plan, Retained{Kind: kind})
	return nil
}
