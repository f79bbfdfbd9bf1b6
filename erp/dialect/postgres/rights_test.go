package postgres_test

import (
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/pgtest"
)

// F040: the check names what the role would be able to write.
func TestI8ARoleThatCouldWriteIsNamedWithItsTable(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Server(t).Database(t) // roles are shared by all databases of a server
	erptest.Admin(t, "postgres", dsn, `CREATE TABLE contrato (num TEXT)`, `CREATE ROLE rights_reader LOGIN`,
		`GRANT SELECT ON contrato TO rights_reader`)
	writer := erptest.Open(t, erp.SourceOptions{Driver: "postgres", DSN: erp.Secret(dsn)})
	if table, err := writer.MayWrite(t.Context()); err != nil || table != "public.contrato" {
		t.Errorf("the owner may write %q, %v", table, err)
	}
	reader := erptest.Open(t, erp.SourceOptions{
		Driver: "postgres", DSN: erp.Secret(dsn + " user=rights_reader password=x"),
	})
	if table, err := reader.MayWrite(t.Context()); err != nil || table != "" {
		t.Errorf("a role with SELECT may write %q, %v", table, err)
	}
}
