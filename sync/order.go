package sync

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Order puts jobs into the order in which they run: parents (`sent_by`) before what hangs on them, otherwise as in the configuration. It refuses a
// job that hangs on itself, on one that does not exist, or on one that sends another kind of record; each fault is a *SpecError.
func Order(jobs []*Job) ([]*Job, error) {
	byName := map[string]*Job{}
	for _, job := range jobs {
		byName[job.Name()] = job
	}
	var out []*Job
	placed := map[*Job]bool{}
	var place func(job *Job, path []string) error
	place = func(job *Job, path []string) error {
		if placed[job] {
			return nil
		}
		if i := slices.Index(path, job.Name()); i >= 0 {
			circle := strings.Join(append(path[i:], job.Name()), " → ")
			return &SpecError{"jobs." + job.Name(), fmt.Sprintf("the jobs hang on each other in a circle (sent_by): %s", circle)}
		}
		for _, name := range job.mapping.sentBy {
			parent := byName[name]
			if parent == nil || parent == job { // told by checkParents
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
		errs = append(errs, job.checkParents(byName))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// checkParents looks whether the jobs that a job hangs on exist, have keys of as many columns, and are not the job itself.
func (j *Job) checkParents(byName map[string]*Job) error {
	var errs []error
	for _, f := range j.mapping.fields {
		path := "jobs." + j.Name() + ".fields." + f.rule.Field + ".sent_by"
		for i, p := range f.spec.SentBy {
			parent := byName[p.Job]
			for _, other := range f.spec.SentBy[:i] {
				if o := byName[other.Job]; o != nil && parent != nil && o.Spec.Identity != parent.Spec.Identity && slices.Equal(other.Columns, p.Columns) {
					errs = append(errs, &SpecError{path, fmt.Sprintf("jobs %s and %s have key spaces of their own (identity), so that %s would name a row of each: "+
						"give each its columns, or make a job for what hangs on each", other.Job, p.Job, strings.Join(p.Columns, ", "))})
				}
			}
			switch {
			case parent == nil:
				errs = append(errs, &SpecError{path, fmt.Sprintf("no job is named %q", p.Job)})
			case parent == j:
				errs = append(errs, &SpecError{path, "the job hangs on itself"})
			case len(p.Columns) != len(parent.Spec.Key):
				errs = append(errs, &SpecError{path, fmt.Sprintf("%s name %d columns, and the key of job %s has %d (%s)",
					strings.Join(p.Columns, ", "), len(p.Columns), p.Job, len(parent.Spec.Key), strings.Join(parent.Spec.Key, ", "))})
			case parent.Spec.Sends != f.rule.Parent:
				errs = append(errs, &SpecError{path, fmt.Sprintf("%s is the id of %s, and job %s sends %s", f.rule.Field, f.rule.Parent, p.Job, parent.Spec.Sends)})
			}
		}
	}
	return errors.Join(errs...)
}
