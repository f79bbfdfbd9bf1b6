package erp

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
)

// Relation is a table or a view that the reading user may see.
type Relation struct {
	// Schema is the schema or owner; "" if the database has none.
	Schema string
	// Name is the name as the database stores it.
	Name string
	// View reports whether it is a view.
	View bool
	// Rows is the database's own estimate, or -1 if there is none. Nothing is counted.
	Rows int64
	// Columns are in the order of the table.
	Columns []RelationColumn
	// Primary is the primary key, or nil if there is none.
	Primary []string
	// Unique has the other unique indexes, Indexes those that are not unique. Indexes of
	// expressions or of a part of the rows are left out.
	Unique  [][]string
	Indexes [][]string
}

// RelationColumn is one column of a [Relation].
type RelationColumn struct {
	Name string
	// Type is the database's type in lower case.
	Type string
	// Nullable reports whether the column may be NULL.
	Nullable bool
}

// Column returns the column with a name, ignoring case.
func (r Relation) Column(name string) (RelationColumn, bool) {
	i := slices.IndexFunc(r.Columns, func(c RelationColumn) bool { return strings.EqualFold(c.Name, name) })
	if i < 0 {
		return RelationColumn{}, false
	}
	return r.Columns[i], true
}

// Catalogue returns the tables and views that the reading user may see, by schema and name, without
// those of the database itself. It reads no row of them.
func (s *Source) Catalogue(ctx context.Context) ([]Relation, error) {
	q := s.engine.Catalogue
	// the results of the three queries, in any order
	relations, columns := map[[2]string]*Relation{}, map[[2]string][]placed[RelationColumn]{}
	indexes := map[[3]string]*indexed{}
	for _, part := range []struct {
		sql     string
		columns []string
		add     func([]Value)
	}{
		{q.Relations, []string{"schema_name", "table_name", "is_view", "row_estimate"}, func(v []Value) {
			r := &Relation{Schema: v[0].Trimmed(), Name: v[1].Trimmed(), View: whole(v[2]) == 1, Rows: -1}
			if v[3].Kind != Null {
				r.Rows = whole(v[3])
			}
			relations[[2]string{r.Schema, r.Name}] = r
		}},
		{q.Columns, []string{
			"schema_name", "table_name", "column_name", "type_name", "is_nullable", "ordinal",
		}, func(v []Value) {
			at := [2]string{v[0].Trimmed(), v[1].Trimmed()}
			name, kind := v[2].Trimmed(), strings.ToLower(v[3].Trimmed())
			column := RelationColumn{Name: name, Type: kind, Nullable: whole(v[4]) == 1}
			columns[at] = append(columns[at], placed[RelationColumn]{whole(v[5]), column})
		}},
		{q.Indexes, []string{
			"schema_name", "table_name", "index_name", "is_primary", "is_unique", "column_name",
			"ordinal",
		}, func(v []Value) {
			at := [3]string{v[0].Trimmed(), v[1].Trimmed(), v[2].Trimmed()}
			if indexes[at] == nil {
				indexes[at] = &indexed{primary: whole(v[3]) == 1, unique: whole(v[4]) == 1}
			}
			indexes[at].columns = append(indexes[at].columns, placed[string]{whole(v[6]), v[5].Trimmed()})
		}},
	} {
		err := s.Table(ctx, part.sql, part.columns, func(v []Value) error {
			part.add(v)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var out []Relation
	for at, r := range relations {
		r.Columns = inOrder(columns[at])
		out = append(out, *r)
	}
	slices.SortFunc(out,
		func(a, b Relation) int { return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name)) })
	names := make([][3]string, 0, len(indexes))
	for at := range indexes {
		names = append(names, at)
	}
	slices.SortFunc(names, func(a, b [3]string) int { return slices.Compare(a[:], b[:]) })
	for _, at := range names {
		i := slices.IndexFunc(out, func(r Relation) bool { return r.Schema == at[0] && r.Name == at[1] })
		if i < 0 {
			continue
		}
		x, r := indexes[at], &out[i]
		columns := inOrder(x.columns)
		switch {
		case x.primary:
			r.Primary = columns
		case x.unique && !slices.Equal(columns, r.Primary):
			r.Unique = append(r.Unique, columns)
		case !x.unique:
			r.Indexes = append(r.Indexes, columns)
		}
	}
	for i := range out {
		r := &out[i]
		if r.View || q.Estimate == "" {
			continue
		}
		sql := strings.ReplaceAll(q.Estimate, "TABLE", s.engine.Syntax.Quote(r.Name))
		// An error leaves the estimate unknown.
		_ = s.Table(ctx, sql, []string{"n"}, func(v []Value) error {
			r.Rows = whole(v[0])
			return nil
		})
	}
	return out, nil
}

type placed[T any] struct {
	at   int64
	item T
}

type indexed struct {
	primary, unique bool
	columns         []placed[string]
}

func inOrder[T any](items []placed[T]) []T {
	slices.SortStableFunc(items, func(a, b placed[T]) int { return cmp.Compare(a.at, b.at) })
	out := make([]T, len(items))
	for i, item := range items {
		out[i] = item.item
	}
	return out
}

// whole parses a count or a flag, whatever its kind in the database.
func whole(v Value) int64 {
	text, _, _ := strings.Cut(v.Trimmed(), ".")
	switch strings.ToLower(text) {
	case "true":
		return 1
	case "false", "":
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
