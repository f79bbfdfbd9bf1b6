package erp

import (
	"context"
	"os"
	"slices"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/internal/phrase"
)

// salvage reads the rest after a value has made the whole query fail: a text with impossible bytes,
// or a cast that does not fit one row. The database ends the statement then. So the keys are listed
// first, without the other columns, and the rows are fetched by key in ever smaller chunks until
// only the bad values are left. All of this happens in the snapshot of the failed read. Rows that
// were passed to the caller before the failure are not passed again.
func (r *reader) salvage(ctx context.Context, tx dialect.Tx, t dialect.Salvager, items []dialect.Item) error {
	unreadable, unreadableBefore := 0, r.result.Unreadable
	given, err := r.passed.counts()
	if err != nil {
		return fault.Failf(CodeOther, "the temporary file of a reading cannot be read again: look at the disk of %s",
			os.TempDir())
	}
	r.keep, r.passed.newest = false, nil

	b := dialect.NewBinder(r.source.engine.Syntax)
	cond, bad := r.condition(b)
	if bad != nil {
		return bad
	}
	k := r.source.keyReader(tx, r.plan)
	k.items, k.condition = items, r.condition
	done := map[uint64]bool{}
	list := r.plan.st.Wrap(dialect.SelectList(k.keyItems), cond)
	err = t.Batches(ctx, list, b.Args, k.keyItems, func(batch [][]Value) error {
		var keys [][]Value
		for _, key := range batch {
			if slices.ContainsFunc(key, func(v Value) bool { return !v.Usable() }) {
				unreadable++
				continue
			}
			if h := r.hash(key); !done[h] {
				done[h] = true
				keys = append(keys, key)
			}
		}
		for chunk := range slices.Chunk(keys, chunkKeys) {
			rows, err := k.read(ctx, chunk)
			if err != nil {
				return err
			}
			fresh := rows[:0]
			for _, values := range rows {
				if h := r.hash(values); given[h] > 0 {
					given[h]--
					continue
				}
				fresh = append(fresh, values)
			}
			if err := dialect.Deliver(ctx, fresh, r.deliver); err != nil {
				return err
			}
		}
		return nil
	})
	// A row without a key cannot be fetched by key: it is counted, but not passed to the caller.
	r.result.Unreadable += max(0, unreadable-unreadableBefore)
	return err
}

// chunkKeys is how many keys one statement has: few enough for every planner, enough to save round
// trips.
const chunkKeys = 200

// keyReader fetches rows by key, including those with bad values.
type keyReader struct {
	dialect         dialect.Dialect
	tx              dialect.Tx
	salvager        dialect.Salvager // nil if the database never fails because of one row
	plan            plan
	items, keyItems []dialect.Item
	condition       func(*dialect.Binder) (string, *Error) // an additional condition; nil = none
}

func (s *Source) keyReader(tx dialect.Tx, p plan) keyReader {
	k := keyReader{dialect: s.dialect, tx: tx, plan: p, items: p.items}
	k.salvager, _ = tx.(dialect.Salvager)
	for _, at := range p.key {
		k.keyItems = append(k.keyItems, p.items[at])
	}
	return k
}

func (k keyReader) query(items []dialect.Item, keys [][]Value) (string, []any, error) {
	b := dialect.NewBinder(k.plan.st.Syntax)
	cond, bad := k.dialect.Keys(b, k.plan.keyCols, keys)
	if bad != nil {
		return "", nil, bad
	}
	if k.condition != nil {
		more, bad := k.condition(b)
		if bad != nil {
			return "", nil, bad
		}
		if more != "" {
			cond += " AND " + more
		}
	}
	return k.plan.st.Wrap(dialect.SelectList(items), cond), b.Args, nil
}

func (k keyReader) fetch(ctx context.Context, items []dialect.Item, keys [][]Value) (rows [][]Value, err error) {
	query, args, err := k.query(items, keys)
	if err != nil {
		return nil, err
	}
	fetch := func() error {
		rows, err = k.tx.Fetch(ctx, query, args, items)
		return err
	}
	if k.salvager == nil {
		err = fetch()
	} else {
		err = k.salvager.Attempt(ctx, "safrasync_chunk", fetch)
	}
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// read returns all rows with these keys. A chunk that fails is halved.
func (k keyReader) read(ctx context.Context, keys [][]Value) ([][]Value, error) {
	rows, err := k.fetch(ctx, k.items, keys)
	switch {
	case err == nil:
		return rows, nil
	case ctx.Err() != nil || !k.rowError(err):
		return nil, err
	case len(keys) == 1:
		return k.broken(ctx, keys)
	}
	left, err := k.read(ctx, keys[:len(keys)/2])
	if err != nil {
		return nil, err
	}
	right, err := k.read(ctx, keys[len(keys)/2:])
	if err != nil {
		return nil, err
	}
	return append(left, right...), nil
}

// broken reads one key column by column, and sets Err on the columns that fail. If the key occurs
// more than once, the columns of its rows may get mixed; such rows are held anyway, because their
// key is double.
func (k keyReader) broken(ctx context.Context, key [][]Value) ([][]Value, error) {
	alone, err := k.fetch(ctx, k.keyItems, key)
	if err != nil {
		if k.rowError(err) {
			return nil,
				fault.Failf(CodeData,
					"a stored key does not fit the type of the key columns any more, or the key itself cannot be computed; was a type changed in the ERP?")
		}
		return nil, err
	}
	rows := make([][]Value, len(alone))
	for i := range rows {
		rows[i] = make([]Value, len(k.items))
	}
	for c := range k.items {
		values, err := k.fetch(ctx, k.items[c:c+1], key)
		if err != nil && (ctx.Err() != nil || !k.rowError(err)) {
			return nil, err
		}
		var why phrase.Packed
		if err != nil {
			ask := func(item dialect.Item) ([][]Value, error) { return k.fetch(ctx, []dialect.Item{item}, key) }
			column := k.plan.changed // the time of the last change is selected again after the columns
			if c < len(k.plan.cols) {
				column = c
			}
			why = k.salvager.Reason(k.plan.cols[column], err, ask)
		}
		for i := range rows {
			rows[i][c] = Value{Kind: Text, Err: why}
			if err == nil && i < len(values) {
				rows[i][c] = values[i][0]
			}
		}
	}
	return rows, nil
}

func (k keyReader) rowError(err error) bool { return k.salvager != nil && k.salvager.RowError(err) }
