package mysql_test

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
	"github.com/safrasync/safrasync/internal/mariatest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/phrase"
)

func TestMySQLValuesAreExactText(t *testing.T) {
	t.Parallel()
	s, _ := mysql(t,
		`CREATE TABLE v (k int, l varchar(20) CHARACTER SET latin1, b bit(1), y year, u bigint unsigned, n decimal(65,30), f float, g double,
			d date, dt datetime(6), ts timestamp(6) NULL, h time, j json, e enum('aberto','fechado'), x varbinary(9), bl blob, tx text, zd date, zt datetime, zs timestamp)`,
		`SET SESSION sql_mode = '', time_zone = '+00:00'`,
		`INSERT INTO v VALUES (1, 'FIXAÇÃO', b'1', 2026, 18446744073709551615, 12345678901234567890123456789012345.123456789012345678901234567890, 0.1, 0.1,
			'2018-11-04', '2026-08-10 23:59:59.302674', '2026-08-10 02:30:00', '10:20:00', '{"a": 1}', 'aberto', x'00ff', x'00ff', repeat('x', 2000), '0000-00-00', '0000-00-00', '0000-00-00')`,
		`INSERT INTO v (k, f, g, n, dt, ts, zd, tx) VALUES (2, 16777217, 1e21, -0.5, '1899-12-30', '2018-11-04 02:59:59', '2026-00-00', repeat('x', 2000000))`,
		`UPDATE v SET tx = repeat('x', 60000) WHERE k = 2`)
	rows, _ := erptest.Read(t, s, erp.Query{SQL: "SELECT * FROM v ORDER BY k", Key: []string{"k"}}, erp.Window{})
	want := map[string]erp.Value{
		"k": {Kind: erp.Int, Text: "1"}, "l": {Kind: erp.Text, Text: "FIXAÇÃO"}, "b": {Kind: erp.Int, Text: "1"},
		"y": {Kind: erp.Int, Text: "2026"},
		"u": {Kind: erp.Int, Text: "18446744073709551615"},
		"n": {Kind: erp.Number, Text: "12345678901234567890123456789012345.123456789012345678901234567890"},
		"f": {Kind: erp.Float, Text: "0.1"}, "g": {Kind: erp.Float, Text: "0.1"},
		"d":  {Kind: erp.Date, Text: "2018-11-04"},
		"dt": {Kind: erp.Timestamp, Text: "2026-08-10T23:59:59.302674"},
		"ts": {Kind: erp.Instant, Text: "2026-08-09T23:30:00-03:00"},
		"h":  {Kind: erp.Text, Text: "10:20:00"}, "j": {Kind: erp.Text, Text: `{"a": 1}`},
		"e":  {Kind: erp.Text, Text: "aberto"},
		"x":  {Kind: erp.Bytes, Err: phrase.Pack("binary column; convert it in the query, e.g. %s", "CONVERT(x USING latin1)")},
		"bl": {Kind: erp.Bytes, Err: phrase.Pack("binary column; convert it in the query, e.g. %s", "CONVERT(bl USING latin1)")},
		"tx": {Kind: erp.Text, Text: strings.Repeat("x", 2000)},
		"zd": {Kind: erp.Date, Text: "0000-00-00"}, "zt": {Kind: erp.Date, Text: "0000-00-00"},
		"zs": {Kind: erp.Date, Text: "0000-00-00"},
	}
	got := map[string]erp.Value{}
	for _, c := range rows[0].Columns() {
		got[c], _ = rows[0].Get(c)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var second []string
	for _, c := range []string{"f", "g", "n", "dt", "ts", "zd", "l"} {
		second = append(second, erptest.Text(rows[1], c))
	}
	if diff := cmp.Diff([]string{
		"16777216", "1000000000000000000000", "-0.500000000000000000000000000000",
		"1899-12-30T00:00:00", "2018-11-03T23:59:59-03:00", "2026-00-00", "<null>",
	}, second); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, key := range [][]string{
		{"l"},
		{"b"},
		{"y"},
		{"u"},
		{"n"},
		{"f"},
		{"g"},
		{"dt"},
		{"ts"},
		{"h"},
		{"e"},
		{"d", "zd", "zt"},
	} {
		erptest.Recheck(t, s, erp.Query{SQL: "SELECT * FROM v WHERE k = 1", Key: key})
	}
}

func TestMySQLTimestampsAreInstants(t *testing.T) {
	t.Parallel()
	s, db := mysql(t, `CREATE TABLE c (k varchar(9), em timestamp(6) NULL)`, `SET time_zone = '+00:00'`,
		`INSERT INTO c VALUES ('at', '2026-05-01 13:00:00.302674'), ('before', '2026-05-01 11:59:59'), ('never', NULL), ('old', '2026-04-01')`)
	q := erp.Query{SQL: "SELECT k, em FROM c", Key: []string{"k"}, ChangedAt: "em"}
	rows, res := erptest.Read(t, s, q, erp.Window{})
	if res.Bound != "2026-05-01 13:00:00.302674+00:00" || erptest.Text(rows[0],
		"em") != "2026-05-01T10:00:00.302674-03:00" {
		t.Errorf("bound %q, value %s", res.Bound, erptest.Text(rows[0], "em"))
	}
	rows, _ = erptest.Read(t, s, q, erp.Window{Since: res.Bound})
	if got := erptest.KeysOf(rows); got != "at never" {
		t.Errorf("window has %q", got)
	}
	erptest.Exec(t, db, `INSERT INTO c VALUES ('future', '2037-01-01')`)
	_, res = erptest.Read(t, s, q, erp.Window{Since: res.Bound})
	if !res.FutureBound || strings.HasPrefix(res.Bound,
		"2037") {
		t.Errorf("%+v", res)
	}
	rows, _ = erptest.Read(t, s, erp.Query{SQL: "SELECT 1 AS k, DATE(em) AS d FROM c WHERE k = 'at'", Key: []string{"k"}},
		erp.Window{})
	if got := erptest.Text(rows[0], "d"); got != "2026-05-01" {
		t.Errorf("the day in the query is %s", got)
	}
}

// A TIMESTAMP begins in 1970; a window that would begin before it has all rows.
func TestAMySQLWindowBeginsAtTheEarliestInWhichATimestampCan(t *testing.T) {
	t.Parallel()
	s, db := mysql(t, `CREATE TABLE c (k varchar(9), em timestamp NULL)`, `SET time_zone = '+00:00'`,
		`INSERT INTO c VALUES ('first', '1970-01-01 00:00:01')`)
	q := erp.Query{SQL: "SELECT k, em FROM c", Key: []string{"k"}, ChangedAt: "em"}
	_, res := erptest.Read(t, s, q, erp.Window{})
	erptest.Exec(t, db, `INSERT INTO c VALUES ('new', '2026-05-01 10:00:00')`)
	rows, _ := erptest.Read(t, s, q, erp.Window{Since: res.Bound, Lookback: time.Hour})
	if got := erptest.KeysOf(rows); got != "first new" {
		t.Errorf("the window after %s has %q, want first new", res.Bound, got)
	}
}

func TestF001MySQLHoldsTheBoundForAnOpenTransaction(t *testing.T) {
	t.Parallel()
	dsn, db := mysqlDatabase(t, `CREATE TABLE c (k int, em timestamp(6) DEFAULT now(6))`)
	// Without PROCESS a role sees no transactions.
	blind := erptest.Open(t, erp.SourceOptions{Driver: "mysql", DSN: erp.Secret(dsn)})
	f, err := blind.Facts(t.Context())
	if err != nil || f.SeesTransactions || f.Charset != "utf8mb4" || !strings.Contains(f.Version, "MariaDB") ||
		time.Since(f.ServerTime).Abs() > time.Hour {
		t.Errorf("Facts = %+v, %v", f, err)
	}
	var reader string
	must.Do(t, db.QueryRow(`SELECT CONCAT('le_', DATABASE())`).Scan(&reader))
	erptest.Exec(t, db, "GRANT PROCESS ON *.* TO "+reader+"@'127.0.0.1'")
	s := erptest.Open(t, erp.SourceOptions{Driver: "mysql", DSN: erp.Secret(dsn)})
	if f, err := s.Facts(t.Context()); err != nil || !f.SeesTransactions {
		t.Errorf("Facts = %+v, %v", f, err)
	}
	late := must.Get(db.BeginTx(t.Context(), nil))(t)
	erptest.Exec(t, late, `INSERT INTO c (k) VALUES (1)`) // stamped, not yet visible
	var wait int
	// trx_started has no fractions: only now the two stamps differ by more
	must.Do(t, db.QueryRow(`SELECT SLEEP(2)`).Scan(&wait))
	erptest.Exec(t, db, `INSERT INTO c (k) VALUES (2)`)
	q := erp.Query{SQL: "SELECT k, em FROM c", Key: []string{"k"}, ChangedAt: "em"}
	rows, first := erptest.Read(t, s, q, erp.Window{})
	if got := erptest.KeysOf(rows); got != "2" {
		t.Fatalf("first read gave %q, want 2", got)
	}
	must.Do(t, late.Commit())
	rows, _ = erptest.Read(t, s, q, erp.Window{Since: first.Bound})
	if got := erptest.KeysOf(rows); got != "1 2" {
		t.Errorf("the late row is lost: second read gave %q after bound %s", got, first.Bound)
	}
}

func TestOpenMySQLSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dsn, db := mysqlDatabase(t, `CREATE TABLE c (k int)`)
	server, name := mariatest.Database(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	must.Do(t, l.Close())
	erptest.WantError(t, erptest.OpenError(t, "mysql", mysqlURL(server, name, "ninguem", "segredo")), erp.CodeAuth,
		server.Address(),
		"refused the user or the password")
	erptest.WantError(t, erptest.OpenError(t, "mysql", strings.Replace(dsn, "s%C3%B3", "segredo", 1)), erp.CodeAuth,
		"erp.dsn")
	erptest.WantError(t, erptest.OpenError(t, "mysql", mysqlURL(server, "nenhum", mariatest.User, mariatest.Password)),
		erp.CodeNoDatabase, "/nenhum", "does not exist")
	erptest.WantError(t, erptest.OpenError(t, "mysql", "mysql://u:segredo@"+free+"/erp"), erp.CodeUnreachable,
		free+"/erp",
		"connection refused")
	erptest.WantError(t, erptest.OpenError(t, "mysql", "mysql://u:segredo@nao-existe.invalid/erp"), erp.CodeUnreachable,
		"name of the host is not known")
	erptest.WantError(t, erptest.OpenError(t, "mysql", dsn+"?tls=require"), erp.CodeTLS, "tls=disable")
	erptest.WantError(t, erptest.OpenError(t, "mysql", dsn+"?tls=segredo"), erp.CodeConfig,
		"verify, require or disable")
	erptest.WantError(t, erptest.OpenError(t, "mysql", dsn+"?multiStatements=true"), erp.CodeConfig, "not known")
	erptest.WantError(t, erptest.OpenError(t, "mysql", "u:segredo@tcp(h:3306)/erp"), erp.CodeConfig,
		"mysql://USER:PASSWORD@HOST:3306/DATABASE")
	erptest.WantError(t, erptest.OpenError(t, "mysql", "mysql://u:segredo%zz@h/erp"), erp.CodeConfig, "cannot be read")
	erptest.WantError(t, erptest.OpenError(t, "mysql", "mysql://u:segredo@h"), erp.CodeConfig, "names no database")
	erptest.WantError(t, erptest.OpenError(t, "mysql", "postgres://u:segredo@h/erp"), erp.CodeConfig, "mysql://")

	s := erptest.Open(t, erp.SourceOptions{Driver: "mysql", DSN: erp.Secret(dsn)})
	q := erp.Query{SQL: "SELECT User AS k FROM mysql.user", Key: []string{"k"}}
	err = erptest.ReadError(t, s, q)
	erptest.WantError(t, err, erp.CodePermission, "lacks a right", "grant it SELECT")
	if strings.Contains(err.Error(), "le_") || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("the error names the user: %v", err)
	}
	erptest.Exec(t, db, `RENAME TABLE c TO d`)
	erptest.WantError(t, erptest.ReadError(t, s, erp.Query{
		SQL: "SELECT k\nFROM d\nWHERE k ==== 1",
		Key: []string{"k"},
	}),
		erp.CodeSyntax, "at line 3 of the query")
}

func TestI8MySQLWritesNothing(t *testing.T) {
	t.Parallel()
	// The role that reads here may do everything, so only the transaction prevents writes.
	server, name := mariatest.Database(t)
	db := erptest.Admin(t, "mysql", server.AdminDSN(name), `CREATE TABLE c (k int) ENGINE=InnoDB`,
		`CREATE TABLE m (k int) ENGINE=MyISAM`,
		`INSERT INTO c VALUES (1)`, `INSERT INTO m VALUES (1)`, `CREATE SEQUENCE n`,
		`CREATE FUNCTION apaga() RETURNS int BEGIN DELETE FROM c; RETURN 1; END`,
		`CREATE FUNCTION apaga_m() RETURNS int BEGIN DELETE FROM m; RETURN 1; END`,
		`CREATE FUNCTION conta() RETURNS int BEGIN RETURN NEXTVAL(n); END`)
	s := erptest.Open(t, erp.SourceOptions{
		Driver: "mysql",
		DSN:    erp.Secret(mysqlURL(server, name, mariatest.User, mariatest.Password)),
	})
	for _, query := range []string{
		"SELECT apaga() AS k", "SELECT apaga_m() AS k", "SELECT conta() AS k", "SELECT k FROM c FOR UPDATE",
		"SELECT k FROM c LOCK IN SHARE MODE",
		"SELECT k FROM c INTO OUTFILE '/tmp/x'", "SELECT NEXTVAL(n) AS k", "SELECT NEXT VALUE FOR n AS k",
	} {
		erptest.WantError(t, erptest.ReadError(t, s, erp.Query{SQL: query, Key: []string{"k"}}), erp.CodeReadOnly)
	}
	for query, want := range map[string]int{
		"SELECT count(*) FROM c": 1, "SELECT count(*) FROM m": 1,
		"SELECT NEXTVAL(n)": 1,
	} {
		var n int
		if err := db.QueryRow(query).Scan(&n); err != nil || n != want {
			t.Errorf("%s = %d, %v; want %d", query, n, err, want)
		}
	}
}

func TestF012MySQLWaitsForALockAndThenSaysSo(t *testing.T) {
	t.Parallel()
	s, db := mysql(t, `CREATE TABLE c (k int)`)
	c := must.Get(db.Conn(t.Context()))(t)
	erptest.Exec(t, c, `LOCK TABLES c WRITE`)
	erptest.WantError(t, erptest.ReadError(t, s, erp.Query{SQL: "SELECT k FROM c", Key: []string{"k"}}), erp.CodeLocked,
		"locked by another session")
	erptest.Exec(t, c, `UNLOCK TABLES`)
	must.Do(t, c.Close())
	erptest.Read(t, s, erp.Query{SQL: "SELECT k FROM c", Key: []string{"k"}}, erp.Window{})
}

// running counts the statements of the reading user on the server.
func running(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	const query = `SELECT count(*) FROM information_schema.processlist WHERE user = CONCAT('le_', DATABASE()) AND command IN ('Query', 'Execute')`
	must.Do(t, db.QueryRow(query).Scan(&n))
	return n
}

func TestF012MySQLStopsASlowStatementOnTheServer(t *testing.T) {
	t.Parallel()
	dsn, db := mysqlDatabase(t, `CREATE TABLE c (k int)`, `INSERT INTO c VALUES (1)`,
		`CREATE TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999) SELECT i FROM n`)
	s := erptest.Open(t, erp.SourceOptions{Driver: "mysql", DSN: erp.Secret(dsn), StatementTimeout: time.Second})
	err := erptest.ReadError(t, s,
		erp.Query{
			SQL: "SELECT count(*) AS k FROM n a, n b, n c, n d WHERE a.i + b.i + c.i + d.i > 0",
			Key: []string{"k"},
		})
	erptest.WantError(t, err, erp.CodeTimeout, "1s", "erp.statement_timeout")
	erptest.Wait(t, func() bool { return running(t, db) == 0 })

	// The last reading has the server's own limit.
	_, err = s.ByKeys(t.Context(),
		erp.Query{SQL: "SELECT k, (SELECT count(*) FROM n a, n b, n c, n d WHERE a.i + b.i + c.i + d.i > k) AS x FROM c", Key: []string{"k"}}, [][]erp.Value{{{Kind: erp.Int, Text: "1"}}})
	erptest.WantError(t, err, erp.CodeTimeout)

	// So does a caller that cancels.
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil && running(t, db) == 0 {
		}
		cancel()
	}()
	long := erptest.Open(t, erp.SourceOptions{Driver: "mysql", DSN: erp.Secret(dsn)})
	_, err = long.Read(ctx,
		erp.Query{
			SQL: "SELECT count(*) AS k FROM n a, n b, n c, n d WHERE a.i + b.i + c.i + d.i > 0",
			Key: []string{"k"},
		}, erp.Window{}, func(erp.Row) error { return nil })
	erptest.WantError(t, err, erp.CodeCancelled)
	erptest.Wait(t, func() bool { return running(t, db) == 0 })
}

func TestASlowCallerIsNoSlowStatementOnMySQL(t *testing.T) {
	t.Parallel()
	dsn, db := mysqlDatabase(t, `CREATE TABLE c AS SELECT seq AS k, repeat('x', 5000) AS x FROM seq_1_to_3000`)
	s := erptest.Open(t, erp.SourceOptions{Driver: "mysql", DSN: erp.Secret(dsn), StatementTimeout: time.Second})
	n := 0
	_, err := s.Read(t.Context(), erp.Query{SQL: "SELECT k, x FROM c", Key: []string{"k"}}, erp.Window{},
		func(erp.Row) error {
			n++
			if n == 5 || n == 700 {
				erptest.Exec(t, db, "DO SLEEP(1.5)") // the caller takes longer than a statement may
			}
			return nil
		})
	if err != nil || n != 3000 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestF009AMySQLConnectionCutInTheMiddleIsAnError(t *testing.T) {
	t.Parallel()
	s, db := mysql(t, `CREATE TABLE c AS SELECT seq AS k, repeat('x', 5000) AS x FROM seq_1_to_9000`)
	n := 0
	res, err := s.Read(t.Context(), erp.Query{SQL: "SELECT k, x FROM c", Key: []string{"k"}}, erp.Window{},
		func(erp.Row) error {
			n++
			if n == 50 {
				var id int64
				if err := db.QueryRow(
					`SELECT max(id) FROM information_schema.processlist WHERE user = CONCAT('le_', DATABASE()) AND command IN ('Query', 'Execute')`).Scan(&id); err != nil {
					return err
				}
				erptest.Exec(t, db, fmt.Sprintf("KILL %d", id))
			}
			return nil
		})
	erptest.WantError(t, err, erp.CodeUnreachable, "tried again at the next run")
	if res != (erp.Result{}) || n >= 9000 {
		t.Errorf("a cut read returned %+v after %d rows", res, n)
	}
	erptest.Read(t, s, erp.Query{SQL: "SELECT 1 AS k", Key: []string{"k"}}, erp.Window{}) // the next one reconnects
}

func TestF031AValueThatBreaksTheMySQLQueryIsReadAround(t *testing.T) {
	t.Parallel()
	s, _ := mysql(t, `CREATE TABLE p (k int PRIMARY KEY, preco varchar(20), em datetime)`,
		`CREATE TABLE f (k int, un varchar(2))`,
		`INSERT INTO p WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, i, '2026-01-01' FROM n`,
		`INSERT INTO f SELECT k, 'sc' FROM p`, `INSERT INTO f VALUES (500, 'kg'), (777, 'kg')`)
	q := erp.Query{
		SQL: "SELECT k, preco, (SELECT un FROM f WHERE f.k = p.k) AS un, em FROM p", Key: []string{"k"},
		ChangedAt: "em",
	}
	rows, res := erptest.Read(t, s, q, erp.Window{})
	if !res.Degraded || res.Rows != 900 || res.Unreadable != 0 || res.Bound != "2026-01-01 00:00:00" {
		t.Fatalf("result %+v, want 900 rows, degraded", res)
	}
	var bad []string
	for _, r := range rows {
		if erptest.Text(r, "un") != "sc" {
			bad = append(bad, erptest.Text(r, "k")+" "+erptest.Text(r, "preco")+" "+erptest.Text(r, "un"))
		}
	}
	slices.Sort(bad)
	if diff := cmp.Diff([]string{
		"500 500 <the database cannot compute this value>",
		"777 777 <the database cannot compute this value>",
	}, bad); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again, err := s.ByKeys(t.Context(), q,
		[][]erp.Value{{{Kind: erp.Int, Text: "499"}}, {{Kind: erp.Int, Text: "500"}}})
	if err != nil || len(again) != 2 {
		t.Errorf("ByKeys = %d rows, %v", len(again), err)
	}
}

func TestTheMySQLSessionMeansTheSameEverywhere(t *testing.T) {
	t.Parallel()
	s, _ := mysql(t)
	var got []string
	rows, _ := erptest.Read(t, s, erp.Query{SQL: `SELECT 'a\'b' AS a, "c" AS c, 7 -- 1
		+ 1 AS d, CAST(NOW() AS DATE) = CAST(CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', '-03:00') AS DATE) AS local_day # fim`, Key: []string{"a"}}, erp.Window{})
	for _, v := range rows[0].Values {
		got = append(got, v.Text)
	}
	if want := "a'b c 8 1"; strings.Join(got, " ") != want {
		t.Errorf("session = %v, want %s", got, want)
	}
}

func TestASilentMySQLDoesNotHangTheReader(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := erp.Open(ctx, erp.SourceOptions{Driver: "mysql", DSN: erp.Secret("mysql://u:segredo@" +
		erptest.Silent(t) +
		"/erp")})
	erptest.WantError(t, err, erp.CodeTimeout)
}

func TestByKeysUsesTheIndexOfMySQL(t *testing.T) {
	t.Parallel()
	s, db := mysql(t,
		`CREATE TABLE c (filial char(2) CHARACTER SET latin1, num int, d decimal(10,2), v text, PRIMARY KEY (filial, num), KEY (d))`,
		`INSERT INTO c SELECT lpad(seq % 10, 2, '0'), seq, seq / 2, 'x' FROM seq_1_to_50000`, `ANALYZE TABLE c`)
	for _, c := range []struct {
		names []string
		keys  [][]erp.Value
	}{
		{[]string{"filial", "num"}, [][]erp.Value{
			{{Kind: erp.Text, Text: "07"}, {Kind: erp.Int, Text: "7"}},
			{{Kind: erp.Text, Text: "ção"}, {Kind: erp.Int, Text: "8"}},
		}},
		{[]string{"d"}, [][]erp.Value{{{Kind: erp.Number, Text: "3.50"}}}},
	} {
		before := handlerReads(t, db)
		rows, err := s.ByKeys(t.Context(), erp.Query{SQL: "SELECT filial, num, d, v FROM c", Key: c.names}, c.keys)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%v: %d rows, %v; want 1", c.names, len(rows), err)
		}
		if after := handlerReads(t, db); after-before > 1000 {
			t.Errorf("the last look by %v reads %d rows in the order of the table", c.names, after-before)
		}
	}
}

// handlerReads counts the rows of the test's own table that were read sequentially.
func handlerReads(t *testing.T, db *sql.DB) (n int64) {
	t.Helper()
	const query = `SELECT COALESCE(SUM(rows_read), 0) FROM information_schema.table_statistics WHERE table_schema = DATABASE()`
	must.Do(t, db.QueryRow(query).Scan(&n))
	return n
}
