package erp

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// sqliteTx is one read transaction: SQLite's snapshot.
type sqliteTx struct {
	s  *sqlite
	tx *sqlx.Tx
}

func (s *sqlite) begin(ctx context.Context, c *sqlx.Conn) (readTx, error) {
	tx, err := c.BeginTxx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &sqliteTx{s: s, tx: tx}, nil
}

func (t *sqliteTx) end() { _ = t.tx.Rollback() } // nothing was written

// renamed is how SQLite makes the second column of one name unique in a subquery.
var renamed = regexp.MustCompile(`^(.*):[0-9]+$`)

func (t *sqliteTx) columns(ctx context.Context, st statement) (cols []Column, err error) {
	rows, err := t.tx.QueryxContext(ctx, st.describe())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, ct := range types {
		name := ct.Name()
		if m := renamed.FindStringSubmatch(name); m != nil && seen[strings.ToLower(m[1])] {
			name = m[1] // checkColumns then reports the double name
		}
		seen[strings.ToLower(name)] = true
		cols = append(cols, Column{Name: name, Type: strings.ToLower(ct.DatabaseTypeName())})
	}
	return cols, rows.Err()
}

func (t *sqliteTx) few(ctx context.Context, query string, args []any, items []selectItem, fn func([]Value) error) error {
	return t.stream(ctx, query, args, items, fn)
}

// stream bounds the time SQLite works without giving a row; the caller's own
// time between two rows does not count.
func (t *sqliteTx) stream(ctx context.Context, query string, args []any, items []selectItem, fn func([]Value) error) (err error) {
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := t.s.opt.StatementTimeout
	watch := time.AfterFunc(limit, func() {
		cancel(failf(CodeTimeout, "the query worked longer than %s (erp.statement_timeout): make it faster, e.g. by an index, or raise the limit", limit))
	})
	defer watch.Stop()
	defer func() {
		// The cause is lost with this context, so name it here.
		if err != nil && outer.Err() == nil && ctx.Err() != nil {
			err = t.s.problem(ctx, err, statement{}, -1)
		}
	}()
	rows, err := t.tx.QueryxContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	cells, into := make([]any, len(items)), make([]any, len(items))
	for i := range cells {
		into[i] = &cells[i]
	}
	for {
		watch.Reset(limit)
		if !rows.Next() {
			break
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		watch.Stop()
		values := make([]Value, len(items))
		for i, it := range items {
			values[i] = it.convert(cells[i])
			cells[i] = nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(values); err != nil {
			return callerError{err}
		}
	}
	return rows.Err()
}

// item selects +column: the plus changes nothing about the value, but without
// a declared type the driver hands over dates as the text that is stored
// instead of turning them into time.Time.
func (s *sqlite) item(col Column, key bool) selectItem {
	declared := col.Type
	if key {
		declared = "" // a key is bound again as it was stored, so it is never rewritten
	}
	return selectItem{sql: "+q." + quoteName(col.Name), convert: func(v any) Value { return s.value(v, declared) }}
}

func (s *sqlite) rawItem(col Column) selectItem {
	return selectItem{sql: "+q." + quoteName(col.Name), convert: func(v any) Value {
		switch x := v.(type) {
		case string:
			return Value{Kind: Text, Text: x}
		case int64, float64: //nolint:forbidigo // told apart, not used
			return Value{Kind: Number, Err: "number"}
		}
		return Value{}
	}}
}

func (s *sqlite) value(v any, declared string) Value {
	switch x := v.(type) {
	case nil:
		return Value{}
	case int64:
		return Value{Kind: Int, Text: strconv.FormatInt(x, 10)}
	case float64: //nolint:forbidigo // the driver's type of a stored float
		return floatValue(x, 64)
	case bool:
		return Value{Kind: Bool, Text: strconv.FormatBool(x)}
	case []byte:
		return Value{Kind: Bytes, Err: "binary value; convert it in the query, e.g. CAST(column AS TEXT)"}
	case string:
		text := textValue(x, s.cs)
		if text.Err != "" {
			return text
		}
		switch declared {
		case "date", "datetime", "timestamp":
			return s.declaredTime(text)
		}
		return text
	default:
		return Value{Kind: Text, Err: "a type the driver does not explain"}
	}
}

// declaredTime sorts the text of a column declared as a time; what is no ISO
// text stays plain text for the mapping's own date format.
func (s *sqlite) declaredTime(v Value) Value {
	m, ok := parseMoment(v.Text)
	switch {
	case !ok:
		return v
	case m.sep == "":
		return Value{Kind: Date, Text: v.Text}
	case !m.zoned:
		return Value{Kind: Timestamp, Text: v.Text}
	default:
		return Value{Kind: Instant, Text: instantText(m.at, s.opt.TimeZone)}
	}
}
