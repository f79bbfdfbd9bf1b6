package erp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/internal/phrase"
)

// Finding is one line of the battery's result.
type Finding struct {
	Line   string `json:"line"`
	Result string `json:"result"` // one of the results below
	Want   string `json:"want,omitempty"`
	Got    string `json:"got"` // if the SELECT failed: Err
	Err    error  `json:"-"`
}

// The results of a line.
const (
	Passed   = "passed"
	Differs  = "differs"
	NotAsked = "not_asked" // this kind of database has no such feature
)

// literals are the expressions that most databases accept. An engine has its own for those that it
// does not.
var literals = []struct {
	line string
	dialect.Literal
}{
	// no float can hold it
	{"integer", dialect.Literal{SQL: "9007199254740993", Want: "9007199254740993"}},
	{"decimal", dialect.Literal{SQL: "CAST(12345678901234.5678 AS NUMERIC(18,4))", Want: "12345678901234.5678"}},
	{"negative", dialect.Literal{SQL: "CAST(-0.05 AS NUMERIC(9,2))", Want: "-0.05"}},
	{"float", dialect.Literal{SQL: "CAST(0.1 AS DOUBLE PRECISION)", Want: "0.1"}},
	{"text", dialect.Literal{SQL: "'it''s|x'", Want: "it's|x"}},
	{"accents", dialect.Literal{SQL: "'Conceição do Araguaia'", Want: "Conceição do Araguaia"}},
	{"padding", dialect.Literal{SQL: "CAST('01' AS CHAR(6))", Want: "01"}},
	{"empty", dialect.Literal{SQL: "CAST('' AS VARCHAR(5))", Want: ""}},
	{"null", dialect.Literal{SQL: "CAST(NULL AS INTEGER)", Want: dialect.NullText}},
	{"date", dialect.Literal{SQL: "DATE '2018-11-04'", Want: "2018-11-04"}}, // no midnight in São Paulo
	{"timestamp", dialect.Literal{SQL: "TIMESTAMP '2026-08-10 23:59:59'", Want: "2026-08-10T23:59:59"}},
	{"instant", dialect.Literal{
		SQL: "TIMESTAMP WITH TIME ZONE '2026-08-10 23:59:59-03:00'", Want: "2026-08-10T23:59:59-03:00",
	}},
	{"boolean", dialect.Literal{SQL: "TRUE", Want: "true"}},
}

// shortTimeout is the time-out that the battery provokes.
const shortTimeout = time.Second

// battery runs the battery on one database.
type battery struct {
	*Source
	report func(Finding)
}

// Battery runs SELECTs without a table on the database and reports, line by line, whether the
// reader returns what it must. It writes nothing. It returns an error only if the database is
// unreachable or the context has ended.
func (s *Source) Battery(ctx context.Context, report func(Finding)) error {
	b := battery{s, report}
	for _, line := range []func(context.Context) error{
		b.literals, b.session, b.collation, b.rows, b.window, b.faults, b.cancellation, b.timeout,
	} {
		err := line(ctx)
		if ctx.Err() != nil || CodeOf(err) == CodeUnreachable {
			return err
		}
	}
	return nil
}

// compare reports a line. If the SELECT failed, its error is reported in place of the value.
func (b battery) compare(line, want, got string, err error) error {
	f := Finding{Line: line, Result: Passed, Got: got}
	if err != nil {
		f.Got, f.Err = err.Error(), err
	}
	if err != nil || got != want {
		f.Result, f.Want = Differs, want
	}
	b.report(f)
	return err
}

// selects returns a SELECT of expressions that reads no table.
func (b battery) selects(list string) string { return "SELECT " + list + b.engine.Literals.Dual }

// read returns the rows of a query whose key is k.
func (b battery) read(ctx context.Context, sql string) (rows []Row, err error) {
	_, err = b.Read(ctx, Query{SQL: sql, Key: []string{"k"}}, Window{}, func(r Row) error {
		rows = append(rows, r)
		return nil
	})
	return rows, err
}

// textOf returns a value as the battery compares it: without padding, and an instant at UTC-03:00,
// the standard time of São Paulo.
func textOf(v Value) string {
	switch {
	case v.Err != "":
		return v.Err.Error()
	case v.IsNull():
		return dialect.NullText
	case v.Kind == Instant:
		if at, err := time.Parse(time.RFC3339Nano, v.Text); err == nil {
			return at.In(time.FixedZone("", -3*60*60)).Format(time.RFC3339Nano)
		}
	}
	return v.Trimmed()
}

// literals reads a value of each type, and reads the row again with that value as its key.
func (b battery) literals(ctx context.Context) error {
	for _, l := range literals {
		literal := l.Literal
		if own, ok := b.engine.Literals.Values[l.line]; ok {
			literal = own
		}
		if literal.SQL == "" {
			b.report(Finding{Line: l.line, Result: NotAsked})
			continue
		}
		sql := b.selects("1 AS k, " + literal.SQL + " AS v")
		rows, err := b.read(ctx, sql)
		if err == nil && len(rows) != 1 {
			err = phrase.Errorf("%d rows", len(rows))
		}
		var value Value
		if err == nil {
			value, _ = rows[0].Get("v")
		}
		if err := b.compare(l.line, literal.Want, textOf(value), err); err != nil {
			if CodeOf(err) == CodeUnreachable {
				return err
			}
			continue
		}
		if !value.Usable() {
			continue
		}
		found, err := b.ByKeys(ctx, Query{SQL: sql, Key: []string{"v"}}, [][]Value{{value}})
		again := ""
		if err == nil && len(found) == 1 {
			value, _ = found[0].Get("v")
			again = textOf(value)
		}
		if err := b.compare("key "+l.line, literal.Want, again, err); CodeOf(err) == CodeUnreachable {
			return err
		}
	}
	return nil
}

// session reads the properties of the transaction.
func (b battery) session(ctx context.Context) error {
	session := b.engine.Literals.Session
	if session.SQL == "" {
		b.report(Finding{Line: "session", Result: NotAsked})
		return nil
	}
	rows, err := b.read(ctx, b.selects("1 AS k, "+session.SQL+" AS v"))
	got := ""
	if err == nil && len(rows) == 1 {
		v, _ := rows[0].Get("v")
		got = textOf(v)
	}
	return b.compare("session", session.Want, got, err)
}

// collation reads two keys that many databases consider equal, and finds each again by its own
// text.
func (b battery) collation(ctx context.Context) error {
	sql := b.selects("'São' AS k") + " UNION ALL " + b.selects("'SAO'")
	rows, err := b.read(ctx, sql)
	var got []string
	for _, r := range rows {
		v, _ := r.Get("k")
		found, e := b.ByKeys(ctx, Query{SQL: sql, Key: []string{"k"}}, [][]Value{{v}})
		if e != nil {
			return b.compare("collation", "SAO São", "", e)
		}
		if slices.ContainsFunc(found, func(r Row) bool { w, _ := r.Get("k"); return textOf(w) == textOf(v) }) {
			got = append(got, textOf(v))
		}
	}
	slices.Sort(got)
	return b.compare("collation", "SAO São", strings.Join(got, " "), err)
}

// digits returns a query that joins ten rows with themselves, which yields all numbers with the
// given number of digits.
func (b battery) digits(places int, list string) string {
	var ten, from []string
	for i := range 10 {
		ten = append(ten, b.selects(fmt.Sprintf("%d AS d", i)))
	}
	for i := range places {
		from = append(from, fmt.Sprintf("(%s) t%d", strings.Join(ten, " UNION ALL "), i))
	}
	return "SELECT " + list + " FROM " + strings.Join(from, " CROSS JOIN ")
}

// rows reads a thousand rows and checks that each comes once.
func (b battery) rows(ctx context.Context) error {
	rows, err := b.read(ctx, b.digits(3, "t0.d + 10 * t1.d + 100 * t2.d AS k"))
	seen := map[string]bool{}
	for _, r := range rows {
		v, _ := r.Get("k")
		seen[textOf(v)] = true
	}
	return b.compare("rows", "1000/1000", fmt.Sprintf("%d/%d", len(seen), len(rows)), err)
}

// window reads the rows that changed after a bound.
func (b battery) window(ctx context.Context) error {
	at := func(day string) string {
		sql := "TIMESTAMP '2026-05-10 10:00:00'"
		if own, ok := b.engine.Literals.Values["timestamp"]; ok {
			sql = strings.ReplaceAll(own.SQL, "23:59:59", "10:00:00")
		}
		return strings.NewReplacer("2026-08-10", day, "2026-05-10", day).Replace(sql)
	}
	q := Query{
		SQL: b.selects("1 AS k, "+at("2026-05-01")+" AS em") + " UNION ALL " + b.selects("2, "+at("2026-05-02")),
		Key: []string{"k"}, ChangedAt: "em",
	}
	first, err := b.Read(ctx, q, Window{}, func(Row) error { return nil })
	var got []string
	if err == nil {
		_, err = b.Read(ctx, q, Window{Since: first.Bound}, func(r Row) error {
			v, _ := r.Get("k")
			got = append(got, textOf(v))
			return nil
		})
	}
	saw := fmt.Sprintf("%d, %s", first.Rows, strings.Join(got, " "))
	return b.compare("window", "2, 2", saw, err)
}

// faults reads a column that does not exist.
func (b battery) faults(ctx context.Context) error {
	_, err := b.Columns(ctx, b.selects("1 AS k, prco AS v"))
	if CodeOf(err) == CodeUnreachable {
		return err
	}
	return b.compare("faults", string(CodeMissingColumn), string(CodeOf(err)), nil)
}

// slow returns a query that takes minutes, so that it is certainly not over when it is stopped. It ends
// by itself where the stop does not reach the server.
func (b battery) slow() string { return b.digits(10, "COUNT(*) AS k") }

// cancellation cancels a query from this side, and then reads again.
func (b battery) cancellation(ctx context.Context) error {
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	defer time.AfterFunc(shortTimeout/4, cancel).Stop()
	_, err := b.read(short, b.slow())
	got := string(CodeOf(err))
	rows, err := b.read(ctx, b.selects("1 AS k"))
	return b.compare("cancellation", string(CodeCancelled)+", 1", fmt.Sprintf("%s, %d", got, len(rows)), err)
}

// timeout makes the database end a query.
func (b battery) timeout(ctx context.Context) (err error) {
	opt := b.opt
	opt.StatementTimeout = shortTimeout
	s, err := Open(ctx, opt)
	if err != nil {
		return b.compare("timeout", string(CodeTimeout), "", err)
	}
	_, err = battery{s, b.report}.read(ctx, b.slow())
	got := string(CodeOf(err))
	return b.compare("timeout", string(CodeTimeout), got, s.Close())
}
