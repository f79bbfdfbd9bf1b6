package main

import (
	"database/sql"
	"strconv"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/trade"
)

// plainSum is a SUM over all rows of a query of the ERP, in kilograms and in money.
type plainSum struct {
	job, query string
	negative   int // rows with a price or volume below zero
}

// bridgeLine is one line of the report's bridge.
type bridgeLine struct {
	Section, Job, Line, Role, Keys, Currency string
	Rows                                     *int
	Kg, Value                                *trade.Decimal
}

// bridge reads the bridge of each job from the report: its lines by their names.
func (m *modern) bridge() map[string]map[string]bridgeLine {
	m.t.Helper()
	out := map[string]map[string]bridgeLine{}
	for _, l := range jsonLines[bridgeLine](m.t, m.run(0, "report", "--json", "--section", "bridge")) {
		if l.Section != "bridge" || l.Line == "" {
			continue
		}
		if out[l.Job] == nil {
			out[l.Job] = map[string]bridgeLine{}
		}
		if l.Rows == nil { // of a further currency
			first := out[l.Job][l.Line]
			first.Value = l.Value
			if l.Currency == "BRL" {
				out[l.Job][l.Line] = first
			}
			continue
		}
		if l.Currency != "BRL" {
			l.Value = nil
		}
		out[l.Job][l.Line] = l
	}
	return out
}

// documents sums what the report says of each document, by job: rows that are in the ERP,
// kilograms, reais.
func (m *modern) documents() map[string]plain {
	m.t.Helper()
	out := map[string]plain{}
	for _, l := range jsonLines[struct {
		Section, Job, Currency string
		Kg                     *trade.Decimal `json:"kg_erp"`
		Value                  *trade.Decimal `json:"value_erp"`
	}](m.t, m.run(0, "report", "--json", "--section", "contracts,deliveries,traceability")) {
		if l.Job == "" {
			continue
		}
		sum := out[l.Job]
		if l.Kg != nil {
			sum.kg = sum.kg.Add(*l.Kg)
		}
		if l.Value != nil && l.Currency == "BRL" {
			sum.value = sum.value.Add(*l.Value)
		}
		out[l.Job] = sum
	}
	return out
}

// plain is grain in kilograms, and money in reais.
type plain struct{ kg, value trade.Decimal }

// bridgeSums are plain SUMs over the rows of each job, written for each sample, and not by the
// program's mapping: rows, kilograms, reais.
var bridgeSums = map[string][]plainSum{
	"modern": {
		{job: "contracts", negative: 3, query: `SELECT count(*), sum(quantidade * CASE unidade WHEN 'sc' THEN 60 WHEN 'kg' THEN 1 WHEN 't' THEN 1000 END),
			sum(CASE moeda WHEN 'BRL' THEN quantidade * preco_unitario END) FROM coop.contrato
			WHERE excluido_em IS NULL AND situacao <> 'rascunho' AND (data_contrato IS NULL OR data_contrato NOT BETWEEN '2000-01-01' AND '2025-12-31')`},
		{job: "deliveries", negative: 2, query: `SELECT count(*), sum(volume_liquido * CASE unidade WHEN 'sc' THEN 60 WHEN 'kg' THEN 1 WHEN 't' THEN 1000 END), NULL
			FROM coop.entrega WHERE excluido_em IS NULL AND situacao = 'fechada'`},
		{job: "traceability", negative: 1, query: `SELECT count(*), sum(volume * CASE unidade WHEN 'sc' THEN 60 WHEN 'kg' THEN 1 WHEN 't' THEN 1000 END), NULL
			FROM coop.rastreabilidade WHERE excluido_em IS NULL`},
	},
	"protheus": {
		{job: "contracts", negative: 1, query: `WITH c AS (
			SELECT njr_qtdctr AS q, njr_vlrbas AS p, njr_moeda AS m, njr_um1pro AS u FROM protheus.njr010
			WHERE njr_tipo = '1' AND njr_status <> 'P' AND NOT (njr_data >= '19000101' AND njr_data <= '20251231')
			UNION ALL
			SELECT f.nn8_qtdfix - f.nn8_qtdcan, f.nn8_valuni, f.nn8_moeda, c.njr_um1pro FROM protheus.nn8010 f
			JOIN protheus.njr010 c ON (c.njr_filial, c.njr_codctr) = (f.nn8_filial, f.nn8_codctr) AND c.d_e_l_e_t_ = ' '
			WHERE c.njr_tipo IN ('1', '3') AND NOT (f.nn8_data >= '19000101' AND f.nn8_data <= '20251231'))
			SELECT count(*), sum(round(q::numeric, 3) * CASE u WHEN 'SC' THEN 60 WHEN 'KG' THEN 1 WHEN 'TL'
				THEN 1000 END),
			sum(CASE m WHEN 1 THEN round(q::numeric, 3) * round(p::numeric, 4) END) FROM c`},
		{job: "deliveries", negative: 1, query: `SELECT count(*), sum(round((m.njm_qtdfis - m.njm_qtddes)::numeric, 3) * CASE m.njm_um1pro WHEN 'SC' THEN 60 WHEN 'KG' THEN 1 WHEN 'TL' THEN 1000 END), NULL
			FROM protheus.njm010 m JOIN protheus.njj010 h ON (h.njj_filial, h.njj_codrom) = (m.njm_filial,
				m.njm_codrom) AND h.d_e_l_e_t_ = ' '
			LEFT JOIN protheus.njr010 c ON (c.njr_filial, c.njr_codctr) = (m.njm_filial, m.njm_codctr)
				AND c.d_e_l_e_t_ = ' '
			WHERE h.njj_status IN ('3', '4') AND COALESCE(c.njr_tipo, '1') = '1'`},
		{job: "traceability", query: `SELECT count(*), sum(round(zsh_qtd::numeric, 3) * CASE zsh_um WHEN 'SC' THEN 60 WHEN 'KG' THEN 1 WHEN 'TL' THEN 1000 END), NULL
			FROM protheus.zsh010 WHERE d_e_l_e_t_ = ' '`},
	},
	"firebird": {
		{job: "contracts", negative: 1, query: `SELECT COUNT(*), SUM(Q * CASE TRIM(UN) WHEN 'SC' THEN 60 WHEN 'KG' THEN 1 WHEN 'TON' THEN 1000 END), SUM(CASE TRIM(MOEDA) WHEN 'R$' THEN Q * P END) FROM (
			SELECT UN, MOEDA, CASE WHEN TRIM(QUANTIDADE) SIMILAR TO '(\-)?([0-9]+|[0-9]{1,3}(.[0-9]{3})+)(,[0-9]+)?'
				ESCAPE '\' THEN CAST(REPLACE(REPLACE(TRIM(QUANTIDADE), '.', ''), ',', '.') AS NUMERIC(18,4)) END AS Q,
			CASE WHEN TRIM(PRECO) SIMILAR TO '(\-)?([0-9]+|[0-9]{1,3}(.[0-9]{3})+)(,[0-9]+)?' ESCAPE '\'
				THEN CAST(REPLACE(REPLACE(TRIM(PRECO), '.', ''), ',', '.') AS NUMERIC(18,4)) END AS P
			FROM CONTRATO WHERE COALESCE(TIPO, 0) <> 5 AND APROVADO = 'S' AND (DT_CONTRATO IS NULL OR DT_CONTRATO NOT BETWEEN DATE '1901-01-01' AND DATE '2025-12-31'))`},
		{job: "deliveries", query: `SELECT COUNT(*), SUM(Q * CASE TRIM(UN) WHEN 'SC' THEN 60 WHEN 'KG' THEN 1 WHEN 'TON' THEN 1000 END), NULL FROM (
			SELECT i.UN, CASE WHEN TRIM(i.PESO_LIQUIDO) SIMILAR TO '(\-)?([0-9]+|[0-9]{1,3}(.[0-9]{3})+)(,[0-9]+)?'
				ESCAPE '\'
				THEN CAST(REPLACE(REPLACE(TRIM(i.PESO_LIQUIDO), '.', ''), ',', '.') AS NUMERIC(18,4)) END AS Q
			FROM TICKET_ITEM i JOIN TICKET t ON t.EMPRESA = i.EMPRESA AND t.NUMERO = i.TICKET
				LEFT JOIN CONTRATO c ON c.EMPRESA = i.EMPRESA AND c.NUMERO = i.CONTRATO
			WHERE t.FECHADO = 'S' AND COALESCE(c.TIPO, 0) <> 5)`, negative: 1},
		{job: "traceability", query: `SELECT COUNT(*), SUM(Q * CASE TRIM(UN) WHEN 'SC' THEN 60 WHEN 'KG' THEN 1 WHEN 'TON' THEN 1000 END), NULL FROM (
			SELECT UN, CASE WHEN TRIM(VOLUME) SIMILAR TO '(\-)?([0-9]+|[0-9]{1,3}(.[0-9]{3})+)(,[0-9]+)?' ESCAPE '\' THEN CAST(REPLACE(REPLACE(TRIM(VOLUME), '.', ''), ',', '.') AS NUMERIC(18,4)) END AS Q FROM RATEIO WHERE EXCLUIDO = 'N')`},
	},
}

// The bridge from the ERP is whole, to the gram and to the cent, after each of two runs.
func TestTheBridgeFromTheERPIsAPlainSum(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) *modern{
		"modern": func(t *testing.T) *modern {
			m := newModern(t)
			// One without a number, one that stands twice, one with a negative price.
			m.exec(`ALTER TABLE coop.contrato ALTER numero DROP NOT NULL, DROP CONSTRAINT contrato_filial_id_numero_key`)
			for i, change := range []string{
				`numero = NULL`, `quantidade = quantidade + 1.0001`,
				`numero = 'negativo', preco_unitario = -12.34`,
			} {
				m.exec(`CREATE TEMP TABLE novo ON COMMIT DROP AS SELECT * FROM coop.contrato WHERE id = (SELECT min(id) FROM coop.contrato WHERE situacao = 'aprovado' AND excluido_em IS NULL);
					UPDATE novo SET id = ` + strconv.Itoa(900_000+i) + `, ` + change + `; INSERT INTO coop.contrato SELECT * FROM novo`)
			}
			return m
		},
		"protheus": func(t *testing.T) *modern { return newProtheus(t, pgtest.Database(t), "") },
		"firebird": newFirebird,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := open(t)
			// What the bridge calls read is what a plain SUM over the ERP gives, and the parts add up to it.
			whole := func() {
				t.Helper()
				bridges, documents := m.bridge(), m.documents()
				for _, s := range bridgeSums[name] {
					var rows int
					var kg, value sql.NullString
					if err := m.erp.QueryRow(s.query).Scan(&rows, &kg, &value); err != nil {
						t.Fatalf("%s: %v", s.job, err)
					}
					lines := bridges[s.job]
					read := lines["read"]
					if read.Rows == nil {
						t.Fatalf("%s has no bridge: %+v", s.job, lines)
					}
					var partRows int
					var partKg, partValue trade.Decimal
					for _, l := range lines {
						if l.Role != "part" {
							continue
						}
						partRows, partKg = partRows+*l.Rows, partKg.Add(*l.Kg)
						if l.Value != nil {
							partValue = partValue.Add(*l.Value)
						}
					}
					negative := 0
					if l := lines["negative"]; l.Rows != nil {
						negative = *l.Rows
					}
					if negative != s.negative {
						t.Errorf("%s: %d rows are told as negative, want %d", s.job, negative, s.negative)
					}
					if *read.Rows != rows || partRows != rows {
						t.Errorf("%s: %d rows read, parts %d; the ERP has %d", s.job, *read.Rows, partRows, rows)
					}
					same := func(what string, got *trade.Decimal, parts trade.Decimal, text sql.NullString) {
						want := trade.Decimal{}
						if text.Valid {
							want = must.Get(trade.ParseDecimal(text.String))(t)
						}
						if got == nil {
							got = &trade.Decimal{}
						}
						if got.Cmp(want) != 0 || parts.Cmp(want) != 0 {
							t.Errorf("%s: %s read %s, parts %s; a plain SUM gives %s", s.job, what, got, parts, want)
						}
					}
					// The documents of the bridge are those of the report, one by one.
					var kept plain
					for _, name := range []string{"documents", "negative"} {
						if l := lines[name]; l.Kg != nil {
							kept.kg = kept.kg.Add(*l.Kg)
						}
						if l := lines[name]; l.Value != nil {
							kept.value = kept.value.Add(*l.Value)
						}
					}
					if of := documents[s.job]; of.kg.Cmp(kept.kg) != 0 || of.value.Cmp(kept.value) != 0 {
						t.Errorf(
							"%s: the documents of the report add up to %s kg and R$ %s, those of the bridge to %s kg and R$ %s",
							s.job, of.kg, of.value, kept.kg, kept.value)
					}
					same("kilograms", read.Kg, partKg, kg)
					same("value", read.Value, partValue, value)
				}
			}
			m.sync()
			whole()
			m.overnight(name)
			m.sync("--sweep")
			whole()
		})
	}
}
