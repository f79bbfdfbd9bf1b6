package main

import (
	"github.com/safrasync/safrasync/trade"
)

// mariaTables say of each row of testdata/erp/cereal-mariadb.sql what it becomes, which rule decides
// that, and what it is after the second run.
var mariaTables = map[string][]modernRow{
	"contracts": {
		{"1|100|1|0", trade.Accepted, "", "every rule holds; its line changed after it was sent", trade.Accepted, "", "changed"},
		{"1|100|2|0", trade.Accepted, "", "the second line, with a price for a ton", trade.Accepted, "", ""},
		{"1|101|1|0", trade.Accepted, "", "A FIXAR: 0 and zero dates are nothing", trade.Accepted, "", ""},
		{"1|101|1|1", trade.Accepted, "", "a fixation of it", trade.Accepted, "", ""},
		{"1|102|1|0", outOfScope, "", "filter: storage", outOfScope, "", ""},
		{"1|102|1|1", trade.Accepted, "", "a fixation from storage", trade.Accepted, "", ""},
		{"1|103|1|0", outOfScope, "", "filter: a sale", outOfScope, "", ""},
		{"1|103|1|1", outOfScope, "", "filter: a fixation of a sale", outOfScope, "", ""},
		{"1|104|1|0", outOfScope, "", "filter: not approved; approved before the second run", trade.Accepted, "", ""},
		{"1|105|1|0", trade.Accepted, "", "every rule holds; cancelled after it was sent", trade.Accepted, "", "cancelled"},
		{"1|106|1|0", outOfScope, "", "cancelled before it was sent", outOfScope, "", ""},
		{"1|107|1|0", trade.Invalid, "rule:order_date", "order_date required", trade.Invalid, "rule:order_date", ""},
		{"1|108|1|0", trade.Invalid, "rule:payday", "payday required_for_COMPRA", trade.Accepted, "", ""},
		{"1|109|1|0", trade.Waiting, "ref:producers", "no id; given before the second run", trade.Accepted, "", ""},
		{"1|110|1|0", trade.Invalid, "rule:product", "product unmapped", trade.Invalid, "rule:product", ""},
		{
			"1|111|1|0", trade.Accepted, "", "by barter; its line is marked as deleted after it was sent", trade.Accepted, "",
			"cancelled",
		},
		{"1|112|1|0", trade.Accepted, "", "deleted after it was sent", trade.Accepted, "", "missing"},
		{
			"1|113|1|0", trade.Rejected, "message.delivery-place.not-found", "the platform does not know the place",
			trade.Rejected, "message.delivery-place.not-found", "",
		},
		{"1|114|1|0", outOfScope, "", "filter: dated before 2026", outOfScope, "", ""},
		{"1|115|1|0", outOfScope, "", "not there yet; it comes with an old stamp", trade.Accepted, "", ""},
		{"1|116|1|0", trade.Invalid, "rule:amount", "amount positive", trade.Invalid, "rule:amount", ""},
		{"1|117|1|0", trade.Invalid, "rule:price", "price unmapped", trade.Invalid, "rule:price", ""},
		{"1|118|1|0", trade.Invalid, "rule:modality", "modality unmapped", trade.Invalid, "rule:modality", ""},
		{"1|119|1|0", trade.Accepted, "", "dollars and tons; touched only", trade.Accepted, "", ""},
		{"2|100|1|0", trade.Accepted, "", "the branch is part of key and codes", trade.Accepted, "", ""},
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
		{"1|509|1", trade.Accepted, "", "moved to another contract after it was sent", trade.Accepted, "", "changed"},
		{"1|510|1", trade.Accepted, "", "every rule holds; cancelled after it was sent", trade.Accepted, "", "cancelled"},
		{"1|511|1", outOfScope, "", "filter: of a sale", outOfScope, "", ""},
		{"2|501|1", trade.Accepted, "", "the branch is part of the key", trade.Accepted, "", ""},
	},
	"traceability": {
		{"1", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
		{"2", trade.Accepted, "", "no volume, so no unit is needed", trade.Accepted, "", ""},
		{"3", trade.Accepted, "", "of a fixation", trade.Accepted, "", ""},
		{"4", trade.Waiting, "parent", "its contract is invalid", trade.Waiting, "parent", ""},
		{"5", trade.Waiting, "ref:farms", "the code of the farm is switched off", trade.Waiting, "ref:farms", ""},
		{
			"6", trade.Invalid, "rule:unit_of_measurement", "unit_of_measurement required_with_allocated_volume",
			trade.Invalid, "rule:unit_of_measurement", "",
		},
		{"7", outOfScope, "", "filter: deleted", outOfScope, "", ""},
		{"8", trade.Accepted, "", "every rule holds; deleted after it was sent", trade.Accepted, "", "missing"},
	},
}
