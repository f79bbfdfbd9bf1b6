package main

import (
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
)

// modernBodies are the bodies of chapter 2, written by the ERP's own database from its tables: a
// second way from the row to the request, in which no code of ours takes part; @ stands for the id
// on the platform of the contract of a delivery.
const modernBodies = `WITH ref AS (SELECT jsonb_object_agg(tipo || registro_id, plataforma_uuid) AS ids FROM coop.plataforma_referencia)
SELECT 'contracts' AS job, filial_id || '|' || numero AS key, '' AS contract, json_strip_nulls(json_build_object(
	'amount', trim_scale(quantidade), 'producer_id', ids->>('produtor' || produtor_id),
	'issuer_id', ids->>('usuario' || emissor_id), 'product', upper(produto),
	'delivery_place_id', ids->>('local_entrega' || local_entrega_id), 'haverst', safra,
	'unit_of_measurement', CASE unidade WHEN 't' THEN 'TON' ELSE upper(unidade) END, 'order_type', upper(tipo),
	'order_date', data_contrato, 'wallet_id', ids->>('carteira' || carteira_id), 'currency', moeda,
	'price', trim_scale(preco_unitario), 'initial_delivery_date', entrega_inicio, 'end_delivery_date', entrega_fim,
	'modality', upper(modalidade), 'payday', data_pagamento, 'payment_type', upper(forma_pagamento)))::text AS body
FROM coop.contrato, ref
UNION ALL
SELECT 'deliveries', e.filial_id || '|' || e.ticket || '|' || e.item, c.filial_id || '|' || c.numero,
	json_strip_nulls(json_build_object('contract_id', '@', 'delivered_volume', trim_scale(e.volume_liquido),
	'delivered_volume_unit_of_measure', CASE e.unidade WHEN 't' THEN 'ton' ELSE e.unidade END,
	'delivery_date', e.data_entrega, 'car', upper(replace(e.car, '.', ''))))::text
FROM coop.entrega e JOIN coop.contrato c ON c.id = e.contrato_id
UNION ALL
SELECT 'traceability', r.id::text, c.filial_id || '|' || c.numero, json_strip_nulls(json_build_object(
	'producer_id', ids->>('produtor' || r.produtor_id), 'user_id', ids->>('usuario' || r.usuario_id),
	'farm_id', ids->>('fazenda' || r.fazenda_id), 'allocated_volume', trim_scale(r.volume),
	'unit_of_measurement', CASE r.unidade WHEN 't' THEN 'TON' ELSE upper(r.unidade) END))::text
FROM ref, coop.rastreabilidade r JOIN coop.contrato c ON c.id = r.contrato_id ORDER BY job`

// requests returns what the rows that wanted picks must have sent, with the ERP as it is now,
// sorted.
func (m *modern) requests(expected map[string][]expectedRow, wanted func(expectedRow) bool) (out []string) {
	m.t.Helper()
	ids := map[string]string{} // of the contracts, by their bodies: the first of two equal ones
	for _, r := range m.api.CreatedOf(sandbox.ResourceOrderCommitments) {
		if _, twin := ids[string(r.Body)]; !twin {
			ids[string(r.Body)] = r.ID
		}
	}
	var rows []struct{ Job, Key, Contract, Body string }
	must.Do(m.t, sqlx.NewDb(m.erp, "postgres").Select(&rows, modernBodies))
	for _, r := range rows {
		if r.Job == "contracts" && m.contracts[r.Key] == "" { // one that is changed after it was sent keeps its id
			m.contracts[r.Key] = ids[r.Body]
		}
		counts := func(row expectedRow) bool { return row.key == r.Key && wanted(row) }
		if !slices.ContainsFunc(expected[r.Job], counts) {
			continue
		}
		path := ""
		if r.Job == "traceability" {
			path = m.contracts[r.Contract]
		}
		out = append(out, r.Job+" "+path+" "+strings.Replace(r.Body, `"@"`, `"`+m.contracts[r.Contract]+`"`, 1))
	}
	slices.Sort(out)
	return out
}

// got returns what the platform has executed after its first n creations, sorted.
func (m *modern) got(n int) (out []string) {
	jobs := map[string]string{
		sandbox.ResourceOrderCommitments: "contracts", sandbox.ResourceDeliveries: "deliveries",
		sandbox.ResourceTraceability: "traceability",
	}
	for _, r := range m.api.CreatedOf()[n:] {
		out = append(out, jobs[r.Resource]+" "+r.Params["order_commitment_id"]+" "+string(r.Body))
	}
	slices.Sort(out)
	return out
}
