package main

import (
	"github.com/safrasync/safrasync/trade"
)

// outOfScope marks a row that has no entry in the ledger.
const outOfScope trade.State = ""

// modernRow says of one row of the sample ERP what it must become in the first run and which rule
// decides that, and what it is after the second.
type modernRow struct {
	key   string
	state trade.State // after the first run
	cause string
	rule  string      // what decides; for an invalid row exactly its problems
	after trade.State // after what happened in the ERP overnight, and the second run with a sweep
	why   string      // cause after it
	flags string      // flags after it
}

// modernContracts are the contracts of the sample ERP.
// A state that is not accepted twice is final: over both runs nothing is sent twice.
var modernContracts = []modernRow{
	{"3|CT-1000/26", outOfScope, "", "filter: a draft", trade.Accepted, "", ""},
	{"3|CT-1001/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{
		"2|CT-1002/26", trade.Invalid, "rule:initial_delivery_date", "initial_delivery_date required_for_COMPRA",
		trade.Invalid, "rule:initial_delivery_date", "",
	},
	{"1|CT-1003/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{
		"2|CT-1004/26", trade.Rejected, "message.producer.not-found", "the platform does not know the producer",
		trade.Rejected, "message.producer.not-found", "",
	},
	{
		"1|CT-1005/26", trade.Rejected, "message.wallet.producer-not-linked",
		"the wallet is not linked to the producer",
		trade.Rejected, "message.wallet.producer-not-linked", "",
	},
	{"1|CT-1006/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"2|CT-1007/26", trade.Invalid, "rule:currency", "currency one_of", trade.Invalid, "rule:currency", ""},
	{"2|CT-1008/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", "changed"},
	{
		"2|CT-1009/26", trade.Rejected, "message.delivery-place.not-found", "the platform does not know the place",
		trade.Rejected, "message.delivery-place.not-found", "",
	},
	{"1|CT-1010/26", outOfScope, "", "filter: dated before 2026", outOfScope, "", ""},
	{"1|CT-1011/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"2|CT-1012/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"1|CT-1013/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"1|CT-1014/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{
		"3|CT-1015/26", trade.Rejected, "message.wallet.producer-not-linked",
		"the wallet is not linked to the producer",
		trade.Rejected, "message.wallet.producer-not-linked", "",
	},
	{
		"1|CT-1016/26", trade.Invalid, "rule:price",
		"price required_for_COMPRA, payday required_for_COMPRA, payment_type required_for_COMPRA", trade.Invalid,
		"rule:price", "",
	},
	{
		"3|CT-1017/26", trade.Waiting, "ref:users", "the de-para has no id for the issuer", trade.Waiting,
		"ref:users", "",
	},
	{"1|CT-1018/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"2|CT-1019/26", trade.Invalid, "rule:amount", "amount required", trade.Invalid, "rule:amount", ""},
	{"1|CT-1020/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"1|CT-1021/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", "cancelled"},
	{"2|CT-1022/26", trade.Invalid, "rule:order_date", "order_date date_window", trade.Invalid, "rule:order_date", ""},
	{"3|CT-1023/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"3|CT-1024/26", trade.Invalid, "rule:haverst", "haverst harvest", trade.Invalid, "rule:haverst", ""},
	{"1|CT-1025/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"1|CT-1026/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"3|CT-1027/26", trade.Waiting, "ref:producers", "the de-para has no id for the producer", trade.Accepted, "", ""},
	{"2|CT-1028/26", outOfScope, "", "filter: a draft", outOfScope, "", ""},
	{
		"1|CT-1029/26", trade.Waiting, "ref:producers", "the de-para has no id for the producer", trade.Waiting,
		"ref:producers", "",
	},
	{"3|CT-1030/26", trade.Invalid, "rule:amount", "amount positive", trade.Invalid, "rule:amount", ""},
	{"2|CT-1031/26", trade.Invalid, "rule:price", "price required_for_COMPRA", trade.Invalid, "rule:price", ""},
	{"3|CT-1032/26", trade.Invalid, "rule:haverst", "haverst required", trade.Invalid, "rule:haverst", ""},
	{"3|CT-1033/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"2|CT-1034/26", trade.Invalid, "rule:price", "price positive", trade.Invalid, "rule:price", ""},
	{"3|CT-1035/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"3|CT-1036/26", trade.Invalid, "rule:order_date", "order_date date_window", trade.Invalid, "rule:order_date", ""},
	{"3|CT-1037/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"1|CT-1038/26", outOfScope, "", "filter: deleted", outOfScope, "", ""},
	{
		"1|CT-1039/26", trade.Invalid, "rule:unit_of_measurement", "unit_of_measurement required", trade.Invalid,
		"rule:unit_of_measurement", "",
	},
	{
		"3|CT-1040/26", trade.Waiting, "ref:delivery_places", "the de-para has no id for the place", trade.Waiting,
		"ref:delivery_places", "",
	},
	{"1|CT-1041/26", trade.Invalid, "rule:price", "price positive", trade.Invalid, "rule:price", ""},
	{"2|CT-1042/26", trade.Invalid, "rule:order_date", "order_date required", trade.Invalid, "rule:order_date", ""},
	{"1|CT-1043/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"3|CT-1044/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"1|CT-1045/26", outOfScope, "", "cancelled before it was known", outOfScope, "", ""},
	{"3|CT-1046/26", trade.Invalid, "rule:product", "product unmapped", trade.Invalid, "rule:product", ""},
	{"1|CT-1047/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"2|CT-1048/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"2|CT-1049/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"1|CT-1050/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{
		"1|CT-1051/26", trade.Waiting, "ref:producers", "the de-para has no id for the producer", trade.Waiting,
		"ref:producers", "",
	},
	{
		"1|CT-1052/26", trade.Invalid, "rule:currency", "currency required_for_COMPRA", trade.Invalid,
		"rule:currency", "",
	},
	{
		"1|CT-1053/26", trade.Invalid, "rule:end_delivery_date", "end_delivery_date required_for_COMPRA", trade.Invalid,
		"rule:end_delivery_date", "",
	},
	{
		"2|CT-1054/26", trade.Invalid, "rule:modality", "modality required_for_COMPRA", trade.Invalid,
		"rule:modality", "",
	},
	{
		"3|CT-1055/26", trade.Invalid, "rule:end_delivery_date", "end_delivery_date date_order", trade.Invalid,
		"rule:end_delivery_date", "",
	},
	{"1|CT-1056/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"2|CT-1057/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"1|CT-1058/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"3|CT-1059/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"1|CT-1060/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"2|CT-1061/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"2|CT-1062/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"3|CT-1063/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{
		"3|CT-1064/26", trade.Waiting, "ref:wallets", "the de-para has no id for the wallet", trade.Waiting,
		"ref:wallets", "",
	},
	{
		"1|CT-1065/26", trade.Invalid, "rule:payment_type", "payment_type required_for_COMPRA", trade.Invalid,
		"rule:payment_type", "",
	},
	{"1|CT-1066/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{
		"1|CT-1067/26", trade.Invalid, "rule:unit_of_measurement", "unit_of_measurement unmapped", trade.Invalid,
		"rule:unit_of_measurement", "",
	},
	{"2|CT-1068/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{
		"1|CT-1069/26", trade.Invalid, "rule:currency",
		"currency required_for_COMPRA, price required_for_COMPRA, initial_delivery_date required_for_COMPRA, end_delivery_date required_for_COMPRA, modality required_for_COMPRA, payday required_for_COMPRA, payment_type required_for_COMPRA", trade.Invalid, "rule:currency", "",
	},
	{"2|CT-1070/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"1|CT-1071/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"3|CT-1072/26", trade.Invalid, "rule:currency", "currency one_of", trade.Invalid, "rule:currency", ""},
	{"1|CT-1073/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{
		"1|CT-1074/26", trade.Rejected, "message.wallet.not-found", "the platform does not know the wallet",
		trade.Rejected, "message.wallet.not-found", "",
	},
	{"1|CT-1075/26", outOfScope, "", "filter: deleted", outOfScope, "", ""},
	{"1|CT-1076/26", outOfScope, "", "filter: deleted", outOfScope, "", ""},
	{"1|CT-1077/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"2|CT-1078/26", trade.Invalid, "rule:payday", "payday required_for_COMPRA", trade.Accepted, "", ""},
	{"1|CT-1079/26", trade.Accepted, "", "every rule holds", trade.Accepted, "", ""},
	{"2|CT-1080/26", trade.Invalid, "rule:amount", "amount positive", trade.Invalid, "rule:amount", ""},
	{"1|CT-1081/26", trade.Invalid, "rule:product", "product unmapped", trade.Invalid, "rule:product", ""},
	{"1|CT-LATE/26", outOfScope, "", "not in the ERP yet", trade.Accepted, "", "twin"},
}
