// The interfaces through which the engine reaches storage, ERP and API.

package run

import (
	"context"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/trade"
)

// The ledger as the engine sees it, in parts. What a method has done when it returns without an
// error is durable on disk (I1). An error means that nothing of the call was stored, except for
// trade.ErrUncertain: then it is unknown whether it was.

// Rows reads the entries of a job.
type Rows interface {
	Cursor(ctx context.Context, job string) (trade.Cursor, error)
	// Known returns what the ledger knows of these keys, by key. At most 2,000 keys per call.
	Known(ctx context.Context, job string, keys []string) (map[string]trade.Known, error)
	// Entries returns whole entries by their ids, in any order.
	Entries(ctx context.Context, ids []int64) ([]trade.Entry, error)
	// EachKnown calls fn for every entry of the job in id order, with no more than a page in
	// memory; fn may write.
	EachKnown(ctx context.Context, job string, fn func(trade.Known) error) error
	// EachSwept calls fn for every entry of the job, one after the other in no order; the entry is
	// valid only during the call. An accepted entry without flag, acknowledgement or absence has
	// only its id, key, state, source hash, ShownMark, and the fact that it was mapped.
	EachSwept(ctx context.Context, job string, fn func(*trade.Known)) error
	// Stale calls fn for every entry in one of the states whose MappedWith differs, state by state,
	// and in id order within a state; fn may write.
	Stale(ctx context.Context, job, mappedWith string, states []trade.State, fn func(trade.Entry) error) error
	// Belongs returns *trade.OtherPlatformError if the ledger has sent to another base address.
	// AcquireLease does the same for the owner's address.
	Belongs(ctx context.Context, platform string) error
}

// Relatives reads entries related to those of a job: parents and children, rows with the same
// content or key, rows that wait for an answer.
type Relatives interface {
	// Parents returns what the ledger knows of parent rows; rows that it does not have are missing
	// from the map.
	Parents(ctx context.Context, keys []trade.ParentKey) (map[trade.ParentKey]trade.Parent, error)
	// Orphans calls fn for the entries of a job that wait for their parent, page by page in id
	// order; fn may write.
	Orphans(ctx context.Context, job string, fn func([]trade.Entry) error) error
	// Unread returns the source hashes of the entries of a job that were sent and whose rows have
	// changed since to what cannot be sent: which document it is, is not known.
	Unread(ctx context.Context, job string) (map[int64]trade.Hash, error)
	// HeldFor calls fn for the entries of a job that are held for a cause, page by page in id
	// order; fn may write.
	HeldFor(ctx context.Context, job, cause string, fn func([]trade.Entry) error) error
	// JobsOfLedger returns the jobs that have entries.
	JobsOfLedger(ctx context.Context) ([]trade.KnownJob, error)
	// Records returns the records that count and that a query selects, in the order of their ids.
	// alone reports that no other job has rows of this kind, so that no key was looked for.
	Records(ctx context.Context, q trade.RecordQuery) (out []trade.Record, alone bool, err error)
	// LastRecord returns the number of the newest record; 0 if there is none.
	LastRecord(ctx context.Context) (int64, error)
	// Unsent returns the entries of a kind, of all jobs, that nothing was sent for and whose newest
	// rows have one of these cells.
	Unsent(ctx context.Context, kind trade.Kind, cells []trade.Hash) ([]trade.Entry, error)
	// Awaiting calls fn for every waiting entry of the job that needs a reference of this kind, in
	// id order; fn may write.
	Awaiting(ctx context.Context, job, kind string, fn func(trade.Entry) error) error
}

// Sums counts the entries of a job, and reads those that are due.
type Sums interface {
	// Counts returns the sums of a job (I9), CountIn how many of its entries are in a state.
	Counts(ctx context.Context, job string) ([]trade.Tally, error)
	CountIn(ctx context.Context, job string, state trade.State) (int, error)
	// FlagCounts counts the entries of a job that have each flag.
	FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error)
	// Arrivals counts the entries of a job with ids greater than after, and returns the keys of the
	// first few, at most samples.
	Arrivals(ctx context.Context, job string, after int64, samples int) (trade.Arrivals, error)
	// Due returns pending entries that are due, with ids greater than after, in id order.
	Due(ctx context.Context, job string, now time.Time, after int64, limit int) ([]trade.Entry, error)
	// NewContents returns entries of a job in a state, pending or waiting, with ids greater than
	// after, in id order, at most limit, with only what is compared of each: id, job, key, kind,
	// hashes, target and payload.
	NewContents(ctx context.Context, job string, state trade.State, after int64, limit int) ([]trade.Entry, error)
}

// Tables reads the de-para tables, and the platform's answers to lookups by document, which are
// stored under a keyed hash of the document.
type Tables interface {
	// References returns all codes, by kind and code, and a version that changes whenever one of
	// them does.
	References(ctx context.Context) (map[string]map[string]string, string, error)
	// ReferencesVersion returns that version alone.
	ReferencesVersion(ctx context.Context) (string, error)
	// FormerReferences returns, by kind and code, the codes that have another id than before, each
	// with the present id first, then every id that it had.
	FormerReferences(ctx context.Context) (map[string]map[string][]string, error)
	// SentWith calls fn for the entries of the job that were sent, or may have been, with one of
	// these ids in their request, and for those with the flag recoded, page by page in id order;
	// with many ids also for others. fn may write.
	SentWith(ctx context.Context, job string, ids []string, fn func([]trade.Entry) error) error
	// LookupKey returns the key of that keyed hash, which never changes.
	LookupKey(ctx context.Context) ([]byte, error)
	// Lookups returns the answers of one kind of lookup, by code.
	Lookups(ctx context.Context, kind string) (map[string]trade.Lookup, error)
}

// Writes stores what a reading of the ERP found.
type Writes interface {
	// Record stores one page of discovery in one transaction, fenced by the lease
	// (trade.ErrLeaseLost). It leaves out an update whose entry has changed since it was read, and
	// a new entry whose key exists meanwhile; lost counts them, and the next run reads them again.
	Record(ctx context.Context, lease trade.Lease, page trade.Page) (lost int, err error)
	// Reprint stores the newest fingerprints of entries with their records, fenced by the lease
	// (trade.ErrLeaseLost).
	Reprint(ctx context.Context, lease trade.Lease, entries []trade.Entry) error
	// ReplaceReferences makes the codes of one kind, with their labels, exactly these. It is for
	// kinds that are read from the ERP. Equal content changes nothing.
	ReplaceReferences(ctx context.Context, kind string, codes, labels map[string]string) (changed int, err error)
	// RecordLookups stores answers in place of earlier ones; an answer with an id changes the
	// version of the references.
	RecordLookups(ctx context.Context, kind string, answers []trade.Lookup) error
}

// Queue reads the entries that are due for sending, and wakes waiting ones.
type Queue interface {
	// Wake moves rejected and waiting entries whose NextAttemptAt has passed to pending.
	Wake(ctx context.Context, lease trade.Lease, now time.Time) (int, error)
	// WakeBlocked moves the entries that wait for a record of the platform to pending, because one
	// row that needs the record was accepted.
	WakeBlocked(ctx context.Context, lease trade.Lease, kind, id string) (int, error)
	// Due returns pending entries that are due, with ids greater than after, in id order.
	Due(ctx context.Context, job string, now time.Time, after int64, limit int) ([]trade.Entry, error)
	Blocks(ctx context.Context) ([]trade.Block, error)
	// CountIn returns how many entries of a job are in a state.
	CountIn(ctx context.Context, job string, state trade.State) (int, error)
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
}

// Intents makes intents and settlements durable.
type Intents interface {
	// Commit settles finished attempts, updates entries and makes intents durable, in one
	// transaction and one flush. Intents and updates are fenced by the lease; settlements are not
	// (I12): if the lease is lost, the settlements are stored all the same, and no intent is. No
	// intent of a paused job is stored either. The result states which intents were claimed and
	// which settlements were applied.
	Commit(ctx context.Context, lease trade.Lease, group trade.Group) (trade.GroupResult, error)
}

// Runs stores the beginning and the end of a run, and settles what an earlier run left.
type Runs interface {
	StartRun(ctx context.Context, report trade.RunReport) error
	FinishRun(ctx context.Context, report trade.RunReport) error
	// SetJobStatus stores the status of a job; a paused job stays paused.
	SetJobStatus(ctx context.Context, status trade.JobStatus) error
	// Recover puts the entries in doubt that dead instances, and our own earlier epochs, left in
	// sending, and returns their number. Their attempts are unknown, and a definite late answer can
	// still settle them.
	Recover(ctx context.Context, lease trade.Lease, now time.Time) (int, error)
	// Watch begins the quarantine of those unknown attempts of a job that this boot did not know
	// yet; it returns their number.
	Watch(ctx context.Context, job, boot string, ticks time.Duration) (int, error)
	// ReleaseLease gives up a lease; a lease that is no longer ours stays as it is.
	ReleaseLease(ctx context.Context, lease trade.Lease) error
}

// Jobs stores whether and when jobs may run, and who runs them.
type Jobs interface {
	// AcquireLease makes the owner the only reader and sender of a job, with an epoch above every
	// earlier one. If a living owner holds the lease, it returns *trade.LeasedError. A lease is
	// free when it was released, has expired on the database's clock (30 s), or its owner was a
	// process of this boot and PID space that no longer runs.
	AcquireLease(ctx context.Context, job string, owner trade.Owner) (trade.Lease, error)
	// Leases returns the leases that were not released.
	Leases(ctx context.Context) ([]trade.Holder, error)
	// RecoverOwn is Recover for a job that another instance holds: it settles the entries that the
	// owner left in sending earlier. The owner must have nothing of the job in flight.
	RecoverOwn(ctx context.Context, owner trade.Owner, holder trade.Holder, now time.Time) (int, error)
	// LastTask returns when a housekeeping task began last, or the zero time if it never did;
	// TaskBegan stores that.
	LastTask(ctx context.Context, name string) (time.Time, error)
	TaskBegan(ctx context.Context, name string, at time.Time) error
	// SignOfLife records that a process is about to read and send, or, if the last such sign is
	// older than silent, pauses the given jobs and those of the ledger.
	SignOfLife(ctx context.Context, jobs []string, now time.Time, silent time.Duration) error
	// Witnessed returns an error if the ledger's witness shows that the ledger is an old copy, or
	// trade.ErrUnwitnessed if it cannot be read and nobody has let the jobs go on without it.
	Witnessed(ctx context.Context) error
	// Runs returns the latest runs of a job, newest first, at most limit.
	Runs(ctx context.Context, job string, limit int) ([]trade.RunReport, error)
}

// Readable are the parts that read the ledger: all that a dry run gets.
type Readable interface {
	Rows
	Relatives
	Sums
	Tables
}

// Store is the ledger of a reading: the parts that read it, and the part that stores what was
// found.
type Store interface {
	Readable
	Writes
}

// Ledger is all that the engine needs of its storage. Only the engine has it, and passes its parts
// on.
type Ledger interface {
	Store
	Queue
	Intents
	Runs
	Jobs
	cluster.Members
	cluster.Leases
}

// Source is the ERP: see package erp. Every method is read-only.
type Source interface {
	Columns(ctx context.Context, sql string) ([]erp.Column, error)
	Read(ctx context.Context, q erp.Query, w erp.Window, fn func(erp.Row) error) (erp.Result, error)
	ByKeys(ctx context.Context, q erp.Query, keys [][]erp.Value) ([]erp.Row, error)
	Explain(ctx context.Context, q erp.Query, key []string) (erp.Exclusion, error)
	BeforeCutOver(ctx context.Context, q erp.Query, keys [][]string) ([]erp.Row, error)
	Table(ctx context.Context, sql string, columns []string, fn func([]erp.Value) error) error
}

// Platform is the API: see package apiclient.
type Platform interface {
	Submit(ctx context.Context, kind trade.Kind, target string, body []byte, gate func() error,
	) (apiclient.Answer, error)
	// Probe asks something harmless; nil: the API answers and accepts the key.
	Probe(ctx context.Context) error
	// Pace returns the rate limit of everything that is asked of the platform.
	Pace() *apiclient.Pace
	// GetProducerByDocument finds a producer by CPF or CNPJ (chapter 4, after the table). Every
	// error is an *apiclient.CallError, whose text does not contain the document.
	GetProducerByDocument(ctx context.Context, document string) (apiclient.Producer, error)
}

// Quarantine stores since when an attempt is known to be unknown (I14), on the clock of a kernel's
// boot.
type Quarantine interface {
	// Watch begins the quarantine of those unknown attempts of a job that this boot did not know
	// yet; it returns their number.
	Watch(ctx context.Context, job, boot string, ticks time.Duration) (int, error)
	// Watched returns when the quarantine of each unknown attempt of an entry began, if this boot
	// knows it.
	Watched(ctx context.Context, entryID int64, boot string) (map[string]time.Duration, error)
}
