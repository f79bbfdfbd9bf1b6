package setup

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// surveyRows is how many rows of a table or query are read as a sample.
const surveyRows = 2000

// survey is what `init` knows of one table or query of the ERP.
type survey struct {
	driver   string
	relation *erp.Relation // nil for a query
	body     string        // the query without a filter
	columns  []*surveyed
}

// surveyed is one column with sample values.
type surveyed struct {
	name    string
	quoted  string
	kind    string // the database's type, lower case
	words   []string
	samples []erp.Value // neither blank nor unreadable
}

var binaryTypes = regexp.MustCompile(`bytea|blob|binary|image|clob|^raw|xml|json`)

// errSeenEnough ends a read that has seen enough.
var errSeenEnough = errors.New("enough")

// newSurvey reads a table, a view or a query.
func newSurvey(ctx context.Context, source *erp.Source, driver string, relation *erp.Relation,
	query string,
) (*survey, error) {
	s := &survey{driver: driver, relation: relation, body: strings.TrimRight(strings.TrimSpace(query), "; \n")}
	var names []string
	add := func(name, kind string) {
		names = append(names, name)
		s.columns = append(s.columns, &surveyed{name: name, quoted: erp.QuoteName(driver, name), kind: kind})
	}
	if relation != nil {
		for _, c := range relation.Columns {
			if !binaryTypes.MatchString(c.Type) {
				add(c.Name, c.Type)
			}
		}
		s.body = "SELECT " + s.list(names) + "\nFROM " + relationName(driver, *relation)
	} else {
		columns, err := source.Columns(ctx, s.body)
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			add(c.Name, c.Type)
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
			if v.Usable() && v.Trimmed() != "" {
				s.columns[i].samples = append(s.columns[i].samples, v)
			}
		}
		rows++
		if rows >= surveyRows {
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

// dayText matches a day as an ERP writes it.
var dayText = regexp.MustCompile(`^(\d{8}|\d{2}[-/.]\d{2}[-/.]\d{4}|\d{4}[-/.]\d{2}[-/.]\d{2}.*)$`)

// numberText matches a number as an ERP writes it.
var numberText = regexp.MustCompile(`^[+-]?\d[\d.,]*$`)

// are reports whether most samples have a form.
func (c *surveyed) are(form func(text string) bool) bool { return c.percent(form) >= 60 }

// isMoment reports whether a column holds dates or times.
func (c *surveyed) isMoment() bool { return c.are(dayText.MatchString) }

// isUUID reports whether a column holds ids of the platform.
func (c *surveyed) isUUID() bool { return c.are(isID) }

func isID(text string) bool {
	_, err := trade.ParseID(text)
	return err == nil
}

// percent returns in how many of 100 sample values something is true.
func (c *surveyed) percent(of func(text string) bool) int {
	n := 0
	for _, v := range c.samples {
		if of(v.Trimmed()) {
			n++
		}
	}
	return 100 * n / max(1, len(c.samples))
}

// suits reports whether the values of a column fit a field. A column without values fits.
func (c *surveyed) suits(rule trade.FieldRule) bool {
	if len(c.samples) == 0 {
		return true
	}
	switch rule.Type {
	case trade.Number:
		return c.are(numberText.MatchString) && c.samples[0].Kind != erp.Date
	case trade.Day:
		return c.isMoment()
	case trade.UUID:
		return !c.isMoment() || c.isUUID()
	}
	kind := c.samples[0].Kind
	return kind == erp.Text || kind == erp.Int || kind == erp.Number
}
