package desk

import (
	"cmp"
	"context"
	"errors"
	gosync "sync"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/events"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Desk is what the console shows and does beyond single rows, on the daemon's ledger and engine.
type Desk struct {
	g       *Host
	board   *pending.Board
	reports *reports
	ending  context.Context // ends with the generation; for work in the background
	end     context.CancelFunc

	patience time.Duration // how long a page waits for the rows to be read
	waitFor  int           // up to so many stuck rows a page waits until all are read

	mu       gosync.Mutex
	view     *pending.View
	looking  *looking // the read in progress, which later callers share; nil: none
	failed   error    // error of the last read in the background; nil: none
	begun    bool     // the first read has begun
	ended    bool
	working  gosync.WaitGroup // reads in progress
	indexing gosync.WaitGroup // index
}

// looking is a read of the stuck rows in progress.
type looking struct {
	done chan struct{} // closed when the read has ended
	view *pending.View // the result, once done is closed
	err  error
}

// New returns the desk of a host. What it starts in the background ends when the host's App is
// closed.
func New(g *Host) *Desk {
	d := &Desk{
		g: g, board: &pending.Board{Ledger: g.Store, Jobs: g.Engine.Jobs, Now: office.Now},
		patience: stuckPatience, waitFor: stuckFew, reports: newReports(g),
	}
	d.ending, d.end = context.WithCancel(context.Background())
	d.indexing.Go(d.index)
	g.App.Closers = append(g.App.Closers, func() error { d.close(); return nil })
	return d
}

// indexPause is how long new rows may be missing from the search. indexFailed is the pause after an
// error.
const (
	indexPause  = 3 * time.Second
	indexFailed = time.Minute
)

// index adds rows to the search index as they come, by the columns that people are shown.
func (d *Desk) index() {
	for {
		more, err := d.g.Store.Index(d.ending)
		if d.ending.Err() != nil {
			return
		}
		pause := indexPause
		switch {
		case err != nil:
			d.g.Log.Warn("rows could not be made findable", zap.Error(err))
			pause = indexFailed
		case more:
			continue
		}
		select {
		case <-time.After(pause):
		case <-d.ending.Done():
			return
		}
	}
}

// close ends the work in the background and waits for it.
func (d *Desk) close() {
	d.mu.Lock()
	d.ended = true
	d.mu.Unlock()
	d.end()
	d.working.Wait()
	d.indexing.Wait()
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
func (d *Desk) look(ctx context.Context, fresh bool) (*pending.View, error) {
	if !fresh {
		var err error
		if fresh, err = d.few(ctx); err != nil {
			return nil, err
		}
	}
	if fresh {
		return d.take(ctx)
	}
	d.mu.Lock()
	view := d.view
	age := 2 * stuckOld
	if view != nil {
		age = office.Now().Sub(view.At).Abs()
	}
	if age < stuckHolds {
		d.mu.Unlock()
		return view, nil
	}
	begun, failed := d.begin(), d.failed
	d.mu.Unlock()
	if age > stuckOld {
		view = nil
	}
	if begun == nil { // the generation is ending
		return d.take(ctx)
	}
	late := time.NewTimer(d.patience)
	defer late.Stop()
	select {
	case <-begun.done:
		if begun.err != nil && d.ending.Err() != nil { // the generation ended the read; the page still gets an answer
			return d.take(ctx)
		}
		return begun.view, begun.err
	case <-late.C:
		return view, failed // after a failure a page shows the error, not for ever that rows are being read
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin starts a read unless one is in progress, and returns it; nil if the generation is ending.
// The caller must hold the lock.
func (d *Desk) begin() *looking {
	if d.looking != nil || d.ended {
		return d.looking
	}
	l := &looking{done: make(chan struct{})}
	d.looking = l
	d.working.Go(func() {
		l.view, l.err = d.take(d.ending)
		if l.err != nil && d.ending.Err() == nil {
			d.g.Log.Warn("the console could not look at what is stuck", zap.Error(l.err))
		}
		d.mu.Lock()
		d.looking = nil
		if l.err != nil {
			d.failed = l.err
		}
		d.mu.Unlock()
		close(l.done)
	})
	return l
}

// few reports whether so few rows are stuck that reading them takes almost no time.
func (d *Desk) few(ctx context.Context) (bool, error) {
	n, err := d.stuck(ctx)
	return n <= d.waitFor, err
}

// stuck returns the number of stuck rows, from the stored sums.
func (d *Desk) stuck(ctx context.Context) (n int, err error) {
	for _, job := range d.g.Engine.Jobs {
		tallies, err := d.g.Store.Counts(ctx, job.Name())
		if err != nil {
			return 0, err
		}
		for _, t := range tallies {
			switch t.State {
			case trade.Waiting, trade.Invalid, trade.Rejected, trade.InDoubt, trade.Held:
				n += t.Count
			}
		}
	}
	return n, nil
}

// Expect starts to read every stuck row into the board, which takes seconds for 100,000 rows. The
// next page with the causes then waits only for what has changed since. The view itself is not
// kept, so that this page shows the state at its own time.
func (d *Desk) Expect() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begun || d.ended {
		return
	}
	d.begun = true
	d.working.Go(func() {
		_, err := d.board.Take(d.ending)
		if err != nil && d.ending.Err() == nil {
			d.g.Log.Warn("the console could not look at what is stuck", zap.Error(err))
		}
	})
}

func (d *Desk) take(ctx context.Context) (*pending.View, error) {
	view, err := d.board.Take(ctx)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.view, d.failed = view, nil
	return view, nil
}

func (d *Desk) voice(lang trade.Lang) words.Voice {
	v := d.g.App.Voice()
	v.Lang = lang
	return v
}

// Stuck returns the stuck rows, grouped by cause.
func (d *Desk) Stuck(ctx context.Context, lang trade.Lang, fresh bool) (pages.Stuck, error) {
	view, err := d.look(ctx, fresh)
	if err != nil {
		return pages.Stuck{}, err
	}
	if view == nil {
		n, err := d.stuck(ctx)
		return pages.Stuck{Reading: n}, err
	}
	out := pages.Stuck{At: view.At, Moving: view.Moving}
	v := d.voice(lang)
	for _, g := range view.Groups {
		t := office.Trouble{State: g.State, Cause: g.Cause, Problem: g.Problem, Awaited: g.Awaited}
		c := pages.Cause{Group: *g, Advice: t.Advice(v), More: g.Codes - len(g.Subjects)}
		if g.Key == string(trade.InDoubt) { // regardless of its last answer
			c.Advice = v.Own.Explain(trade.InDoubt, "", lang)
		}
		out.Causes = append(out.Causes, c)
	}
	return out, nil
}

// Doubt returns what is known of a row that may be on the platform.
func (d *Desk) Doubt(ctx context.Context, entry trade.Entry) (pages.Doubt, error) {
	doubt, err := d.acts().Doubt(ctx, entry)
	if err != nil {
		return pages.Doubt{}, err
	}
	out := pages.Doubt{Attempts: doubt.Attempts, Remaining: doubt.Remaining, Look: doubt.Sent}
	for _, a := range doubt.Attempts {
		out.Phase = words.PhaseOf(a.Evidence)
	}
	return out, nil
}

// Counterpart returns what a held row was compared with; nil if nothing is known.
func (d *Desk) Counterpart(ctx context.Context, entry trade.Entry) (*acts.Counterpart, error) {
	return d.acts().Counterpart(ctx, entry)
}

// Renumbered returns the row that is, or may be, the same document under another key.
func (d *Desk) Renumbered(ctx context.Context, entry trade.Entry) (out trade.Entry, err error) {
	if id := cmp.Or(entry.MovedID, entry.RemoteID); id != "" {
		at, err := d.g.Store.Holder(ctx, entry.Sends, id, entry.ID)
		if err != nil {
			return out, err
		}
		if at != (trade.ParentKey{}) {
			return d.g.Store.Entry(ctx, at.Job, at.Key)
		}
	}
	if !entry.Flags.Has(trade.MissingInERP) && !entry.Flags.Has(trade.Replaced) {
		return out, nil
	}
	held := trade.RowFilter{
		States: []trade.State{trade.Held}, Causes: []string{trade.CauseRetyped, trade.CauseOtherJob},
	}
	err = d.g.Store.Rows(ctx, held, func(e trade.Entry) error {
		if e.Error == nil || e.Error.Counterpart == nil ||
			(trade.ParentKey{Job: e.Error.Counterpart.Job, Key: e.Error.Counterpart.Key}) !=
				(trade.ParentKey{Job: entry.Job, Key: entry.Key}) {
			return nil
		}
		out = e
		return run.ErrEnough
	})
	if errors.Is(err, run.ErrEnough) {
		err = nil
	}
	return out, err
}

// Hints returns what is known of a row beyond the answers to its own requests, as `rows show` does.
func (d *Desk) Hints(ctx context.Context, entry trade.Entry, attempts []trade.Attempt) (pages.Hints, error) {
	hints, err := office.Hints(ctx, d.g.App.Config, d.g.Store, entry, attempts)
	if err != nil {
		return pages.Hints{}, err
	}
	out := pages.Hints{
		Heard: hints.Heard, Events: hints.Events, Own: hints.Own, Listening: hints.Listening,
		Doubtful: hints.Doubtful, Readable: entry.Sends == trade.OrderCommitments, Several: hints.Several(),
	}
	if hints.More {
		out.Compared = office.HintsCompared
	}
	for _, s := range hints.Like {
		out.Records = append(out.Records, pages.Suggestion{
			ID: s.Candidate.ID, Event: s.Candidate.Event, At: s.Candidate.HeardAt, Attempt: s.Attempt, Full: s.Full,
			Fits: s.Timing == events.TimeFits,
			Same: s.Reading.Same, Differ: s.Reading.Differ, Unseen: len(s.Reading.Unseen), Fields: s.Reading.Fields,
		})
	}
	for _, c := range hints.Unreadable {
		out.Unreadable = append(out.Unreadable, c.ID)
	}
	return out, nil
}

func (d *Desk) acts() *acts.Acts { return (&work{d.g}).acts() }

// AdviseStop returns why a job is stopped, and what to do. What a brake found includes its numbers.
func (d *Desk) AdviseStop(stop trade.Stop, lang trade.Lang) trade.Advice {
	return adviseStop(d.voice(lang), stop)
}

func adviseStop(v words.Voice, stop trade.Stop) trade.Advice {
	advice := v.Own.Stop(stop.Code, v.Lang)
	if stop.Brake != nil {
		advice.What = v.Brake(stop.Code, *stop.Brake)
	}
	return advice
}
