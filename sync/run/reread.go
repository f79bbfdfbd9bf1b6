// Rows read again by their keys.

package run

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// ReadAgain reads the rows of entries of one job by their keys, as ReadByKeys does, and returns them by
// their key.
func (r *Run) ReadAgain(ctx context.Context, job *mapping.Job,
	entries []trade.Entry,
) (map[string][]mapping.Row, error) {
	rows, err := r.ReadByKeys(ctx, job, entries)
	if err != nil {
		return nil, err
	}
	return job.ByKey(rows), nil
}

// ReadByKeys reads the rows of entries of one job by their keys, in every spelling that the readings
// saw. It leaves out entries whose key has another number of columns than the configured key: their
// rows are not in the ERP any more.
func (r *Run) ReadByKeys(ctx context.Context, job *mapping.Job, entries []trade.Entry) ([]erp.Row, error) {
	var keys [][]erp.Value
	var apart [][][]erp.Value // the keys with several spellings
	for i := range entries {
		var all [][]erp.Value
		for _, parts := range job.Spellings(&entries[i]) {
			all = append(all, mapping.KeyValues(parts))
		}
		if len(all) > 1 {
			apart = append(apart, all)
			continue
		}
		keys = append(keys, all...)
	}
	var rows []erp.Row
	if len(keys) > 0 {
		var err error
		rows, err = r.Source.ByKeys(ctx, job.Query, keys)
		if err != nil {
			return nil, err
		}
	}
	// A database for which two spellings are equal returns a row for either. Asked for in one query,
	// it comes once.
	for _, all := range apart {
		more, err := r.Source.ByKeys(ctx, job.Query, all)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// EntriesOf returns the entries of a job that the ledger has under keys.
func (r *Run) EntriesOf(ctx context.Context, job string, keys []string) ([]trade.Entry, error) {
	known, err := r.Ledger.Known(ctx, job, keys)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, 0, len(known))
	for _, k := range known {
		ids = append(ids, k.ID)
	}
	return r.Ledger.Entries(ctx, ids)
}

// EachUnjudged calls do for each page of the job's entries that next returns, without those that a
// dry run has judged already.
func (r *Run) EachUnjudged(after int64, next func(after int64) ([]trade.Entry, error),
	do func([]trade.Entry) error,
) error {
	for {
		entries, err := next(after)
		if err != nil || len(entries) == 0 {
			return err
		}
		after = entries[len(entries)-1].ID
		if r.Dry != nil {
			entries = slices.DeleteFunc(entries, r.Dry.Judged)
		}
		if err := do(entries); err != nil {
			return err
		}
	}
}

// FlagReplaced returns what flags accepted entries whose rows may be under other keys now: nothing
// more goes under their records until a person has decided.
func (r *Run) FlagReplaced(ctx context.Context, ids map[int64]bool) (flagged []trade.Update, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	entries, err := r.Ledger.Entries(ctx, slices.Sorted(maps.Keys(ids)))
	for _, e := range entries {
		if e.State == trade.Accepted && !e.Flags.Has(trade.Replaced) {
			e.Flags, e.UpdatedAt = e.Flags.With(trade.Replaced, true), r.Clock.Now()
			flagged = append(flagged, trade.Update{From: e.State, Entry: e})
		}
	}
	return flagged, err
}

// ErrEnough ends a reading that has found what it needs.
var ErrEnough = errors.New("enough was read")

// EachRow calls fn with each row that the query returns now; it leaves out rows whose key is not
// usable. The row is valid during the call.
func EachRow(ctx context.Context, source Source, job *mapping.Job, fn func(row *mapping.Row) error) error {
	_, err := source.Read(ctx, job.Query, erp.Window{}, func(read erp.Row) error {
		row, err := job.Row(read)
		if err != nil { // discovery reports it
			return nil //nolint:nilerr // one bad row never stops the rest
		}
		return fn(&row)
	})
	return err
}

// Why the ERP has no newest version of a row.
var (
	ErrGone      = errors.New("the job's query does not return the row")
	ErrCancelled = errors.New("the row is cancelled in the ERP")
	ErrDouble    = errors.New("the row's key stands twice in the ERP")
)
