package main

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/fbtest"
	"github.com/safrasync/safrasync/internal/mariatest"
	"github.com/safrasync/safrasync/internal/must"
)

// otherERP is the sample ERP in another database.
type otherERP struct {
	driver, product string
	create          func(t *testing.T) (admin *sql.DB, dsn string)
	timestamp       string
}

var otherERPs = []otherERP{
	{"mysql", "MariaDB 10.", func(t *testing.T) (*sql.DB, string) {
		server, name := mariatest.Database(t)
		u := url.URL{
			Scheme: "mysql", User: url.UserPassword(mariatest.User, mariatest.Password),
			Host: server.Address(), Path: "/" + name,
		}
		return openAdmin(t, "mysql", server.AdminDSN(name)), u.String()
	}, "datetime(6)"},
	{"firebird", "Firebird 3.", func(t *testing.T) (*sql.DB, string) {
		server, path := fbtest.Database(t, "WIN1252")
		u := url.URL{
			Scheme: "firebird", User: url.UserPassword("SYSDBA", fbtest.Password), Host: server.Address(),
			Path: path,
		}
		return openAdmin(t, "firebirdsql", server.AdminDSN(path, "UTF8")), u.String()
	}, "timestamp"},
}

func openAdmin(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db := must.Get(sql.Open(driver, dsn))(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// copyTable brings a query's rows from the sample into another database, as text.
func copyTable(t *testing.T, from, to *sql.DB, table, create, query string) {
	t.Helper()
	must.Get(to.Exec("CREATE TABLE " + table + " (" + create + ")"))(t)
	rows := must.Get(sqlx.NewDb(from, "postgres").Queryx(query))(t)
	for rows.Next() {
		cells := must.Get(rows.SliceScan())(t)
		if _, err := to.Exec("INSERT INTO "+table+" VALUES (?"+strings.Repeat(", ?", len(cells)-1)+")",
			cells...); err != nil {
			t.Fatalf("%s %v: %v", table, cells, err)
		}
	}
	must.Do(t, rows.Err())
}

// outcomesOf is what a person sees of a row.
func outcomesOf(rows map[string]row) map[string]string {
	out := map[string]string{}
	for key, r := range rows {
		out[key] = string(r.State)
		if r.Error != nil {
			out[key] += fmt.Sprint(" ", r.Error.Kind, " ", r.Error.Fields)
		}
	}
	return out
}

func TestTheSampleERPHasTheSameOutcomeInEveryDatabase(t *testing.T) {
	t.Parallel()
	sample := newModern(t)
	sample.sync()
	jobs := []string{"contracts", "deliveries", "traceability"}
	want := map[string]map[string]string{}
	for _, job := range jobs {
		want[job] = outcomesOf(sample.rows(job))
	}
	for _, other := range otherERPs {
		t.Run(other.driver, func(t *testing.T) {
			t.Parallel()
			db, dsn := other.create(t)
			copyTable(t, sample.erp, db, "plataforma_referencia",
				"tipo varchar(20), registro_id bigint, plataforma_uuid varchar(36)",
				"SELECT tipo, registro_id::text, plataforma_uuid::text FROM coop.plataforma_referencia")
			copyTable(t, sample.erp, db, "contrato", `id bigint, filial_id integer, numero varchar(20), produtor_id bigint, emissor_id bigint, carteira_id bigint, local_entrega_id bigint,
				tipo varchar(20), produto varchar(20), safra varchar(20), quantidade numeric(18,4),
					unidade varchar(9), moeda varchar(20), preco_unitario numeric(18,6),
				modalidade varchar(20), forma_pagamento varchar(20), data_contrato date, entrega_inicio date,
					entrega_fim date, data_pagamento date, situacao char(12),
				atualizado_em `+other.timestamp+", excluido_em "+other.timestamp,
				`SELECT id::text, filial_id::text, numero, produtor_id::text, emissor_id::text, carteira_id::text, local_entrega_id::text, tipo, produto, safra, quantidade::text, unidade, moeda,
				preco_unitario::text, modalidade, forma_pagamento, data_contrato::text, entrega_inicio::text,
					entrega_fim::text, data_pagamento::text, situacao,
				left((atualizado_em AT TIME ZONE 'America/Sao_Paulo')::text, 23), left((excluido_em AT TIME ZONE 'America/Sao_Paulo')::text, 23) FROM coop.contrato`)
			copyTable(t, sample.erp, db, "entrega", `filial_id integer, ticket integer, item smallint, contrato_id bigint, volume_liquido numeric(18,4), unidade varchar(9),
				data_entrega date, car varchar(90), situacao char(12), atualizado_em `+other.timestamp+", excluido_em "+other.timestamp,
				`SELECT filial_id::text, ticket::text, item::text, contrato_id::text, volume_liquido::text, unidade, data_entrega::text, car, situacao,
				left((atualizado_em AT TIME ZONE 'America/Sao_Paulo')::text, 23), left((excluido_em AT TIME ZONE 'America/Sao_Paulo')::text, 23) FROM coop.entrega`)
			copyTable(t, sample.erp, db, "rastreabilidade", `id bigint, contrato_id bigint, produtor_id bigint, usuario_id bigint, fazenda_id bigint, volume numeric(18,4),
				unidade varchar(9), atualizado_em `+other.timestamp+", excluido_em "+other.timestamp,
				`SELECT id::text, contrato_id::text, produtor_id::text, usuario_id::text, fazenda_id::text, volume::text, unidade,
				left((atualizado_em AT TIME ZONE 'America/Sao_Paulo')::text, 23), left((excluido_em AT TIME ZONE 'America/Sao_Paulo')::text, 23) FROM coop.rastreabilidade`)
			m := newModern(t)
			m.env["SAFRASYNC_ERP_DSN"] = dsn
			m.configure(m.file, "coop.", "", "driver: postgres", "driver: "+other.driver)
			if got := m.run(0, "--config", filepath.Join(t.TempDir(), "first.yaml"), "init", "--driver", other.driver,
				"--dsn", dsn, "--list"); !strings.Contains(strings.ToLower(got), "rastreabilidade") {
				t.Errorf("init does not list the tables of %s:\n%s", other.product, got)
			}
			m.run(0, "--config", filepath.Join(t.TempDir(), "first.yaml"), "init", "--driver", other.driver, "--dsn",
				"${env:SAFRASYNC_ERP_DSN}", "--contracts", "contrato")
			if got := m.run(0, "check"); !strings.Contains(got, other.product) {
				t.Errorf("check does not name %s:\n%s", other.product, got)
			}
			m.sync()
			for _, job := range jobs {
				if diff := cmp.Diff(want[job], outcomesOf(m.rows(job))); diff != "" {
					t.Errorf("%s (-PostgreSQL +%s):\n%s", job, other.driver, diff)
				}
			}
			for _, again := range m.sync().Runs {
				if again.Sent != 0 || again.Changed != 0 {
					t.Errorf("a second run of %v sends %d rows and finds %d changed", again.Job, again.Sent,
						again.Changed)
				}
			}
			if n := len(m.api.CreatedOf()); n != len(sample.api.CreatedOf()) {
				t.Errorf("%d records on the platform, from PostgreSQL %d", n, len(sample.api.CreatedOf()))
			}
		})
	}
}
