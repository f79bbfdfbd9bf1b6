// What a changed configuration does to jobs and keys that the ledger knows.

package dryrun

import (
	"context"
	"errors"
	"slices"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// IdentityFinding is how a configuration changes the identity of jobs or rows.
type IdentityFinding struct {
	Kind IdentityKind `json:"kind"`
	Job  string       `json:"job"`
	// former_job, split_job: the new jobs; changed_space: the jobs that send the same kind;
	// shared_keys: the other job
	Others []string        `json:"others"`
	Known  *trade.KnownJob `json:"known,omitempty"` // of the job, if the ledger has rows of it
	Was    *trade.Identity `json:"was,omitempty"`   // the identity in its last run
	Now    *trade.Identity `json:"now,omitempty"`   // the identity as configured
	// changed_key: the effect on the known rows; null if the ERP was not read
	Change *trade.Brake `json:"change,omitempty"`
	Rows   int          `json:"rows,omitempty"`  // shared_keys: rows that both queries return
	Whole  bool         `json:"whole,omitempty"` // shared_keys: all rows of both were compared
	Sample []string     `json:"samples,omitempty"`
}

// IdentityKind is a kind of finding.
type IdentityKind string

// The kinds.
const (
	// the ledger has sent rows of a job that is not configured
	FormerJob IdentityKind = "former_job"
	// the key or the tables of a job have changed since its last run
	ChangedKey   IdentityKind = "changed_key"
	ChangedSpace IdentityKind = "changed_space" // its `identity:` has changed since its last run
	// the query of a job no longer returns some of what it sent, and another job is new
	SplitJob IdentityKind = "split_job"
	// the queries of two jobs of the same kind return the same rows
	SharedKeys IdentityKind = "shared_keys"
)

// identityMost is the largest number of rows of a job whose keys are compared.
const identityMost = 200_000

// CheckIdentity returns how the jobs of a configuration would change the identity of jobs or rows,
// before they run. If source is nil, the ERP is not read. It stores nothing.
func CheckIdentity(ctx context.Context, ledger run.Readable, source run.Source,
	jobs []*mapping.Job,
) ([]IdentityFinding, error) {
	known, err := ledger.JobsOfLedger(ctx)
	if err != nil {
		return nil, err
	}
	e := &Rehearsal{
		env: &run.Env{Jobs: jobs, Clock: clock.SystemClock{}}, ledger: ledger, source: source,
		log: zap.NewNop(),
	}
	var out []IdentityFinding
	for _, k := range known {
		if k.Accepted+k.InDoubt == 0 {
			continue
		}
		f := IdentityFinding{Kind: FormerJob, Job: k.Job, Known: &k, Others: []string{}}
		if e.env.Configured(k.Job) != nil {
			f.Kind = SplitJob
		}
		for _, j := range jobs {
			if slices.ContainsFunc(known, func(o trade.KnownJob) bool { return o.Job == j.Name() }) {
				continue
			}
			gone, err := e.reader(j).Brakes.MissingFrom(ctx, &k)
			if err != nil {
				return nil, err
			}
			if gone > 0 {
				f.Others = append(f.Others, j.Name())
			}
		}
		if f.Kind == FormerJob || len(f.Others) > 0 {
			out = append(out, f)
		}
	}
	for _, j := range jobs { // whose identity has changed since their last run
		cursor, err := ledger.Cursor(ctx, j.Name())
		if err != nil {
			return nil, err
		}
		was := cursor.Brakes.Identity
		if was == nil || was.Equal(j.Identity) {
			continue
		}
		f := IdentityFinding{Kind: ChangedSpace, Job: j.Name(), Was: was, Now: &j.Identity, Others: []string{}}
		for _, k := range known {
			if k.Job == j.Name() {
				f.Known = &k
			} else if k.Sends == j.Spec.Sends {
				f.Others = append(f.Others, k.Job)
			}
		}
		if was.Space != j.Identity.Space {
			out = append(out, f)
		}
		if was.SameRows(j.Identity) {
			continue
		}
		f.Kind, f.Others = ChangedKey, []string{}
		if source != nil {
			change, err := e.reader(j).Brakes.ChangeOfIdentity(ctx, *was, true)
			if err != nil {
				return nil, err
			}
			f.Change = &change
		}
		out = append(out, f)
	}
	if source == nil {
		return out, nil
	}
	shared, err := e.sharedKeys(ctx)
	return append(out, shared...), err
}

// sharedKeys returns the rows that the queries of two jobs of the same kind return: under the same
// key of one key space, where one of the jobs would hold them, or with the same cells, where both
// might send them. It keeps only keys and hashes in memory.
func (e *Rehearsal) sharedKeys(ctx context.Context) (out []IdentityFinding, err error) {
	type read struct {
		job   *mapping.Job
		keys  map[run.KeyHash]bool
		cells map[trade.Hash]bool
		whole bool
	}
	var done []read
	for _, job := range e.env.Jobs {
		same := func(o *mapping.Job) bool { return o != job && o.Spec.Sends == job.Spec.Sends }
		if !slices.ContainsFunc(e.env.Jobs, same) {
			continue
		}
		now := read{job: job, keys: map[run.KeyHash]bool{}, cells: map[trade.Hash]bool{}, whole: true}
		found := map[string]*IdentityFinding{}
		err := run.EachRow(ctx, e.source, job, func(row *mapping.Row) error {
			at, cells := run.HashKey(row.Key), row.SourceHash
			if row.Cancelled || now.keys[at] {
				return nil
			}
			if len(now.keys) == identityMost {
				now.whole = false
				return run.ErrEnough
			}
			now.keys[at], now.cells[cells] = true, true
			for _, other := range done {
				known := other.keys[at] && other.job.Identity.Space == job.Identity.Space || other.cells[cells]
				if !same(other.job) || !known {
					continue
				}
				f := found[other.job.Name()]
				if f == nil {
					f = &IdentityFinding{Kind: SharedKeys, Job: job.Name(), Others: []string{other.job.Name()}}
					found[other.job.Name()] = f
				}
				f.Rows++
				if len(f.Sample) < run.BrakeSamples {
					f.Sample = append(f.Sample, row.Key)
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, run.ErrEnough) {
			return nil, err
		}
		for _, other := range done {
			if f := found[other.job.Name()]; f != nil {
				f.Whole = now.whole && other.whole
				out = append(out, *f)
			}
		}
		done = append(done, now)
	}
	return out, nil
}
