// What events reported about the records in a report.

package reconcile

import (
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// statuses are the statuses that a report shows for the rows of each kind, in the order of its
// columns.
var statuses = map[trade.Kind][]trade.Status{
	trade.OrderCommitments: {trade.Workflow, trade.ProducerESG},
	trade.Traceability:     {trade.ProducerESG, trade.FarmESG},
}

// addStatuses fills in what events reported about the rows of a page until the moment of the report. sent
// are the fields of their requests.
func (t *taker) addStatuses(kind trade.Kind, rows []Row, sent []map[string]string) error {
	for _, status := range statuses[kind] {
		event, named := status.Event()
		var ids []string
		seen := map[string]bool{}
		id := func(i int) string {
			switch status {
			case trade.ProducerESG:
				return sent[i]["producer_id"]
			case trade.FarmESG:
				return sent[i]["farm_id"]
			}
			return rows[i].RemoteID
		}
		for i := range rows {
			// many rows have the same producer
			if text := id(i); text != "" && !seen[text] {
				seen[text] = true
				ids = append(ids, text)
			}
		}
		told, err := t.Ledger.LastHeard(t.ctx, named, event, ids)
		if err != nil {
			return err
		}
		for i := range rows {
			if h, ok := told[id(i)]; ok {
				if rows[i].Told == nil {
					rows[i].Told = map[trade.Status]ReportedStatus{}
				}
				rows[i].Told[status] = ReportedStatus{h.Word, h.At}
			}
		}
	}
	return nil
}

// told returns the cells of the statuses of a kind: each status, and when it was reported.
func (p *printer) told(r *Row, kind trade.Kind) []any {
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

// toldColumns returns the columns of these cells.
func toldColumns(kind trade.Kind) []column {
	var out []column
	for _, status := range statuses[kind] {
		title := "status." + string(status)
		out = append(out, column{string(status), i18n.Key(title), TextColumn},
			column{string(status) + "_at", i18n.Key(title + ".at"), TimeColumn})
	}
	return out
}
