// The interfaces through which the engine reaches storage, ERP and API.

package run

import (
	"context"
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/cluster"
	"github.com/safrasync/safrasync/trade"
)

// The ledger as the engine sees it, in parts. Everything that a method returns without an error is
// durable on disk (I1). An error means that nothing of the call was stored, except
// trade.ErrUncertain, which says that nobody knows.

// Rows reads the entries of a job.
type Rows interface {
	Cursor(ctx context.Context, job string) (trade.Cursor, error)
	// Known returns what is known of these keys, by key. At most 2,000 keys a call.
	Known(ctx context.Context, job string, keys []string) (map[string]trade.Known, error)
	// Entries returns whole entries by their numbers, in any order.
	Entries(ctx context.Context, ids []int64) ([]trade.Entry, error)
	// EachKnown calls fn for every entry of the job in the order of their numbers, without holding
	// more than a page in memory; fn may write.
	EachKnown(ctx context.Context, job string, fn func(trade.Known) error) error
	// EachSwept calls fn for every entry of the job, in no order and from several goroutines at once;
	// the entry is that of the call only. Of one that is accepted, without flag, acknowledgement or
	// absence, it tells no more than number, key, state, source hash, and that it was mapped. It
	// gives the sums of what it saw, in the form of Recount.
	EachSwept(ctx context.Context, job string, fn func(*trade.Known)) ([]trade.Tally, error)
	// Stale calls fn for every entry in one of the states whose MappedWith differs, state by state
	// and there in the order of their numbers; fn may write.
	Stale(ctx context.Context, job, mappedWith string, states []trade.State, fn func(trade.Entry) error) error
	// Belongs returns *trade.OtherPlatformError when the ledger has sent to another base address;
	// AcquireLease does so too, for the owner's.
	Belongs(ctx context.Context, platform string) error
}

// Relatives reads entries that have to do with those of a job: parents and children, rows with the
// same content or key, rows that wait for an answer.
type Relatives interface {
	// Parents returns what is known of rows that others hang on; a row that the ledger does not
	// have is not in the answer.
	Parents(ctx context.Context, keys []trade.ParentKey) (map[trade.ParentKey]trade.Parent, error)
	// Orphans calls fn for the entries of a job that wait for their parent, in pages in the order
	// of their numbers; fn may write.
	Orphans(ctx context.Context, job string, fn func([]trade.Entry) error) error
	// HeldFor calls fn for the entries of a job that are held for a cause, in pages in the order of
	// their numbers; fn may write.
	HeldFor(ctx context.Context, job, cause string, fn func([]trade.Entry) error) error
	// JobsOfLedger returns the jobs that have entries.
	JobsOfLedger(ctx context.Context) ([]trade.KnownJob, error)
	// SameContent returns the entries of this kind of record whose attempt created, or may have
	// created, a record, and that ask for the business of one of these payloads, or whose newest
	// row has one of these source hashes.
	SameContent(ctx context.Context, sends trade.Kind, contents []int64,
		sources []trade.Hash) ([]trade.SentContent, error)
	// SentElsewhere gives, by key, the rows of other jobs of the same kind that were sent, or may
	// have been, and whose keys are compared with those of this job; several reports whether there
	// are such jobs.
	SentElsewhere(ctx context.Context, job string, sends trade.Kind,
		keys []string) (out map[string]trade.Elsewhere, several bool, err error)
	// Awaiting calls fn for every waiting entry of the job that needs a reference of this kind, in
	// the order of their numbers; fn may write.
	Awaiting(ctx context.Context, job, kind string, fn func(trade.Entry) error) error
}

// Sums counts the entries of a job, and reads those that are due.
type Sums interface {
	// Counts returns the kept sums (I9). Recount counts the entries themselves; the two must agree.
	Counts(ctx context.Context, job string) ([]trade.Tally, error)
	Recount(ctx context.Context, job string) ([]trade.Tally, error)
	// FlagCounts counts the entries of a job that have each flag.
	FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error)
	// Arrivals counts the entries of a job with numbers above after, and gives the keys of the
	// first few.
	Arrivals(ctx context.Context, job string, after int64, samples int) (trade.Arrivals, error)
	// Due returns pending entries that may go now, with numbers above after, in the order of their
	// numbers.
	Due(ctx context.Context, job string, now time.Time, after int64, limit int) ([]trade.Entry, error)
	// DueContents is Due with no more of each entry than its number, key and hashes.
	DueContents(ctx context.Context, job string, now time.Time, after int64, limit int) ([]trade.Entry, error)
}

// Tables reads the de-para tables, and what the platform answered to questions by document, under a
// keyed hash of the document.
type Tables interface {
	// References returns all codes of all kinds, by kind and code, and a text that changes with
	// each change of them.
	References(ctx context.Context) (map[string]map[string]string, string, error)
	// LookupKey returns the key of that hash, which never changes.
	LookupKey(ctx context.Context) ([]byte, error)
	// Lookups returns the answers of one kind of question by their codes.
	Lookups(ctx context.Context, kind string) (map[string]trade.Lookup, error)
}

// Writes stores what a reading found.
type Writes interface {
	// Record stores one page of discovery in one transaction, fenced by the lease
	// (trade.ErrLeaseLost). An update whose entry has moved since it was read, or a new entry whose
	// key exists meanwhile, is left out; lost counts them, the next run sees them again.
	Record(ctx context.Context, lease trade.Lease, page trade.Page) (lost int, err error)
	// Renumber stores the content numbers of entries, and of the attempts that sent the same,
	// fenced by the lease (trade.ErrLeaseLost). An entry that has moved since it was read is left
	// out.
	Renumber(ctx context.Context, lease trade.Lease, entries []trade.Entry) error
	// ReplaceReferences makes the codes of one kind exactly these (a kind that is read from the
	// ERP).
	// with their labels. Equal content changes nothing.
	ReplaceReferences(ctx context.Context, kind string, codes, labels map[string]string) (changed int, err error)
	// RecordLookups stores answers in place of earlier ones; one with an id gives the references
	// another version.
	RecordLookups(ctx context.Context, kind string, answers []trade.Lookup) error
}

// Queue is what sending reads of the entries that are due, and how it wakes others.
type Queue interface {
	// Wake moves rejected and waiting entries whose NextAttemptAt has come to pending.
	Wake(ctx context.Context, lease trade.Lease, now time.Time) (int, error)
	// WakeBlocked moves the entries that wait for a record of the platform to pending, because one
	// row that needs it was accepted.
	WakeBlocked(ctx context.Context, lease trade.Lease, kind, id string) (int, error)
	// Due returns pending entries that may go now, with numbers above after, in the order of their
	// numbers.
	Due(ctx context.Context, job string, now time.Time, after int64, limit int) ([]trade.Entry, error)
	Blocks(ctx context.Context) ([]trade.Block, error)
	// Counts returns the kept sums (I9).
	Counts(ctx context.Context, job string) ([]trade.Tally, error)
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
}

// Intents makes durable what sending does.
type Intents interface {
	// Commit settles finished attempts, moves entries and makes intents durable, in one transaction
	// and one flush. Intents and updates are fenced by the lease; settlements are not (I12): when
	// the lease is lost the settlements are stored all the same and no intent is. Of a paused job
	// no intent is stored either. The result says which intents were claimed and which settlements
	// applied.
	Commit(ctx context.Context, lease trade.Lease, group trade.Group) (trade.GroupResult, error)
	// Marked reports whether Mark survives the end of the process: intents may then be stored
	// before their requests can leave. Mark notes that the first byte of an attempt's request
	// leaves now; after an error it must not. Heard notes how it ended, until Commit has that; it
	// tells of no error.
	Marked() bool
	Mark(attempt string) error
	Heard(attempt string, outcome trade.Outcome, status int, remoteID string)
}

// Runs keeps how a run began and ended, and settles what an earlier one left.
type Runs interface {
	StartRun(ctx context.Context, report trade.RunReport) error
	FinishRun(ctx context.Context, report trade.RunReport) error
	// SetJobStatus records where a job stands; a job that is paused stays so.
	SetJobStatus(ctx context.Context, status trade.JobStatus) error
	// Recover settles the entries that dead instances left in sending, and those of our own of
	// earlier epochs, as far as their process noted what happened (Mark, Heard), and counts the
	// others:
	// they
	// are in doubt, their attempts unknown, and can still be closed by a definite late answer.
	Recover(ctx context.Context, lease trade.Lease, now time.Time) (int, error)
	// Watch begins the quarantine of a job's attempts that are unknown and of which this boot did
	// not know; it tells how many are new.
	Watch(ctx context.Context, job, boot string, ticks time.Duration) (int, error)
	// ReleaseLease returns it back; a lease that is no longer ours is left alone.
	ReleaseLease(ctx context.Context, lease trade.Lease) error
}

// Jobs says when and whether jobs may run, and who runs them.
type Jobs interface {
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	// AcquireLease makes the owner the only reader and sender of a job, with an epoch above every
	// earlier one. A lease that is held by a living owner gives *trade.LeasedError. A lease is free
	// when it was released, has expired on the database's clock (30 s), or its owner was a process
	// of this boot and PID space that no longer runs.
	AcquireLease(ctx context.Context, job string, owner trade.Owner) (trade.Lease, error)
	// Leases returns the leases that were not given back.
	Leases(ctx context.Context) ([]trade.Holder, error)
	// RecoverOwn is Recover for a job that another instance holds, of the entries that the owner
	// left in sending before; it must have nothing of the job in flight.
	RecoverOwn(ctx context.Context, owner trade.Owner, holder trade.Holder, now time.Time) (int, error)
	// LastTask reports when a task of the housekeeping began last, the zero time when it never did;
	// TaskBegan records it.
	LastTask(ctx context.Context, name string) (time.Time, error)
	TaskBegan(ctx context.Context, name string, at time.Time) error
	// Runs returns the latest runs of a job, newest first, at most limit.
	Runs(ctx context.Context, job string, limit int) ([]trade.RunReport, error)
}

// Readable is what reads the ledger.
type Readable struct {
	Rows
	Relatives
	Sums
	Tables
}

// Store is the ledger of a reading: what reads it, and where it stores what it found.
type Store struct {
	Readable
	Writes
}

// Ledger is all that the engine needs of its storage. Only the engine has it, and deals its parts
// out: a dry run has no part that writes.
type Ledger struct {
	Store
	Queue   Queue
	Intents Intents
	Runs    Runs
	Jobs    Jobs
	Members cluster.Members
	Leases  cluster.Leases
}

// Source is the ERP: see package erp. Every method is read-only.
type Source interface {
	Columns(ctx context.Context, sql string) ([]erp.Column, error)
	Read(ctx context.Context, q erp.Query, w erp.Window, fn func(erp.Row) error) (erp.Result, error)
	ByKeys(ctx context.Context, q erp.Query, keys [][]erp.Value) ([]erp.Row, error)
	Explain(ctx context.Context, q erp.Query, key []string) (erp.Exclusion, error)
	Table(ctx context.Context, sql string, columns []string, fn func([]erp.Value) error) error
}

// Platform is the API: see package apiclient.
type Platform interface {
	SubmitOrderCommitment(ctx context.Context, body []byte, gate func() error) (apiclient.Answer, error)
	SubmitDelivery(ctx context.Context, body []byte, gate func() error) (apiclient.Answer, error)
	SubmitTraceability(ctx context.Context, orderCommitmentID string, body []byte,
		gate func() error) (apiclient.Answer, error)
	ListWebhooks(ctx context.Context) ([]json.RawMessage, error)
	// GetProducerByDocument finds a producer by CPF or CNPJ (chapter 4, after the table). Every
	// error is an *apiclient.Error that does not show the document.
	GetProducerByDocument(ctx context.Context, document string) (apiclient.Producer, error)
}

// Quarantine keeps since when it is known that nobody knows what an attempt did (I14), on the clock
// of a kernel's boot.
type Quarantine interface {
	// Watch begins the quarantine of a job's attempts that are unknown and of which this boot did
	// not know; it tells how many are new.
	Watch(ctx context.Context, job, boot string, ticks time.Duration) (int, error)
	// Watched returns since when, for the unknown attempts of an entry of which this boot knows.
	Watched(ctx context.Context, entryID int64, boot string) (map[string]time.Duration, error)
}
