package sync_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"runtime"
	"strings"
	gosync "sync"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/sickdb"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

var errBroken = errors.New("broken on purpose")

// breaker lets one call fail, of those that a bench makes of its ledger's database, the ERP and the
// platform, counted from arm on. The name of a call is a method of the ERP or of the platform, as
// "Read"; a method of the ledger before all that it does, as "Record"; or that method and what it
// asks the database for, as "Record: BEGIN".
type breaker struct {
	mu        gosync.Mutex
	at, calls int
	lost      bool   // of the commits, and of what is no statement: it takes effect, and nobody can tell
	looks     bool   // such a commit is looked for
	named     string // the next call of this method fails
	cut       bool   // every call fails: the machine is dead, or cut off
	hit       string

	around func(call string, do func() error) error // makes each call; nil: nothing stands between
}

func (b *breaker) arm(at int, lost bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at, b.calls, b.lost, b.looks, b.named, b.hit = at, 0, lost, false, "", ""
}

// armNamed lets the next call of a method fail; that of none for "".
func (b *breaker) armNamed(method string) {
	b.arm(0, false)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.named = method
}

// cutOff lets every call fail from now on, or none any more.
func (b *breaker) cutOff(cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut = cut
}

// disarm returns the call that failed since arm; "" = none.
func (b *breaker) disarm() string {
	hit := b.hit
	b.arm(0, false)
	return hit
}

// failing lets every call of a method fail.
func (b *breaker) failing(method string, err error) {
	b.set(func(call string, do func() error) error {
		if of, _, _ := strings.Cut(call, ": "); of == method {
			return err
		}
		return do()
	})
}

// before lets something happen before each call of a name; its error is that of the call, which is
// not made.
func (b *breaker) before(name string, f func() error) {
	b.set(func(call string, do func() error) error {
		if call == name {
			if err := f(); err != nil {
				return err
			}
		}
		return do()
	})
}

// set lets a function of the test make each call, and mend none.
func (b *breaker) set(around func(call string, do func() error) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.around = around
}

func (b *breaker) mend() { b.set(nil) }

// Call makes a call of the ledger's database, or lets it fail.
func (b *breaker) Call(statement string, do func() error) error {
	if statement == sickdb.End {
		return do()
	}
	b.mu.Lock()
	idle := b.at == 0 && !b.cut && b.named == "" && b.around == nil
	b.mu.Unlock()
	if idle {
		return do()
	}
	return b.call(asking()+": "+statement, do)
}

// Row leaves answers as they are.
func (b *breaker) Row(string, []string, []driver.Value) {}

// asking is the method of the ledger that asks its database now.
func asking() (method string) {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if _, of, ok := strings.Cut(frame.Function, "/safrasync/state"); ok && strings.HasPrefix(of, ".") {
			method = of // the last is the outermost
		}
	}
	_, method, _ = strings.Cut(method, ").")
	method, _, _ = strings.Cut(method, ".")
	return method
}

func (b *breaker) call(call string, do func() error) error {
	b.mu.Lock()
	method, statement, _ := strings.Cut(call, ": ")
	counts := !b.lost || statement == sickdb.Commit || statement == ""
	if counts {
		b.calls++
	}
	now := b.hit == "" && (counts && b.calls == b.at || method == b.named && method != "")
	if now {
		b.hit = call
	}
	lost := now && b.lost
	b.looks = b.looks || lost && statement != ""
	around, fails := b.around, now || b.cut || b.looks && strings.HasPrefix(statement, "SELECT id FROM tx_mark")
	b.mu.Unlock()
	switch {
	case lost && statement == "":
		return errors.Join(errBroken, trade.ErrUncertain, do())
	case lost:
		return errors.Join(errBroken, do())
	case fails:
		return errBroken
	case around != nil:
		return around(call, do)
	}
	return do()
}

func through[T any](b *breaker, call string, f func() (T, error)) (out T, err error) {
	err = b.call(call, func() (err error) {
		out, err = f()
		return err
	})
	return out, err
}

// brokenLedger has the calls of the ledger at which something may happen before it asks its
// database, or that ask none.
type brokenLedger struct {
	Ledger
	b *breaker
}

func (l brokenLedger) Commit(ctx context.Context, lease trade.Lease, group trade.Group) (trade.GroupResult, error) {
	call := "Commit of results"
	switch {
	case len(group.Intents) > 0:
		call = "Commit of intents of " + lease.Job
	case len(group.Settle) == 0:
		call = "Commit of moves"
	}
	return through(l.b, call, func() (trade.GroupResult, error) { return l.Ledger.Commit(ctx, lease, group) })
}

func (l brokenLedger) Record(ctx context.Context, lease trade.Lease, page trade.Page) (int, error) {
	return through(l.b, "Record", func() (int, error) { return l.Ledger.Record(ctx, lease, page) })
}

func (l brokenLedger) Cursor(ctx context.Context, job string) (trade.Cursor, error) {
	return through(l.b, "Cursor", func() (trade.Cursor, error) { return l.Ledger.Cursor(ctx, job) })
}

// brokenSource has every method of the ERP.
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

func (s brokenSource) BeforeCutOver(ctx context.Context, q erp.Query, keys [][]string) ([]erp.Row, error) {
	return through(s.b, "BeforeCutOver", func() ([]erp.Row, error) { return s.s.BeforeCutOver(ctx, q, keys) })
}

func (s brokenSource) Table(ctx context.Context, sql string, columns []string, fn func([]erp.Value) error) error {
	return s.b.call("Table", func() error { return s.s.Table(ctx, sql, columns, fn) })
}

// submission makes a POST.
type submission func(context.Context) (apiclient.Answer, error)

// platform is the client of a bench, whose POSTs may go through a function of the test, which makes
// them, or answers; a POST that fails does so before its first byte.
type platform struct {
	run.Platform
	b *bench
}

func (p platform) post(ctx context.Context, call string, gate func() error,
	post func(ctx context.Context, gate func() error) (apiclient.Answer, error),
) (apiclient.Answer, error) {
	submit := func(ctx context.Context) (apiclient.Answer, error) {
		return post(ctx, func() error { return p.b.breaker.call(call, gate) })
	}
	if p.b.posting != nil {
		return p.b.posting(ctx, submit)
	}
	return submit(ctx)
}

func (p platform) Submit(ctx context.Context, kind trade.Kind, target string, body []byte,
	gate func() error,
) (apiclient.Answer, error) {
	return p.post(ctx, "Submit", gate,
		func(ctx context.Context, gate func() error) (apiclient.Answer, error) {
			return p.Platform.Submit(ctx, kind, target, body, gate)
		})
}

func (p platform) Probe(ctx context.Context) error {
	_, err := through(p.b.breaker, "Probe", func() (any, error) { return nil, p.Platform.Probe(ctx) })
	return err
}

func (p platform) GetProducerByDocument(ctx context.Context, document string) (apiclient.Producer, error) {
	return through(p.b.breaker, "GetProducerByDocument",
		func() (apiclient.Producer, error) { return p.Platform.GetProducerByDocument(ctx, document) })
}

// beforePosts lets something happen before each request is made.
func (b *bench) beforePosts(f func()) {
	b.posting = func(ctx context.Context, submit submission) (apiclient.Answer, error) {
		f()
		return submit(ctx)
	}
}
