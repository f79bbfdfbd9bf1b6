package setup

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// The limits of what a survey reads from the ERP.
const (
	surveyRows   = 2000 // rows from which forms are guessed
	surveyValues = 50   // most distinct values for which a map is proposed
)

// survey is what `init` knows of one table or query of the ERP.
type survey struct {
	source   *erp.Source
	driver   string
	relation *erp.Relation // nil for a query
	body     string        // the query without a filter
	where    []string      // proposed conditions
	columns  []*surveyed
}

// surveyed is one column with sample values.
type surveyed struct {
	name    string
	quoted  string
	kind    string // the database's type, lower case
	words   []string
	samples []erp.Value // neither blank nor unreadable
	rows    int
}

var binaryTypes = regexp.MustCompile(`bytea|blob|binary|image|clob|^raw|xml|json`)

// errSeenEnough ends a read that has seen enough.
var errSeenEnough = errors.New("enough")

// newSurvey reads a table, a view or a query.
func newSurvey(ctx context.Context, source *erp.Source, driver string, relation *erp.Relation,
	query string,
) (*survey, error) {
	s := &survey{
		source: source, driver: driver, relation: relation,
		body: strings.TrimRight(strings.TrimSpace(query), "; \n"),
	}
	var names []string
	if relation != nil {
		for _, c := range relation.Columns {
			if !binaryTypes.MatchString(c.Type) {
				names = append(names, c.Name)
				s.columns = append(s.columns,
					&surveyed{name: c.Name, quoted: erp.QuoteName(driver, c.Name), kind: c.Type})
			}
		}
		s.body = "SELECT " + s.list(names) + "\nFROM " + relationName(driver, *relation)
	} else {
		columns, err := source.Columns(ctx, s.body)
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			names = append(names, c.Name)
			s.columns = append(s.columns, &surveyed{name: c.Name, quoted: erp.QuoteName(driver, c.Name), kind: c.Type})
		}
	}
	prefix := commonPrefix(names)
	for _, c := range s.columns {
		c.words = nameWords(bareName(c.name, prefix))
	}
	if len(names) == 0 {
		return s, nil
	}
	rows := 0
	err := source.Table(ctx, s.body, names, func(values []erp.Value) error {
		for i, v := range values {
			c := s.columns[i]
			if c.rows++; v.Usable() && v.Trimmed() != "" {
				c.samples = append(c.samples, v)
			}
		}
		if rows++; rows >= surveyRows {
			return errSeenEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errSeenEnough) {
		return nil, err
	}
	return s, nil
}

func (s *survey) list(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = erp.QuoteName(s.driver, n)
	}
	return strings.Join(out, ", ")
}

// relationName returns a table's name as a query needs it. It omits the schema that every session
// searches.
func relationName(driver string, r erp.Relation) string {
	name := erp.QuoteName(driver, r.Name)
	if r.Schema == "" || driver == "postgres" && r.Schema == "public" {
		return name
	}
	return erp.QuoteName(driver, r.Schema) + "." + name
}

// column returns a column by its name; nil if there is none.
func (s *survey) column(name string) *surveyed {
	i := slices.IndexFunc(s.columns, func(c *surveyed) bool { return strings.EqualFold(c.name, name) })
	if i < 0 {
		return nil
	}
	return s.columns[i]
}

// alike returns a column by its name, or by the words of its name, with or without the prefix of
// its table; nil if there is none.
func (s *survey) alike(name string) *surveyed {
	if c := s.column(name); c != nil {
		return c
	}
	bare := nameWords(protheusPrefix.ReplaceAllString(name, ""))
	i := slices.IndexFunc(s.columns, func(c *surveyed) bool {
		return slices.Equal(c.words, nameWords(name)) || slices.Equal(c.words, bare)
	})
	if i < 0 {
		return nil
	}
	return s.columns[i]
}

// named returns the column that matches a list of names best, among those for which passes returns
// true.
func (s *survey) named(names []string, passes func(*surveyed) bool) *surveyed {
	var best *surveyed
	most := 0
	for _, c := range s.columns {
		if n := likeness(c.words, names); n > most && (passes == nil || passes(c)) {
			best, most = c, n
		}
	}
	return best
}

// from returns the FROM clause: the query as a subquery, with the proposed conditions.
func (s *survey) from() string {
	out := " FROM (\n" + s.body + "\n) d"
	if len(s.where) > 0 {
		out += " WHERE " + strings.Join(s.where, " AND ")
	}
	return out
}

// distinct returns the distinct values of a column with their numbers of rows. ok is false if there
// are more than surveyValues.
func (s *survey) distinct(ctx context.Context, c *surveyed) (values []valueRows, ok bool, err error) {
	sql := "SELECT " + c.quoted + " AS v, COUNT(*) AS n" + s.from() + " GROUP BY " + c.quoted
	err = s.source.Table(ctx, sql, []string{"v", "n"}, func(v []erp.Value) error {
		text := v[0].Trimmed()
		if !v[0].Usable() || text == "" {
			return nil
		}
		n, err := strconv.Atoi(v[1].Trimmed())
		if err != nil {
			n = 0 // only people read this number
		}
		if i := slices.IndexFunc(values, func(have valueRows) bool { return sameValue(have.text, text) }); i >= 0 {
			values[i].rows += n
			return nil
		}
		values = append(values, valueRows{text, n})
		if len(values) > surveyValues {
			return errSeenEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errSeenEnough) {
		return nil, false, err
	}
	slices.SortFunc(values, func(a, b valueRows) int { return strings.Compare(a.text, b.text) })
	return values, err == nil, nil
}

// valueRows is a value with the number of rows that have it.
type valueRows struct {
	text string
	rows int
}

// sameValue compares two values as value maps do, ignoring case and Unicode normal form.
func sameValue(a, b string) bool { return strings.EqualFold(norm.NFC.String(a), norm.NFC.String(b)) }

// isKey reports whether columns identify every row: none is empty, and no two rows are equal.
func (s *survey) isKey(ctx context.Context, columns []string) (bool, error) {
	var empty, list []string
	for _, name := range columns {
		quoted := erp.QuoteName(s.driver, name)
		empty, list = append(empty, quoted+" IS NULL"), append(list, quoted)
	}
	found := false
	for _, sql := range []string{
		"SELECT 1 AS n" + wherever(s.from(), "("+strings.Join(empty, " OR ")+")"),
		"SELECT 1 AS n" + s.from() + " GROUP BY " + strings.Join(list, ", ") + " HAVING COUNT(*) > 1",
	} {
		err := s.source.Table(ctx, sql, []string{"n"}, func([]erp.Value) error {
			found = true
			return errSeenEnough
		})
		if err != nil && !errors.Is(err, errSeenEnough) {
			return false, err
		}
		if found {
			return false, nil
		}
	}
	return true, nil
}

func wherever(from, condition string) string {
	if strings.Contains(from, ") d WHERE ") {
		return from + " AND " + condition
	}
	return from + " WHERE " + condition
}

// isUUID reports whether a column holds ids of the platform.
func (c *surveyed) isUUID() bool {
	hits := 0
	for _, v := range c.samples {
		if _, err := trade.ParseID(v.Trimmed()); err == nil {
			hits++
		}
	}
	return hits > 0 && hits*10 >= len(c.samples)*8
}

// isMoment reports whether a column holds dates or times.
func (c *surveyed) isMoment() bool {
	_, _, ok := guessDate(c.samples)
	return ok && !c.isNumeric()
}

func (c *surveyed) isNumeric() bool {
	return len(c.samples) > 0 && slices.Contains([]erp.Kind{erp.Int, erp.Number, erp.Float}, c.samples[0].Kind)
}

// suits reports whether the values of a column fit a field. A column without values fits.
func (c *surveyed) suits(rule trade.FieldRule) bool {
	if len(c.samples) == 0 {
		return true
	}
	switch rule.Type {
	case trade.Number:
		_, _, ok := guessNumber(c.samples)
		return ok && c.samples[0].Kind != erp.Date
	case trade.Day:
		_, _, ok := guessDate(c.samples)
		return ok
	case trade.UUID:
		return !c.isMoment() || c.isUUID()
	}
	kind := c.samples[0].Kind
	return kind == erp.Text || kind == erp.Int || kind == erp.Number
}
