package erp

import (
	"context"
	"errors"
	"slices"

	"github.com/lib/pq"
)

// salvage reads what is left after a value made the whole query fail: a text
// with impossible bytes, a cast that does not fit one row. PostgreSQL then ends
// the statement, so the keys are listed first, without the other columns, and
// the rows fetched by key in ever smaller chunks until only the bad values are
// left. All of it happens in the snapshot of the failed read; rows given
// before the failure are not given again.
func (r *reader) salvage(ctx context.Context, t *pgTx, items []selectItem, condition func(*binder) (string, *Error)) error {
	unreadable, unreadableBefore := 0, r.result.Unreadable
	given := make(map[uint64]int, len(r.given))
	for _, h := range r.given {
		given[h]++
	}
	r.keep, r.given = false, nil

	keyItems := make([]selectItem, len(r.plan.key))
	for i, at := range r.plan.key {
		keyItems[i] = items[at]
	}
	b := t.p.newBinder()
	cond, bad := condition(b)
	if bad != nil {
		return bad
	}
	k := keyReader{t: t, plan: r.plan, items: items, keyItems: keyItems, condition: condition}
	done := map[uint64]bool{}
	list := where(r.plan.st.wrap(selectList(keyItems)), cond)
	err := t.cursor(ctx, "safrasync_keys", list, b.args, keyItems, func(batch [][]Value) error {
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

// keyReader fetches rows by key in PostgreSQL, bad values included.
type keyReader struct {
	t               *pgTx
	plan            plan
	items, keyItems []selectItem
	condition       func(*binder) (string, *Error) // further condition; nil = none
}

func (k keyReader) query(items []selectItem, keys [][]Value) (string, []any, error) {
	b := k.t.p.newBinder()
	cond, bad := k.t.p.keys(b, k.plan.keyCols, keys)
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
	err = k.t.inSavepoint(ctx, "safrasync_chunk", func() error {
		rows, _, err = k.t.fetch(ctx, query, args, items)
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
	case ctx.Err() != nil || !isDataError(err):
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
		if isDataError(err) {
			return nil, failf(CodeData, "a stored key does not fit the type of the key columns any more, or the key itself cannot be computed; was a type changed in the ERP?")
		}
		return nil, err
	}
	rows := make([][]Value, len(alone))
	for i := range rows {
		rows[i] = make([]Value, len(k.items))
	}
	for c := range k.items {
		values, err := k.fetch(ctx, k.items[c:c+1], key)
		if err != nil && (ctx.Err() != nil || !isDataError(err)) {
			return nil, err
		}
		why := ""
		if err != nil {
			why = k.reason(ctx, c, key, err)
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

// reason says what is wrong with one column of one key.
func (k keyReader) reason(ctx context.Context, column int, key [][]Value, failure error) string {
	var e *pq.Error
	if !errors.As(failure, &e) {
		return "the database cannot read this value"
	}
	if e.Code != "22021" && e.Code != "22P05" || column >= len(k.plan.cols) {
		return "the database cannot compute this value (SQLSTATE " + string(e.Code) + ")"
	}
	name := "q." + quoteName(k.plan.cols[column].Name)
	item := selectItem{
		sql: "CASE WHEN " + name + " IS NULL THEN NULL ELSE convert_to(concat(" + name + "), getdatabaseencoding()) END",
		convert: func(v any) Value {
			raw, _ := v.([]byte)
			return textValue(string(raw), charset{})
		},
	}
	rows, err := k.fetch(ctx, []selectItem{item}, key)
	if err == nil && len(rows) > 0 && rows[0][0].Err != "" {
		return rows[0][0].Err
	}
	return "bytes that are no valid text (SQLSTATE " + string(e.Code) + ")"
}
