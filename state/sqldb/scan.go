package sqldb

import (
	"context"
	"reflect"
	"time"

	"github.com/jmoiron/sqlx/reflectx"
)

// byTag finds the fields of a row by the names of their columns.
var byTag = reflectx.NewMapper("db")

// Columns are the columns of a row, in the order of its fields.
func Columns[R any]() (out []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[R]()) {
		if column := field.Tag.Get("db"); column != "" {
			out = append(out, column)
		}
	}
	return out
}

// Pick gives the values of some columns of a row, to which row points.
func Pick(row any, columns []string) []any {
	out := make([]any, len(columns))
	for i, field := range byTag.FieldsByName(reflect.ValueOf(row), columns) {
		out[i] = field.Interface()
	}
	return out
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
