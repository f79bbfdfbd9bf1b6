package office

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

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
