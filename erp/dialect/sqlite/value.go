package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	sqlitedrv "modernc.org/sqlite"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/internal/phrase"
)

func (s *engine) Begin(ctx context.Context, c *sqlx.Conn) (dialect.Tx, error) {
	tx, err := c.BeginTxx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	if _, err := sqlitedrv.Limit(c.Conn, limitLength, longest); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return (&dialect.StreamTx{
		Tx: tx, Limit: s.opt.StatementTimeout, Whole: true, Names: originalNames,
		IsRowError: tooBig,
	}).Opened(), nil
}

// SQLite works in this process, whose memory a value that a query computes would take: beyond this
// length the statement fails, and its rows are read one by one.
const (
	limitLength = 0 // SQLITE_LIMIT_LENGTH
	longest     = 16 << 20
	errTooBig   = 18
)

func tooBig(err error) bool {
	var e *sqlitedrv.Error
	return errors.As(err, &e) && e.Code()&0xff == errTooBig
}

// renamed matches the names with which SQLite makes a second column of one name unique in a
// subquery.
var renamed = regexp.MustCompile(`^(.*):[0-9]+$`)

// originalNames restores the original name, so that checkColumns reports the double name.
func originalNames(cols []dialect.Column) []dialect.Column {
	seen := map[string]bool{}
	for i, c := range cols {
		if m := renamed.FindStringSubmatch(c.Name); m != nil && seen[strings.ToLower(m[1])] {
			cols[i].Name = m[1]
		}
		seen[strings.ToLower(c.Name)] = true
	}
	return cols
}

// Item selects +column. The plus does not change the value, but without a declared type the driver
// returns dates as the stored text instead of converting them to time.Time.
func (s *engine) Item(col dialect.Column, use dialect.Use) dialect.Item {
	name := "+" + Syntax.Column(col.Name)
	if use == dialect.ForBound {
		return dialect.Item{SQL: name, Convert: bound}
	}
	declared := col.Type
	if use == dialect.ForKey {
		declared = "" // a key is bound again as it was stored, so it is never converted
	}
	if use == dialect.ForMapping { // of a long one only the length is read
		plain := Syntax.Column(col.Name)
		name = "CASE WHEN octet_length(" + plain + ") >= " + dialect.LongestText +
			" THEN zeroblob(" + dialect.LongestText + ") ELSE " + plain + " END"
	}
	return dialect.Item{SQL: name, Convert: func(v any) dialect.Value {
		switch x := v.(type) {
		case nil:
			return dialect.Value{}
		case int64:
			return dialect.Value{Kind: dialect.Int, Text: strconv.FormatInt(x, 10)}
		case float64: //nolint:forbidigo // the driver's type of a stored float
			return dialect.FloatValue(x, 64)
		case bool:
			return dialect.Value{Kind: dialect.Bool, Text: strconv.FormatBool(x)}
		case []byte:
			return dialect.Value{Kind: dialect.Bytes, Err: phrase.Pack("binary value; convert it in the query, e.g. %s", "CAST(column AS TEXT)")}
		case string:
			text := dialect.TextValue(x, s.cs)
			if text.Err != "" {
				return text
			}
			switch declared {
			case "date", "datetime", "timestamp":
				// What is not ISO text stays plain text for the mapping's own date format. In a column
				// declared DATE a midnight is a date, in whatever zone the program has written it.
				m, ok := dialect.ParseMoment(text.Text)
				day, midnight := text.Midnight()
				switch {
				case !ok:
					return text
				case declared == "date" && midnight:
					return dialect.Value{Kind: dialect.Date, Text: day.Format(time.DateOnly)}
				case m.Sep == "":
					return dialect.Value{Kind: dialect.Date, Text: text.Text}
				case !m.Zoned:
					return dialect.Value{Kind: dialect.Timestamp, Text: text.Text}
				default:
					return dialect.Value{Kind: dialect.Instant, Text: dialect.InstantText(m.At, s.opt.TimeZone)}
				}
			}
			return text
		default:
			return dialect.Value{Kind: dialect.Text, Err: phrase.Pack("a type the driver does not explain")}
		}
	}}
}

func bound(v any) dialect.Value {
	switch x := v.(type) {
	case string:
		return dialect.Value{Kind: dialect.Text, Text: x}
	case int64, float64: //nolint:forbidigo // told apart, not used
		return dialect.Value{Kind: dialect.Number, Err: phrase.Pack("a number, and no time")}
	}
	return dialect.Value{}
}
