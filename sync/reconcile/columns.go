// The columns of all sections.

package reconcile

import (
	"slices"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// typed is a list of column ids of one type.
type typed struct {
	typ Type
	ids []string
}

func (t Type) of(ids ...string) typed { return typed{t, ids} }

// columnsOf returns columns whose titles are the texts with the key prefix + id.
func columnsOf(prefix string, groups ...typed) []column {
	var out []column
	for _, group := range groups {
		for _, id := range group.ids {
			out = append(out, column{id, i18n.Key(prefix + id), group.typ})
		}
	}
	return out
}

// The columns of the sections. Their ids are those of the JSON, to which ids are only ever added
// (docs/json.md).
var (
	showColumn  = columnsOf("column.", CodeColumn.of("show"))
	jobColumn   = columnsOf("column.", TextColumn.of("job"))
	leadColumns = columnsOf("column.", TextColumn.of("job"), CodeColumn.of("branch", "key", "remote_id"))

	placeColumns = columnsOf("place.column.",
		TextColumn.of("product"), CodeColumn.of("harvest", "producer", "place", "wallet"))
	volumeColumns = columnsOf("volume.column.", TextColumn.of("unit"),
		NumberColumn.of("amount_erp", "amount_sent", "kg_erp", "kg_sent", "kg_difference", "sc_erp", "sc_sent"))
	standColumns = slices.Concat(
		columnsOf("column.", TextColumn.of("state")),
		columnsOf("stand.column.",
			TextColumn.of("flags", "reason", "who"), TimeColumn.of("sent_at"), TextColumn.of("by")))
	platformColumns = columnsOf("platform.column.",
		NumberColumn.of("kg_platform"), MoneyColumn.of("value_platform"), TextColumn.of("platform"))

	summaryColumns = slices.Concat(jobColumn, columnsOf("summary.column.",
		TextColumn.of("sends", "line"), CountColumn.of("rows"), TextColumn.of("role")))
	bridgeColumns = slices.Concat(jobColumn, columnsOf("bridge.column.",
		TextColumn.of("line"), CountColumn.of("rows"), NumberColumn.of("kg"), TextColumn.of("currency"),
		MoneyColumn.of("value"), CountColumn.of("without_weight"), TextColumn.of("role"), CodeColumn.of("keys")))
	differenceColumns = columnsOf("difference.column.",
		TextColumn.of("product", "measure", "line", "state"), CodeColumn.of("cause"), CountColumn.of("rows"),
		NumberColumn.of("kg"), TextColumn.of("currency"), MoneyColumn.of("value"), TextColumn.of("role"))
	totalsColumns = columnsOf("totals.column.",
		TextColumn.of("by"), CodeColumn.of("name"), TextColumn.of("product"),
		NumberColumn.of("kg_contracted", "sc_contracted", "kg_delivered", "sc_delivered", "kg_to_deliver",
			"sc_to_deliver", "kg_fixed", "sc_fixed", "kg_from_deposit", "kg_to_fix", "sc_to_fix"),
		TextColumn.of("currency"), MoneyColumn.of("value_fixed", "value_sent"),
		NumberColumn.of("kg_contracted_sent", "kg_delivered_sent", "kg_fixed_sent", "kg_dismissed"),
		CountColumn.of("rows", "without_unit", "without_price"))
	contractsColumns = slices.Concat(leadColumns,
		columnsOf("contracts.column.", TextColumn.of("order_type"), DayColumn.of("order_date")),
		placeColumns, volumeColumns,
		columnsOf("contracts.column.", TextColumn.of("currency"),
			MoneyColumn.of("price_erp", "value_erp", "value_sent", "value_difference")),
		platformColumns, standColumns, toldColumns(trade.OrderCommitments))
	deliveriesColumns = slices.Concat(leadColumns,
		columnsOf("deliveries.column.", CodeColumn.of("contract"), DayColumn.of("delivery_date")),
		placeColumns, volumeColumns, columnsOf("deliveries.column.", CodeColumn.of("car")), standColumns)
	traceabilityColumns = slices.Concat(leadColumns,
		columnsOf("traceability.column.", CodeColumn.of("contract")),
		placeColumns, volumeColumns, standColumns, toldColumns(trade.Traceability))
	divergencesColumns = slices.Concat(leadColumns, columnsOf("divergences.column.",
		TextColumn.of("kind"), NumberColumn.of("here", "there", "difference"), TextColumn.of("unit", "note", "product"),
		CodeColumn.of("harvest", "producer"), TextColumn.of("acknowledged")))
	exceptionsColumns = slices.Concat(
		columnsOf("exceptions.column.", TimeColumn.of("at"), TextColumn.of("by", "act")),
		columnsOf("column.", TextColumn.of("job"), CodeColumn.of("key")),
		columnsOf("exceptions.column.", TextColumn.of("reason", "before", "after"), CountColumn.of("audit")))
	messagesColumns = columnsOf("messages.column.", CodeColumn.of("message"), CountColumn.of("count"),
		TimeColumn.of("last_seen_at"), TextColumn.of("known", "what", "who"))
)
