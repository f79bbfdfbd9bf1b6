package main

import (
	"os"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
)

// What init proposes neither loses nor doubles a row unless a person has taken a mark away: each flag
// is asked about, and no field is filled in.
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
		"-- PREENCHER: the column excluido (N, S) seems", "-- PREENCHER: the column ativo (S, N) seems",
		"-- PREENCHER: the column estornado (0, 1) seems", "-- PREENCHER: cut-over",
		"{column: PREENCHER, sent_by: contracts} # the columns with the contract's key, in the order of numero\n",
		"delivered_volume: PREENCHER # required in every row\n", "#   peso_liquido (1000, 500)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
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
