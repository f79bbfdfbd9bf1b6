package erp

import (
	"context"
	"database/sql"
	"regexp"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
)

func (s *sqlite) begin(ctx context.Context, c *sqlx.Conn) (readTx, error) {
	tx, err := c.BeginTxx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return (&streamTx{tx: tx, limit: s.opt.StatementTimeout, names: originalNames}).opened(), nil
}

// renamed is how SQLite makes the second column of one name unique in a subquery.
var renamed = regexp.MustCompile(`^(.*):[0-9]+$`)

// originalNames undoes it, so that checkColumns reports the double name.
func originalNames(cols []Column) []Column {
	seen := map[string]bool{}
	for i, c := range cols {
		if m := renamed.FindStringSubmatch(c.Name); m != nil && seen[strings.ToLower(m[1])] {
			cols[i].Name = m[1]
		}
		seen[strings.ToLower(c.Name)] = true
	}
	return cols
}

// item selects +column: the plus changes nothing about the value, but without
// a declared type the driver hands over dates as the text that is stored
// instead of turning them into time.Time.
func (s *sqlite) item(col Column, use use) selectItem {
	name := "+" + sqliteSyntax.column(col.Name)
	if use == forBound {
		return selectItem{sql: name, convert: sqliteBound}
	}
	declared := col.Type
	if use == forKey {
		declared = "" // a key is bound again as it was stored, so it is never rewritten
	}
	return selectItem{sql: name, convert: func(v any) Value { return s.value(v, declared) }}
}

func sqliteBound(v any) Value {
	switch x := v.(type) {
	case string:
		return Value{Kind: Text, Text: x}
	case int64, float64: //nolint:forbidigo // told apart, not used
		return Value{Kind: Number, Err: "number"}
	}
	return Value{}
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
