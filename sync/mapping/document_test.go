package mapping

import (
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// F039: CPF and CNPJ, numeric and alphanumeric, with their check digits.
func TestADocumentIsReadAsTheERPKeepsIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		v    erp.Value
		want string // "" = refused
	}{
		{"a CPF as text", text(" 529.982.247-25 "), "52998224725"},
		{"a CNPJ as text", text("11.222.333/0001-81"), "11222333000181"},
		{"a CNPJ with letters keeps them", text("12.abc.345/01de-35"), "12ABC34501DE35"},
		{"text gets no zeros", text("1234567890"), ""},
		{"a wrong digit", text("529.982.247-26"), ""},
		{"a CPF that lost its zero in a number", erp.Value{Kind: erp.Int, Text: "1234567890"}, "01234567890"},
		{
			"a CPF in a number with a fraction of zeros",
			erp.Value{Kind: erp.Number, Text: "1234567890.00"},
			"01234567890",
		},
		{"a CPF in a float", erp.Value{Kind: erp.Float, Text: "52998224725"}, "52998224725"},
		{"a CNPJ that lost its zeros", erp.Value{Kind: erp.Number, Text: "394460005887"}, "00394460005887"},
		{"a CNPJ that is shorter than a CPF", erp.Value{Kind: erp.Int, Text: "360305000104"}, "00360305000104"},
		{"a number that is neither", erp.Value{Kind: erp.Int, Text: "12345"}, ""},
		{"a longer number", erp.Value{Kind: erp.Number, Text: "123456789012345678"}, ""},
		{"a fraction", erp.Value{Kind: erp.Number, Text: "52998224725.5"}, ""},
		{"a negative number", erp.Value{Kind: erp.Int, Text: "-52998224725"}, ""},
		{"a date", erp.Value{Kind: erp.Date, Text: "2026-01-01"}, ""},
	} {
		got, err := DocumentOf(c.v)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: documentOf(%v) = %q, %v, want %q", c.name, c.v, got, err, c.want)
		}
		if err != nil && strings.ContainsAny(err.Error(), c.v.Text) && strings.Contains(err.Error(), c.v.Text) {
			t.Errorf("%s: the error shows the value: %v", c.name, err)
		}
	}
}

func TestEveryRefusalOfADocumentHasWordsInPortuguese(t *testing.T) {
	t.Parallel()
	values := []erp.Value{
		text("1234567890"), text("12"), text("529x98224725!"), text("..-"), text("5299822472A"), text("11111111111"),
		text("52998224726"),
		text("112223330001AB"), text("00000000000000"), text("11222333000182"),
		{Kind: erp.Int, Text: "12345"},
		{Kind: erp.Bool, Text: "true"},
	}
	seen := map[string]bool{}
	for _, v := range values {
		_, err := DocumentOf(v)
		if err == nil {
			t.Errorf("%v is taken for a document", v)
			continue
		}
		seen[err.Error()] = true
		why := phrase.Packed(err.Error())
		p := trade.Problem{Field: "producer_id", Rule: trade.RuleDocument, Column: "doc", Detail: why}
		if s := p.Sentence(trade.Portuguese); strings.Contains(s, err.Error()) ||
			!strings.HasSuffix(s, "; o valor está na coluna doc") {
			t.Errorf("%q is said as %q", err, s)
		}
	}
	if len(seen) != len(values) {
		t.Errorf("%d different refusals, want %d", len(seen), len(values))
	}
}

func TestALookupIsCheckedWithTheConfiguration(t *testing.T) {
	t.Parallel()
	spec := func(change func(*JobSpec)) JobSpec {
		s := JobSpec{Name: "contracts", Sends: trade.OrderCommitments, Fields: map[string]FieldSpec{
			"producer_id": {Columns: []string{"doc"}, Lookup: trade.ProducerByDocument},
		}}
		change(&s)
		return s
	}
	field := func(f FieldSpec) func(*JobSpec) {
		return func(s *JobSpec) { s.Fields["producer_id"] = f }
	}
	for name, c := range map[string]struct {
		change func(*JobSpec)
		want   string
	}{
		"another lookup": {
			field(FieldSpec{Columns: []string{"doc"}, Lookup: "producer_by_name"}),
			`fields.producer_id.lookup: "producer_by_name" is nothing that can be looked up; there is producer_by_document`,
		},
		"two columns": {
			field(FieldSpec{Columns: []string{"a", "b"}, Lookup: trade.ProducerByDocument}),
			"several columns make a code",
		},
		"with a ref": {field(FieldSpec{
			Columns: []string{"doc"}, Ref: "producers",
			Lookup: trade.ProducerByDocument,
		}), "has a lookup beside ref"},

		"no producer": {func(s *JobSpec) {
			s.Fields["issuer_id"] = FieldSpec{Columns: []string{"x"}, Lookup: trade.ProducerByDocument}
		}, "gives a producer, and issuer_id is none"},

		"a shared column": {
			func(s *JobSpec) { s.Fields["haverst"] = FieldSpec{Columns: []string{"DOC"}} },
			"column doc is read by haverst too; select it twice, under two names",
		},
		"of cancelled": {
			func(s *JobSpec) { s.Cancelled = &CancelledSpec{Column: "doc"} },
			"column doc is that of cancelled too",
		},
	} {
		_, errs := compileMapping(spec(c.change), time.UTC)
		found := false
		for _, err := range errs {
			found = found || strings.Contains(err.Error(), c.want)
		}
		if !found {
			t.Errorf("%s: %v, want %q", name, errs, c.want)
		}
	}
}
