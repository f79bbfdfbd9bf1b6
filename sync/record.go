package sync

import (
	"context"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/trade"
)

// record stores a page of discovery; a page without content costs nothing.
func (r *jobRun) record(ctx context.Context, page trade.Page) error {
	r.Observe(Progress{Job: r.job.Name(), Phase: Reading, Read: r.report.Read})
	if empty(page) {
		return nil
	}
	w, err := r.beginRecord(ctx, page)
	if err != nil {
		return err
	}
	return w.wait()
}

func empty(page trade.Page) bool {
	return len(page.New)+len(page.Updates) == 0 && page.Cursor == nil
}

// recording is a page on its way to the ledger.
type recording struct {
	run  *jobRun
	keys map[string]bool // of its rows, where others are read meanwhile
	done chan struct{}
	lost int
	err  error
}

// beginRecord stores a page beside what the run does next. Whoever begins it waits for it.
func (r *jobRun) beginRecord(ctx context.Context, page trade.Page) (*recording, error) {
	r.recorded = r.recorded || len(page.New)+len(page.Updates) > 0
	if err := failpoint.Hit("page.read"); err != nil {
		return nil, err
	}
	w := &recording{run: r, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.lost, w.err = r.ledger.Record(ctx, r.lease, page)
	}()
	return w, nil
}

// wait gives what became of the page. A recording that never began is done.
func (w *recording) wait() error {
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
		w.run.log.Info("rows moved while they were recorded; the next run sees them again", zap.Int("rows", w.lost))
	}
	return nil
}

// has tells whether one of these rows is in the page.
func (w *recording) has(rows []readRow) bool {
	for _, row := range rows {
		if w != nil && w.keys[row.key] {
			return true
		}
	}
	return false
}
