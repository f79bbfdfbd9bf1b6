package main

import (
	"os"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
)

// What init proposes neither loses nor doubles a row unless a person has taken a mark away: rows
// whose flag is NULL stay in, other flags are asked about, and a total of the document is no volume
// of its lines.
func TestInitProposesNothingThatLosesOrDoublesWithoutAMark(t *testing.T) {
	t.Parallel()
	b := newProgram(t)
	b.env["LANG"] = "en_US.UTF-8"
	b.sql("erp.db", `
		CREATE TABLE contrato (numero TEXT PRIMARY KEY, quantidade NUMERIC, excluido TEXT, ativo TEXT,
			estornado INTEGER);
		INSERT INTO contrato VALUES ('1', 10, 'N', 'S', 0), ('2', 20, NULL, 'S', 0), ('3', 30, 'S', 'N', 1), ('4', 40,
			'', 'S', 0);
		CREATE TABLE romaneio_item (id INTEGER PRIMARY KEY, romaneio TEXT, contrato_id INTEGER, peso_liquido NUMERIC,
			data_entrega TEXT);
		INSERT INTO romaneio_item VALUES (1, '7', 1, 1000, '2026-03-10'), (2, '7', 1, 1000, '2026-03-10'), (3, '8', 2, 500, '2026-03-11');`)
	b.run(0, "--config", b.path("new.yaml"), "init", "--driver", "sqlite", "--dsn", b.path("erp.db"), "--contracts",
		"contrato", "--deliveries", "romaneio_item")
	text := b.read("new.yaml")
	for _, want := range []string{
		"-- PREENCHER: rows that do not meet (excluido IS NULL OR excluido NOT IN ('S')) are left out",
		"-- PREENCHER: the column ativo seems", "-- PREENCHER: the column estornado seems",
		"{column: PREENCHER, sent_by: contracts}", "peso_liquido is the same in all rows of one number",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
}

// A de-para of another schema (a copy of last year, a test company) is taken only where the schema
// of the contracts has none, and then with a mark that a person takes away.
func TestADeParaOfAnotherSchemaIsConfirmed(t *testing.T) {
	t.Parallel()
	b := newProgram(t)
	b.env["LANG"] = "en_US.UTF-8"
	dsn := pgtest.Database(t)
	db := must.Get(sqlx.Open("postgres", dsn))(t)
	defer db.Close()
	must.Get(db.Exec(`
		CREATE TABLE contrato (numero text PRIMARY KEY, quantidade numeric, produtor text, carteira text);
		INSERT INTO contrato VALUES ('1', 10, 'P1', 'C1');
		CREATE SCHEMA anterior;
		CREATE TABLE anterior.depara_produtor (codigo text PRIMARY KEY, uuid_plataforma uuid);
		CREATE TABLE anterior.depara_carteira (codigo text PRIMARY KEY, uuid_plataforma uuid);
		CREATE TABLE depara_produtor (codigo text PRIMARY KEY, uuid_plataforma uuid);
		INSERT INTO anterior.depara_produtor VALUES ('P1', '1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c01');
		INSERT INTO anterior.depara_carteira VALUES ('C1', '1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c02');
		INSERT INTO depara_produtor VALUES ('P1', '1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c03')`))(t)
	b.run(0, "--config", b.path("new.yaml"), "init", "--driver", "postgres", "--dsn", dsn, "--contracts", "contrato")
	text := b.read("new.yaml")
	for _, want := range []string{
		`"SELECT codigo, uuid_plataforma FROM depara_produtor"`,
		`"/* PREENCHER: this de-para is of another schema (anterior): check that, and delete this comment */ SELECT codigo, uuid_plataforma FROM anterior.depara_carteira"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "anterior.depara_produtor") {
		t.Errorf("the de-para of another schema is taken though there is one in the contracts' own:\n%s", text)
	}
	if out, _ := b.run(78, "--config", b.path("new.yaml"), "check", "--offline"); !strings.Contains(out,
		"references.wallets.query") {
		t.Errorf("check says nothing of the schema that is to be confirmed:\n%s", out)
	}
}

// A password that is given on the command line stands in a secret of its own afterwards, and
// nowhere else.
func TestAPasswordGivenToInitStandsInASecretOnly(t *testing.T) {
	t.Parallel()
	b := newProgram(t)
	b.env["LANG"] = "en_US.UTF-8"
	const password = "canario-da-senha"
	dsn := pgtest.Database(t) + " password=" + password
	db := must.Get(sqlx.Open("postgres", dsn))(t)
	defer db.Close()
	must.Get(db.Exec(
		`CREATE TABLE contrato (numero text PRIMARY KEY, quantidade numeric); INSERT INTO contrato VALUES ('1', 10)`))(t)
	proposed := func(dsn, file string) (said, text string) {
		t.Helper()
		out, errs := b.run(0, "--config", b.path(file), "init", "--driver", "postgres", "--dsn", dsn, "--contracts",
			"contrato")
		text = b.read(file)
		if strings.Contains(out+errs+text, password) {
			t.Errorf("the password is told:\n%s\n%s\n%s", out, errs, text)
		}
		return errs, text
	}
	said, text := proposed(dsn, "new.yaml")
	if !strings.Contains(said, "process list") || !strings.Contains(text, "dsn: ${file:credentials/erp-dsn}") {
		t.Errorf("it says %q and writes\n%s", said, text)
	}
	kept, err := os.ReadFile(b.path("credentials/erp-dsn"))
	if info, statErr := os.Stat(b.path("credentials/erp-dsn")); err != nil || statErr != nil ||
		string(kept) != dsn+"\n" || info.Mode().Perm() != 0o600 {
		t.Fatalf("the secret is %q (%v, %v)", kept, err, statErr)
	}
	if said, _ := proposed("${file:credentials/erp-dsn}", "again.yaml"); strings.Contains(said, "process list") {
		t.Errorf("of a reference it says %q", said)
	}
	said, text = proposed(dsn+" connect_timeout=9", "other.yaml")
	if kept, err := os.ReadFile(b.path("credentials/erp-dsn")); err != nil || string(kept) != dsn+"\n" {
		t.Errorf("the secret became %q (%v)", kept, err)
	}
	if !strings.Contains(said, "already exists with other content") ||
		!strings.Contains(text, "dsn: ${env:SAFRASYNC_ERP_DSN}") {
		t.Errorf("it says %q and writes\n%s", said, text)
	}
}
