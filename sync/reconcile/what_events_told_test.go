package reconcile

import (
	"bytes"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// F154: a report shows what events told last, of the contract itself, of its producer and of the
// farm; one of an earlier day shows what was told until then.
func TestF154WhatEventsToldLastStandsAtTheRows(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		const farmID = "66666666-6666-4666-8666-666666666666"
		begin := w.now
		w.send(w.add("contracts", "01|000001", soy), trade.OutcomeCreated)
		w.send(w.add("contracts", "01|000002", soy), trade.OutcomeCreated)
		w.send(w.add("traceability", "R1",
			row{"producer_id": producerID, "farm_id": farmID, "allocated_volume": "10", "unit_of_measurement": "TON"},
			func(e *trade.Entry) { e.Target = remoteID(1) }), trade.OutcomeCreated)
		w.now = begin.AddDate(0, 0, 3)
		w.told(trade.Workflow, remoteID(1), "PENDING", begin)
		w.told(trade.Workflow, remoteID(1), "APPROVED", w.now)
		w.told(trade.Workflow, remoteID(99), "CANCELLED", w.now) // of another cooperative's
		w.told(trade.ProducerESG, producerID, "BLOCKED", w.now)
		w.told(trade.FarmESG, farmID, "", w.now)
		rows := func(cut Cut) map[string]Row {
			t.Helper()
			out := map[string]Row{}
			must.Do(t, w.take(cut).Each(func(r *Row) error { out[r.Key] = *r; return nil }))
			return out
		}
		now := rows(Cut{})
		for _, want := range []struct {
			key    string
			status trade.ReportedStatus
			told   ReportedStatus
		}{
			{"01|000001", trade.Workflow, ReportedStatus{"APPROVED", w.now}},
			{"01|000001", trade.ProducerESG, ReportedStatus{"BLOCKED", w.now}},
			{"01|000002", trade.ProducerESG, ReportedStatus{"BLOCKED", w.now}},
			{"R1", trade.ProducerESG, ReportedStatus{"BLOCKED", w.now}},
			{"R1", trade.FarmESG, ReportedStatus{"", w.now}},
		} {
			if got, ok := now[want.key].Told[want.status]; !ok || got != want.told {
				t.Errorf("%s of %s is %+v, %v; want %+v", want.status, want.key, got, ok, want.told)
			}
		}
		if got, ok := now["01|000002"].Told[trade.Workflow]; ok {
			t.Errorf("a contract of which no event told has the workflow %+v", got)
		}
		sections := portuguese
		sections.Sections = []SectionID{ContractsSection, TraceabilitySection}
		text := mustReport(t, w.take(Cut{}), sections, func(b *bytes.Buffer) Writer { return NewCSV(b, 0) })
		at := w.now.In(saoPaulo).Format("02/01/2006 15:04:05")
		for _, want := range []string{
			";Workflow;Workflow, avisado em;ESG do produtor;ESG do produtor, avisado em\r\n", ";APPROVED;" + at,
			";BLOCKED;" + at,
			";ESG da propriedade;ESG da propriedade, avisado em\r\n", "mudou, mas o aviso não diz para quê", at + "\r\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the report lacks %q:\n%s", want, text)
			}
		}
	})
}
