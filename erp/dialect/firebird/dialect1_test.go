package firebird_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/fbtest"
	"github.com/safrasync/safrasync/internal/must"
)

// A database of SQL dialect 1, as old ERPs have it, is read, and its rows are found again by keys
// of every type and by their time of change.
func TestADatabaseOfDialect1IsRead(t *testing.T) {
	t.Parallel()
	server, path := fbtest.OldDatabase(t, "WIN1252", `
CREATE TABLE C (NUM INTEGER NOT NULL PRIMARY KEY, FILIAL SMALLINT, COD VARCHAR(10), QTD NUMERIC(15,2),
  SALDO NUMERIC(9,2), X DOUBLE PRECISION, DIA DATE, EM DATE);
INSERT INTO C VALUES (1, 1, '0001', 1234.56, 0.10, 0.1, '2026-05-10', '2026-05-10 10:00:00');
INSERT INTO C VALUES (2147483647, 2, '0002', -0.01, -1234567.89, 1e300, '2026-05-11 23:59:59', '2026-05-12 10:00:00');
INSERT INTO C VALUES (-3, 3, '0003', 9999999999999.99, 0, -2.5, '1899-12-30', NULL);
COMMIT;
`)
	dsn := "firebird://SYSDBA:" + fbtest.Password + "@" + server.Address() + path
	s := erptest.Open(t, erp.SourceOptions{Driver: "firebird", DSN: erp.Secret(dsn)})
	for _, key := range [][]string{
		{"NUM"}, {"FILIAL", "NUM"}, {"COD"}, {"QTD"}, {"SALDO"}, {"X"}, {"DIA"}, {"DIA", "QTD", "NUM"},
	} {
		erptest.Recheck(t, s, erp.Query{SQL: "SELECT * FROM C", Key: key})
	}
	q := erp.Query{SQL: "SELECT * FROM C", Key: []string{"NUM"}, ChangedAt: "EM"}
	_, res := erptest.Read(t, s, q, erp.Window{})
	rows, _ := erptest.Read(t, s, q, erp.Window{Since: res.Bound})
	if diff := cmp.Diff([]string{"2147483647", "-3"}, erptest.Texts(rows, "NUM")); diff != "" {
		t.Errorf("the window since %s (-want +got):\n%s", res.Bound, diff)
	}
	for _, typed := range []string{"1", "0001", "2147483647", "99999999999", "1.50"} {
		found := must.Get(s.Explain(t.Context(), q, []string{typed}))(t)
		if want := len(typed) < 11 && typed != "1.50"; !found.Known || found.Returned != want {
			t.Errorf("%s: %+v", typed, found)
		}
	}
	_, err := s.Catalogue(t.Context())
	must.Do(t, err)
}
