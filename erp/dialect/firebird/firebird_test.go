package firebird_test

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/fbtest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/phrase"
)

func TestFirebirdValuesAreExactText(t *testing.T) {
	t.Parallel()
	s, _ := firebird(t,
		`CREATE TABLE v (k int, l varchar(20) CHARACTER SET WIN1252, s smallint, b bigint, n numeric(18,10), m numeric(4,2), f float, g double precision,
			d date, ts timestamp, h time, tx blob sub_type text, bl blob, o char(4) CHARACTER SET OCTETS, l1 boolean, z date, p char(8))`,
		`INSERT INTO v VALUES (1, 'FIXAÇÃO', -7, 9223372036854775807, 0.0000000001, -0.5, 0.1, 0.1, '2018-11-04', '2026-08-10 23:59:59.3026', '10:20:00', 'um texto çã', 'x', 'ab', true, '1899-12-30', '01')`,
		`INSERT INTO v (k, f, g, n, ts, z) VALUES (2, 16777216, 1e21, 12345678.1234567890, '1899-12-30', '0001-01-01')`)
	rows, _ := erptest.Read(t, s, erp.Query{SQL: "SELECT * FROM v ORDER BY k", Key: []string{"k"}}, erp.Window{})
	want := map[string]erp.Value{
		"K": {Kind: erp.Int, Text: "1"}, "L": {Kind: erp.Text, Text: "FIXAÇÃO"}, "S": {Kind: erp.Int, Text: "-7"},
		"B": {Kind: erp.Int, Text: "9223372036854775807"},
		"N": {Kind: erp.Number, Text: "0.0000000001"}, "M": {Kind: erp.Number, Text: "-0.50"},
		"F": {Kind: erp.Float, Text: "0.1"}, "G": {Kind: erp.Float, Text: "0.1"},
		"D": {Kind: erp.Date, Text: "2018-11-04"}, "TS": {Kind: erp.Timestamp, Text: "2026-08-10T23:59:59.3026"},
		"H":  {Kind: erp.Text, Text: "10:20:00.0000"},
		"TX": {Kind: erp.Text, Text: "um texto çã"},
		"BL": {
			Kind: erp.Bytes,
			Err:  phrase.Pack("binary column; convert it in the query, e.g. %s", "CAST(BL AS VARCHAR(100) CHARACTER SET WIN1252)"),
		},
		"O":  {Kind: erp.Bytes, Err: "binary column (OCTETS); convert it in the query"},
		"L1": {Kind: erp.Bool, Text: "true"},
		"Z":  {Kind: erp.Date, Text: "1899-12-30"}, "P": {Kind: erp.Text, Text: "01"},
	}
	got := map[string]erp.Value{}
	for _, c := range rows[0].Columns() {
		got[c], _ = rows[0].Get(c)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var second []string
	for _, c := range []string{"f", "g", "n", "ts", "z", "l"} {
		second = append(second, erptest.Text(rows[1], c))
	}
	if diff := cmp.Diff([]string{
		"16777216", "1000000000000000000000", "12345678.1234567890", "1899-12-30T00:00:00",
		"0001-01-01", "<null>",
	}, second); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, key := range [][]string{
		{"l"},
		{"s"},
		{"b"},
		{"n"},
		{"m"},
		{"f"},
		{"g"},
		{"d"},
		{"ts"},
		{"h"},
		{"l1"},
		{"p", "z"},
	} {
		erptest.Recheck(t, s, erp.Query{SQL: "SELECT * FROM v WHERE k = 1", Key: key})
	}
}

func TestFirebirdDelphiDatesAreInEveryWindow(t *testing.T) {
	t.Parallel()
	s, _ := firebird(t, `CREATE TABLE c (k varchar(9), em timestamp)`,
		`INSERT INTO c VALUES ('at', '2026-05-01 10:00:00.3026')`,
		`INSERT INTO c VALUES ('zero', '1899-12-30')`, `INSERT INTO c VALUES ('old', '2026-04-01')`)
	q := erp.Query{SQL: "SELECT k, em FROM c", Key: []string{"k"}, ChangedAt: "em"}
	_, res := erptest.Read(t, s, q, erp.Window{})
	rows, _ := erptest.Read(t, s, q, erp.Window{Since: res.Bound})
	if got := erptest.KeysOf(rows); got != "at zero" || res.Bound != "2026-05-01 10:00:00.3026" {
		t.Errorf("window has %q after bound %q", got, res.Bound)
	}
}

// none creates a database that does not know its charset, filled by programs that sent WIN1252.
func none(t *testing.T, charset string, statements ...string) (*erp.Source, string) {
	t.Helper()
	server, path := fbtest.Database(t, charset)
	db := erptest.Admin(t, "firebirdsql", server.AdminDSN(path, charset), statements...)
	return nil, firebirdReader(t, server, path, db)
}

func TestF031AFirebirdThatDoesNotKnowItsCharset(t *testing.T) {
	t.Parallel()
	_, dsn := none(t, "NONE", `CREATE TABLE p (k int, cod char(4), nome varchar(30), obs blob sub_type text)`,
		"INSERT INTO p VALUES (1, '01', 'Jos\xe9', 'm\xe3o')", "INSERT INTO p VALUES (2, '0\xc7', 'Ana', NULL)",
		`INSERT INTO p VALUES (3, '03', 'José', NULL)`)
	q := erp.Query{SQL: "SELECT * FROM p ORDER BY k", Key: []string{"k"}}
	s := erptest.Open(t, erp.SourceOptions{Driver: "firebird", DSN: erp.Secret(dsn)})
	if f, err := s.Facts(t.Context()); err != nil || f.Charset != "NONE" || !strings.HasPrefix(f.Version, "3.") ||
		f.SeesTransactions || time.Since(f.ServerTime).Abs() > time.Hour {
		t.Errorf("Facts = %+v, %v", f, err)
	}
	rows, res := erptest.Read(t, s, q, erp.Window{})
	if diff := cmp.Diff([]string{"<bytes not valid UTF-8 at 4>", "Ana", "José"}, erptest.Texts(rows,
		"nome")); diff != "" ||
		res.Degraded {
		t.Errorf("as it is (degraded %v, -want +got):\n%s", res.Degraded, diff)
	}
	win := erptest.Open(t, erp.SourceOptions{Driver: "firebird", DSN: erp.Secret(dsn), Charset: "WIN1252"})
	rows, _ = erptest.Read(t, win, q, erp.Window{})
	if diff := cmp.Diff([]string{"José|mão", "Ana|<null>", "JosÃ©|<null>"}, []string{
		erptest.Text(rows[0], "nome") + "|" + erptest.Text(rows[0], "obs"), erptest.Text(rows[1], "nome") + "|" +
			erptest.Text(rows[1], "obs"),
		erptest.Text(rows[2], "nome") + "|" + erptest.Text(rows[2], "obs"),
	}); diff != "" {
		t.Errorf("as WIN1252 (-want +got):\n%s", diff)
	}
	erptest.Recheck(t, win, erp.Query{SQL: "SELECT k, cod, nome FROM p", Key: []string{"nome", "cod"}})
	if x, err := win.Explain(t.Context(), erp.Query{SQL: "SELECT * FROM p WHERE k > 9", Key: []string{"cod"}},
		[]string{"0Ç"}); err != nil || erptest.ShowExclusion(x) != "exists: k > 9" {
		t.Errorf("%s, %v", erptest.ShowExclusion(x), err)
	}
}

func TestFirebirdConvertsWhatItKnows(t *testing.T) {
	t.Parallel()
	_, dsn := none(t, "WIN1252", `CREATE TABLE p (k int, nome varchar(30))`,
		`INSERT INTO p VALUES (1, 'Conceição – São')`)
	for _, charset := range []string{"", "WIN1252"} {
		s := erptest.Open(t, erp.SourceOptions{Driver: "firebird", DSN: erp.Secret(dsn), Charset: charset})
		rows, _ := erptest.Read(t, s, erp.Query{SQL: "SELECT * FROM p", Key: []string{"k"}}, erp.Window{})
		if got := erptest.Text(rows[0], "nome"); got != "Conceição – São" {
			t.Errorf("with erp.charset %q: %s", charset, got)
		}
	}
}

func TestF031AValueThatBreaksTheFirebirdQueryIsReadAround(t *testing.T) {
	t.Parallel()
	s, db := firebird(t, `CREATE TABLE p (k int, preco varchar(20), em timestamp)`)
	for i := range 600 {
		preco := fmt.Sprint(i)
		if i == 300 || i == 577 {
			preco = "dez"
		}
		erptest.Exec(t, db, fmt.Sprintf(`INSERT INTO p VALUES (%d, '%s', '2026-01-01')`, i, preco))
	}
	q := erp.Query{
		SQL: "SELECT k, CAST(preco AS NUMERIC(9,2)) AS preco, em FROM p", Key: []string{"k"},
		ChangedAt: "em",
	}
	rows, res := erptest.Read(t, s, q, erp.Window{})
	if !res.Degraded || res.Rows != 600 || res.Unreadable != 0 || res.Bound != "2026-01-01 00:00:00.0000" {
		t.Fatalf("result %+v, want 600 rows, degraded", res)
	}
	var bad []string
	for _, r := range rows {
		if strings.HasPrefix(erptest.Text(r, "preco"), "<") {
			bad = append(bad, erptest.Text(r, "k")+" "+erptest.Text(r, "preco"))
		} else if erptest.Text(r, "preco") != erptest.Text(r, "k")+".00" {
			t.Errorf("row %s has price %s", erptest.Text(r, "k"), erptest.Text(r, "preco"))
		}
	}
	slices.Sort(bad)
	if diff := cmp.Diff([]string{
		"300 <the database cannot compute this value>",
		"577 <the database cannot compute this value>",
	}, bad); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestI8FirebirdKeepsNothingThatAQueryWrites(t *testing.T) {
	t.Parallel()
	server, path := fbtest.Database(t, "UTF8")
	db := erptest.Admin(t, "firebirdsql", server.AdminDSN(path, "UTF8"), `CREATE TABLE c (k int)`, `INSERT INTO c VALUES (1)`,
		`CREATE SEQUENCE n`,
		`CREATE PROCEDURE apaga RETURNS (k int) AS BEGIN DELETE FROM c; k = 1; SUSPEND; END`)
	// Even for the owner of all objects.
	owner := erptest.Open(t, erp.SourceOptions{
		Driver: "firebird",
		DSN:    erp.Secret("firebird://SYSDBA:" + fbtest.Password + "@" + server.Address() + path),
	})
	for _, query := range []string{
		"SELECT k FROM apaga", "SELECT GEN_ID(n, 1) AS k FROM RDB$DATABASE",
		"SELECT NEXT VALUE FOR n AS k FROM RDB$DATABASE", "SELECT k FROM c WITH LOCK", "SELECT k FROM c FOR UPDATE",
	} {
		erptest.WantError(t, erptest.ReadError(t, owner, erp.Query{SQL: query, Key: []string{"k"}}), erp.CodeReadOnly)
	}
	for query, want := range map[string]int{"SELECT count(*) FROM c": 1, "SELECT GEN_ID(n, 0) FROM RDB$DATABASE": 0} {
		var n int
		if err := db.QueryRow(query).Scan(&n); err != nil || n != want {
			t.Errorf("%s = %d, %v; want %d", query, n, err, want)
		}
	}
	dsn := erp.Secret(firebirdReader(t, server, path, db))
	reader := erptest.Open(t, erp.SourceOptions{Driver: "firebird", DSN: dsn})
	erptest.WantError(t, erptest.ReadError(t, reader, erp.Query{SQL: "SELECT k FROM apaga", Key: []string{"k"}}),
		erp.CodePermission,
		"grant it SELECT")
}

func TestOpenFirebirdSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	server, path := fbtest.Database(t, "UTF8")
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	free := l.Addr().String()
	must.Do(t, l.Close())
	at := "firebird://SYSDBA:segredo@" + server.Address()
	erptest.WantError(t, erptest.OpenError(t, "firebird", at+path), erp.CodeAuth, server.Address(), "refused the user or the password")
	erptest.WantError(t, erptest.OpenError(t, "firebird", strings.Replace(at, "segredo", fbtest.Password,
		1)+"/nao/existe.fdb"),
		erp.CodeNoDatabase, "nao/existe.fdb", "path on the server")
	erptest.WantError(t, erptest.OpenError(t, "firebird", "firebird://u:segredo@"+free+"/erp"), erp.CodeUnreachable,
		free+"/erp",
		"connection refused")
	erptest.WantError(t, erptest.OpenError(t, "firebird", "firebird://u:segredo@nao-existe.invalid/erp"), erp.CodeUnreachable,
		"name of the host is not known")
	erptest.WantError(t, erptest.OpenError(t, "firebird", at+path+"?wire_crypt=segredo"), erp.CodeConfig, "wire_crypt")
	erptest.WantError(t, erptest.OpenError(t, "firebird", at+path+"?charset=NONE"), erp.CodeConfig,
		"role, wire_crypt, auth_plugin_name")
	erptest.WantError(t, erptest.OpenError(t, "firebird", "SYSDBA:segredo@h/erp"), erp.CodeConfig,
		"firebird://USER:PASSWORD@HOST:3050")
	erptest.WantError(t, erptest.OpenError(t, "firebird", at), erp.CodeConfig, "names no database")
}

func TestFirebirdErrorsPointIntoTheQuery(t *testing.T) {
	t.Parallel()
	s, _ := firebird(t, `CREATE TABLE c (k int, preco numeric(9,2))`)
	for sql, want := range map[string]string{
		"SELECT k,\n  prco FROM c":             "column unknown: PRCO; was it renamed in the ERP?, at line 2, column 3",
		"SELECT k FROM\n contratos":            "table unknown: CONTRATOS",
		"SELECT k FRM c":                       "at line 1",
		"SELECT k, 1 FROM c":                   "without a name",
		"SELECT k FROM c a JOIN c b ON 1=1":    "ambiguous",
		"SELECT NAO_EXISTE(k) AS k FROM c":     "does not accept the query",
		"SELECT q'{it's; fine}' AS k FROM nao": "table unknown: NAO",
	} {
		_, err := s.Columns(t.Context(), sql)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", sql, err, want)
		}
	}
	cols, err := s.Columns(t.Context(), "SELECT * FROM c")
	if diff := cmp.Diff([]erp.Column{{Name: "K", Type: "long"}, {Name: "PRECO", Type: "numeric"}}, cols); err != nil ||
		diff != "" {
		t.Errorf("Columns: %v\n%s", err, diff)
	}
}

const firebirdSlow = `SELECT count(*) AS k FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e`

// firebirdRunning counts the running statements of the reading users.
func firebirdRunning(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	const query = `SELECT count(*) FROM MON$STATEMENTS s JOIN MON$ATTACHMENTS a ON a.MON$ATTACHMENT_ID = s.MON$ATTACHMENT_ID WHERE s.MON$STATE = 1 AND a.MON$USER STARTING WITH 'LE_'`
	tx, err := db.BeginTx(context.Background(), nil) // the monitor shows one moment per transaction
	must.Do(t, err)
	must.Do(t, tx.QueryRow(query).Scan(&n), tx.Rollback())
	return n
}

func TestF012FirebirdStopsASlowStatementOnTheServer(t *testing.T) {
	t.Parallel()
	server, path := fbtest.Database(t, "UTF8")
	db := erptest.Admin(t, "firebirdsql", server.AdminDSN(path, "UTF8"))
	dsn := erp.Secret(firebirdReader(t, server, path, db))
	q := erp.Query{SQL: firebirdSlow, Key: []string{"k"}}
	s := erptest.Open(t, erp.SourceOptions{Driver: "firebird", DSN: dsn, StatementTimeout: time.Second})
	erptest.WantError(t, erptest.ReadError(t, s, q), erp.CodeTimeout, "1s", "erp.statement_timeout")
	erptest.Wait(t, func() bool { return firebirdRunning(t, db) == 0 })

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil && firebirdRunning(t, db) == 0 {
		}
		cancel()
	}()
	long := erptest.Open(t, erp.SourceOptions{Driver: "firebird", DSN: dsn})
	_, err := long.Read(ctx, q, erp.Window{}, func(erp.Row) error { return nil })
	erptest.WantError(t, err, erp.CodeCancelled)
	erptest.Wait(t, func() bool { return firebirdRunning(t, db) == 0 })
	erptest.Read(t, long, erp.Query{SQL: "SELECT 1 AS k FROM RDB$DATABASE", Key: []string{"k"}}, erp.Window{})
}

func TestF009AFirebirdConnectionCutInTheMiddleIsAnError(t *testing.T) {
	t.Parallel()
	server, path := fbtest.Database(t, "UTF8")
	db := erptest.Admin(t, "firebirdsql", server.AdminDSN(path, "UTF8"))
	s := erptest.Open(t, erp.SourceOptions{Driver: "firebird", DSN: erp.Secret(firebirdReader(t, server, path, db))})
	n := 0
	res, err := s.Read(t.Context(),
		erp.Query{
			SQL: "SELECT a.RDB$FIELD_NAME AS k, LPAD('', 2000, 'x') AS x FROM RDB$FIELDS a, RDB$FIELDS b",
			Key: []string{"k"},
		}, erp.Window{}, func(erp.Row) error {
			n++
			if n == 50 {
				erptest.Exec(t, db, `DELETE FROM MON$ATTACHMENTS WHERE MON$USER STARTING WITH 'LE_'`)
			}
			return nil
		})
	erptest.WantError(t, err, erp.CodeUnreachable, "tried again at the next run")
	if res != (erp.Result{}) {
		t.Errorf("a cut read returned %+v after %d rows", res, n)
	}
	// The next one reconnects.
	erptest.Read(t, s, erp.Query{SQL: "SELECT 1 AS k FROM RDB$DATABASE", Key: []string{"k"}}, erp.Window{})
}

func TestFirebirdTakesManyWideKeys(t *testing.T) {
	t.Parallel()
	s, _ := firebird(t, `CREATE TABLE c (a varchar(200), b varchar(200), d char(100))`,
		`INSERT INTO c VALUES ('x', 'y', 'z')`)
	var keys [][]erp.Value
	for i := range 300 {
		keys = append(keys, []erp.Value{
			{Kind: erp.Text, Text: fmt.Sprint(i)},
			{Kind: erp.Text, Text: "y"},
			{Kind: erp.Text, Text: "z"},
		})
	}
	keys = append(keys, []erp.Value{
		{Kind: erp.Text, Text: "x"},
		{Kind: erp.Text, Text: "y"},
		{Kind: erp.Text, Text: "z"},
	})
	rows, err := s.ByKeys(t.Context(), erp.Query{SQL: "SELECT * FROM c", Key: []string{"a", "b", "d"}}, keys)
	if err != nil || len(rows) != 1 {
		t.Errorf("%d rows, %v; want 1", len(rows), err)
	}
	x, err := s.Explain(t.Context(), erp.Query{SQL: "SELECT * FROM c WHERE b = 'n'", Key: []string{"a"}},
		[]string{strings.Repeat("á", 300)})
	if err != nil || erptest.ShowExclusion(x) != "unknown" {
		t.Errorf("a key longer than its column: %s, %v", erptest.ShowExclusion(x), err)
	}
}

func TestASilentFirebirdDoesNotHangTheReader(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := erp.Open(ctx, erp.SourceOptions{
		Driver: "firebird",
		DSN:    erp.Secret("firebird://u:segredo@" + erptest.Silent(t) + "/erp"),
	})
	if code := erp.CodeOf(err); code != erp.CodeTimeout && code != erp.CodeUnreachable { // whichever limit ends first
		t.Errorf("code = %s: %v", code, err)
	}
}

func TestByKeysUsesTheIndexOfFirebird(t *testing.T) {
	t.Parallel()
	s, db := firebird(t,
		`CREATE TABLE c (filial char(2) NOT NULL, num int NOT NULL, d numeric(10,2), v varchar(9), PRIMARY KEY (filial, num))`, `CREATE INDEX c_d ON c (d)`,
		`EXECUTE BLOCK AS DECLARE i INT = 0; BEGIN WHILE (i < 20000) DO BEGIN INSERT INTO c VALUES (LPAD(MOD(:i, 10), 2, '0'), :i, :i / 2.00, 'x'); i = i + 1; END END`)
	for _, c := range []struct {
		names []string
		keys  [][]erp.Value
	}{
		{[]string{"filial", "num"}, [][]erp.Value{
			{{Kind: erp.Text, Text: "07"}, {Kind: erp.Int, Text: "7"}},
			{{Kind: erp.Text, Text: "07"}, {Kind: erp.Int, Text: "8"}},
		}},
		{[]string{"d"}, [][]erp.Value{{{Kind: erp.Number, Text: "3.50"}}}},
	} {
		before := sequentialReads(t, db)
		rows, err := s.ByKeys(t.Context(), erp.Query{SQL: "SELECT filial, num, d, v FROM c", Key: c.names}, c.keys)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%v: %d rows, %v; want 1", c.names, len(rows), err)
		}
		if after := sequentialReads(t, db); after-before > 10000 {
			t.Errorf("the last look by %v reads %d rows in the order of the table", c.names, after-before)
		}
	}
}

// sequentialReads counts the rows of the test's own database that were read sequentially.
func sequentialReads(t *testing.T, db *sql.DB) (n int64) {
	t.Helper()
	tx, err := db.BeginTx(context.Background(), nil) // the monitor shows one moment per transaction
	must.Do(t, err)
	const query = `SELECT r.MON$RECORD_SEQ_READS FROM MON$DATABASE d JOIN MON$RECORD_STATS r ON r.MON$STAT_ID = d.MON$STAT_ID AND r.MON$STAT_GROUP = 0`
	must.Do(t, tx.QueryRow(query).Scan(&n), tx.Rollback())
	return n
}
