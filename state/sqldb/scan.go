package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
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
		if name := cmp.Or(field.Tag.Get("db"), columnOf(field.Name)); !field.Anonymous && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

// optional are the columns of numbers that store 0 as NULL.
var optional = map[string]bool{"record_id": true, "resend_audit_id": true}

// Pick returns the values of some columns of a row, with fields of the types that [reader] reads; row
// is a pointer to it.
func Pick(row any, columns []string) []any {
	out, of := make([]any, len(columns)), reflect.ValueOf(row).Elem()
	for i, place := range byColumn.TraversalsByName(of.Type(), columns) {
		if len(place) == 0 {
			panic(fmt.Sprintf("%s has no column %s", of.Type(), columns[i]))
		}
		field := of.FieldByIndex(place) // reflectx.FieldByIndexes would set what is nil
		out[i] = field.Interface()
		switch v := out[i].(type) {
		case driver.Valuer:
			continue
		case time.Time:
			out[i] = Millis(v)
			continue
		case json.RawMessage:
			out[i] = sql.NullString{String: string(v), Valid: len(v) > 0}
			continue
		}
		switch kind := field.Kind(); {
		case kind == reflect.Int64 && optional[columns[i]]:
			out[i] = sql.NullInt64{Int64: field.Int(), Valid: field.Int() != 0}
		case kind == reflect.Pointer && field.IsNil():
			out[i] = nil
		case kind == reflect.Slice && field.Type().Elem().Kind() == reflect.Uint8:
		case kind == reflect.Slice && field.Len() == 0:
			out[i] = "[]"
		case kind == reflect.Map && field.Len() == 0:
			out[i] = "{}"
		case kind == reflect.Pointer, kind == reflect.Slice, kind == reflect.Map, kind == reflect.Struct:
			out[i] = asJSON{out[i]}
		}
	}
	return out
}

// asJSON is a value that is stored as JSON.
type asJSON struct{ of any }

// Value implements [driver.Valuer].
func (j asJSON) Value() (driver.Value, error) {
	text, err := json.Marshal(j.of)
	return string(text), err
}

// reader reads rows into dest, if there is no error, and closes them. Fields may also have the types of
// the business: a time is stored in milliseconds, and NULL is the zero time; lists, maps and structs are
// stored as JSON, and an empty text, list or map, and NULL, are their zero values. Text that is no such JSON
// is a [DamagedError] that names the row by its first column. A list of pointers and fields that are
// pointers to times are not supported.
type reader func(dest any, rows *sqlx.Rows, err error) error

// readAll reads all rows into a slice, which it replaces.
func readAll(dest any, rows *sqlx.Rows, err error) error {
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // they end with their own error
	list := reflect.ValueOf(dest).Elem()
	list.SetLen(0)
	kind := list.Type().Elem()
	places, err := placesOf(kind, rows)
	if err != nil {
		return err
	}
	cells := make([]any, max(len(places), 1))
	for n := 0; rows.Next(); n++ {
		list.Grow(1)
		list.SetLen(n + 1)
		row := list.Index(n)
		row.SetZero() // it may be one of those that are replaced
		if err := scan(rows, row.Addr(), places, cells); err != nil {
			return err
		}
	}
	return rows.Err()
}

// readOne reads the first row.
func readOne(dest any, rows *sqlx.Rows, err error) error {
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // also after a panic; the error that counts is below
	row := reflect.ValueOf(dest)
	places, err := placesOf(row.Type().Elem(), rows)
	found := err == nil && rows.Next()
	switch {
	case found:
		cells := make([]any, max(len(places), 1))
		err = scan(rows, row, places, cells)
	case err == nil:
		err = cmp.Or(rows.Err(), sql.ErrNoRows)
	}
	closed := rows.Close()
	return cmp.Or(err, closed)
}

// placesOf returns where a struct has the columns of rows; nil for a type that one column fills.
func placesOf(kind reflect.Type, rows *sqlx.Rows) ([][]int, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	single := reflect.PointerTo(kind).Implements(reflect.TypeFor[sql.Scanner]())
	if single || kind.Kind() != reflect.Struct || len(byColumn.TypeMap(kind).Index) == 0 {
		return nil, nil
	}
	places := byColumn.TraversalsByName(kind, columns)
	for i, place := range places {
		if len(place) == 0 {
			return nil, fmt.Errorf("missing destination name %s in %s", columns[i], kind)
		}
	}
	return places, nil
}

// scan reads one row. cells is what receives its columns.
func scan(rows *sqlx.Rows, row reflect.Value, places [][]int, cells []any) error {
	if places == nil {
		cells[0] = row.Interface()
	}
	for i, place := range places {
		cells[i] = reflectx.FieldByIndexes(row.Elem(), place).Addr().Interface()
	}
	for i, cell := range cells {
		switch to := cell.(type) {
		case *time.Time:
			cells[i] = (*moment)(to)
		case *json.RawMessage:
			cells[i] = (*rawText)(to)
		case sql.Scanner:
		default:
			kind := reflect.TypeOf(cell).Elem()
			if kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
			}
			switch kind.Kind() {
			case reflect.Struct, reflect.Map:
				cells[i] = &jsonText{to: cell, empty: "{}"}
			case reflect.Slice:
				if kind.Elem().Kind() != reflect.Uint8 {
					cells[i] = &jsonText{to: cell, empty: "[]"}
				}
			}
		}
	}
	err := rows.Scan(cells...)
	for i, cell := range cells {
		if text, ok := cell.(*jsonText); ok && text.damaged {
			columns, _ := rows.Columns() // which were read before
			first := reflect.ValueOf(cells[0]).Elem().Interface()
			return &DamagedError{phrase.New("row %v is damaged in column %s: restore the backup", first, columns[i])}
		}
	}
	return err
}

// DamagedError is returned for a row that the program cannot have written.
type DamagedError struct{ *phrase.Text }

// jsonText is a column with JSON.
type jsonText struct {
	to      any
	empty   string // is the zero value
	damaged bool
}

// Scan reads a text, or NULL.
func (j *jsonText) Scan(from any) error {
	var text sql.NullString
	err := text.Scan(from)
	reflect.ValueOf(j.to).Elem().SetZero()
	if err == nil && text.String != "" && text.String != j.empty {
		err = json.Unmarshal([]byte(text.String), j.to)
		j.damaged = err != nil
	}
	return err
}

type moment time.Time

// Scan reads milliseconds.
func (m *moment) Scan(from any) error {
	var ms sql.NullInt64
	err := ms.Scan(from)
	*m = moment(Instant(ms))
	return err
}

type rawText json.RawMessage

// Scan reads a text, or NULL as nil.
func (r *rawText) Scan(from any) error {
	var text sql.NullString
	err := text.Scan(from)
	*r = nil
	if text.Valid {
		*r = rawText(text.String)
	}
	return err
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

// InPages calls fn for every row that read returns, size of them at a time, after the place of the last
// one, which fn returns.
func InPages[P, T any](size int, read func(after P) ([]T, error), fn func(T) (P, error)) error {
	var after P
	for {
		page, err := read(after)
		if err != nil {
			return err
		}
		for _, row := range page {
			after, err = fn(row)
			if err != nil {
				return err
			}
		}
		if len(page) < size {
			return nil
		}
	}
}

// NotNil returns an empty list for a nil one, so that the JSON text has one form.
func NotNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// SentenceText returns a sentence as a column has it; "" for none.
func SentenceText(s trade.Sentence) string {
	if s.Code == "" {
		return ""
	}
	text, _ := json.Marshal(s) //nolint:errchkjson // it is made of texts, and of numbers that were formatted
	return string(text)
}

// IDSlack is how much longer than planned a run or an attempt may take and still be found by the
// time in its id.
const IDSlack = 24 * time.Hour

// IDsFrom returns the lowest UUIDv7 of a time. Ids are in time order, so recent rows are found by
// the index of their ids.
func IDsFrom(t time.Time) string {
	ms := max(t.UnixMilli(), 0)
	b := []byte{byte(ms >> 40), byte(ms >> 32), byte(ms >> 24), byte(ms >> 16), byte(ms >> 8), byte(ms)}
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:]
}

// PutTask stores when a task ran last.
const PutTask = `INSERT INTO task (name, ran_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET ran_at = excluded.ran_at`

// OrAll returns a limit for SQL: 0 and less mean all.
func OrAll(limit int) int64 {
	if limit <= 0 {
		return 1<<63 - 1
	}
	return int64(limit)
}
