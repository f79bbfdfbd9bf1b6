// What events reported about the records in a report.

package reconcile

import (
	"github.com/safrasync/safrasync/trade"
)

// statuses are the statuses that a report shows for the rows of each kind, in the order of its
// columns.
var statuses = map[trade.Kind][]trade.ReportedStatus{
	trade.OrderCommitments: {trade.Workflow, trade.ProducerESG},
	trade.Traceability:     {trade.ProducerESG, trade.FarmESG},
}

// statusCells returns the cells of the statuses of a kind: each status, and when it was reported.
func (p *printer) statusCells(r *Row, kind trade.Kind) []any {
	var out []any
	for _, status := range statuses[kind] {
		told, ok := r.Told[status]
		switch {
		case !ok:
			out = append(out, nil, nil)
		case told.Word == "":
			out = append(out, Label{"", sentence("changed; the event does not give the new status", p.Lang)}, told.At)
		default:
			out = append(out, told.Word, told.At)
		}
	}
	return out
}

// statusColumns returns the columns of these cells.
func statusColumns(kind trade.Kind) []column {
	var out []column
	for _, status := range statuses[kind] {
		title := "status." + string(status)
		out = append(out, column{string(status), title, TextColumn},
			column{string(status) + "_at", title + ".at", TimeColumn})
	}
	return out
}
