package sync

import "context"

// runKey is the place of a run in a context.
type runKey struct{}

// RunOf tells in which run of which job a request is made, of the context that the platform's client was given; ok is false outside of a run.
func RunOf(ctx context.Context) (job, run string, ok bool) {
	r, ok := ctx.Value(runKey{}).(*jobRun)
	if !ok {
		return "", "", false
	}
	return r.job.Name(), r.report.ID, true
}

// within marks what is done in a run.
func (r *jobRun) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, runKey{}, r)
}
