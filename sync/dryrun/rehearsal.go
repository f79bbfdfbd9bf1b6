// Rehearsal, whose methods are in the other files of the package.

package dryrun

import (
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
)

// Rehearsal computes what a run would do, but stores and sends nothing.
type Rehearsal struct {
	env    *run.Env
	ledger run.Readable
	source run.Source
	log    *zap.Logger
}

// New returns a rehearsal, which only reads the ledger.
func New(env *run.Env, ledger run.Readable, source run.Source, log *zap.Logger) *Rehearsal {
	return &Rehearsal{env: env, ledger: ledger, source: source, log: log}
}

// reader returns a discoverer that judges rows of a job as its next run would, on a ledger that
// cannot be written.
func (e *Rehearsal) reader(job *mapping.Job) *discovery.Discoverer {
	return discovery.New(&run.Run{
		Env: e.env, Job: job, Ledger: &run.DryLedger{Readable: e.ledger},
		Source: e.source, Now: e.env.Clock.Now(), Log: e.log,
	})
}
