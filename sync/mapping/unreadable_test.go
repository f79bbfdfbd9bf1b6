package mapping

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// What makes a value useless is told in the reader's language after the ledger kept it, with what
// belongs into the sentence; JSON has it in English.
func TestAValueThatCannotBeReadIsToldInBothLanguagesFromTheLedger(t *testing.T) {
	t.Parallel()
	m := Mapping{Sends: trade.OrderCommitments, Fields: []fieldMapping{
		must.Get(compileField("x", trade.Rules(trade.OrderCommitments)[0], FieldSpec{Columns: []string{"c"}}, nil))(t),
	}}
	for want, why := range map[[2]string]phrase.Packed{
		{"o byte que não é UTF-8 é o 3", "bytes not valid UTF-8 at 3"}: phrase.Pack("bytes not valid UTF-8 at %d", 3),
		{
			"em WIN1252 não existe o byte que está na posição 2", "byte not defined in WIN1252 at 2",
		}: phrase.Pack("byte not defined in %s at %d", "WIN1252", 2),
		{
			"coluna binária; converta-a na consulta, p. ex. CAST(c AS X)",
			"binary column; convert it in the query, e.g. CAST(c AS X)",
		}: phrase.Pack("binary column; convert it in the query, e.g. %s", "CAST(c AS\tX)"),
		{"data antes de Cristo", "date before Christ"}: phrase.Pack("date before Christ"),
	} {
		var kept trade.Values
		v := erp.Value{Kind: erp.Text, Err: why}
		must.Do(t, json.Unmarshal(must.Get(json.Marshal(trade.Values{"c": CellOf(v)}))(t), &kept))
		if back := valueOf(kept["c"]); back != v {
			t.Errorf("%q is kept as %q", why, back.Err)
		}
		problems := m.Draft(ColumnsIn(kept), nil, nil).Problems
		if len(problems) != 1 || problems[0].Detail.Error() != want[1] {
			t.Fatalf("want %q, got %+v", want[1], problems)
		}
		pt, en := problems[0].Sentence(trade.Portuguese), problems[0].Sentence(trade.English)
		if !strings.Contains(pt, "("+want[0]+")") || !strings.Contains(en, "("+want[1]+")") {
			t.Errorf("told as %q and %q, want %q", pt, en, want)
		}
	}
}
