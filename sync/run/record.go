// Pages of a reading, stored while the next page is read.

package run

import (
	"context"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/trade"
)

// Record stores a page of discovery and waits for it; an empty page costs nothing.
func (r *Run) Record(ctx context.Context, page trade.Page) error {
	r.Observe(Progress{Job: r.Job.Name(), Phase: Reading, Read: r.Report.Read})
	if Empty(page) {
		return nil
	}
	w, err := r.BeginRecord(ctx, page)
	if err != nil {
		return err
	}
	return w.Wait()
}

// Empty reports whether a page has nothing to store.
func Empty(page trade.Page) bool {
	return len(page.New)+len(page.Updates) == 0 && page.Cursor == nil
}

// Recording is a page that is being stored.
type Recording struct {
	run  *Run
	Keys map[string]bool // keys of its rows, if other rows are read meanwhile
	done chan struct{}
	lost int
	err  error
}

// BeginRecord stores a page in the background. The caller must call Wait.
func (r *Run) BeginRecord(ctx context.Context, page trade.Page) (*Recording, error) {
	if err := failpoint.Hit("page.read"); err != nil {
		return nil, err
	}
	w := &Recording{run: r, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.lost, w.err = r.Ledger.Record(ctx, r.Lease, page)
	}()
	return w, nil
}

// Wait waits until the page is stored and returns its error. On a nil Recording it returns nil.
func (w *Recording) Wait() error {
	if w == nil {
		return nil
	}
	<-w.done
	if w.err != nil {
		return w.err
	}
	if err := failpoint.Hit("page.stored"); err != nil {
		return err
	}
	if w.lost > 0 {
		w.run.Log.Info("rows moved while they were recorded; the next run sees them again", zap.Int("rows", w.lost))
	}
	return nil
}

// Has reports whether the page has a row with this key.
func (w *Recording) Has(key string) bool { return w != nil && w.Keys[key] }

// PageSize is how many rows discovery records in one transaction: few enough to hold in memory,
// many enough that the cost of the flush per row is negligible.
const PageSize = 500

// InPages collects what each passes on, and calls do for every most of them, and for the rest. The
// page is valid during the call.
func InPages[T any](most int, each func(add func(T) error) error, do func(page []T) error) error {
	var page []T
	err := each(func(one T) error {
		page = append(page, one)
		if len(page) < most {
			return nil
		}
		err := do(page)
		page = page[:0]
		return err
	})
	if err != nil {
		return err
	}
	return do(page)
}
