package sync

import (
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// benchJob is a job of deliveries as cooperatives have them.
func benchJob(b *testing.B) (*mapping.Job, trade.Values) {
	b.Helper()
	job := must.Get(mapping.Compile(mapping.JobSpec{
		Name: "deliveries", Sends: trade.Deliveries, Key: []string{"filial", "ticket"}, ChangedAt: "atualizado_em",
		Sweep: "0 3 * * *",
		Query: "SELECT filial, ticket, contrato, peso, um, data, car, atualizado_em FROM entrega",
		Fields: map[string]mapping.FieldSpec{
			"contract_id": {Columns: []string{"contrato"}}, "delivered_volume": {Columns: []string{"peso"}},
			"delivered_volume_unit_of_measure": {
				Columns: []string{"um"},
				Values:  map[string]string{"KG": "kg", "SC": "sc", "TL": "ton"},
			},
			"delivery_date": {
				Columns: []string{"data"}, Date: "YYYYMMDD",
				Empty: []string{"00000000"},
			}, "car": {Columns: []string{"car"}},
		},
	}, time.UTC))(b)
	return job, trade.Values{
		"contrato": {Kind: 't', Text: "C00000017"}, "peso": {Kind: 'n', Text: "27480.125"},
		"um": {Kind: 't', Text: "KG"}, "data": {Kind: 't', Text: "20260510"},
		"car": {Kind: 't', Text: "MT-5107925-B5C72DC4EE60CAEA63367C29A80B21EA"},
	}
}

// BenchmarkMap makes a draft of a row.
func BenchmarkMap(b *testing.B) {
	job, values := benchJob(b)
	b.ReportAllocs()
	for b.Loop() {
		if d := job.Mapping.Draft(mapping.ColumnsIn(values), nil, nil); len(d.Problems)+len(d.Missing) > 0 {
			b.Fatal(d)
		}
	}
}

// BenchmarkEvaluate maps and checks a row, and writes its payload.
func BenchmarkEvaluate(b *testing.B) {
	job, values := benchJob(b)
	e := &mapping.Evaluator{
		Job: job, Log: zap.NewNop(),
		Today: trade.DateOf(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)),
	}
	b.ReportAllocs()
	for b.Loop() {
		var entry trade.Entry
		if e.Evaluate(&entry, values, nil); entry.State != trade.Pending {
			b.Fatal(entry.State, entry.Error)
		}
	}
}

// BenchmarkRow makes a row with its key and hash, as each row is that is read.
func BenchmarkRow(b *testing.B) {
	job, _ := benchJob(b)
	names := []string{"filial", "ticket", "contrato", "peso", "um", "data", "car", "atualizado_em"}
	texts := []string{
		"01", "T00000017", "C00000017", "27480.125", "KG", "20260510",
		"MT-5107925-B5C72DC4EE60CAEA63367C29A80B21EA", "2026-05-10 11:12:13",
	}
	values := make([]erp.Value, len(texts))
	for i, text := range texts {
		values[i] = erp.Value{Kind: erp.Text, Text: text}
	}
	values[3].Kind = erp.Number
	row := erp.NewRow(names, values)
	b.ReportAllocs()
	for b.Loop() {
		if made, err := job.Row(row); err != nil || made.SourceHash == "" {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecide says what an answer means for its entry.
func BenchmarkDecide(b *testing.B) {
	answer := apiclient.Answer{Known: apiclient.Created, Status: 201, ID: "5d1e7c7a-90c4-4e6c-8c51-0e2f4b6a8c9d"}
	b.ReportAllocs()
	for b.Loop() {
		if d := outcome.Decide(answer, apiclient.FaultNone, false); d.State != trade.Accepted {
			b.Fatal(d)
		}
	}
}
