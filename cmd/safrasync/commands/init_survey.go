package commands

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/words"
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
	samples []string
	people  bool // a value is a CPF or CNPJ: all are masked
}

// What is shown of a column: all different values if they are so few, else two; so many letters of each.
const (
	allSamples   = 8
	shownLetters = 20
)

// withSamples returns the name of a column with its values, with documents masked.
func (c *surveyed) withSamples() string {
	var out []string
	values := c.samples
	if len(values) > allSamples {
		values = values[:2]
	}
	for _, value := range values {
		text := words.Printable(trade.MaskColumn(c.name, value))
		if c.people {
			text = strings.Map(func(r rune) rune {
				if unicode.IsDigit(r) || unicode.IsLetter(r) {
					return '*'
				}
				return r
			}, text)
		}
		if r := []rune(text); len(r) > shownLetters {
			text = string(r[:shownLetters]) + "…"
		}
		out = append(out, text)
	}
	return c.name + " (" + strings.Join(out, ", ") + ")"
}

var binaryTypes = regexp.MustCompile(`bytea|blob|binary|image|clob|^raw|xml|json`)

// newSurvey reads a table, a view or a query.
func newSurvey(ctx context.Context, source *erp.Source, driver string, relation *erp.Relation,
	query string,
) (*survey, error) {
	s := &survey{driver: driver, relation: relation, body: strings.TrimRight(strings.TrimSpace(query), "; \n")}
	var names []string
	add := func(name string) {
		names = append(names, name)
		s.columns = append(s.columns, &surveyed{name: name, quoted: erp.QuoteName(driver, name)})
	}
	if relation != nil {
		for _, c := range relation.Columns {
			if !binaryTypes.MatchString(c.Type) {
				add(c.Name)
			}
		}
		s.body = "SELECT " + s.list(names) + "\nFROM " + relationName(driver, *relation)
	} else {
		columns, err := source.Columns(ctx, s.body)
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			add(c.Name)
		}
	}
	if len(names) == 0 {
		return s, nil
	}
	rows := 0
	err := source.Table(ctx, s.body, names, func(values []erp.Value) error {
		for i, v := range values {
			if v.Usable() && v.Trimmed() != "" {
				c := s.columns[i]
				text := v.Trimmed()
				_, _, err := apiclient.ParseDocument(text)
				c.people = c.people || err == nil
				if len(c.samples) <= allSamples && !slices.Contains(c.samples, text) {
					c.samples = append(c.samples, text)
				}
			}
		}
		rows++
		if rows >= surveyRows {
			return cli.ErrEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, cli.ErrEnough) {
		return nil, err
	}
	return s, nil
}

func (s *survey) list(names []string) string {
	quoted := trade.Map(names, func(name string) string { return erp.QuoteName(s.driver, name) })
	return strings.Join(quoted, ", ")
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
