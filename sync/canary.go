package sync

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// canary lets only a few rows go under a query or a mapping that nobody has confirmed (`canary:`): they are looked at on the platform, then a release lets the
// rest go. The rows are counted as gone before they go, so that a process which dies sends no more of them.
func (r *jobRun) canary(memory *trade.Memory) error {
	mapping := r.job.fingerprint()
	if r.job.Spec.Canary == 0 {
		memory.Mapping, memory.Canary = mapping, nil
		return nil
	}
	if memory.Mapping == mapping {
		memory.Canary = nil
		return nil
	}
	went := trade.Canary{Mapping: mapping}
	if c := memory.Canary; c != nil && c.Mapping == mapping {
		went = *c
	}
	if r.trial = &went; r.trialLeft() == 0 {
		return r.unconfirmed()
	}
	memory.Canary = &trade.Canary{Mapping: mapping, Rows: r.job.Spec.Canary, Samples: went.Samples}
	return nil
}

// trialLeft is how many rows may still go under a mapping that nobody has confirmed; -1 = all.
func (r *jobRun) trialLeft() int {
	if r.trial == nil {
		return -1
	}
	return max(0, r.job.Spec.Canary-r.trial.Rows)
}

// tried counts a row that goes under a mapping that nobody has confirmed.
func (r *jobRun) tried(key string) {
	if r.trial == nil {
		return
	}
	if r.trial.Rows++; len(r.trial.Samples) < brakeSamples {
		r.trial.Samples = append(slices.Clone(r.trial.Samples), key)
	}
}

// untried takes that back: the row certainly did not go, and nobody can look at it on the platform.
func (r *jobRun) untried(key string) {
	if r.trial == nil {
		return
	}
	r.trial.Rows = max(0, r.trial.Rows-1)
	if i := slices.Index(r.trial.Samples, key); i >= 0 {
		r.trial.Samples = slices.Delete(slices.Clone(r.trial.Samples), i, i+1)
	}
}

// unconfirmed is the brake of a mapping of which the first rows have gone.
func (r *jobRun) unconfirmed() error {
	b := trade.Brake{Job: r.job.Name(), Rows: r.trial.Rows, Samples: r.trial.Samples, Mapping: r.trial.Mapping}
	return &stopError{trade.Stop{Code: string(stopCanary), Brake: &b, Text: fmt.Sprintf(
		"query or mapping changed, and the first %d rows went with it, such as %s; nothing more of this job leaves. Look at them on the platform, and correct the configuration if they are wrong; then `safrasync release %s --reason TEXT` lets the others go",
		b.Rows, strings.Join(b.Samples, ", "), b.Job)}}
}

// remember stores what went of what a person had released, and of the first rows of a mapping, when a run is over. Where that fails, or the process dies, nothing
// is left of the release, and a person is asked once more.
func (r *jobRun) remember(ctx context.Context) {
	if r.dry != nil || r.trial == nil && (r.released == nil || r.report.Stopped == nil) {
		return
	}
	cursor, err := r.ledger.Cursor(ctx, r.job.Name())
	if err == nil {
		if r.trial != nil {
			cursor.Brakes.Canary = r.trial
		}
		if r.released != nil && r.report.Stopped != nil {
			left := *r.released
			if r.send != nil {
				left = left.Less(r.send.went)
			}
			if left.Rows > 0 {
				cursor.Brakes.Released = &left
			}
		}
		err = r.record(ctx, trade.Page{Cursor: &cursor})
	}
	if err != nil {
		r.log.Warn("what the brakes remember was not stored; a person is asked once more", zap.Error(err))
	}
}
