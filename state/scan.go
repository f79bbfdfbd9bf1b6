package state

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"
)

// querier asks for rows: a transaction, or the pool that reads.
type querier interface {
	QueryxContext(ctx context.Context, query string, args ...any) (*sqlx.Rows, error)
}

// gather reads all rows of a query; places gives where the columns of one go, in the order of the query. It is for what is read for every row that is sent: a row stands once in memory, and
// nothing looks for the columns by their names.
func gather[T any](ctx context.Context, from querier, places func(*T) []any, query string, args ...any) (out []T, err error) {
	rows, err := from.QueryxContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var row T
	into := places(&row)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}
