package state

import (
	"context"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// What tests do with limits of their own, or with something in front of the database.

func open(ctx context.Context, o sqldb.OpenOptions, tune sqldb.Tuning) (*Store, error) {
	o.Tune = &tune
	return Open(ctx, o)
}

func move(ctx context.Context, from, to sqldb.OpenOptions, tune sqldb.Tuning, apply bool,
	record trade.AuditRecord,
) (MovePlan, error) {
	from.Tune, to.Tune = &tune, &tune
	return Move(ctx, from, to, apply, record)
}

func rebuild(ctx context.Context, o sqldb.OpenOptions, tune sqldb.Tuning, jobs []string, apply bool,
	record trade.AuditRecord,
) (RebuildPlan, error) {
	o.Tune = &tune
	return Rebuild(ctx, o, jobs, apply, record)
}

func newJournal(ctx context.Context, o sqldb.OpenOptions, tune sqldb.Tuning, jobs []string, apply bool,
	record trade.AuditRecord,
) (NewJournalPlan, error) {
	o.Tune = &tune
	return NewJournal(ctx, o, jobs, apply, record)
}

func restore(ctx context.Context, o sqldb.OpenOptions, tune sqldb.Tuning, file string,
	record trade.AuditRecord,
) (string, error) {
	o.Tune = &tune
	return Restore(ctx, o, file, record)
}
