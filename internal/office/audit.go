package office

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// Acts returns the latest acts in the audit, oldest first; all if limit is 0.
func (o *Office) Acts(ctx context.Context, limit int) ([]trade.AuditRecord, error) {
	records, err := o.store.Audit(ctx, limit)
	slices.Reverse(records)
	return records, err
}

// Note records in the audit what a person does that changes no row: what was ordered, asked or taken.
func (o *Office) Note(ctx context.Context, act, target string, detail any, who trade.Person) error {
	record, err := who.Record(o.now(), act, target, detail)
	if err != nil {
		return err
	}
	return o.store.AppendAudit(ctx, record)
}
