package mapping

import (
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// Lists are narrowed by what is shown or else mapped, as its name says; a document is masked, and one
// that is looked up is no fact.
func TestWhatARowTellsForLists(t *testing.T) {
	t.Parallel()
	text := func(s string) erp.Value { return erp.Value{Kind: erp.Text, Text: s} }
	for name, tt := range map[string]struct {
		spec JobSpec
		row  map[string]string
		want trade.Facts
	}{
		"the shown columns come first": {
			JobSpec{
				Sends: trade.Deliveries, Key: []string{"filial", "num"},
				Show: []ShowSpec{{"Unidade", "filial_nome"}, {"Nome do produtor", "nome"}, {"Cultura", "grão"}},
			},
			map[string]string{
				"filial": "01", "num": "7", "filial_nome": "Sede", "nome": " Ana 111.444.777-35 ", "grão": "Soja",
			},
			trade.Facts{Product: "Soja", Producer: "Ana ***.444.777-**", Branch: "Sede"},
		},
		"the key has the branch, a field the producer": {
			JobSpec{
				Sends: trade.OrderCommitments, Key: []string{"COD_FILIAL", "num"},
				Fields: map[string]FieldSpec{
					"producer_id": {Columns: []string{"a2_cod"}, Ref: "producers"},
					"product":     {Columns: []string{"prod"}},
				},
			},
			map[string]string{"COD_FILIAL": "02", "num": "7", "a2_cod": "P07", "prod": "S"},
			trade.Facts{Producer: "P07", Branch: "02"}, // the mapping says which product it is
		},
		"a document is looked up": {
			JobSpec{
				Sends: trade.OrderCommitments, Key: []string{"num"},
				Fields: map[string]FieldSpec{
					"producer_id": {Columns: []string{"cpf_produtor"}, Lookup: trade.ProducerByDocument},
				},
			},
			map[string]string{"num": "7", "cpf_produtor": "11144477735"},
			trade.Facts{},
		},
		"the contract is a row of its job": {
			JobSpec{
				Sends: trade.Deliveries, Key: []string{"num"},
				Fields: map[string]FieldSpec{"contract_id": {
					Columns: []string{"ctr"}, SentBy: []ParentSpec{{Job: "purchases", Columns: []string{"f", "ctr"}}},
				}},
			},
			map[string]string{"num": "7", "f": "01", "ctr": "12"},
			trade.Facts{Contract: trade.ParentKey{Job: "purchases", Key: "01|12"}},
		},
	} {
		job := &Job{Spec: tt.spec, Mapping: &Mapping{}}
		for _, field := range tt.spec.Fields {
			job.Mapping.Fields = append(job.Mapping.Fields, fieldMapping{Spec: field})
		}
		job.facts = job.factColumns()
		var columns []string
		var values []erp.Value
		for column, value := range tt.row {
			columns, values = append(columns, column), append(values, text(value))
		}
		row := Row{row: erp.NewRow(columns, values), job: job}
		var got trade.Facts
		row.AddFacts(&got)
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
