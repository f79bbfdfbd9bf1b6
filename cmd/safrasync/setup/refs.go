package setup

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// proposedRef is a de-para table of the ERP, for `references:` in the configuration.
type proposedRef struct {
	kind  string
	query string
	code  []string
	id    string
}

var idColumns = regexp.MustCompile(`uuid|guid|plataforma|platform|extern`)

// findReferences looks for tables that map codes of the ERP to ids of the platform: those with a
// column that has such a name and holds UUIDs. It skips the tables of jobs. Tables in a schema
// without any job table come last, and a person must confirm them.
func findReferences(ctx context.Context, v words.Voice, source *erp.Source, driver string, relations []erp.Relation,
	jobs []*erp.Relation,
) ([]proposedRef, error) {
	var out []proposedRef
	home := func(r erp.Relation) bool {
		return r.Schema == "" || slices.ContainsFunc(jobs,
			func(j *erp.Relation) bool { return strings.EqualFold(j.Schema, r.Schema) })
	}
	relations = slices.Clone(relations)
	slices.SortStableFunc(relations, func(a, b erp.Relation) int {
		switch {
		case home(a) == home(b):
			return 0
		case home(a):
			return -1
		}
		return 1
	})
	for i := range relations {
		r := &relations[i]
		if slices.ContainsFunc(jobs, func(j *erp.Relation) bool { return j.Schema == r.Schema && j.Name == r.Name }) {
			continue
		}
		if !slices.ContainsFunc(r.Columns,
			func(c erp.RelationColumn) bool { return idColumns.MatchString(plainWord(c.Name)) || c.Type == "uuid" }) {
			continue
		}
		s, err := newSurvey(ctx, source, driver, r, "")
		if err != nil {
			continue // a broken view, or a table that may not be read
		}
		at := slices.IndexFunc(s.columns, func(c *surveyed) bool {
			return (idColumns.MatchString(plainWord(c.name)) || c.kind == "uuid") && c.isUUID()
		})
		if at < 0 {
			continue
		}
		found, err := referencesOf(ctx, s, s.columns[at])
		if err != nil {
			return nil, err
		}
		for _, ref := range found {
			if !home(*r) {
				ref.query = "/* " + config.FillIn + ": " + v.Text("init.confirm_schema", r.Schema) + " */ " + ref.query
			}
			if !slices.ContainsFunc(out, func(have proposedRef) bool { return have.kind == ref.kind }) {
				out = append(out, ref)
			}
		}
	}
	slices.SortFunc(out, func(a, b proposedRef) int {
		return slices.Index(trade.ReferenceKinds, a.kind) - slices.Index(trade.ReferenceKinds, b.kind)
	})
	return out, nil
}

// referencesOf returns the kinds of reference in a table: those that a column distinguishes, or the
// one that the table's name or the column's name means.
func referencesOf(ctx context.Context, s *survey, id *surveyed) ([]proposedRef, error) {
	if by := s.named(kindNames, func(c *surveyed) bool { return c != id && !c.isMoment() && !c.isUUID() }); by != nil {
		values, few, err := s.distinct(ctx, by)
		if err != nil {
			return nil, err
		}
		var out []proposedRef
		for _, v := range values {
			kind := kindOf(nameWords(v.text))
			if !few || kind == "" {
				continue
			}
			s.where = []string{by.quoted + " = " + sqlText(v.text)}
			code, err := codeColumns(ctx, s, id, by)
			s.where = nil
			if err != nil {
				return nil, err
			}
			if len(code) > 0 {
				query := "SELECT " + s.list(append(slices.Clone(code), id.name)) + " FROM " +
					relationName(s.driver, *s.relation) + " WHERE " + by.quoted + " = " + sqlText(v.text)
				out = append(out, proposedRef{kind, query, code, id.name})
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	kind := kindOf(append(nameWords(s.relation.Name), nameWords(id.name)...))
	if kind == "" {
		return nil, nil
	}
	code, err := codeColumns(ctx, s, id, nil)
	if err != nil || len(code) == 0 {
		return nil, err
	}
	return []proposedRef{{kind, "SELECT " + s.list(append(slices.Clone(code), id.name)) + " FROM " +
		relationName(s.driver, *s.relation), code, id.name}}, nil
}

func sqlText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// codeColumns returns the columns that form the code: those of the primary key that hold values,
// without the one that distinguishes kinds.
func codeColumns(ctx context.Context, s *survey, id, by *surveyed) ([]string, error) {
	key := s.relation.Primary
	if len(key) == 0 && len(s.relation.Unique) > 0 {
		key = s.relation.Unique[0]
	}
	var out []string
	for _, name := range key {
		c := s.column(name)
		if c == nil || c == id || c == by {
			continue
		}
		values, few, err := s.distinct(ctx, c)
		if err != nil {
			return nil, err
		}
		if !few || len(values) > 0 {
			out = append(out, c.name)
		}
	}
	return out, nil
}

// kindOf returns the de-para kind that a name means; "" if it means none, or more than one.
func kindOf(words []string) string {
	found := ""
	for _, kind := range trade.ReferenceKinds {
		if slices.ContainsFunc(kindWords[kind], func(w string) bool { return slices.Contains(words, w) }) {
			if found != "" {
				return ""
			}
			found = kind
		}
	}
	return found
}
