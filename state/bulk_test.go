package state

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
)

// The types by which PostgreSQL reads a list of values follow from the names of the columns alone, so
// a name must mean the same type in every table that gets such lists.
func TestListsOfValuesHaveTheTypesOfTheirColumns(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		if s.db.D.Name == sqldb.SQLite {
			return // it has no such lists
		}
		for _, table := range []string{"entry", "sent", "former", "exchange", "listing"} {
			var columns []struct{ Name, Type string }
			must.Do(t, s.db.All(t.Context(), "reading the columns", &columns, `SELECT column_name AS name, data_type AS type
				FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ? ORDER BY ordinal_position`,
				table))
			if len(columns) == 0 {
				t.Fatalf("%s has no columns", table)
			}
			for _, c := range columns {
				var read string
				must.Do(t, sqldb.EachArray([]string{c.Name}, [][]any{{""}}, func(list string, _ []any) error {
					read, _, _ = strings.Cut(strings.TrimPrefix(list, "unnest(CAST(? AS "), "[]")
					return nil
				}))
				if !strings.EqualFold(read, c.Type) {
					t.Errorf("%s.%s is %s, and a list of its values is read as %s", table, c.Name, c.Type, read)
				}
			}
		}
	})
}
