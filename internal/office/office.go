package office

import (
	"cmp"
	"context"
	"errors"
	"slices"
	gosync "sync"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// Office answers people's questions and does their orders. What it reads of the ledger can be asked
// of it directly; the ledger is changed by orders alone.
type Office struct {
	Reads
	conf      *config.Config
	store     *state.Store
	engine    *engine.Engine
	scheduler *engine.Scheduler
	board     *RunProgress
	log       *zap.Logger
	version   string
	lang      trade.Lang
	now       func() time.Time
	jobs      []*mapping.Job
	others    map[string]acts.OtherAct // see DoneBy
	blocked   *pending.Index

	turn chan struct{} // holds one value: one report at a time, because each reads the whole ledger
	file chan struct{} // holds one value: one file of decisions is read at a time, because of the memory
	plan chan struct{} // holds two values: so many plans of a resync read the ERP at a time

	ending context.Context // ends with Close; for work in the background
	end    context.CancelFunc

	reportPatience time.Duration // how long a page waits for its report

	patience time.Duration // how long a page waits for the rows to be read
	waitFor  int           // up to so many stuck rows a page waits until all are read

	mu          gosync.Mutex
	view        *pending.View
	causeScan   *work[*pending.View] // the read in progress, which later callers share; nil: none
	failed      error                // error of the last read in the background; nil: none
	ended       bool
	season      *Season                   // of the last count; nil: none yet
	seasonCount *work[*Season]            // the count in progress; nil: none
	plans       map[string]*resyncPlanJob // of resyncs, by whom and what was asked for
	ordered     []Ordered                 // the latest resyncs, oldest first
	shown       []*manyShown              // the latest plans of acts on many rows, oldest first
	reportJob   *reportJob                // the report that is made for a page; nil: none
	kept        *reportJob                // the last one that was made; nil: none
	working     gosync.WaitGroup          // reads and reports in progress
}

// Deps are what an office works with.
type Deps struct {
	Config    *config.Config
	Store     *state.Store
	Jobs      []*mapping.Job    // in the order in which they run; those of the engine, if there is one
	Engine    *engine.Engine    // for what reads the ERP, or asks the platform; nil: none
	Scheduler *engine.Scheduler // for runs; nil: none can be ordered
	Board     *RunProgress      // progress of the runs of this process
	Log       *zap.Logger
	Version   string     // of the program
	Lang      trade.Lang // of the service
	Now       func() time.Time

	ReportPatience time.Duration // how long a page waits for its report; 0: a second
}

// New returns an office.
func New(o Deps) *Office {
	out := &Office{
		Reads: LiveStatus{Store: o.Store}, conf: o.Config, store: o.Store, engine: o.Engine, scheduler: o.Scheduler,
		jobs: o.Jobs, board: o.Board, log: o.Log, version: o.Version, lang: o.Lang, now: o.Now,
		patience: stuckPatience, waitFor: stuckFew, reportPatience: cmp.Or(o.ReportPatience, reportPatience),
		turn: make(chan struct{}, 1), file: make(chan struct{}, 1),
		plan: make(chan struct{}, 2), others: map[string]acts.OtherAct{}, plans: map[string]*resyncPlanJob{},
	}
	if o.Engine != nil {
		out.jobs = o.Engine.Jobs
	}
	out.blocked = &pending.Index{Ledger: o.Store, Jobs: out.jobs, Now: o.Now}
	out.ending, out.end = context.WithCancel(context.Background())
	return out
}

// Close ends the work in the background and waits for it.
func (o *Office) Close() {
	o.mu.Lock()
	o.ended = true
	o.mu.Unlock()
	o.end()
	o.working.Wait()
}

// Voice returns the voice for a reader of a language.
func (o *Office) Voice(lang trade.Lang) words.Voice {
	return words.Voice{Lang: lang, Zone: o.conf.Zone(), Titles: o.conf.Titles(lang), Now: o.now()}
}

// may returns trade.ErrRole unless the role of a person allows an act. Each order asks it.
func may(who trade.Person, act string) error { return mayRole(who, acts.RoleOf(act)) }

// mayRole returns trade.ErrRole unless a person has a role, or a higher one.
func mayRole(who trade.Person, needs trade.Role) error {
	if !who.Role.May(needs) {
		return trade.ErrRole
	}
	return nil
}

// recorded returns the audit record of what an administrator does now, or trade.ErrRole for another
// person.
func (o *Office) recorded(who trade.Person, act, target string, detail any) (trade.AuditRecord, error) {
	if err := mayRole(who, trade.Administrator); err != nil {
		return trade.AuditRecord{}, err
	}
	return who.Record(o.now(), act, target, detail)
}

// acts returns the acts of people on this ledger.
func (o *Office) acts() *acts.Acts {
	people := &acts.Acts{
		Ledger: o.store, JobLedger: o.store, Jobs: o.jobs, Now: o.now,
		Boot: state.Self().Boot, Clock: clock.SystemClock{}, Limits: o.conf.Limits(),
		Rules: o.conf.Approve.Rules(), Approvals: o.store,
	}
	if o.engine == nil {
		return people
	}
	people.Rows = o.engine
	if reader, ok := o.engine.Platform.(acts.Reader); ok {
		people.Platform = reader
	}
	return people
}

// Now returns the wall clock's time, in UTC.
func Now() time.Time { return time.Now().UTC() }

// CompileJobs compiles the jobs and returns them in the order in which they run. Faults name their
// line of the configuration.
func CompileJobs(config *config.Config) ([]*mapping.Job, error) {
	var jobs []*mapping.Job
	var errs []error
	for _, spec := range config.JobSpecs() {
		job, err := mapping.Compile(spec, config.Zone())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		jobs = append(jobs, job)
	}
	if len(errs) > 0 {
		return nil, config.Annotate(errors.Join(errs...))
	}
	jobs, err := engine.Order(jobs)
	return jobs, config.Annotate(err)
}

// Acts returns the latest acts in the audit, oldest first; all if limit is 0.
func (o *Office) Acts(ctx context.Context, limit int) ([]trade.AuditRecord, error) {
	records, err := o.store.Audit(ctx, limit)
	slices.Reverse(records)
	return records, err
}

// Note records in the audit what a person does that changes no row: what was ordered, asked or taken.
func (o *Office) Note(ctx context.Context, act, target string, detail any, who trade.Person) error {
	record, err := who.Record(o.now(), act, target, detail)
	if err != nil {
		return err
	}
	return o.store.AppendAudit(ctx, record)
}

// LiveStatus is a ledger that never reports a job as running if its process is gone.
type LiveStatus struct{ *state.Store }

// JobStatus returns the status of a job. It corrects that of a job that is stored as running although
// its process is gone: the process had no time to store its end.
func (t LiveStatus) JobStatus(ctx context.Context, job string) (trade.JobStatus, error) {
	status, err := t.Store.JobStatus(ctx, job)
	if err != nil || status.State != trade.Running {
		return status, err
	}
	leased, err := isLeased(ctx, t.Store, status.Job)
	if err != nil || leased {
		return status, err
	}
	status.State = trade.Stopped
	status.Stop = &trade.Stop{Code: "process_gone", Why: trade.Say("stop.process_gone")}
	return status, nil
}

// isLeased reports whether a process that lives has a job.
func isLeased(ctx context.Context, store *state.Store, job string) (bool, error) {
	leases, err := store.Leases(ctx)
	return slices.ContainsFunc(leases, func(l trade.Holder) bool { return l.Job == job && !l.Dead }), err
}

// Reads is what people may read of the ledger.
type Reads interface {
	// JobStatus returns the status of a job; Counts and FlagCounts its sums.
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	Counts(ctx context.Context, job string) ([]trade.Tally, error)
	FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error)
	// ChangedCounts returns how many rows changed after they were sent or left out, and how many have each flag.
	ChangedCounts(ctx context.Context) (int, map[trade.Flag]int, error)

	// Causes returns the causes that rows of some jobs have, of all if none is named, in order.
	Causes(ctx context.Context, jobs []string) ([]string, error)

	// RowPage returns one page of the rows that a query selects.
	RowPage(ctx context.Context, q trade.RowQuery) (trade.RowPage, error)
	// RowSums returns the sums of the rows that a query selects, by job; nil if they may be many and whole
	// is false.
	RowSums(ctx context.Context, q trade.RowQuery, whole bool) (map[string]trade.Sums, error)
	// RowNames returns the different products, producers or branches of some jobs that have a part.
	RowNames(ctx context.Context, column trade.RowSort, jobs []string, part string, limit int) (names []string,
		more bool, err error)
	// Entry and EntryByID return one row, by job and key or by id. They return trade.ErrNotFound if
	// there is none.
	Entry(ctx context.Context, job, key string) (trade.Entry, error)
	EntryByID(ctx context.Context, id int64) (trade.Entry, error)
	// Entries returns rows by their ids, in any order; it omits unknown ids.
	Entries(ctx context.Context, ids []int64) ([]trade.Entry, error)
	// Dependents returns at most limit rows that depend on a row, first those that wait for it.
	Dependents(ctx context.Context, entry trade.Entry, limit int) ([]trade.Entry, error)
	// Place returns the position of a row, oldest first, among the rows in some states with some
	// causes (none: all), and their number.
	Place(ctx context.Context, entry trade.Entry, states []trade.State, causes ...string) (place, of int, err error)

	// Runs returns the latest passes of a job, newest first.
	Runs(ctx context.Context, job string, limit int) ([]trade.RunReport, error)
	// Run returns one pass. It returns trade.ErrNotFound if the id is unknown.
	Run(ctx context.Context, id string) (trade.RunReport, error)
	// RunsBefore returns of each job the latest pass before one.
	RunsBefore(ctx context.Context, id string) ([]trade.RunReport, error)
	// RunPage returns passes of a job, or of all jobs if the name is empty, newest first. after is
	// RunPage.Next of the previous page.
	RunPage(ctx context.Context, job, after string, limit int) (trade.RunPage, error)

	// AuditOf returns the acts on a target ("job key"), newest first.
	AuditOf(ctx context.Context, target string, limit int) ([]trade.AuditRecord, error)
	// AuditPage returns one page of the acts that a query selects, newest first.
	AuditPage(ctx context.Context, q trade.AuditQuery) (trade.AuditPage, error)
	// AuditNames returns who acted, alone or together with others, as the audit writes it.
	AuditNames(ctx context.Context) ([]string, error)
	// VerifyAudit compares the audit with its own hashes and with the journal.
	VerifyAudit(ctx context.Context) (trade.AuditProof, error)
	// Inbox returns the events that a filter selects, newest first.
	Inbox(ctx context.Context, f trade.InboxFilter) ([]trade.InboxEvent, error)
	// Users returns the users of the console, and User one of them, or trade.ErrNobody.
	Users(ctx context.Context) ([]trade.User, error)
	User(ctx context.Context, name string) (trade.User, error)
	// UserFrom returns the user whom an issuer of logins knows by a subject, or trade.ErrNobody.
	UserFrom(ctx context.Context, issuer, subject string) (trade.User, error)
	// AppendAudit stores that somebody saw or took what is kept from others. It changes nothing else.
	AppendAudit(ctx context.Context, record trade.AuditRecord) error

	// Approval returns one act that waits for somebody's consent, or trade.ErrNotFound.
	Approval(ctx context.Context, id int64) (trade.Approval, error)
	// Closings returns the months that were closed, newest first; those of one cut-off day unless it is zero.
	Closings(ctx context.Context, day trade.Date) ([]trade.Closing, error)
	// RowIDs returns the ids of rows by their jobs and keys, as far as the ledger has them.
	RowIDs(ctx context.Context, keys []trade.ParentKey) (map[trade.ParentKey]int64, error)
	// PlanRetention returns what the ledger keeps longer than it must.
	PlanRetention(ctx context.Context, keep state.Retention, at time.Time) (state.RetentionPlan, error)

	// ListReferences returns the lines of a de-para table.
	ListReferences(ctx context.Context, kind string) ([]trade.Reference, error)
}
