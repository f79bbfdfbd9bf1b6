// What a run stores about a release and about the canary.

package sync

import (
	"context"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// remember stores, at the end of a run, what is left of a person's release, and the state of the
// canary (the first rows of a mapping). If that fails, or the process dies, nothing is left of the
// release, and a person is asked once more.
func (r *jobPass) remember(ctx context.Context) {
	if r.brakes.Trial == nil && (r.brakes.Released == nil || r.run.Report.Stopped == nil) {
		return
	}
	cursor, err := r.run.Ledger.Cursor(ctx, r.run.Job.Name())
	if err == nil {
		if r.brakes.Trial != nil {
			cursor.Brakes.Canary = r.brakes.Trial
		}
		if r.brakes.Released != nil && r.run.Report.Stopped != nil {
			left := *r.brakes.Released
			if r.send != nil {
				left = left.Less(r.send.Load.Went)
			}
			if left.Rows > 0 {
				cursor.Brakes.Released = &left
			}
		}
		err = r.run.Record(ctx, trade.Page{Cursor: &cursor})
	}
	if err != nil {
		r.run.Log.Warn("what the brakes remember was not stored; a person is asked once more", zap.Error(err))
	}
}
