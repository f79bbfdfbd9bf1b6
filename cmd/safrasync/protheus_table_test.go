package main

import (
	"github.com/safrasync/safrasync/trade"
)

// protheusTables say of each row of testdata/erp/protheus.sql what it becomes, which rule decides
// that, and what it is after protheus-second-run.sql. Keys are branch, contract and fixation; a
// contract itself has a blank fixation.
var protheusTables = map[string][]modernRow{
	"contracts": {
		{
			"0101|000101|", trade.Accepted, "",
			"scale takes the noise off, the earliest living instalment is the payday; an addition after it was sent",
			trade.Accepted, "", "changed",
		},
		{"0101|000102|", trade.Accepted, "", "A_FIXAR needs none of the seven", trade.Accepted, "", ""},
		{
			"0101|000103|", trade.Accepted, "", "every rule holds; soft-deleted after it was sent", trade.Accepted, "",
			"cancelled",
		},
		{
			"0101|000104|", trade.Accepted, "", "every rule holds; cancelled after it was sent", trade.Accepted, "",
			"cancelled",
		},
		{
			"0101|000105|", trade.Accepted, "", "the living twin of a deleted row counts; touched, and nothing changed",
			trade.Accepted, "", "",
		},
		{"0101|000106|", outOfScope, "", "cancelled: deleted before it was sent", outOfScope, "", ""},
		{"0101|000107|", outOfScope, "", "filter: a sale", outOfScope, "", ""},
		{"0101|000108|", outOfScope, "", "filter: storage", outOfScope, "", ""},
		{"0101|000109|", trade.Invalid, "rule:order_date", "order_date required", trade.Accepted, "", ""},
		{"0101|000110|", trade.Invalid, "rule:order_date", "order_date required", trade.Invalid, "rule:order_date", ""},
		{"0101|000111|", trade.Invalid, "rule:order_date", "order_date date", trade.Invalid, "rule:order_date", ""},
		{"0101|000112|", trade.Invalid, "rule:price", "price required_for_COMPRA", trade.Invalid, "rule:price", ""},
		{"0101|000113|", trade.Invalid, "rule:payday", "payday required_for_COMPRA", trade.Accepted, "", ""},
		{"0101|000114|", trade.Invalid, "rule:product", "product unmapped", trade.Invalid, "rule:product", ""},
		{"0101|000115|", trade.Accepted, "", "two codes of the ERP are one product", trade.Accepted, "", ""},
		{"0101|000116|", trade.Accepted, "", "the season of wheat is in the map", trade.Accepted, "", ""},
		{"0101|000117|", trade.Invalid, "rule:haverst", "haverst unmapped", trade.Invalid, "rule:haverst", ""},
		{
			"0101|000118|", trade.Waiting, "ref:producers",
			"no de-para; added before the second run, in which the key has other blanks", trade.Accepted, "", "",
		},
		{"0101|000119|", trade.Accepted, "", "a short code finds its de-para", trade.Accepted, "", ""},
		{
			"0101|000120|", trade.Accepted, "",
			"the living twin of a deleted de-para counts; an earlier instalment after it was sent", trade.Accepted, "",
			"changed",
		},
		{
			"0101|000121|", trade.Waiting, "ref:producers", "the de-para of a deleted entity is none", trade.Waiting,
			"ref:producers", "",
		},
		{
			"0101|000122|", trade.Rejected, "message.wallet.producer-not-linked",
			"the wallet is not linked to the producer of this store", trade.Rejected,
			"message.wallet.producer-not-linked", "",
		},
		{
			"0101|000123|", trade.Rejected, "message.delivery-place.not-found", "the platform does not know the place",
			trade.Rejected, "message.delivery-place.not-found", "",
		},
		{"0101|000124|", outOfScope, "", "filter: dated before 2026", outOfScope, "", ""},
		{"0101|000125|", outOfScope, "", "filter: a draft; approved before the second run", trade.Accepted, "", ""},
		{"0101|000126|", trade.Invalid, "rule:amount", "amount positive", trade.Invalid, "rule:amount", ""},
		{
			"0101|000127|", trade.Invalid, "rule:unit_of_measurement", "unit_of_measurement unmapped", trade.Invalid,
			"rule:unit_of_measurement", "",
		},
		{
			"0101|000128|", trade.Accepted, "", "finished, and in scope; changed by a program that stamps nothing",
			trade.Accepted, "", "changed",
		},
		{
			"0101|000129|", trade.Invalid, "rule:end_delivery_date", "end_delivery_date date_order", trade.Invalid,
			"rule:end_delivery_date", "",
		},
		{"0101|000130|", outOfScope, "", "not there yet; it comes with an old stamp", trade.Accepted, "", ""},
		{"0101|000131|", trade.Invalid, "rule:currency", "currency unmapped", trade.Invalid, "rule:currency", ""},
		{"0101|000132|", trade.Accepted, "", "the living twin of a deleted row counts", trade.Accepted, "", ""},
		{
			"0102|000101|", trade.Accepted, "", "the branch is part of the key, and of the codes of wallet and place",
			trade.Accepted, "", "",
		},

		{
			"0101|000102|001", trade.Accepted, "", "a fixation of a purchase; partly cancelled after it was sent",
			trade.Accepted, "", "changed",
		},
		{
			"0101|000102|002", trade.Invalid, "rule:order_date", "order_date required", trade.Invalid,
			"rule:order_date", "",
		},
		{"0101|000102|003", outOfScope, "", "cancelled: deleted before it was sent", outOfScope, "", ""},
		{"0101|000102|004", outOfScope, "", "not there yet", trade.Accepted, "", ""},
		{"0101|000107|001", outOfScope, "", "filter: of a sale", outOfScope, "", ""},
		{"0101|000108|001", trade.Accepted, "", "a fixation from storage", trade.Accepted, "", ""},
		{
			"0101|000132|001", trade.Accepted, "", "a deleted twin of its contract does not double it",
			trade.Accepted, "", "",
		},
		{"0101|000124|001", trade.Accepted, "", "of this year, of a contract of last year", trade.Accepted, "", ""},
	},
	"deliveries": {
		{
			"0101|0000000201|01", trade.Accepted, "",
			"net after discounts; a deleted twin of the farm does not double it",
			trade.Accepted, "", "",
		},
		{"0101|0000000202|01", trade.Accepted, "", "one load, two contracts: two deliveries", trade.Accepted, "", ""},
		{"0101|0000000202|02", trade.Accepted, "", "the second of them", trade.Accepted, "", ""},
		{"0101|0000000203|01", trade.Waiting, "parent", "its contract 000114 is invalid", trade.Waiting, "parent", ""},
		{"0101|0000000204|01", outOfScope, "", "filter: of a sale", outOfScope, "", ""},
		{
			"0101|0000000205|01", trade.Invalid, "rule:contract_id", "contract_id required", trade.Invalid,
			"rule:contract_id", "",
		},
		{"0101|0000000206|01", outOfScope, "", "filter: for storage", outOfScope, "", ""},
		{
			"0101|0000000207|01", outOfScope, "", "filter: an open ticket; weighed out before the second run",
			trade.Accepted, "", "",
		},
		{"0101|0000000208|01", outOfScope, "", "cancelled: a deleted line", outOfScope, "", ""},
		{"0101|0000000208|02", trade.Accepted, "", "the living line of the same ticket", trade.Accepted, "", ""},
		{"0101|0000000209|01", outOfScope, "", "filter: the header is deleted", outOfScope, "", ""},
		{
			"0101|0000000210|01", trade.Invalid, "rule:delivered_volume", "delivered_volume positive", trade.Invalid,
			"rule:delivered_volume", "",
		},
		{
			"0101|0000000211|01", trade.Waiting, "parent",
			"its contract 000118 waits; it goes in the run in which that is accepted", trade.Accepted, "", "",
		},
		{
			"0101|0000000212|01", trade.Accepted, "", "every rule holds; moved to another contract after it was sent",
			trade.Accepted, "", "changed",
		},
		{
			"0101|0000000213|01", trade.Accepted, "", "every rule holds; the line is deleted after it was sent",
			trade.Accepted, "", "cancelled",
		},
		{"0101|0000000214|01", trade.Accepted, "", "tonnes, with noise", trade.Accepted, "", ""},
		{
			"0101|0000000215|01", trade.Invalid, "rule:delivery_date", "delivery_date required", trade.Invalid,
			"rule:delivery_date", "",
		},
		{"0101|0000000216|01", trade.Invalid, "rule:car", "car car", trade.Invalid, "rule:car", ""},
		{
			"0101|0000000217|01", trade.Waiting, "parent", "its contract 000124 is out of scope", trade.Waiting,
			"parent", "",
		},
		{
			"0101|0000000218|01", trade.Accepted, "", "a deleted twin of its contract does not double it",
			trade.Accepted, "", "",
		},
		{"0102|0000000201|01", trade.Accepted, "", "the branch is part of the key", trade.Accepted, "", ""},
	},
	"traceability": {
		{"0101|000101||001", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
		{
			"0101|000101||002", trade.Accepted, "", "a volume of 0 is none, so that no unit is needed",
			trade.Accepted, "", "",
		},
		{"0101|000102|001|001", trade.Accepted, "", "of a fixation", trade.Accepted, "", ""},
		{"0101|000114||001", trade.Waiting, "parent", "its contract is invalid", trade.Waiting, "parent", ""},
		{"0101|000101||003", trade.Waiting, "ref:farms", "a farm without de-para", trade.Waiting, "ref:farms", ""},
		{
			"0101|000101||004", trade.Invalid, "rule:unit_of_measurement",
			"unit_of_measurement required_with_allocated_volume", trade.Invalid, "rule:unit_of_measurement", "",
		},
		{"0101|000101||005", outOfScope, "", "filter: deleted", outOfScope, "", ""},
		{
			"0101|000104||001", trade.Accepted, "", "every rule holds; deleted after it was sent", trade.Accepted, "",
			"missing",
		},
		{
			"0101|000104||002", trade.Accepted, "", "every rule holds; changed after it was sent", trade.Accepted, "",
			"changed",
		},
		{
			"0101|000118||001", trade.Waiting, "ref:producers",
			"producer and contract wait; both are cured by one line of the de-para", trade.Accepted, "", "",
		},
	},
}
