package erp_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
)

func TestOpenSaysWhatIsWrongWithTheAddress(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Database(t)
	erptest.Admin(t, "postgres", dsn) // so that the server runs
	// A port on which nobody listens, because we hold and then free it.
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	free := l.Addr().String()
	must.Do(t, l.Close())
	host, port, _ := net.SplitHostPort(free)

	erptest.WantError(t, erptest.OpenError(t, "postgres", "postgres://u:segredo@"+free+"/erp"), erp.CodeUnreachable,
		free+"/erp",
		"connection refused")
	erptest.WantError(t, erptest.OpenError(t, "postgres", "host="+host+" port="+port+" user=u password=segredo"),
		erp.CodeUnreachable, free)
	erptest.WantError(t, erptest.OpenError(t, "postgres", "host=/nowhere user=u password=segredo"), erp.CodeUnreachable,
		"no such socket")
	erptest.WantError(t, erptest.OpenError(t, "postgres", dsn+" dbname=nenhum"), erp.CodeNoDatabase,
		"/nenhum does not exist")
	erptest.WantError(t, erptest.OpenError(t, "postgres", dsn+" sslmode=require password=segredo"), erp.CodeTLS,
		"sslmode=disable")
	erptest.WantError(t, erptest.OpenError(t, "postgres", "postgres://u:segredo%zz@h/db"), erp.CodeConfig,
		"cannot be read as a PostgreSQL address")
	erptest.WantError(t, erptest.OpenError(t, "postgres", "segredo"), erp.CodeConfig, "cannot be read")
	erptest.WantError(t, erptest.OpenError(t, "postgres", dsn+" sslmode=segredo"), erp.CodeConfig,
		"the value of sslmode")
	erptest.WantError(t, erptest.OpenError(t, "db2", "segredo"), erp.CodeConfig, `"db2"`,
		"firebird, mysql, oracle, postgres, sqlite, sqlserver")
}

func TestAWrongPasswordIsCalledThat(t *testing.T) {
	t.Parallel()
	server := pgtest.Server(t) // roles are shared by all databases of a server
	dsn := server.Database(t)
	db := erptest.Admin(t, "postgres", dsn, `CREATE ROLE pw_user LOGIN PASSWORD 'certa'`)
	err := erptest.OpenError(t, "postgres", dsn+" user=pw_user password=segredo")
	erptest.WantError(t, err, erp.CodeAuth, "refused the user or the password", "28P01")
	s := erptest.Open(t, erp.SourceOptions{Driver: "postgres", DSN: erp.Secret(dsn + " user=pw_user password=certa")})

	// The same role may not read a table it was not granted.
	erptest.Exec(t, db, `CREATE TABLE c (k int)`)
	q := erp.Query{SQL: "SELECT k FROM c", Key: []string{"k"}}
	erptest.WantError(t, erptest.ReadError(t, s, q), erp.CodePermission, "grant it SELECT")

	// An ordinary role does not see the start of other transactions, so the lookback must suffice.
	erptest.Exec(t, db, `GRANT SELECT ON c TO pw_user`)
	erptest.Read(t, s, q, erp.Window{})
	for _, want := range []bool{false, true} {
		f, err := s.Facts(t.Context())
		if err != nil || f.SeesTransactions != want || f.Charset != "UTF8" || f.Version == "" ||
			time.Since(f.ServerTime).Abs() > time.Hour {
			t.Errorf("Facts = %+v, %v; want SeesTransactions %v", f, err, want)
		}
		erptest.Exec(t, db, `GRANT pg_read_all_stats TO pw_user`)
	}
}

func TestSSLModeIsSetForALocalServerOnly(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Database(t)
	erptest.Admin(t, "postgres", dsn)
	without := strings.Replace(dsn, "sslmode=disable", "", 1)
	if without == dsn {
		t.Fatalf("the test's DSN has changed its form")
	}
	erptest.Open(t, erp.SourceOptions{Driver: "postgres", DSN: erp.Secret(without)}) // this server has no TLS
}

func TestOpenSQLiteSaysWhatIsWrongWithTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing, rubbish := filepath.Join(dir, "x.db"), filepath.Join(dir, "rubbish.db")
	must.Do(t, os.WriteFile(rubbish, []byte(strings.Repeat("isto não é um banco de dados ", 100)), 0o600))
	erptest.WantError(t, erptest.OpenError(t, "sqlite", missing), erp.CodeNoDatabase, missing, "does not exist")
	if _, err := os.Stat(missing); !os.IsNotExist(err) {
		t.Error("Open created the file")
	}
	erptest.WantError(t, erptest.OpenError(t, "sqlite", rubbish), erp.CodeNotADatabase, rubbish)
	erptest.WantError(t, erptest.OpenError(t, "sqlite", dir), erp.CodeNotADatabase, "folder")
	erptest.WantError(t, erptest.OpenError(t, "sqlite", "postgres://u:segredo@h/db"), erp.CodeConfig, "erp.driver")
	erptest.WantError(t, erptest.OpenError(t, "sqlite", ":memory:"), erp.CodeConfig)
	erptest.WantError(t, erptest.OpenError(t, "sqlite", "file:"+missing+"?mode=rwc"), erp.CodeConfig, `"mode"`)
	erptest.WantError(t, erptest.OpenError(t, "sqlite", "file:"+missing+"?_pragma=segredo"), erp.CodeConfig)
}

func TestOpenSQLiteRefusesAnUnknownCharset(t *testing.T) {
	t.Parallel()
	path, _ := erptest.SQLiteFile(t, `CREATE TABLE c (k)`)
	_, err := erp.Open(t.Context(), erp.SourceOptions{Driver: "sqlite", DSN: erp.Secret(path), Charset: "EBCDIC"})
	erptest.WantError(t, err, erp.CodeConfig, "EBCDIC", "WIN1252")
}

func TestQueryErrorsPointIntoTheQuery(t *testing.T) {
	t.Parallel()
	table := `CREATE TABLE c (k int, preco numeric)`
	pg, _ := postgres(t, table)
	lite, _ := erptest.SQLite(t, table)
	for _, c := range []struct {
		sql   string
		code  erp.Code
		words []string // for both databases
		pg    []string
	}{
		{
			"SELECT k,\n  prco FROM c", erp.CodeMissingColumn,
			[]string{"prco"},
			[]string{"line 2, column 3", `near "prco"`, "c.preco"},
		},
		{"SELECT k FRM c", erp.CodeSyntax, []string{"c"}, []string{"line 1"}},
		{"SELECT ção, k FROM contratos", erp.CodeMissingTable, []string{"contratos"}, []string{"line 1, column 20"}},
		{"SELECT k, k FROM c", erp.CodeDuplicateColumn, []string{`two columns named "k"`}, nil},
		{"SELECT a.*, b.* FROM c a JOIN c b ON a.k = b.k", erp.CodeDuplicateColumn, []string{`"k"`}, nil},
		{"SELECT k FROM c; DELETE FROM c", erp.CodeSyntax, []string{"a second statement", "line 1, column 18"}, nil},
		{"DELETE FROM c RETURNING k", erp.CodeSyntax, []string{`begins with "DELETE"`}, nil},
		{"SELECT k FROM c) AS x, (SELECT 1", erp.CodeSyntax, []string{"closing parenthesis"}, nil},
		{"SELECT (k FROM c", erp.CodeSyntax, []string{"not closed"}, nil},
		{"SELECT 'k FROM c", erp.CodeSyntax, []string{"string does not end", "column 8"}, nil},
		{"SELECT k FROM c WHERE k = $1", erp.CodeSyntax, []string{"parameter $1"}, nil},
		{" -- nada\n ; ", erp.CodeSyntax, []string{"empty"}, nil},
	} {
		for _, s := range []*erp.Source{pg, lite} {
			_, err := s.Columns(t.Context(), c.sql)
			words := c.words
			if s == pg {
				words = append(words[:len(words):len(words)], c.pg...)
			}
			if s == lite && strings.Contains(c.sql, "ção") {
				continue // SQLite names either the missing table or the missing column first
			}
			erptest.WantError(t, err, c.code, words...)
		}
	}
}

func TestTwoExpressionsWithoutNameAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t)
	_, err := s.Columns(t.Context(), "SELECT 1+1, 2+2")
	erptest.WantError(t, err, erp.CodeDuplicateColumn, "name each with AS")
}

func TestConfiguredColumnsMustBeInTheResult(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t, `CREATE TABLE c (filial int, num int, em date)`)
	erptest.WantError(t, erptest.ReadError(t, s, erp.Query{
		SQL: "SELECT * FROM c", Key: []string{"filial", "numero"},
		Job: "contracts",
	}),
		erp.CodeMissingColumn, "job contracts", `"numero"`, "key", "filial, num, em")
	erptest.WantError(t, erptest.ReadError(t, s, erp.Query{
		SQL: "SELECT * FROM c", Key: []string{"num"},
		ChangedAt: "atualizado",
	}),
		erp.CodeMissingColumn, "changed_at")
	erptest.WantError(t, erptest.ReadError(t, s, erp.Query{SQL: "SELECT * FROM c"}), erp.CodeConfig, "no key")
}

func TestF027AColumnThatIsDroppedStopsTheRead(t *testing.T) {
	t.Parallel()
	s, db := postgres(t, `CREATE TABLE c (k int, preco numeric)`, `INSERT INTO c VALUES (1, 2)`)
	q := erp.Query{SQL: "SELECT k, preco FROM c", Key: []string{"k"}}
	erptest.Read(t, s, q, erp.Window{})
	erptest.Exec(t, db, `ALTER TABLE c RENAME preco TO preco_unitario`)
	erptest.WantError(t, erptest.ReadError(t, s, q), erp.CodeMissingColumn, "preco", "renamed")
	cols, err := s.Columns(t.Context(), "SELECT * FROM c")
	if err != nil || len(cols) != 2 || cols[1] != (erp.Column{Name: "preco_unitario", Type: "numeric"}) {
		t.Errorf("Columns = %v, %v", cols, err)
	}
}

// F040: a role that could write does not.
func TestI8NothingIsEverWritten(t *testing.T) {
	t.Parallel()
	s, db := postgres(t, `CREATE TABLE c (k int)`, `INSERT INTO c VALUES (1)`, `CREATE SEQUENCE n`,
		`CREATE FUNCTION apaga() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM c; RETURN 1; END $$`)
	for _, query := range []string{
		"SELECT apaga() AS k", "SELECT nextval('n') AS k", "SELECT k FROM c FOR UPDATE",
		"SELECT set_config('transaction_read_only', 'off', true)::text AS k FROM (SELECT apaga()) x",
	} {
		erptest.WantError(t, erptest.ReadError(t, s, erp.Query{SQL: query, Key: []string{"k"}}), erp.CodeReadOnly,
			"25006")
	}
	// In parentheses, a WITH that writes is not valid SQL.
	erptest.WantError(t, erptest.ReadError(t, s, erp.Query{
		SQL: "WITH d AS (DELETE FROM c RETURNING k) SELECT k FROM d",
		Key: []string{"k"},
	}), erp.CodeSyntax)
	var n int
	if err := db.QueryRow("SELECT count(*) FROM c").Scan(&n); err != nil || n != 1 {
		t.Errorf("the table has %d rows, %v; want 1", n, err)
	}

	path, ldb := erptest.SQLiteFile(t, `CREATE TABLE c (k INTEGER)`, `INSERT INTO c VALUES (1)`)
	before := must.Get(os.ReadFile(path))(t)
	lite := erptest.Open(t, erp.SourceOptions{Driver: "sqlite", DSN: erp.Secret(path)})
	erptest.Read(t, lite, erp.Query{SQL: "SELECT k FROM c", Key: []string{"k"}}, erp.Window{})
	for _, query := range []string{
		"PRAGMA user_version = 7", "WITH x AS (SELECT 1) DELETE FROM c",
		"ATTACH 'x.db' AS x",
	} {
		if _, err := lite.Columns(t.Context(), query); err == nil {
			t.Errorf("%s was accepted", query)
		}
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("the file has changed (%v)", err)
	}
	erptest.Exec(t, ldb, `INSERT INTO c VALUES (2)`) // the reader holds no lock on it
}

func TestTheSessionIsReadOnlyAndNamed(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t)
	rows, _ := erptest.Read(t, s, erp.Query{Key: []string{"a"}, SQL: `SELECT current_setting('application_name') AS a, current_setting('default_transaction_read_only') AS d,
		current_setting('transaction_read_only') AS r, current_setting('transaction_isolation') AS i, current_setting('statement_timeout') AS s, current_setting('lock_timeout') AS l`}, erp.Window{})
	var got []string
	for _, v := range rows[0].Values {
		got = append(got, v.Text)
	}
	if want := "safrasync on on repeatable read 1min 5s"; strings.Join(got, " ") != want {
		t.Errorf("session = %v, want %s", got, want)
	}
}

func TestF012ALockedTableEndsTheReadInTime(t *testing.T) {
	t.Parallel()
	s, db := postgres(t, `CREATE TABLE c (k int)`)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	erptest.Exec(t, tx, `LOCK TABLE c`)
	err = erptest.ReadError(t, s, erp.Query{SQL: "SELECT k FROM c", Key: []string{"k"}})
	erptest.WantError(t, err, erp.CodeLocked, "locked by another session", "55P03")
	must.Do(t, tx.Rollback())
	erptest.Read(t, s, erp.Query{SQL: "SELECT k FROM c", Key: []string{"k"}}, erp.Window{})
}

func TestF012ASlowStatementIsStopped(t *testing.T) {
	t.Parallel()
	s := erptest.Open(t, erp.SourceOptions{
		Driver: "postgres", DSN: erp.Secret(pgtest.Database(t)),
		StatementTimeout: 200 * time.Millisecond,
	})
	err := erptest.ReadError(t, s, erp.Query{SQL: "SELECT 1 AS k, pg_sleep(60)::text AS s", Key: []string{"k"}})
	erptest.WantError(t, err, erp.CodeTimeout, "200ms", "erp.statement_timeout")
	path, _ := erptest.SQLiteFile(t, `CREATE TABLE c (k)`)
	lite := erptest.Open(t, erp.SourceOptions{
		Driver: "sqlite", DSN: erp.Secret(path),
		StatementTimeout: 200 * time.Millisecond,
	})
	err = erptest.ReadError(t, lite,
		erp.Query{
			SQL: "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT max(k) AS k FROM n",
			Key: []string{"k"},
		})
	erptest.WantError(t, err, erp.CodeTimeout, "200ms")
	err = erptest.ReadError(t, lite, erp.Query{ // it works for ever, and returns a row now and then
		SQL: "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT k FROM n",
		Key: []string{"k"},
	})
	erptest.WantError(t, err, erp.CodeTimeout, "200ms")
}

func TestASlowCallerIsNoSlowStatement(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Database(t)
	db := erptest.Admin(t, "postgres", dsn)
	s := erptest.Open(t, erp.SourceOptions{Driver: "postgres", DSN: erp.Secret(dsn), StatementTimeout: 2 * time.Second})
	path, _ := erptest.SQLiteFile(t, `CREATE TABLE c (k)`)
	lite := erptest.Open(t, erp.SourceOptions{
		Driver: "sqlite", DSN: erp.Secret(path), StatementTimeout: 2 * time.Second,
	})
	for _, c := range []struct {
		s   *erp.Source
		sql string
	}{
		{s, "SELECT i AS k, repeat('x', 5000) AS x FROM generate_series(1, 3000) i"}, // more than any socket buffer
		{lite, "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 3000) SELECT k FROM n"},
	} {
		n := 0
		_, err := c.s.Read(t.Context(), erp.Query{SQL: c.sql, Key: []string{"k"}}, erp.Window{}, func(erp.Row) error {
			n++
			if n == 5 || n == 700 {
				erptest.Exec(t, db, "SELECT pg_sleep(2.5)") // the caller takes longer than a statement may
			}
			return nil
		})
		if err != nil || n != 3000 {
			t.Errorf("%s: %d rows, %v", c.s.Target(), n, err)
		}
	}
}

func TestACancelledReadIsCalledThat(t *testing.T) {
	t.Parallel()
	pg, _ := postgres(t)
	lite, _ := erptest.SQLite(t, `CREATE TABLE c (k)`)
	for _, c := range []struct {
		s   *erp.Source
		sql string
	}{
		{pg, "SELECT i AS k FROM generate_series(1, 1000000) i"},
		{lite, "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 1000000) SELECT k FROM n"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		res, err := c.s.Read(ctx, erp.Query{SQL: c.sql, Key: []string{"k"}}, erp.Window{}, func(erp.Row) error {
			n++
			if n == 150 {
				cancel()
			}
			return nil
		})
		erptest.WantError(t, err, erp.CodeCancelled, "before it was complete")
		if !errors.Is(err, context.Canceled) || res != (erp.Result{}) || n > 2000 {
			t.Errorf("%v, %+v, %d rows", err, res, n)
		}
		cancel()
	}
}

func TestTheCallersErrorComesBackAsItIs(t *testing.T) {
	t.Parallel()
	pg, _ := postgres(t)
	lite, _ := erptest.SQLite(t, `CREATE TABLE c (k)`)
	full := &os.PathError{Op: "write", Path: "ledger", Err: io.ErrShortWrite}
	for _, s := range []*erp.Source{pg, lite} {
		_, err := s.Read(t.Context(), erp.Query{SQL: "SELECT 1 AS k", Key: []string{"k"}, Job: "contracts"},
			erp.Window{}, func(erp.Row) error { return full })
		if err != error(full) { //nolint:errorlint // the very value must come back, not a wrapped one
			t.Errorf("%s: %v, want the caller's own error", s.Target(), err)
		}
	}
}

// What a server still sends for a read that ended early would be the answer to the next question on
// its connection.
func TestAConnectionIsNotUsedAgainAfterAReadThatEndedEarly(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t)
	session := erp.Query{SQL: "SELECT pg_backend_pid() AS k FROM generate_series(1, 5)", Key: []string{"k"}}
	all, _ := erptest.Read(t, s, session, erp.Window{})
	again, _ := erptest.Read(t, s, session, erp.Window{})
	if erptest.Text(all[0], "k") != erptest.Text(again[0], "k") {
		t.Fatal("a read that came to its end left no connection for the next one")
	}
	_, err := s.Read(t.Context(), session, erp.Window{}, func(erp.Row) error { return io.ErrShortWrite })
	if !errors.Is(err, io.ErrShortWrite) {
		t.Fatal(err)
	}
	after, _ := erptest.Read(t, s, session, erp.Window{})
	if erptest.Text(all[0], "k") == erptest.Text(after[0], "k") {
		t.Error("the read after one that ended early has the same connection")
	}
}

func TestF009AConnectionCutInTheMiddleIsAnError(t *testing.T) {
	t.Parallel()
	s, db := postgres(t)
	q := erp.Query{
		SQL: "SELECT i AS k, now() AS em FROM generate_series(1, 100000) i", Key: []string{"k"},
		ChangedAt: "em",
	}
	n := 0
	res, err := s.Read(t.Context(), q, erp.Window{}, func(erp.Row) error {
		n++
		if n == 50 {
			var ended sql.NullInt64
			// It waits for us, or is already fetching the next rows.
			return db.QueryRow(`SELECT sum(pg_terminate_backend(pid)::int) FROM pg_stat_activity
				WHERE datname = current_database() AND application_name = 'safrasync' AND xact_start IS NOT NULL AND pid <> pg_backend_pid()`).Scan(&ended)
		}
		return nil
	})
	erptest.WantError(t, err, erp.CodeUnreachable, "tried again at the next run")
	if res != (erp.Result{}) {
		t.Errorf("a cut read returned %+v", res)
	}
	if n >= 100000 {
		t.Errorf("the read was not cut")
	}
	erptest.Read(t, s, erp.Query{SQL: "SELECT 1 AS k", Key: []string{"k"}}, erp.Window{}) // the next one reconnects
}

// A standby that ends a reading because it must apply changes says so with these codes; the next
// run reads again.
func TestAConflictWithRecoveryIsNamed(t *testing.T) {
	t.Parallel()
	for code, text := range map[string]string{
		"40001": "cancelando comando por causa de um conflito com recuperação", //nolint:misspell // Portuguese
		"57P01": "terminating connection due to conflict with recovery",
	} {
		s, _ := postgres(t, `CREATE FUNCTION conflict() RETURNS int LANGUAGE plpgsql AS
			$$ BEGIN RAISE EXCEPTION USING ERRCODE = '`+code+`', MESSAGE = '`+text+`'; END $$`)
		err := erptest.ReadError(t, s, erp.Query{SQL: "SELECT conflict() AS k", Key: []string{"k"}, Job: "contracts"})
		erptest.WantError(t, err, erp.CodeUnreachable, "conflict with recovery", "hot_standby_feedback", code)
	}
	// a server that comes up after a crash says it of itself
	s, _ := postgres(t, `CREATE FUNCTION starts() RETURNS int LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION USING ERRCODE = '57P03', MESSAGE = 'the database system is in recovery mode'; END $$`)
	err := erptest.ReadError(t, s, erp.Query{SQL: "SELECT starts() AS k", Key: []string{"k"}, Job: "contracts"})
	erptest.WantError(t, err, erp.CodeUnreachable, "ended the connection or is starting", "57P03")
}

// The server, or a firewall in between, may close a pooled connection before the next reading.
func TestALookDoesNotFailOnAConnectionThatWasClosedMeanwhile(t *testing.T) {
	t.Parallel()
	s, db := postgres(t, `CREATE TABLE c (k int)`, `INSERT INTO c VALUES (1)`)
	q := erp.Query{SQL: "SELECT k FROM c", Key: []string{"k"}}
	for round := range 3 {
		rows, err := s.ByKeys(t.Context(), q, [][]erp.Value{{{Kind: erp.Int, Text: "1"}}})
		if err != nil || len(rows) != 1 {
			t.Fatalf("round %d: %d rows, %v", round, len(rows), err)
		}
		if _, err := s.Columns(t.Context(), q.SQL); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		var ended int
		err = db.QueryRow(
			`SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'safrasync'`).Scan(&ended)
		if err != nil || ended == 0 {
			t.Fatalf("round %d: %d connections were ended, %v", round, ended, err)
		}
	}
}

// F010: a server that is restarted during a reading does not lead to half a page, and the next run
// reads everything.
func TestF010AServerThatIsRestartedDuringTheReadIsAnError(t *testing.T) {
	t.Parallel()
	server := pgtest.Server(t)
	s := erptest.Open(t, erp.SourceOptions{Driver: "postgres", DSN: erp.Secret(server.Database(t))})
	q := erp.Query{
		SQL: "SELECT i AS k, now() AS em FROM generate_series(1, 100000) i", Key: []string{"k"},
		ChangedAt: "em",
	}
	n := 0
	res, err := s.Read(t.Context(), q, erp.Window{}, func(erp.Row) error {
		n++
		if n == 50 {
			server.Restart(t)
		}
		return nil
	})
	erptest.WantError(t, err, erp.CodeUnreachable, "tried again at the next run")
	if res != (erp.Result{}) || n >= 100000 {
		t.Errorf("a read of %d rows over a restart returned %+v", n, res)
	}
	if rows, _ := erptest.Read(t, s, q, erp.Window{}); len(rows) != 100000 {
		t.Errorf("after the restart %d rows were read", len(rows))
	}
}

func TestASilentServerDoesNotHangTheReader(t *testing.T) {
	t.Parallel()
	err := erptest.OpenError(t, "postgres", "postgres://u:segredo@"+erptest.Silent(t)+"/erp?connect_timeout=1")
	erptest.WantError(t, err, erp.CodeUnreachable, "does not answer")
}

func TestSQLiteWaitsForAWriterAndThenSaysSo(t *testing.T) {
	t.Parallel()
	s, db := erptest.SQLite(t, `CREATE TABLE c (k INTEGER)`)
	c := must.Get(db.Conn(t.Context()))(t)
	erptest.Exec(t, c, "BEGIN EXCLUSIVE")
	erptest.WantError(t, erptest.ReadError(t, s, erp.Query{SQL: "SELECT k FROM c", Key: []string{"k"}}), erp.CodeLocked)
	erptest.Exec(t, c, "ROLLBACK")
	must.Do(t, c.Close())
}
