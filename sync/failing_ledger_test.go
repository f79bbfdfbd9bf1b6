package sync_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	gosync "sync"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

var errBroken = errors.New("broken on purpose")

// breaker lets one call of the engine fail, of those to ledger, source and platform, counted from
// arm on.
type breaker struct {
	mu        gosync.Mutex
	at, calls int
	applied   bool // the call takes effect, and an error comes back all the same
	hit       string
	named     string // the next call of this name fails
	cut       bool   // every call fails: the machine is dead, or cut off

	around  func(call string, do func() error) error // optional: makes each call
	intents func(trade.Lease) error                  // optional: comes before intents are stored
}

func (b *breaker) arm(at int, applied bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at, b.calls, b.applied, b.hit = at, 0, applied, ""
}

// armNamed lets the next call of a name fail; that of none for "".
func (b *breaker) armNamed(call string) {
	b.arm(0, false)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.named = call
}

// cutOff lets every call fail from now on, or none any more.
func (b *breaker) cutOff(cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut = cut
}

// disarm gives the call that failed since arm; "" = none.
func (b *breaker) disarm() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at, b.named = 0, ""
	return b.hit
}

// fails tells whether this call fails, and whether after it took effect.
func (b *breaker) fails(call string) (fails, applied bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if b.cut {
		return true, false
	}
	if call == b.named {
		b.hit, b.named = call, ""
		return true, false
	}
	if b.at == 0 || b.calls != b.at {
		return false, false
	}
	b.hit = call
	return true, b.applied
}

// through makes a call of the ledger or the source, or lets it fail. A call that took effect all
// the same says that nobody knows.
func through[T any](b *breaker, call string, f func() (T, error)) (T, error) {
	var none T
	fails, applied := b.fails(call)
	if fails && !applied {
		return none, errBroken
	}
	v, err := none, error(nil)
	do := func() error {
		v, err = f()
		return err
	}
	if b.around != nil {
		err = b.around(call, do)
	} else {
		err = do()
	}
	if fails && err == nil {
		return none, fmt.Errorf("%w: %w", errBroken, trade.ErrUncertain)
	}
	return v, err
}

func (b *breaker) call(call string, f func() error) error {
	_, err := through(b, call, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// brokenLedger has every method of the ledger.
type brokenLedger struct {
	l Ledger
	b *breaker
}

func (l brokenLedger) References(ctx context.Context) (map[string]map[string]string, string, error) {
	version := ""
	codes, err := through(l.b, "References", func() (codes map[string]map[string]string, err error) {
		codes, version, err = l.l.References(ctx)
		return codes, err
	})
	return codes, version, err
}

func (l brokenLedger) ReplaceReferences(ctx context.Context, kind string, codes,
	labels map[string]string,
) (int, error) {
	return through(l.b, "ReplaceReferences",
		func() (int, error) { return l.l.ReplaceReferences(ctx, kind, codes, labels) })
}

func (l brokenLedger) LookupKey(ctx context.Context) ([]byte, error) {
	return through(l.b, "LookupKey", func() ([]byte, error) { return l.l.LookupKey(ctx) })
}

func (l brokenLedger) Lookups(ctx context.Context, kind string) (map[string]trade.Lookup, error) {
	return through(l.b, "Lookups", func() (map[string]trade.Lookup, error) { return l.l.Lookups(ctx, kind) })
}

func (l brokenLedger) RecordLookups(ctx context.Context, kind string, answers []trade.Lookup) error {
	return l.b.call("RecordLookups", func() error { return l.l.RecordLookups(ctx, kind, answers) })
}

func (l brokenLedger) Awaiting(ctx context.Context, job, kind string, fn func(trade.Entry) error) error {
	return l.b.call("Awaiting", func() error { return l.l.Awaiting(ctx, job, kind, fn) })
}

func (l brokenLedger) Cursor(ctx context.Context, job string) (trade.Cursor, error) {
	return through(l.b, "Cursor", func() (trade.Cursor, error) { return l.l.Cursor(ctx, job) })
}

func (l brokenLedger) Renumber(ctx context.Context, lease trade.Lease, entries []trade.Entry) error {
	return l.b.call("Renumber", func() error { return l.l.Renumber(ctx, lease, entries) })
}

func (l brokenLedger) Known(ctx context.Context, job string, keys []string) (map[string]trade.Known, error) {
	return through(l.b, "Known", func() (map[string]trade.Known, error) { return l.l.Known(ctx, job, keys) })
}

func (l brokenLedger) Parents(ctx context.Context, keys []trade.ParentKey) (map[trade.ParentKey]trade.Parent, error) {
	return through(l.b, "Parents", func() (map[trade.ParentKey]trade.Parent, error) { return l.l.Parents(ctx, keys) })
}

func (l brokenLedger) Orphans(ctx context.Context, job string, fn func([]trade.Entry) error) error {
	return l.b.call("Orphans", func() error { return l.l.Orphans(ctx, job, fn) })
}

func (l brokenLedger) HeldFor(ctx context.Context, job, cause string, fn func([]trade.Entry) error) error {
	return l.b.call("HeldFor", func() error { return l.l.HeldFor(ctx, job, cause, fn) })
}

func (l brokenLedger) JobsOfLedger(ctx context.Context) ([]trade.KnownJob, error) {
	return through(l.b, "JobsOfLedger", func() ([]trade.KnownJob, error) { return l.l.JobsOfLedger(ctx) })
}

func (l brokenLedger) SentElsewhere(ctx context.Context, job string, sends trade.Kind,
	keys []string,
) (out map[string]trade.Elsewhere, several bool, err error) {
	err = l.b.call("SentElsewhere", func() (err error) {
		out, several, err = l.l.SentElsewhere(ctx, job, sends, keys)
		return err
	})
	return out, several, err
}

func (l brokenLedger) Entries(ctx context.Context, ids []int64) ([]trade.Entry, error) {
	return through(l.b, "Entries", func() ([]trade.Entry, error) { return l.l.Entries(ctx, ids) })
}

func (l brokenLedger) EachKnown(ctx context.Context, job string, fn func(trade.Known) error) error {
	return l.b.call("EachKnown", func() error { return l.l.EachKnown(ctx, job, fn) })
}

func (l brokenLedger) EachSwept(ctx context.Context, job string, fn func(*trade.Known)) ([]trade.Tally, error) {
	return through(l.b, "EachSwept", func() ([]trade.Tally, error) { return l.l.EachSwept(ctx, job, fn) })
}

func (l brokenLedger) Record(ctx context.Context, lease trade.Lease, page trade.Page) (int, error) {
	return through(l.b, "Record", func() (int, error) { return l.l.Record(ctx, lease, page) })
}

func (l brokenLedger) Stale(ctx context.Context, job, mappedWith string, states []trade.State,
	fn func(trade.Entry) error,
) error {
	return l.b.call("Stale", func() error { return l.l.Stale(ctx, job, mappedWith, states, fn) })
}

func (l brokenLedger) Arrivals(ctx context.Context, job string, after int64, samples int) (trade.Arrivals, error) {
	return through(l.b, "Arrivals", func() (trade.Arrivals, error) { return l.l.Arrivals(ctx, job, after, samples) })
}

func (l brokenLedger) Counts(ctx context.Context, job string) ([]trade.Tally, error) {
	return through(l.b, "Counts", func() ([]trade.Tally, error) { return l.l.Counts(ctx, job) })
}

func (l brokenLedger) Recount(ctx context.Context, job string) ([]trade.Tally, error) {
	return through(l.b, "Recount", func() ([]trade.Tally, error) { return l.l.Recount(ctx, job) })
}

func (l brokenLedger) FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error) {
	return through(l.b, "FlagCounts", func() (map[trade.Flag]int, error) { return l.l.FlagCounts(ctx, job) })
}

func (l brokenLedger) Recover(ctx context.Context, lease trade.Lease, now time.Time) (int, error) {
	return through(l.b, "Recover", func() (int, error) { return l.l.Recover(ctx, lease, now) })
}

func (l brokenLedger) DueContents(ctx context.Context, job string, now time.Time, after int64,
	limit int,
) ([]trade.Entry, error) {
	return through(l.b, "DueContents",
		func() ([]trade.Entry, error) { return l.l.DueContents(ctx, job, now, after, limit) })
}

func (l brokenLedger) Beat(ctx context.Context, instance trade.Instance) (trade.Crew, error) {
	return through(l.b, "Beat", func() (trade.Crew, error) { return l.l.Beat(ctx, instance) })
}

func (l brokenLedger) Depart(ctx context.Context, instance string) error {
	return l.b.call("Depart", func() error { return l.l.Depart(ctx, instance) })
}

func (l brokenLedger) Leases(ctx context.Context) ([]trade.Holder, error) {
	return through(l.b, "Leases", func() ([]trade.Holder, error) { return l.l.Leases(ctx) })
}

func (l brokenLedger) RecoverOwn(ctx context.Context, owner trade.Owner, holder trade.Holder,
	now time.Time,
) (int, error) {
	return through(l.b, "RecoverOwn", func() (int, error) { return l.l.RecoverOwn(ctx, owner, holder, now) })
}

func (l brokenLedger) Wake(ctx context.Context, lease trade.Lease, now time.Time) (int, error) {
	return through(l.b, "Wake", func() (int, error) { return l.l.Wake(ctx, lease, now) })
}

func (l brokenLedger) WakeBlocked(ctx context.Context, lease trade.Lease, kind, id string) (int, error) {
	return through(l.b, "WakeBlocked", func() (int, error) { return l.l.WakeBlocked(ctx, lease, kind, id) })
}

func (l brokenLedger) Due(ctx context.Context, job string, now time.Time, after int64,
	limit int,
) ([]trade.Entry, error) {
	return through(l.b, "Due", func() ([]trade.Entry, error) { return l.l.Due(ctx, job, now, after, limit) })
}

func (l brokenLedger) Commit(ctx context.Context, lease trade.Lease, group trade.Group) (trade.GroupResult, error) {
	if l.b.intents != nil && len(group.Intents) > 0 {
		if err := l.b.intents(lease); err != nil {
			return trade.GroupResult{}, err
		}
	}
	return through(l.b, "Commit", func() (trade.GroupResult, error) { return l.l.Commit(ctx, lease, group) })
}

func (l brokenLedger) SameContent(ctx context.Context, sends trade.Kind, contents []int64,
	sources []trade.Hash,
) ([]trade.SentContent, error) {
	return through(l.b, "SameContent",
		func() ([]trade.SentContent, error) { return l.l.SameContent(ctx, sends, contents, sources) })
}

func (l brokenLedger) Marked() bool { return l.l.Marked() }

func (l brokenLedger) Mark(attempt string) error {
	return l.b.call("Mark", func() error { return l.l.Mark(attempt) })
}

func (l brokenLedger) Heard(attempt string, outcome trade.Outcome, status int, remoteID string) {
	l.l.Heard(attempt, outcome, status, remoteID)
}

func (l brokenLedger) Blocks(ctx context.Context) ([]trade.Block, error) {
	return through(l.b, "Blocks", func() ([]trade.Block, error) { return l.l.Blocks(ctx) })
}

func (l brokenLedger) Watch(ctx context.Context, job, boot string, ticks time.Duration) (int, error) {
	return through(l.b, "Watch", func() (int, error) { return l.l.Watch(ctx, job, boot, ticks) })
}

func (l brokenLedger) Watched(ctx context.Context, entryID int64, boot string) (map[string]time.Duration, error) {
	return through(l.b, "Watched", func() (map[string]time.Duration, error) { return l.l.Watched(ctx, entryID, boot) })
}

func (l brokenLedger) Belongs(ctx context.Context, platform string) error {
	return l.b.call("Belongs", func() error { return l.l.Belongs(ctx, platform) })
}

func (l brokenLedger) AcquireLease(ctx context.Context, job string, owner trade.Owner) (trade.Lease, error) {
	return through(l.b, "AcquireLease", func() (trade.Lease, error) { return l.l.AcquireLease(ctx, job, owner) })
}

func (l brokenLedger) RenewLease(ctx context.Context, lease trade.Lease) error {
	return l.b.call("RenewLease", func() error { return l.l.RenewLease(ctx, lease) })
}

func (l brokenLedger) ReleaseLease(ctx context.Context, lease trade.Lease) error {
	return l.b.call("ReleaseLease", func() error { return l.l.ReleaseLease(ctx, lease) })
}

func (l brokenLedger) StartRun(ctx context.Context, report trade.RunReport) error {
	return l.b.call("StartRun", func() error { return l.l.StartRun(ctx, report) })
}

func (l brokenLedger) FinishRun(ctx context.Context, report trade.RunReport) error {
	return l.b.call("FinishRun", func() error { return l.l.FinishRun(ctx, report) })
}

func (l brokenLedger) Runs(ctx context.Context, job string, limit int) ([]trade.RunReport, error) {
	return through(l.b, "Runs", func() ([]trade.RunReport, error) { return l.l.Runs(ctx, job, limit) })
}

func (l brokenLedger) JobStatus(ctx context.Context, job string) (trade.JobStatus, error) {
	return through(l.b, "JobStatus", func() (trade.JobStatus, error) { return l.l.JobStatus(ctx, job) })
}

func (l brokenLedger) LastTask(ctx context.Context, name string) (time.Time, error) {
	return through(l.b, "LastTask", func() (time.Time, error) { return l.l.LastTask(ctx, name) })
}

func (l brokenLedger) TaskBegan(ctx context.Context, name string, at time.Time) error {
	return l.b.call("TaskBegan", func() error { return l.l.TaskBegan(ctx, name, at) })
}

func (l brokenLedger) SetJobStatus(ctx context.Context, status trade.JobStatus) error {
	return l.b.call("SetJobStatus", func() error { return l.l.SetJobStatus(ctx, status) })
}

// brokenSource has every method of the ERP. A reading that fails after it took effect has given all
// its rows.
type brokenSource struct {
	s run.Source
	b *breaker
}

func (s brokenSource) Columns(ctx context.Context, sql string) ([]erp.Column, error) {
	return through(s.b, "Columns", func() ([]erp.Column, error) { return s.s.Columns(ctx, sql) })
}

func (s brokenSource) Read(ctx context.Context, q erp.Query, w erp.Window, fn func(erp.Row) error) (erp.Result, error) {
	return through(s.b, "Read", func() (erp.Result, error) { return s.s.Read(ctx, q, w, fn) })
}

func (s brokenSource) ByKeys(ctx context.Context, q erp.Query, keys [][]erp.Value) ([]erp.Row, error) {
	return through(s.b, "ByKeys", func() ([]erp.Row, error) { return s.s.ByKeys(ctx, q, keys) })
}

func (s brokenSource) Explain(ctx context.Context, q erp.Query, key []string) (erp.Exclusion, error) {
	return through(s.b, "Explain", func() (erp.Exclusion, error) { return s.s.Explain(ctx, q, key) })
}

func (s brokenSource) Table(ctx context.Context, sql string, columns []string, fn func([]erp.Value) error) error {
	return s.b.call("Table", func() error { return s.s.Table(ctx, sql, columns, fn) })
}

// brokenPlatform fails before the first byte of a record.
type brokenPlatform struct {
	p run.Platform
	b *breaker
}

func (p brokenPlatform) gate(call string, gate func() error) func() error {
	return func() error {
		if fails, _ := p.b.fails(call); fails {
			return errBroken
		}
		return gate()
	}
}

func (p brokenPlatform) SubmitOrderCommitment(ctx context.Context, body []byte,
	gate func() error,
) (apiclient.Answer, error) {
	return p.p.SubmitOrderCommitment(ctx, body, p.gate("SubmitOrderCommitment", gate))
}

func (p brokenPlatform) SubmitDelivery(ctx context.Context, body []byte, gate func() error) (apiclient.Answer, error) {
	return p.p.SubmitDelivery(ctx, body, p.gate("SubmitDelivery", gate))
}

func (p brokenPlatform) SubmitTraceability(ctx context.Context, id string, body []byte,
	gate func() error,
) (apiclient.Answer, error) {
	return p.p.SubmitTraceability(ctx, id, body, p.gate("SubmitTraceability", gate))
}

func (p brokenPlatform) ListWebhooks(ctx context.Context) ([]json.RawMessage, error) {
	return through(p.b, "ListWebhooks", func() ([]json.RawMessage, error) { return p.p.ListWebhooks(ctx) })
}

func (p brokenPlatform) GetProducerByDocument(ctx context.Context, document string) (apiclient.Producer, error) {
	return through(p.b, "GetProducerByDocument",
		func() (apiclient.Producer, error) { return p.p.GetProducerByDocument(ctx, document) })
}

// submission makes a POST.
type submission func(context.Context) (apiclient.Answer, error)

// posts is a platform whose POSTs go through a function of the test, which makes them, or answers.
type posts struct {
	run.Platform
	through func(ctx context.Context, submit submission) (apiclient.Answer, error)
}

func (p posts) SubmitOrderCommitment(ctx context.Context, body []byte, gate func() error) (apiclient.Answer, error) {
	return p.through(ctx, func(ctx context.Context) (apiclient.Answer, error) {
		return p.Platform.SubmitOrderCommitment(ctx, body, gate)
	})
}

func (p posts) SubmitDelivery(ctx context.Context, body []byte, gate func() error) (apiclient.Answer, error) {
	return p.through(ctx,
		func(ctx context.Context) (apiclient.Answer, error) { return p.Platform.SubmitDelivery(ctx, body, gate) })
}

func (p posts) SubmitTraceability(ctx context.Context, id string, body []byte,
	gate func() error,
) (apiclient.Answer, error) {
	return p.through(ctx, func(ctx context.Context) (apiclient.Answer, error) {
		return p.Platform.SubmitTraceability(ctx, id, body, gate)
	})
}

func (b *bench) posting(through func(context.Context, submission) (apiclient.Answer, error)) {
	b.surface = func(p run.Platform) run.Platform { return posts{p, through} }
}

// beforePosts lets something happen before each request is made.
func (b *bench) beforePosts(f func()) {
	b.posting(func(ctx context.Context, submit submission) (apiclient.Answer, error) {
		f()
		return submit(ctx)
	})
}
