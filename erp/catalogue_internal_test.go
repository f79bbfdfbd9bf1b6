package erp

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/erp/dialect/sqlite"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// The queries for databases that no test here can query are checked for their form: one query that
// only reads, and every name of the result.
func TestEveryCatalogueQueryIsOneQueryWithAllNames(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		driver, q := e.Name, e.Catalogue
		for _, c := range []struct{ sql, names string }{
			{q.Relations, "schema_name table_name is_view row_estimate"},
			{q.Columns, "schema_name table_name column_name type_name is_nullable ordinal"},
			{q.Indexes, "schema_name table_name index_name is_primary is_unique column_name ordinal"},
		} {
			if _, err := sqltext.Parse(strings.ReplaceAll(c.sql, "RDB$", "RDB_"), sqlite.Syntax); err != nil {
				t.Errorf("%s: %v\n%s", driver, err, c.sql)
			}
			at := 0
			for name := range strings.FieldsSeq(c.names) {
				next := strings.Index(c.sql[at:], "AS "+name)
				if next < 0 {
					t.Errorf("%s: the query does not name %s, in the order %s:\n%s", driver, name, c.names, c.sql)
					break
				}
				at += next
			}
			if strings.Contains(strings.ToUpper(c.sql), "ORDER BY") {
				t.Errorf("%s: a subquery has no order:\n%s", driver, c.sql)
			}
		}
	}
}
