package sqldb

import (
	"context"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
)

// querier asks for rows: a transaction, or the pool that reads.
type querier interface {
	QueryxContext(ctx context.Context, query string, args ...any) (*sqlx.Rows, error)
}

// Gather reads all rows of a query; places gives where the columns of one go, in the order of the
// query. It is for what is read for every row that is sent: a row stands once in memory, and
// nothing looks for the columns by their names.
func Gather[T any](ctx context.Context, from querier, places func(*T) []any, query string,
	args ...any,
) (out []T, err error) {
	err = Each(ctx, from, places, func(row *T) error {
		out = append(out, *row)
		return nil
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Each is gather for who needs each row for a moment.
func Each[T any](ctx context.Context, from querier, places func(*T) []any, fn func(*T) error, query string,
	args ...any,
) (err error) {
	rows, err := from.QueryxContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var row T
	into := places(&row)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := fn(&row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Within runs fn for at most so long; 0 = as long as it takes. over tells that it was ended for
// that.
func Within(ctx context.Context, most time.Duration, fn func(context.Context) error) (over bool, err error) {
	if most == 0 {
		return false, fn(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if err = fn(limited); err != nil && limited.Err() != nil && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}
