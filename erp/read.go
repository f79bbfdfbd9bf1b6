package erp

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// plan is a query that has been described, with its key and changed_at columns resolved.
type plan struct {
	st      sqltext.Statement
	cols    []Column
	index   *columnIndex
	items   []dialect.Item // one for each column, then the raw changed_at
	key     []int
	keyCols []Column
	changed int // -1: none
}

func (s *Source) plan(ctx context.Context, tx dialect.Tx, q Query) (plan, error) {
	if len(q.Key) == 0 {
		return plan{}, fault.Failf(CodeConfig, "no key is configured; name the columns that identify a row")
	}
	st, bad := sqltext.Parse(q.SQL, s.engine.Syntax)
	if bad != nil {
		return plan{}, bad
	}
	cols, err := s.describe(ctx, tx, st)
	if err != nil {
		return plan{}, err
	}
	if len(q.Columns) > 0 {
		cols = slices.DeleteFunc(cols, func(c Column) bool {
			return !slices.ContainsFunc(slices.Concat(q.Columns, q.Key, []string{q.ChangedAt}),
				func(name string) bool { return strings.EqualFold(name, c.Name) })
		})
	}
	p := plan{st: st, cols: cols, index: newColumnIndex(namesOf(cols)), changed: -1}
	p.key, bad = resolve(cols, "key", q.Key)
	if bad != nil {
		return plan{}, bad
	}
	isKey := make(map[int]bool, len(p.key))
	for _, i := range p.key {
		isKey[i] = true
		p.keyCols = append(p.keyCols, cols[i])
	}
	for i, c := range cols {
		use := dialect.ForMapping
		if isKey[i] {
			use = dialect.ForKey
		}
		p.items = append(p.items, s.dialect.Item(c, use))
	}
	if q.ChangedAt != "" {
		at, bad := resolve(cols, "changed_at", []string{q.ChangedAt})
		if bad != nil {
			return plan{}, bad
		}
		if bad := s.engine.ChangedAt.Check(cols[at[0]]); bad != nil {
			return plan{}, bad
		}
		p.changed = at[0]
	}
	return p, nil
}

func (p plan) row(values []Value) Row {
	return Row{columns: p.index, Values: values[:len(p.cols):len(p.cols)]}
}

// Read passes every row of the query, or of the window, to fn, all from one read-only snapshot. fn
// may be slow: it costs the ERP nothing but an open snapshot, and no time-out includes its time. An
// error of fn ends the read and is returned unchanged. After any error the result is empty and
// nothing may be concluded from the rows seen: they exist, but may not be all.
//
// Memory does not grow with the table. To pass no row twice if the database fails in the middle and
// the rest is read key by key, 8 bytes of each row go to a temporary file.
func (s *Source) Read(ctx context.Context, q Query, w Window, fn func(Row) error) (Result, error) {
	r := reader{source: s, window: w, fn: fn, seed: maphash.MakeSeed()}
	defer r.passed.close()
	err := s.inTx(ctx, func(clk dialect.Clock, tx dialect.Tx) error {
		var err error
		r.plan, err = s.plan(ctx, tx, q)
		if err != nil {
			return err
		}
		r.result.ServerTime = clk.Now
		items := r.plan.items
		if r.plan.changed >= 0 {
			r.tracker.col = r.plan.cols[r.plan.changed]
			items = append(items[:len(items):len(items)], s.dialect.Item(r.tracker.col, dialect.ForBound))
		}
		r.setReach(clk)
		if err := r.rows(ctx, tx, items); err != nil {
			return err
		}
		if r.plan.changed >= 0 {
			since := r.window.Since
			if r.window.Whole { // the bound that was saved before does not matter
				since = ""
			}
			r.result.Bound, r.result.FutureBound = r.tracker.bound(since, clk)
		}
		return nil
	})
	if err != nil {
		return Result{}, forJob(q.Job, err)
	}
	return r.result, nil
}

type reader struct {
	source  *Source
	plan    plan
	window  Window
	fn      func(Row) error
	tracker boundTracker
	reach   reach
	result  Result
	seed    maphash.Seed
	// passed has the rows passed to fn, if salvage may follow (keep).
	passed passedRows
	keep   bool
}

// condition returns the condition of the window; "" reads everything.
func (r *reader) condition(b *dialect.Binder) (string, *Error) {
	if r.plan.changed < 0 || r.window.Since == "" || r.window.Whole {
		return "", nil
	}
	return r.source.dialect.Window(b, r.tracker.col, r.window)
}

// rows reads all rows: with the whole query or, if a row makes the database fail, key by key.
func (r *reader) rows(ctx context.Context, tx dialect.Tx, items []dialect.Item) error {
	b := dialect.NewBinder(r.source.engine.Syntax)
	cond, bad := r.condition(b)
	if bad != nil {
		return bad
	}
	stream := func() error {
		return tx.Stream(ctx, r.plan.st.Wrap(dialect.SelectList(items), cond), b.Args, items, r.deliver)
	}
	s, ok := tx.(dialect.Salvager)
	if !ok {
		return stream()
	}
	r.keep = true
	err := s.Attempt(ctx, "safrasync_read", stream)
	if err == nil || ctx.Err() != nil || !s.RowError(err) {
		return err
	}
	r.result.Degraded = true
	return r.salvage(ctx, tx, s, items)
}

// deliver passes one row to the caller, and updates bound and counts.
func (r *reader) deliver(values []Value) error {
	row := r.plan.row(values)
	if r.plan.changed >= 0 {
		raw := &values[len(r.plan.cols)]
		if raw.Kind == Number { // in a SQLite file; a bound can be compared only with text
			return fault.Failf(CodeConfig,
				"changed_at column %s holds numbers; turn them into text in the query, e.g. datetime(%s, 'unixepoch')",
				r.tracker.col.Name, r.tracker.col.Name)
		}
		// a row without a time of change is in every window, and never late
		if changed, ok := r.tracker.observe(raw); ok && r.reach.asked && changed.Before(r.reach.from) {
			row.Late = max(r.reach.now.Sub(changed), 1)
		}
	}
	if r.keep {
		r.passed.add(r.hash(values))
	}
	// it cannot be found by its key
	if slices.ContainsFunc(r.plan.key, func(i int) bool { return !values[i].Usable() }) {
		r.result.Unreadable++
	}
	r.result.Rows++
	return r.fn(row)
}

// hash returns a hash of kind and content of each value, to distinguish rows.
func (r *reader) hash(values []Value) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	for _, v := range values {
		_, _ = h.WriteString(v.Text) // none of these fails
		_, _ = h.Write([]byte{0, byte(v.Kind)})
		_, _ = h.WriteString(string(v.Err))
	}
	return h.Sum64()
}

// Query is a job's query with the columns that have a role.
type Query struct {
	// SQL is any single query: joins, unions, CTEs, a trailing semicolon.
	SQL string
	// Key names the columns that identify a row.
	Key []string
	// ChangedAt names the column of the last change; "" if there is none.
	ChangedAt string
	// Columns names those that are read; none: all. What nothing uses may be megabytes long.
	Columns []string
	// Job is used in messages only.
	Job string
}

// Result describes a complete read. After an error it is empty.
type Result struct {
	// Rows counts the rows passed to the caller.
	Rows int
	// Unreadable counts those of them with a NULL or unreadable key part.
	Unreadable int
	// Bound must be saved and passed as Window.Since next time. It is the newest change in this
	// snapshot, but never after the database's now() nor after the start of the oldest visible open
	// transaction, and never below Window.Since. It is "" if there is no ChangedAt or nothing was
	// ever read.
	Bound string
	// FutureBound reports that some row has a time of change in the future. The bound was limited,
	// and the caller should warn.
	FutureBound bool
	// Degraded reports that the database failed the query as a whole, and the rows were read key by
	// key; the values that caused it carry Err. Such a read proves presence, not absence: it is not
	// a complete sweep.
	Degraded bool
	// ServerTime is the database's clock when the read began.
	ServerTime time.Time
}

// boundTracker finds the newest change among the rows of a read.
type boundTracker struct {
	col    Column
	newest dialect.Moment
	text   string
	seen   bool
	odd    bool // infinity, or a year outside our calendar
}

// observe processes the stored text of a row's changed_at, and returns its time, if it has one.
func (t *boundTracker) observe(raw *Value) (time.Time, bool) {
	if raw.Kind == Null || raw.Err != "" {
		return time.Time{}, false
	}
	m, ok := dialect.ParseMoment(raw.Text)
	if !ok {
		if raw.Text == "infinity" || dialect.FarFuture(raw.Text) {
			t.odd = true
		}
		return time.Time{}, false
	}
	if !t.seen || m.At.After(t.newest.At) {
		t.newest, t.text, t.seen = m, raw.Text, true
	}
	return m.At, true
}

// bound applies the limits. Result.Bound describes the rule.
func (t *boundTracker) bound(since string, c dialect.Clock) (text string, future bool) {
	future = t.odd
	if !t.seen {
		return since, future
	}
	text, at := t.text, t.newest.At
	for _, l := range c.Limits(t.col, t.newest) {
		if !l.WarnAfter.IsZero() && t.newest.At.After(l.WarnAfter) {
			future = true
		}
		if at.After(l.At) {
			text, at = l.Text, l.At
		}
	}
	if old, ok := dialect.ParseMoment(since); ok && !at.After(old.At) {
		return since, future
	}
	return text, future
}

// reach is the start of a window, for a read that determines which rows the window would have left
// out.
type reach struct {
	from  time.Time // in the form of the column's values: without a zone if they have none
	now   time.Time // the database's clock, in the same form
	asked bool
}

// setReach determines the start of the window. If it is not certain, it takes an earlier time, so
// that no row is called late that a window would have returned.
func (r *reader) setReach(clk dialect.Clock) {
	since, ok := dialect.ParseMoment(r.window.Since)
	if !r.window.Whole || r.plan.changed < 0 || !ok {
		return
	}
	lookback := max(r.window.Lookback, 0)
	if since.Sep == "" || r.tracker.col.Type == "date" {
		lookback = max(lookback, 48*time.Hour)
		lookback += 24 * time.Hour // whole days
	}
	if since.Zoned && r.source.engine.ChangedAt.AsText {
		lookback += 26 * time.Hour
	}
	r.reach = reach{from: since.At.Add(-lookback), now: clk.Now, asked: true}
	for _, l := range clk.Limits(r.tracker.col, since) {
		if !l.WarnAfter.IsZero() { // now(), in the column's type
			r.reach.now = l.At
		}
	}
}
