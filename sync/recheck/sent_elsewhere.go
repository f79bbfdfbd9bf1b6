// Keys that another job has sent.

package recheck

import (
	"context"
	"fmt"

	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// holdSentElsewhere holds the rows whose key another job of the same kind has sent, or may have. A
// row is identified by its kind of record and its key, whatever the job is called, so that renamed,
// split or overlapping jobs send it once. The ledger checks again when the intents are stored, for
// what happens in between.
func (r *Checker) holdSentElsewhere(ctx context.Context, out *Rechecked) error {
	if r.Alone || len(out.Ready) == 0 {
		return nil
	}
	taken, err := r.SentElsewhere(ctx, out.Ready)
	if err != nil || len(taken) == 0 {
		return err
	}
	ready := out.Ready[:0]
	for _, entry := range out.Ready {
		other, there := taken[entry.Key]
		if !there || entry.Ordered() {
			ready = append(ready, entry)
			continue
		}
		from := entry
		HoldOtherJob(&entry, other)
		entry.UpdatedAt = r.run.Env.Clock.Now()
		out.hold(from, entry)
	}
	out.Ready = ready
	return nil
}

// SentElsewhere returns, by key, the rows of other jobs that were sent, or may have been.
func (r *Checker) SentElsewhere(ctx context.Context, entries []trade.Entry) (map[string]trade.Elsewhere, error) {
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
	}
	taken, several, err := r.run.Ledger.SentElsewhere(ctx, r.run.Job.Name(), r.run.Job.Spec.Sends, keys)
	r.Alone = err == nil && !several
	return taken, err
}

// HoldOtherJob holds an entry whose key another job has sent.
func HoldOtherJob(entry *trade.Entry, o trade.Elsewhere) {
	id := ""
	if o.RemoteID != "" {
		id = " with the id " + o.RemoteID
	}
	run.Hold(entry, trade.CauseOtherJob,
		fmt.Sprintf("job %s has this key %s already: it is %s there%s, and one row must not go twice", o.Job, o.Key,
			o.State, id), &trade.Counterpart{Job: o.Job, Key: o.Key, RemoteID: o.RemoteID})
}
