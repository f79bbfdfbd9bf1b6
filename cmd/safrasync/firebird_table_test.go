package main

import (
	"github.com/safrasync/safrasync/trade"
)

// firebirdTables say of each row of testdata/erp/agro-firebird.sql what it becomes, which rule
// decides that, and what it is after the second run.
var firebirdTables = map[string][]modernRow{
	"contracts": {
		{"1|1001", trade.Accepted, "", "every rule holds; changed after it was sent", trade.Accepted, "", "changed"},
		{"1|1002", trade.Accepted, "", "A_FIXAR: 0,00 and zero dates are nothing", trade.Accepted, "", ""},
		{"1|1003", trade.Accepted, "", "FIXAÇÃO", trade.Accepted, "", ""},
		{"1|1004", trade.Accepted, "", "Fixação de Depósito: case does not count", trade.Accepted, "", ""},
		{"1|1005", outOfScope, "", "filter: a sale", outOfScope, "", ""},
		{"1|1006", trade.Invalid, "rule:order_type", "order_type unmapped", trade.Invalid, "rule:order_type", ""},
		{"1|1007", outOfScope, "", "filter: not approved; approved before the second run", trade.Accepted, "", ""},
		{
			"1|1008", trade.Accepted, "", "every rule holds; cancelled after it was sent", trade.Accepted, "",
			"cancelled",
		},
		{"1|1009", outOfScope, "", "cancelled before it was sent", outOfScope, "", ""},
		{"1|1010", trade.Invalid, "rule:amount", "amount number", trade.Accepted, "", ""},
		{"1|1011", trade.Invalid, "rule:price", "price number", trade.Invalid, "rule:price", ""},
		{"1|1012", trade.Invalid, "rule:order_date", "order_date required", trade.Invalid, "rule:order_date", ""},
		{
			"1|1013", trade.Invalid, "rule:initial_delivery_date", "initial_delivery_date date", trade.Invalid,
			"rule:initial_delivery_date", "",
		},
		{
			"1|1014", trade.Invalid, "rule:initial_delivery_date", "initial_delivery_date date", trade.Invalid,
			"rule:initial_delivery_date", "",
		},
		{
			"1|1015", trade.Waiting, "ref:producers", "the id is blank; given before the second run",
			trade.Accepted, "", "",
		},
		{"1|1016", trade.Invalid, "rule:producer_id", "producer_id uuid", trade.Invalid, "rule:producer_id", ""},
		{
			"1|1017", trade.Accepted, "", "a spoilt name is nobody's fault; the price in another spelling is no change",
			trade.Accepted, "", "",
		},
		{"1|1018", trade.Invalid, "rule:product", "product unmapped", trade.Invalid, "rule:product", ""},
		{"1|1019", trade.Accepted, "", "two texts of the ERP are one product", trade.Accepted, "", ""},
		{"1|1020", trade.Invalid, "rule:haverst", "haverst unmapped", trade.Invalid, "rule:haverst", ""},
		{
			"1|1021", trade.Invalid, "rule:delivery_place_id", "delivery_place_id required", trade.Invalid,
			"rule:delivery_place_id", "",
		},
		{
			"1|1022", trade.Rejected, "message.delivery-place.not-found", "the platform does not know the place",
			trade.Rejected, "message.delivery-place.not-found", "",
		},
		{
			"1|1023", trade.Rejected, "message.wallet.producer-not-linked", "the wallet is not linked to the producer",
			trade.Rejected, "message.wallet.producer-not-linked", "",
		},
		{"1|1024", trade.Invalid, "rule:modality", "modality unreadable", trade.Accepted, "", ""},
		{"1|1025", trade.Accepted, "", "every rule holds; changed without a stamp", trade.Accepted, "", "changed"},
		{"1|1026", outOfScope, "", "not there yet; it comes with an old stamp", trade.Accepted, "", ""},
		{"1|1027", trade.Invalid, "rule:amount", "amount positive", trade.Invalid, "rule:amount", ""},
		{
			"1|1028", trade.Accepted, "", "TROCA = S; the row is deleted after it was sent", trade.Accepted, "",
			"missing",
		},
		{"1|1029", outOfScope, "", "filter: dated before 2026", outOfScope, "", ""},
		{"1|1030", trade.Accepted, "", "1.234 is a thousand", trade.Accepted, "", ""},
		{"1|1031", trade.Invalid, "rule:order_type", "order_type required", trade.Invalid, "rule:order_type", ""},
		{
			"2|1001", trade.Accepted, "", "the branch is part of the key, and of the code of the place",
			trade.Accepted, "", "",
		},
	},
	"deliveries": {
		{"1|501|1", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
		{"1|502|1", trade.Accepted, "", "one load, two contracts: two deliveries", trade.Accepted, "", ""},
		{"1|502|2", trade.Accepted, "", "the second of them", trade.Accepted, "", ""},
		{"1|503|1", trade.Waiting, "parent", "its contract is invalid", trade.Waiting, "parent", ""},
		{"1|504|1", trade.Invalid, "rule:contract_id", "contract_id required", trade.Invalid, "rule:contract_id", ""},
		{"1|505|1", outOfScope, "", "filter: not weighed out; closed before the second run", trade.Accepted, "", ""},
		{
			"1|506|1", trade.Invalid, "rule:delivery_date", "delivery_date required", trade.Invalid,
			"rule:delivery_date", "",
		},
		{
			"1|507|1", trade.Invalid, "rule:delivered_volume", "delivered_volume positive", trade.Invalid,
			"rule:delivered_volume", "",
		},
		{"1|508|1", trade.Waiting, "parent", "its contract waits for the producer", trade.Accepted, "", ""},
		{
			"1|509|1", trade.Accepted, "", "a CAR in small letters; moved to another contract after it was sent",
			trade.Accepted, "", "changed",
		},
		{
			"1|510|1", trade.Accepted, "", "every rule holds; cancelled after it was sent", trade.Accepted, "",
			"cancelled",
		},
		{"1|511|1", trade.Accepted, "", "of a fixation", trade.Accepted, "", ""},
		{"1|512|1", outOfScope, "", "filter: of a sale", outOfScope, "", ""},
		{
			"1|513|1", trade.Invalid, "rule:delivered_volume", "delivered_volume number", trade.Invalid,
			"rule:delivered_volume", "",
		},
		{"2|501|1", trade.Accepted, "", "the branch is part of the key", trade.Accepted, "", ""},
	},
	"traceability": {
		{
			"{6A0B0C0D-0E0F-4ABC-8DEF-000000000001}", trade.Accepted, "",
			"every rule holds; the key is written in small letters afterwards", trade.Accepted, "", "",
		},
		{
			"{6A0B0C0D-0E0F-4ABC-8DEF-000000000002}", trade.Accepted, "", "no volume, so no unit is needed",
			trade.Accepted, "", "",
		},
		{"{6A0B0C0D-0E0F-4ABC-8DEF-000000000003}", trade.Accepted, "", "of a fixation", trade.Accepted, "", ""},
		{
			"{6A0B0C0D-0E0F-4ABC-8DEF-000000000004}", trade.Waiting, "parent", "its contract is invalid", trade.Waiting,
			"parent", "",
		},
		{
			"{6A0B0C0D-0E0F-4ABC-8DEF-000000000005}", trade.Waiting, "ref:farms", "a farm without de-para",
			trade.Waiting,
			"ref:farms", "",
		},
		{
			"{6A0B0C0D-0E0F-4ABC-8DEF-000000000006}", trade.Invalid, "rule:unit_of_measurement",
			"unit_of_measurement required_with_allocated_volume", trade.Invalid, "rule:unit_of_measurement", "",
		},
		{"{6A0B0C0D-0E0F-4ABC-8DEF-000000000007}", outOfScope, "", "filter: deleted", outOfScope, "", ""},
		{
			"{6A0B0C0D-0E0F-4ABC-8DEF-000000000008}", trade.Accepted, "", "every rule holds; deleted after it was sent",
			trade.Accepted, "", "missing",
		},
		{
			"{6A0B0C0D-0E0F-4ABC-8DEF-000000000009}", trade.Waiting, "ref:producers",
			"producer and contract wait; both are cured by one id", trade.Accepted, "", "",
		},
	},
}
