package office

import (
	"errors"

	"github.com/safrasync/safrasync/internal/config"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
)

// CompileJobs compiles the jobs and returns them in the order in which they run. Faults name their
// line of the configuration.
func CompileJobs(config *config.Config) ([]*mapping.Job, error) {
	var jobs []*mapping.Job
	var errs []error
	for _, spec := range config.JobSpecs() {
		job, err := mapping.Compile(spec, config.Zone())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		jobs = append(jobs, job)
	}
	if len(errs) > 0 {
		return nil, config.Annotate(errors.Join(errs...))
	}
	jobs, err := engine.Order(jobs)
	return jobs, config.Annotate(err)
}
