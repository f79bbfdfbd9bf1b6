package erp

import (
	"context"
	"slices"
)

// salvage reads what is left after a value made the whole query fail: a text
// with impossible bytes, a cast that does not fit one row. The database then
// ends the statement, so the keys are listed first, without the other columns, and
// the rows fetched by key in ever smaller chunks until only the bad values are
// left. All of it happens in the snapshot of the failed read; rows given
// before the failure are not given again.
func (r *reader) salvage(ctx context.Context, t salvageTx, items []selectItem,
	condition func(*binder) (string, *Error),
) error {
	unreadable, unreadableBefore := 0, r.result.Unreadable
	given := make(map[uint64]int, givenPiece*len(r.given))
	for _, piece := range r.given {
		for _, h := range piece {
			given[h]++
		}
	}
	r.keep, r.given = false, nil

	keyItems := make([]selectItem, len(r.plan.key))
	for i, at := range r.plan.key {
		keyItems[i] = items[at]
	}
	b := newBinder(r.source.d)
	cond, bad := condition(b)
	if bad != nil {
		return bad
	}
	k := keyReader{t: t, d: r.source.d, plan: r.plan, items: items, keyItems: keyItems, condition: condition}
	done := map[uint64]bool{}
	list := where(r.plan.st.wrap(selectList(keyItems)), cond)
	err := t.batches(ctx, list, b.args, keyItems, func(batch [][]Value) error {
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
			if err := deliver(ctx, fresh, r.give); err != nil {
				return err
			}
		}
		return nil
	})
	// A row without a key cannot be fetched by it: it is counted, not given.
	r.result.Unreadable += max(0, unreadable-unreadableBefore)
	return err
}

// keyReader fetches rows by key, bad values included.
type keyReader struct {
	d               dialect
	t               salvageTx
	plan            plan
	items, keyItems []selectItem
	condition       func(*binder) (string, *Error) // further condition; nil = none
}

func (k keyReader) query(items []selectItem, keys [][]Value) (string, []any, error) {
	b := newBinder(k.d)
	cond, bad := k.d.keys(b, k.plan.keyCols, keys)
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
	return where(k.plan.st.wrap(selectList(items)), cond), b.args, nil
}

func (k keyReader) fetch(ctx context.Context, items []selectItem, keys [][]Value) (rows [][]Value, err error) {
	query, args, err := k.query(items, keys)
	if err != nil {
		return nil, err
	}
	err = k.t.attempt(ctx, "safrasync_chunk", func() error {
		rows, err = k.t.fetch(ctx, query, args, items)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// read returns all rows with these keys; a chunk that fails is halved.
func (k keyReader) read(ctx context.Context, keys [][]Value) ([][]Value, error) {
	rows, err := k.fetch(ctx, k.items, keys)
	switch {
	case err == nil:
		return rows, nil
	case ctx.Err() != nil || !k.t.rowError(err):
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

// broken reads one key column by column, and gives the columns that fail an Err.
// If the key stands more than once, the columns of its rows may get mixed; such
// rows are held anyway, because their key is double.
func (k keyReader) broken(ctx context.Context, key [][]Value) ([][]Value, error) {
	alone, err := k.fetch(ctx, k.keyItems, key)
	if err != nil {
		if k.t.rowError(err) {
			return nil,
				failf(CodeData,
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
		if err != nil && (ctx.Err() != nil || !k.t.rowError(err)) {
			return nil, err
		}
		why := ""
		if err != nil {
			why = k.t.reason(ctx, k, c, key, err)
		}
		for i := range rows {
			switch {
			case err == nil && i < len(values):
				rows[i][c] = values[i][0]
			default:
				rows[i][c] = Value{Kind: Text, Err: why}
			}
		}
	}
	return rows, nil
}
