package sqldb

import (
	"cmp"
	"context"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/jmoiron/sqlx/reflectx"
)

// byColumn maps the fields of a row to columns: RemoteID is remote_id, unless a tag names another
// column.
var byColumn = reflectx.NewMapperFunc("db", columnOf)

func columnOf(field string) string {
	var out strings.Builder
	name := []rune(field)
	lower := func(i int) bool { return i < len(name) && unicode.IsLower(name[i]) }
	for i, c := range name {
		if i > 0 && unicode.IsUpper(c) && (lower(i-1) || lower(i+1)) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(c))
	}
	return out.String()
}

// Columns returns the columns of a row type, in the order of its fields.
func Columns[R any]() (out []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[R]()) {
		if !field.Anonymous {
			out = append(out, cmp.Or(field.Tag.Get("db"), columnOf(field.Name)))
		}
	}
	return out
}

// Pick returns the values of some columns of a row; row is a pointer to it.
func Pick(row any, columns []string) []any {
	out := make([]any, len(columns))
	for i, field := range byColumn.FieldsByName(reflect.ValueOf(row), columns) {
		out[i] = field.Interface()
	}
	return out
}

// Within runs fn for at most the given time; 0 = no limit. over reports whether fn was ended by the
// limit.
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
