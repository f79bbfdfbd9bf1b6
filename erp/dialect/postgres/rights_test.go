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

// A table of which a policy may hide rows is named to the role that it concerns, and not to its owner.
func TestATableThatMayHideRowsIsNamed(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Server(t).Database(t)
	db := erptest.Admin(t, "postgres", dsn, `CREATE TABLE contrato (num TEXT)`, `CREATE ROLE filtered_reader LOGIN`,
		`GRANT SELECT ON contrato TO filtered_reader`)
	reader := erptest.Open(t, erp.SourceOptions{
		Driver: "postgres", DSN: erp.Secret(dsn + " user=filtered_reader password=x"),
	})
	owner := erptest.Open(t, erp.SourceOptions{Driver: "postgres", DSN: erp.Secret(dsn)})
	for _, want := range []string{"", "public.contrato"} {
		if f, err := reader.Facts(t.Context()); err != nil || f.Filtered != want {
			t.Errorf("the reader is told of %q, %v; want %q", f.Filtered, err, want)
		}
		if f, err := owner.Facts(t.Context()); err != nil || f.Filtered != "" {
			t.Errorf("the owner is told of %q, %v", f.Filtered, err)
		}
		erptest.Exec(t, db, `ALTER TABLE contrato ENABLE ROW LEVEL SECURITY`)
	}
}
