// The columns of all sections.

package reconcile

import (
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// typed is a list of column ids of one type.
type typed struct {
	typ Type
	ids []string
}

func (t Type) of(ids ...string) typed { return typed{t, ids} }

// columnsOf returns columns by their ids. The title of a column is the text with the key column + id; where a
// section calls it otherwise, its name stands before the id: exceptions.by.
func columnsOf(groups ...typed) []column {
	var out []column
	for _, group := range groups {
		for _, name := range group.ids {
			id := name[strings.LastIndex(name, ".")+1:]
			out = append(out, column{id, "column." + name, group.typ})
		}
	}
	return out
}

// The columns of the sections. Their ids are those of the JSON, to which ids are only ever added
// (docs/json.md).
var (
	showColumn  = columnsOf(CodeColumn.of("show"))
	jobColumn   = columnsOf(TextColumn.of("job"))
	leadColumns = columnsOf(TextColumn.of("job"), CodeColumn.of("branch", "key", "remote_id"))

	placeColumns  = columnsOf(TextColumn.of("product"), CodeColumn.of("harvest", "producer", "place", "wallet"))
	volumeColumns = columnsOf(TextColumn.of("unit"),
		NumberColumn.of("amount_erp", "amount_sent", "kg_erp", "kg_sent", "kg_difference", "sc_erp", "sc_sent"))
	standColumns = columnsOf(TextColumn.of("state", "flags", "reason", "who"), TimeColumn.of("sent_at"),
		TextColumn.of("by"))
	platformColumns = columnsOf(
		NumberColumn.of("kg_platform"), MoneyColumn.of("value_platform"), TextColumn.of("platform"))

	summaryColumns = slices.Concat(jobColumn,
		columnsOf(TextColumn.of("sends", "line"), CountColumn.of("rows"), TextColumn.of("role")))
	bridgeColumns = slices.Concat(jobColumn,
		columnsOf(TextColumn.of("line"), CountColumn.of("rows"), NumberColumn.of("kg"), TextColumn.of("currency"),
			MoneyColumn.of("value"), CountColumn.of("without_weight"), TextColumn.of("role"), CodeColumn.of("keys")))
	differenceColumns = columnsOf(
		TextColumn.of("product", "measure", "line", "state"), CodeColumn.of("cause"),
		CountColumn.of("difference.rows"), NumberColumn.of("kg"), TextColumn.of("currency"),
		MoneyColumn.of("value"), TextColumn.of("difference.role"))
	totalsColumns = columnsOf(TextColumn.of("by"), CodeColumn.of("name"), TextColumn.of("product"),
		NumberColumn.of("kg_contracted", "sc_contracted", "kg_delivered", "sc_delivered", "kg_to_deliver",
			"sc_to_deliver", "kg_fixed", "sc_fixed", "kg_from_deposit", "kg_to_fix", "sc_to_fix"),
		TextColumn.of("currency"), MoneyColumn.of("value_fixed", "totals.value_sent"),
		NumberColumn.of("kg_contracted_sent", "kg_delivered_sent", "kg_fixed_sent", "kg_dismissed"),
		CountColumn.of("totals.rows", "without_unit", "without_price"))
	contractsColumns = slices.Concat(leadColumns,
		columnsOf(TextColumn.of("order_type"), DayColumn.of("order_date")),
		placeColumns, volumeColumns,
		columnsOf(TextColumn.of("currency"),
			MoneyColumn.of("price_erp", "value_erp", "value_sent", "value_difference")),
		platformColumns, standColumns, statusColumns(trade.OrderCommitments))
	deliveriesColumns = slices.Concat(leadColumns,
		columnsOf(CodeColumn.of("contract"), DayColumn.of("delivery_date")),
		placeColumns, volumeColumns, columnsOf(CodeColumn.of("car")), standColumns)
	traceabilityColumns = slices.Concat(leadColumns,
		columnsOf(CodeColumn.of("contract")),
		placeColumns, volumeColumns, standColumns, statusColumns(trade.Traceability))
	divergencesColumns = slices.Concat(leadColumns, columnsOf(
		TextColumn.of("kind"), NumberColumn.of("here", "there", "difference"),
		TextColumn.of("divergences.unit", "note", "product"), CodeColumn.of("harvest", "producer"),
		TextColumn.of("acknowledged")))
	exceptionsColumns = columnsOf(TimeColumn.of("at"), TextColumn.of("exceptions.by", "act", "job"),
		CodeColumn.of("key"), TextColumn.of("reason", "before", "after"), CountColumn.of("audit"))
	messagesColumns = columnsOf(CodeColumn.of("message"), CountColumn.of("count"),
		TimeColumn.of("last_seen_at"), TextColumn.of("known", "what", "who"))
)
