package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/trade"
)

// The bodies of chapter 2, written by the ERP's own database from its tables: a second way from the
// row to the request, in which no code of ours takes part. Each query gives job, key, the key of
// the contract ("" for contracts) and the body; @ stands for the contract's id on the platform.
const (
	sqlMember    = `coalesce(',"%[1]s":"' || %[2]s || '"', '')` // a member that is left out when there is no value
	sqlNumber    = `coalesce(',"%[1]s":' || %[2]s, '')`
	sqlReference = `(SELECT plataforma_uuid::text FROM coop.plataforma_referencia WHERE tipo = '%s' AND registro_id = %s)`
	modernShares = `SELECT 'traceability', r.id::text, c.filial_id || '|' || c.numero, '{' || ltrim(%s, ',') || '}'
		FROM coop.rastreabilidade r JOIN coop.contrato c ON c.id = r.contrato_id`
	modernLoads = `SELECT 'deliveries', e.filial_id || '|' || e.ticket || '|' || e.item, c.filial_id || '|' || c.numero, '{' || ltrim(%s, ',') || '}'
		FROM coop.entrega e JOIN coop.contrato c ON c.id = e.contrato_id`
	modernDeals = `SELECT 'contracts', filial_id || '|' || numero, '', '{' || ltrim(%s, ',') || '}' FROM coop.contrato`
)

func modernBodyQueries() []string {
	text := func(name, expression string) string { return fmt.Sprintf(sqlMember, name, expression) }
	number := func(name, column string) string {
		return fmt.Sprintf(sqlNumber, name, "trim_scale("+column+")::text")
	}
	ref := func(name, kind, column string) string { return text(name, fmt.Sprintf(sqlReference, kind, column)) }
	join := func(members ...string) string {
		out := members[0]
		for _, m := range members[1:] {
			out += " || " + m
		}
		return out
	}
	const unit = `CASE %s WHEN 't' THEN 'TON' ELSE upper(%s) END`
	return []string{
		fmt.Sprintf(modernDeals, join(
			number("amount", "quantidade"), ref("producer_id", "produtor", "produtor_id"),
			ref("issuer_id", "usuario", "emissor_id"), text("product", "upper(produto)"),
			ref("delivery_place_id", "local_entrega", "local_entrega_id"), text("haverst", "safra"),
			text("unit_of_measurement", fmt.Sprintf(unit, "unidade", "unidade")),
			text("order_type", "upper(tipo)"), text("order_date", "data_contrato"),
			ref("wallet_id", "carteira", "carteira_id"), text("currency", "moeda"),
			number("price", "preco_unitario"), text("initial_delivery_date", "entrega_inicio"),
			text("end_delivery_date", "entrega_fim"),
			text("modality", "upper(modalidade)"), text("payday", "data_pagamento"),
			text("payment_type", "upper(forma_pagamento)"),
		)),
		fmt.Sprintf(modernLoads, join(
			text("contract_id", "'@'"), number("delivered_volume", "e.volume_liquido"),
			text("delivered_volume_unit_of_measure", "CASE e.unidade WHEN 't' THEN 'ton' ELSE e.unidade END"),
			text("delivery_date", "e.data_entrega"), text("car", "upper(replace(e.car, '.', ''))"),
		)),
		fmt.Sprintf(modernShares, join(
			ref("producer_id", "produtor", "r.produtor_id"), ref("user_id", "usuario", "r.usuario_id"),
			ref("farm_id", "fazenda", "r.fazenda_id"),
			number("allocated_volume", "r.volume"),
			text("unit_of_measurement", fmt.Sprintf(unit, "r.unidade", "r.unidade")),
		)),
	}
}

// modernRequest is what the platform must have got for one row.
type modernRequest struct {
	Resource   string
	Commitment string // of the path
	Body       string
}

// requests gives what the rows that wanted picks must have sent, with the ERP as it is now, sorted.
func (m *modern) requests(wanted func(job, key string) bool) []modernRequest {
	m.t.Helper()
	ids := map[string]string{} // of the contracts, by their bodies: the first of two equal ones
	for _, r := range m.api.CreatedOf(sandbox.ResourceOrderCommitments) {
		if _, twin := ids[string(r.Body)]; !twin {
			ids[string(r.Body)] = r.ID
		}
	}
	if m.contracts == nil {
		m.contracts = map[string]string{}
	}
	var out []modernRequest
	for _, query := range modernBodyQueries() {
		rows, err := m.erp.Query(query)
		if err != nil {
			m.t.Fatalf("%v in %s", err, query)
		}
		for rows.Next() {
			var job, key, parent, body string
			if err := rows.Scan(&job, &key, &parent, &body); err != nil {
				m.t.Fatal(err)
			}
			r := modernRequest{Body: body}
			switch job {
			case "contracts":
				r.Resource = sandbox.ResourceOrderCommitments
				if m.contracts[key] == "" { // one that is changed after it was sent keeps its id
					m.contracts[key] = ids[body]
				}
			case "deliveries":
				r.Resource, r.Body = sandbox.ResourceDeliveries, strings.Replace(body, "@", m.contracts[parent], 1)
			case "traceability":
				r.Resource, r.Commitment = sandbox.ResourceTraceability, m.contracts[parent]
			}
			if wanted(job, key) {
				out = append(out, r)
			}
		}
		if err := rows.Err(); err != nil {
			m.t.Fatal(err)
		}
	}
	sortRequests(out)
	return out
}

// got gives what the platform has executed after its first n creations, sorted.
func (m *modern) got(n int) []modernRequest {
	var out []modernRequest
	for _, r := range m.api.CreatedOf()[n:] {
		out = append(out, modernRequest{r.Resource, r.Params["order_commitment_id"], string(r.Body)})
	}
	sortRequests(out)
	return out
}

func sortRequests(list []modernRequest) {
	slices.SortFunc(list, func(a, b modernRequest) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Body, b.Body),
			cmp.Compare(a.Commitment, b.Commitment))
	})
}

// sameRequests checks that the platform got exactly what the rows of the ERP say.
func sameRequests(t *testing.T, when string, want, got []modernRequest) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s the platform got other requests than the ERP's rows ask for (-want +got):\n%s", when, diff)
	}
}

// modernTables are the expectations by job.
var modernTables = map[string][]modernRow{
	"contracts": modernContracts, "deliveries": modernDeliveries,
	"traceability": modernTraceability,
}

// acceptedIn picks the rows that the tables want accepted in the first run, or newly in the second.
func acceptedIn(second bool) func(job, key string) bool {
	return func(job, key string) bool {
		i := slices.IndexFunc(modernTables[job], func(r modernRow) bool { return r.key == key })
		if i < 0 {
			return false
		}
		r := modernTables[job][i]
		if second {
			return r.after == trade.Accepted && r.state != trade.Accepted
		}
		return r.state == trade.Accepted
	}
}
