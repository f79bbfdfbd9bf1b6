// The order of jobs: parents before children.

package sync

import (
	"errors"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/sync/mapping"
)

// Order returns the jobs in the order in which they run: parents (`sent_by`) before their children,
// otherwise as configured. It refuses a job that depends on itself, on an unknown job, or on one
// that sends another kind of record; each fault is a *SpecError.
func Order(jobs []*mapping.Job) ([]*mapping.Job, error) {
	byName := map[string]*mapping.Job{}
	for _, job := range jobs {
		byName[job.Name()] = job
	}
	var out []*mapping.Job
	placed := map[*mapping.Job]bool{}
	var place func(job *mapping.Job, path []string) error
	place = func(job *mapping.Job, path []string) error {
		if placed[job] {
			return nil
		}
		if i := slices.Index(path, job.Name()); i >= 0 {
			circle := strings.Join(append(path[i:], job.Name()), " → ")
			return mapping.SpecFault("jobs."+job.Name(),
				"the jobs hang on each other in a circle (sent_by): %s", circle)
		}
		for _, name := range job.Mapping.SentBy {
			parent := byName[name]
			if parent == nil || parent == job { // reported by checkParents
				continue
			}
			if err := place(parent, append(path, job.Name())); err != nil {
				return err
			}
		}
		placed[job] = true
		out = append(out, job)
		return nil
	}
	for _, job := range jobs {
		if err := place(job, nil); err != nil {
			return nil, err
		}
	}
	var errs []error
	for _, job := range jobs {
		// its parents exist, have keys of as many columns as it names, and send the right kind of record; two
		// with identities of their own must not share their columns
		for _, f := range job.Mapping.Fields {
			path := "jobs." + job.Name() + ".fields." + f.Rule.Field + ".sent_by"
			for i, p := range f.Spec.SentBy {
				parent := byName[p.Job]
				for _, other := range f.Spec.SentBy[:i] {
					if o := byName[other.Job]; o != nil && parent != nil && o.Spec.Identity != parent.Spec.Identity &&
						slices.Equal(other.Columns, p.Columns) {
						errs = append(errs, mapping.SpecFault(path,
							"jobs %s and %s have key spaces of their own (identity), so that %s would name a row of each: "+
								"give each its columns, or make a job for what hangs on each",
							other.Job, p.Job, strings.Join(p.Columns, ", ")))
					}
				}
				switch {
				case parent == nil:
					errs = append(errs, mapping.SpecFault(path, "no job is named %q", p.Job))
				case parent == job:
					errs = append(errs, mapping.SpecFault(path, "the job hangs on itself"))
				case len(p.Columns) != len(parent.Spec.Key):
					errs = append(errs, mapping.SpecFault(path,
						"%s name %d columns, and the key of job %s has %d (%s)", strings.Join(p.Columns, ", "),
						len(p.Columns), p.Job, len(parent.Spec.Key), strings.Join(parent.Spec.Key, ", ")))
				case parent.Spec.Sends != f.Rule.Parent:
					errs = append(errs, mapping.SpecFault(path,
						"%s is the id of %s, and job %s sends %s", f.Rule.Field, f.Rule.Parent, p.Job,
						parent.Spec.Sends))
				}
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}
