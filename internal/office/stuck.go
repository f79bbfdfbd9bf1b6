package office

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// Stuck is what blocks rows at one moment.
type Stuck struct {
	At     time.Time
	Causes []Cause
	Moving int // rows that wait for a contract in flight

	Reading int // number of rows being read; the rest is not known yet. 0: all is known
}

// Cause is one cause that blocks rows, with the advice.
type Cause struct {
	pending.Group
	Advice trade.Advice
	More   int              // codes beyond those in Subjects
	Owner  trade.CauseOwner // who takes care of it; the zero value if nobody does
	Quiet  bool             // until a day, or until it grows; never what may be on the platform already
}

// Retry returns the number of rows that may be retried at once.
func (c Cause) Retry() int {
	n := 0
	for _, p := range c.Own {
		n += p.Retry
	}
	return n
}

// How old a view of the stuck rows may be. Up to stuckFew stuck rows are read for each page. More
// may take seconds: when a view is older than stuckHolds, a new read begins, for which a page waits
// only for stuckPatience. Then it shows the old view and of when that is or, if it is older than
// stuckOld, that the rows are being read.
const (
	stuckHolds    = 5 * time.Second
	stuckOld      = time.Minute
	stuckPatience = 40 * time.Millisecond
	stuckFew      = 2000
)

// look returns a view of the stuck rows. It may be some seconds old, unless fresh is set. If it
// returns neither a view nor an error, the first read has not ended yet.
func (o *Office) look(ctx context.Context, fresh bool) (*pending.View, error) {
	if !fresh {
		n, err := o.rowsIn(ctx, trade.Stuck...)
		if err != nil {
			return nil, err
		}
		fresh = n <= o.waitFor // so few are read in almost no time
	}
	if fresh {
		return o.lookAt(ctx)
	}
	o.mu.Lock()
	view := o.view
	age := 2 * stuckOld
	if view != nil {
		age = o.now().Sub(view.At).Abs()
	}
	if age < stuckHolds {
		o.mu.Unlock()
		return view, nil
	}
	if o.causeScan == nil {
		o.causeScan = begin(o, notLooked, o.lookAt, func(w *work[*pending.View]) {
			o.causeScan = nil
			if w.err != nil {
				o.failed = w.err
			}
		})
	}
	begun, failed := o.causeScan, o.failed
	o.mu.Unlock()
	if age > stuckOld {
		view = nil
	}
	if begun == nil { // the generation is ending
		return o.lookAt(ctx)
	}
	over, err := begun.wait(ctx, o.patience)
	switch {
	case err != nil:
		return nil, err
	case !over:
		return view, failed // after a failure a page shows the error, not for ever that rows are being read
	case begun.err != nil && o.ending.Err() != nil: // the generation ended the read; the page still gets an answer
		return o.lookAt(ctx)
	}
	return begun.answer, begun.err
}

const notLooked = "the console could not look at what is stuck"

// rowsIn returns the number of rows in some states, of all if none is named, from the sums.
func (o *Office) rowsIn(ctx context.Context, states ...trade.State) (n int, err error) {
	for _, job := range o.jobs {
		tallies, err := o.store.Counts(ctx, job.Name())
		if err != nil {
			return 0, err
		}
		n += trade.RowsIn(tallies, states...)
	}
	return n, nil
}

// Needing returns how many rows need somebody: those that have a cause themselves which keeps them, and
// do not only wait for other rows. It is what the groups of [Office.Stuck] have, without reading the rows.
// doubts are those about which a person decides, also of jobs that are configured no more.
func (o *Office) Needing(ctx context.Context) (rows, doubts int, err error) {
	known, err := o.store.Jobs(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, name := range known {
		states, err := o.store.StuckStates(ctx, name)
		if err != nil {
			return 0, 0, err
		}
		for state, causes := range states {
			for cause, n := range causes {
				if cause != trade.CauseParent && o.jobNamed(name) != nil {
					rows += n
				}
				if slices.Contains(trade.Undecided, state) {
					doubts += n
				}
			}
		}
	}
	return rows, doubts, nil
}

func (o *Office) lookAt(ctx context.Context) (*pending.View, error) {
	view, err := o.blocked.Update(ctx)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.view, o.failed = view, nil
	return view, nil
}

// Stuck returns the stuck rows, grouped by cause.
func (o *Office) Stuck(ctx context.Context, lang trade.Lang, fresh bool) (Stuck, error) {
	view, err := o.look(ctx, fresh)
	if err != nil {
		return Stuck{}, err
	}
	if view == nil {
		n, err := o.rowsIn(ctx, trade.Stuck...)
		return Stuck{Reading: n}, err
	}
	out := Stuck{At: view.At, Moving: view.Moving}
	owners, err := o.store.CauseOwners(ctx)
	if err != nil {
		return Stuck{}, err
	}
	for _, g := range view.Groups {
		c := Cause{Group: *g, Advice: g.Advice(lang), More: g.Codes - len(g.Subjects)}
		if g.Key == string(trade.InDoubt) { // regardless of its last answer
			c.Advice = trade.Explain(trade.InDoubt, "", lang)
		}
		c.Owner = owners[OwnerKey(g.Key)]
		c.Quiet = c.State != trade.InDoubt && c.State != trade.Held && c.Owner.Quiet(o.now(), rowsOf(g))
		out.Causes = append(out.Causes, c)
	}
	return out, nil
}

// Shortages returns the codes of the de-para without an id, and the rows that each keeps from going, as
// [Office.Stuck] counts them. The codes of a kind are followed by its total, which counts each row once.
func (o *Office) Shortages(ctx context.Context) ([]trade.Shortage, error) {
	view, err := o.lookAt(ctx)
	if err != nil {
		return nil, err
	}
	return view.Short, nil
}

// Missing returns the first codes of a table that have no id, those that block most rows first, with the names that
// the ERP's rows give them.
func (o *Office) Missing(ctx context.Context, kind string, most int) (out []trade.Shortage, names []string, err error) {
	all, err := o.Shortages(ctx)
	for _, s := range all {
		if s.Kind == kind && s.Code != "" && len(out) < most {
			out = append(out, s)
		}
	}
	samples := trade.Map(out, func(s trade.Shortage) []int64 { return s.Sample })
	rows, readErr := o.Entries(ctx, slices.Concat(samples...))
	return out, trade.Map(trade.NamesOf(rows, samples), trade.Shown.Labelled), errors.Join(err, readErr)
}

// Renumbered returns the row that is, or may be, the same document under another key.
func (o *Office) Renumbered(ctx context.Context, entry trade.Entry) (out trade.Entry, err error) {
	if id := cmp.Or(entry.MovedID, entry.RemoteID); id != "" {
		at, err := o.store.Holder(ctx, entry.Sends, id, entry.ID)
		if err != nil {
			return out, err
		}
		if at != (trade.ParentKey{}) {
			return o.store.Entry(ctx, at.Job, at.Key)
		}
	}
	if !entry.Flags.Has(trade.MissingInERP) && !entry.Flags.Has(trade.Replaced) {
		return out, nil
	}
	held, err := acts.HeldFor(ctx, o.store.Rows)
	return held[trade.ParentKey{Job: entry.Job, Key: entry.Key}], err
}

// AdviseStop returns why a job is stopped, and what to do, for people with a browser. What a brake found
// includes its numbers. It is nil for no stop.
func (o *Office) AdviseStop(stop *trade.Stop, lang trade.Lang) *trade.Advice {
	if stop == nil {
		return nil
	}
	v := o.Voice(lang)
	advice := trade.ExplainStop(stop.Code, lang)
	if stop.Brake != nil {
		said := stop.Sentence()
		if stop.Code == "brake_new_rows" {
			said = trade.Say("brake.plain", "rows", stop.Brake.Rows, "limit", stop.Brake.Limit)
		}
		advice.What = i18n.InBrowser(lang, v.Say(said))
	}
	return &advice
}
