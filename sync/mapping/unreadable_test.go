package mapping

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/internal/english"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// What makes a value useless is told in the reader's language after the ledger kept it, with what
// belongs into the sentence; JSON has it in English.
func TestAValueThatCannotBeReadIsToldInBothLanguagesFromTheLedger(t *testing.T) {
	t.Parallel()
	spec := FieldSpec{Columns: []string{"c"}}
	rule := trade.Rules(trade.OrderCommitments)[0]
	m := Mapping{Sends: trade.OrderCommitments, Fields: []fieldMapping{
		must.Get(compileField("x", rule, spec, nil))(t),
	}}
	win1252, bad := dialect.FindCharset("WIN1252")
	if bad != nil {
		t.Fatal(bad)
	}
	for want, v := range map[[2]string]erp.Value{
		{"o byte que não é UTF-8 é o 3", "bytes not valid UTF-8 at 3"}: dialect.TextValue("JO\xc3O", dialect.Charset{}),
		{
			"em WIN1252 não existe o byte que está na posição 2", "byte not defined in WIN1252 at 2",
		}: dialect.TextValue("A\x81", win1252),
		{"texto com mais de 1 MiB", "text longer than 1 MiB"}: dialect.TextValue(strings.Repeat("x", 2<<20), win1252),
		{
			"coluna binária; converta-a na consulta, p. ex. CAST(c AS X)",
			"binary column; convert it in the query, e.g. CAST(c AS X)",
		}: dialect.BinaryColumn("CAST(c AS X)")(nil),
		{"um tipo que o driver não explica", "a type the driver does not explain"}: dialect.Keep(erp.Int)(t),
		{"número infinito", "infinite number"}:                                     dialect.FloatText("-inf", 64),
		{"data antes de Cristo", "date before Christ"}:                             dialect.DateText("0044-03-15 BC"),
		{"data ilegível", "unreadable date"}:                                       dialect.TimestampText("?"),
	} {
		var kept trade.Values
		must.Do(t, json.Unmarshal(must.Get(json.Marshal(trade.Values{"c": CellOf(v)}))(t), &kept))
		if back := valueOf(kept["c"]); back.Err != v.Err {
			t.Errorf("%q is kept as %q", v.Err, back.Err)
		}
		problems := m.Draft(ColumnsIn(kept), nil, nil).Problems
		if len(problems) != 1 || problems[0].Detail.Error() != want[1] {
			t.Fatalf("want %q, got %+v", want[1], problems)
		}
		pt, en := problems[0].Sentence(trade.Portuguese), problems[0].Sentence(trade.English)
		if !strings.Contains(pt, "("+want[0]+")") || !strings.Contains(en, "("+want[1]+")") || english.Lines(pt) != nil {
			t.Errorf("told as %q and %q, want %q", pt, en, want)
		}
	}
}
