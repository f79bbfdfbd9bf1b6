// The columns of all sections.

package reconcile

import "github.com/safrasync/safrasync/trade"

// The columns of the sections. The ids are those of the JSON, which are only ever added to
// (docs/json.md).
var (
	columnShow   = column{"show", "column.show", CodeColumn}
	columnJob    = column{"job", "column.job", TextColumn}
	columnBranch = column{"branch", "column.branch", CodeColumn}
	columnKey    = column{"key", "column.key", CodeColumn}
	columnID     = column{"remote_id", "column.remote_id", CodeColumn}
	columnState  = column{"state", "column.state", TextColumn}

	placeColumns = []column{
		{"product", "place.column.product", TextColumn},
		{"harvest", "place.column.harvest", CodeColumn},
		{"producer", "place.column.producer", CodeColumn},
		{"place", "place.column.place", CodeColumn},
		{"wallet", "place.column.wallet", CodeColumn},
	}
	volumeColumns = []column{
		{"unit", "volume.column.unit", TextColumn},
		{"amount_erp", "volume.column.amount_erp", NumberColumn},
		{"amount_sent", "volume.column.amount_sent", NumberColumn},
		{"kg_erp", "volume.column.kg_erp", NumberColumn},
		{"kg_sent", "volume.column.kg_sent", NumberColumn},
		{"kg_difference", "volume.column.kg_difference", NumberColumn},
		{"sc_erp", "volume.column.sc_erp", NumberColumn},
		{"sc_sent", "volume.column.sc_sent", NumberColumn},
	}
	standColumns = []column{
		columnState,
		{"flags", "stand.column.flags", TextColumn},
		{"reason", "stand.column.reason", TextColumn},
		{"who", "stand.column.who", TextColumn},
		{"sent_at", "stand.column.sent_at", TimeColumn},
		{"by", "stand.column.by", TextColumn},
		{"basis", "stand.column.basis", TextColumn},
	}
	platformColumns = []column{
		{"kg_platform", "platform.column.kg_platform", NumberColumn},
		{"value_platform", "platform.column.value_platform", MoneyColumn},
		{"platform", "platform.column.platform", TextColumn},
	}

	summaryColumns = []column{
		columnJob,
		{"sends", "summary.column.sends", TextColumn},
		{"line", "summary.column.line", TextColumn},
		{"rows", "summary.column.rows", CountColumn},
		{"role", "summary.column.role", TextColumn},
	}
	bridgeColumns = []column{
		columnJob,
		{"line", "bridge.column.line", TextColumn},
		{"rows", "bridge.column.rows", CountColumn},
		{"kg", "bridge.column.kg", NumberColumn},
		{"currency", "bridge.column.currency", TextColumn},
		{"value", "bridge.column.value", MoneyColumn},
		{"without_weight", "bridge.column.without_weight", CountColumn},
		{"role", "bridge.column.role", TextColumn},
		{"keys", "bridge.column.keys", CodeColumn},
	}
	totalsColumns = []column{
		{"by", "totals.column.by", TextColumn},
		{"name", "totals.column.name", CodeColumn},
		{"product", "totals.column.product", TextColumn},
		{"kg_contracted", "totals.column.kg_contracted", NumberColumn},
		{"sc_contracted", "totals.column.sc_contracted", NumberColumn},
		{"kg_delivered", "totals.column.kg_delivered", NumberColumn},
		{"sc_delivered", "totals.column.sc_delivered", NumberColumn},
		{"kg_to_deliver", "totals.column.kg_to_deliver", NumberColumn},
		{"sc_to_deliver", "totals.column.sc_to_deliver", NumberColumn},
		{"kg_fixed", "totals.column.kg_fixed", NumberColumn},
		{"sc_fixed", "totals.column.sc_fixed", NumberColumn},
		{"kg_from_deposit", "totals.column.kg_from_deposit", NumberColumn},
		{"kg_to_fix", "totals.column.kg_to_fix", NumberColumn},
		{"sc_to_fix", "totals.column.sc_to_fix", NumberColumn},
		{"currency", "totals.column.currency", TextColumn},
		{"value_fixed", "totals.column.value_fixed", MoneyColumn},
		{"value_sent", "totals.column.value_sent", MoneyColumn},
		{"kg_contracted_sent", "totals.column.kg_contracted_sent", NumberColumn},
		{"kg_delivered_sent", "totals.column.kg_delivered_sent", NumberColumn},
		{"kg_fixed_sent", "totals.column.kg_fixed_sent", NumberColumn},
		{"kg_dismissed", "totals.column.kg_dismissed", NumberColumn},
		{"rows", "totals.column.rows", CountColumn},
		{"without_unit", "totals.column.without_unit", CountColumn},
		{"without_price", "totals.column.without_price", CountColumn},
	}
	divergencesColumns = []column{
		columnJob, columnBranch, columnKey, columnID,
		{"kind", "divergences.column.kind", TextColumn},
		{"here", "divergences.column.here", NumberColumn},
		{"there", "divergences.column.there", NumberColumn},
		{"difference", "divergences.column.difference", NumberColumn},
		{"unit", "divergences.column.unit", TextColumn},
		{"note", "divergences.column.note", TextColumn},
		{"product", "divergences.column.product", TextColumn},
		{"harvest", "divergences.column.harvest", CodeColumn},
		{"producer", "divergences.column.producer", CodeColumn},
		{"acknowledged", "divergences.column.acknowledged", TextColumn},
	}
	exceptionsColumns = []column{
		{"at", "exceptions.column.at", TimeColumn},
		{"by", "exceptions.column.by", TextColumn},
		{"act", "exceptions.column.act", TextColumn},
		columnJob, columnKey,
		{"reason", "exceptions.column.reason", TextColumn},
		{"before", "exceptions.column.before", TextColumn},
		{"after", "exceptions.column.after", TextColumn},
		{"audit", "exceptions.column.audit", CountColumn},
	}
	messagesColumns = []column{
		{"message", "messages.column.message", CodeColumn},
		{"count", "messages.column.count", CountColumn},
		{"last_seen_at", "messages.column.last_seen_at", TimeColumn},
		{"known", "messages.column.known", TextColumn},
		{"what", "messages.column.what", TextColumn},
		{"who", "messages.column.who", TextColumn},
	}
)

func joined(lists ...[]column) []column {
	var out []column
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

var contractsColumns = joined(
	[]column{
		columnJob, columnBranch, columnKey, columnID,
		{"order_type", "contracts.column.order_type", TextColumn},
		{"order_date", "contracts.column.order_date", DayColumn},
	}, placeColumns, volumeColumns,
	[]column{
		{"currency", "contracts.column.currency", TextColumn},
		{"price_erp", "contracts.column.price_erp", MoneyColumn},
		{"value_erp", "contracts.column.value_erp", MoneyColumn},
		{"value_sent", "contracts.column.value_sent", MoneyColumn},
		{"value_difference", "contracts.column.value_difference", MoneyColumn},
	},
	platformColumns, standColumns, toldColumns(trade.OrderCommitments),
)

var deliveriesColumns = joined(
	[]column{
		columnJob, columnBranch, columnKey, columnID,
		{"contract", "deliveries.column.contract", CodeColumn},
		{"delivery_date", "deliveries.column.delivery_date", DayColumn},
	}, placeColumns, volumeColumns,
	[]column{{"car", "deliveries.column.car", CodeColumn}}, standColumns,
)

var traceabilityColumns = joined(
	[]column{
		columnJob, columnBranch, columnKey, columnID,
		{"contract", "traceability.column.contract", CodeColumn},
	}, placeColumns, volumeColumns, standColumns, toldColumns(trade.Traceability),
)
