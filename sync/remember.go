// What a run stores about a release and about the canary.

package sync

import (
	"context"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// remember stores, at the end of a run that stopped or only recorded, what is left of a person's
// release, and at the end of each the state of the canary (the first rows of a mapping). If that
// fails, or the process dies, nothing is left of the release, and a person is asked once more.
func (r *jobPass) remember(ctx context.Context) {
	left := r.brakes.Released != nil && (r.run.Report.Stopped != nil || r.send == nil)
	if r.brakes.Trial == nil && !left {
		return
	}
	cursor, err := r.run.Ledger.Cursor(ctx, r.run.Job.Name())
	if err == nil {
		if r.brakes.Trial != nil {
			cursor.Brakes.Canary = r.brakes.Trial
		}
		if left {
			rest := *r.brakes.Released
			if r.send != nil {
				rest = rest.Less(r.send.Load.Went)
			}
			if rest.Rows > 0 {
				cursor.Brakes.Released = &rest
			}
		}
		err = r.run.Record(ctx, trade.Page{Cursor: &cursor})
	}
	if err != nil {
		r.run.Log.Warn("what the brakes remember was not stored; a person is asked once more", zap.Error(err))
	}
}
