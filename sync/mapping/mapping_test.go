package mapping

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

func text(s string) erp.Value { return erp.Value{Kind: erp.Text, Text: s} }

func ptr[T any](v T) *T { return &v }

const (
	walletID = "1b98fbe4-6680-4a11-9ba1-192ec42b7170"
	placeID  = "563e9bed-4510-4358-acc6-d8f2c74c7ccf"
)

func TestAFieldIsReadAsTheConfigurationSays(t *testing.T) {
	t.Parallel()
	refs := Codes{"wallets": {
		"12|01": "{" + strings.ToUpper(walletID) + "}", "13": "not-a-uuid", "Ana@coop.br": walletID,
	}}
	col := func(names ...string) []string { return names }
	tests := []struct {
		name    string
		field   string
		spec    FieldSpec
		values  map[string]erp.Value
		want    string // canonical text
		rule    string // of the problem
		waiting *trade.Awaited
	}{
		{
			name: "padding goes away", field: "haverst", spec: FieldSpec{Columns: col("c")},
			values: map[string]erp.Value{"c": text("  2025/2026   ")}, want: "2025/2026",
		},
		{
			name: "blank is missing", field: "haverst", spec: FieldSpec{Columns: col("c")},
			values: map[string]erp.Value{"c": text("    ")},
		},
		{
			name: "NULL is missing", field: "haverst", spec: FieldSpec{Columns: col("c")},
			values: map[string]erp.Value{"c": {Kind: erp.Null}},
		},
		{name: "a constant needs no column", field: "currency", spec: FieldSpec{Const: ptr("BRL")}, want: "BRL"},
		{
			name: "a default stands in for a missing value", field: "unit_of_measurement",
			spec:   FieldSpec{Columns: col("c"), Values: map[string]string{"TL": "TON"}, Default: ptr("SC")},
			values: map[string]erp.Value{"c": text("  ")}, want: "SC",
		},
		{
			name: "a default is no excuse for an unmapped value", field: "unit_of_measurement",
			spec:   FieldSpec{Columns: col("c"), Values: map[string]string{"TL": "TON"}, Default: ptr("SC")},
			values: map[string]erp.Value{"c": text("BAG")}, rule: trade.RuleUnmapped,
		},
		{
			name: "maps compare without case", field: "modality",
			spec:   FieldSpec{Columns: col("c"), Values: map[string]string{"Balcão": "BALCAO"}},
			values: map[string]erp.Value{"c": text(" BALCÃO ")}, want: "BALCAO",
		},
		{
			name: "maps compare after NFC", field: "modality",
			spec:   FieldSpec{Columns: col("c"), Values: map[string]string{"Balcão": "BALCAO"}},
			values: map[string]erp.Value{"c": text("balca\u0303o")}, want: "BALCAO",
		},
		{
			name: "accents count", field: "modality",
			spec:   FieldSpec{Columns: col("c"), Values: map[string]string{"Balcão": "BALCAO"}},
			values: map[string]erp.Value{"c": text("balcao")}, rule: trade.RuleUnmapped,
		},
		{
			name: "codes keep their zeros", field: "product",
			spec:   FieldSpec{Columns: col("c"), Values: map[string]string{"001": "SOJA", "1": "MILHO"}},
			values: map[string]erp.Value{"c": text("001")}, want: "SOJA",
		},
		{
			name: "an integer code matches its plain digits", field: "product",
			spec:   FieldSpec{Columns: col("c"), Values: map[string]string{"1": "MILHO"}},
			values: map[string]erp.Value{"c": {Kind: erp.Int, Text: "1"}}, want: "MILHO",
		},
		{
			name: "zeros at the end of the fraction go", field: "amount", spec: FieldSpec{Columns: col("c")},
			values: map[string]erp.Value{"c": {Kind: erp.Number, Text: "4229.5000"}}, want: "4229.5",
		},
		{
			name: "30 digits stay exact", field: "amount", spec: FieldSpec{Columns: col("c")},
			values: map[string]erp.Value{"c": {Kind: erp.Number, Text: "123456789012345678901234.567891"}},
			want:   "123456789012345678901234.567891",
		},
		{
			name: "scale rounds half away from zero", field: "price",
			spec:   FieldSpec{Columns: col("c"), Scale: ptr(int32(2))},
			values: map[string]erp.Value{"c": {Kind: erp.Float, Text: "2.345"}}, want: "2.35",
		},
		{
			name: "scale rounds a negative half away from zero", field: "price",
			spec:   FieldSpec{Columns: col("c"), Scale: ptr(int32(2))},
			values: map[string]erp.Value{"c": {Kind: erp.Number, Text: "-2.345"}}, want: "-2.35",
		},
		{
			name: "float noise goes with a scale", field: "amount",
			spec:   FieldSpec{Columns: col("c"), Scale: ptr(int32(4))},
			values: map[string]erp.Value{"c": {Kind: erp.Float, Text: "1234.5670000000001"}}, want: "1234.567",
		},
		{
			name: "Brazilian numbers", field: "price", spec: FieldSpec{Columns: col("c"), Number: "1.234,56"},
			values: map[string]erp.Value{"c": text("1.234,50")}, want: "1234.5",
		},
		{
			name: "a point follows the setting, it is no guess", field: "price",
			spec: FieldSpec{Columns: col("c"), Number: "1.234,56"}, values: map[string]erp.Value{"c": text("1.234")},
			want: "1234",
		},
		{
			name: "a wrong group is no number", field: "price", spec: FieldSpec{Columns: col("c"), Number: "1.234,56"},
			values: map[string]erp.Value{"c": text("12.34")}, rule: trade.RuleNumber,
		},
		{
			name: "a decimal comma without a setting is no number", field: "price", spec: FieldSpec{Columns: col("c")},
			values: map[string]erp.Value{"c": text("12,34")}, rule: trade.RuleNumber,
		},
		{
			name: "NaN is no number", field: "price", spec: FieldSpec{Columns: col("c")},
			values: map[string]erp.Value{"c": {Kind: erp.Number, Text: "NaN"}}, rule: trade.RuleNumber,
		},
		{
			name: "an unreadable value is the row's problem", field: "price", spec: FieldSpec{Columns: col("c")},
			values: map[string]erp.Value{"c": {Kind: erp.Text, Err: "bytes not valid UTF-8 at 3"}},
			rule:   trade.RuleUnreadable,
		},
		{
			name: "a date of the database", field: "order_date", spec: FieldSpec{Columns: col("c")},
			values: map[string]erp.Value{"c": {Kind: erp.Date, Text: "2026-08-10"}}, want: "2026-08-10",
		},
		{
			name: "the day of a timestamp, as it stands", field: "order_date", spec: FieldSpec{Columns: col("c")},
			values: map[string]erp.Value{"c": {Kind: erp.Timestamp, Text: "2026-08-10T23:59:59"}}, want: "2026-08-10",
		},
		{
			name: "text after a date is no date", field: "order_date", spec: FieldSpec{Columns: col("c")},
			values: map[string]erp.Value{"c": text("2026-05-10 ou 2026-05-20")}, rule: trade.RuleDate,
		},
		{
			name: "text after a date in a form is no date", field: "order_date",
			spec:   FieldSpec{Columns: col("c"), Date: "YYYY-MM-DD"},
			values: map[string]erp.Value{"c": text("2026-05-10 00:00:00")}, rule: trade.RuleDate,
		},
		{
			name: "an instant in a text is a local day", field: "order_date", spec: FieldSpec{Columns: col("c")},
			values: map[string]erp.Value{"c": text("2026-05-11 02:30:00.000 +00:00")}, want: "2026-05-10",
		},
		{
			name: "empty by the day that a program wrote as an instant", field: "payday",
			spec:   FieldSpec{Columns: col("c"), Empty: []string{"1970-01-01"}},
			values: map[string]erp.Value{"c": text("1970-01-01T00:00:00.000Z")},
		},
		{
			name: "YYYYMMDD", field: "order_date", spec: FieldSpec{Columns: col("c"), Date: "YYYYMMDD"},
			values: map[string]erp.Value{"c": text("20260810")}, want: "2026-08-10",
		},
		{
			name: "YYYYMMDD in an integer", field: "order_date", spec: FieldSpec{Columns: col("c"), Date: "YYYYMMDD"},
			values: map[string]erp.Value{"c": {Kind: erp.Int, Text: "20260810"}}, want: "2026-08-10",
		},
		{
			name: "a day that does not exist", field: "order_date",
			spec:   FieldSpec{Columns: col("c"), Date: "DD/MM/YYYY"},
			values: map[string]erp.Value{"c": text("31/02/2026")}, rule: trade.RuleDate,
		},
		{
			name: "a date in the wrong form is no guess", field: "order_date", spec: FieldSpec{Columns: col("c")},
			values: map[string]erp.Value{"c": text("10/08/2026")}, rule: trade.RuleDate,
		},
		{
			name: "empty by text", field: "order_date",
			spec:   FieldSpec{Columns: col("c"), Date: "YYYYMMDD", Empty: []string{"00000000"}},
			values: map[string]erp.Value{"c": text("00000000")},
		},
		{
			name: "empty by number", field: "price", spec: FieldSpec{Columns: col("c"), Empty: []string{"0"}},
			values: map[string]erp.Value{"c": {Kind: erp.Number, Text: "0.00"}},
		},
		{
			name: "empty by day", field: "payday", spec: FieldSpec{Columns: col("c"), Empty: []string{"1899-12-30"}},
			values: map[string]erp.Value{"c": {Kind: erp.Timestamp, Text: "1899-12-30T00:00:00"}},
		},
		{
			name: "a time is not the empty day", field: "payday",
			spec:   FieldSpec{Columns: col("c"), Empty: []string{"1899-12-30"}},
			values: map[string]erp.Value{"c": {Kind: erp.Timestamp, Text: "1899-12-30T08:00:00"}},
			want:   "1899-12-30",
		},
		{
			name: "empty by the day in a text, as SQLite keeps it", field: "payday",
			spec:   FieldSpec{Columns: col("c"), Empty: []string{"1899-12-30"}},
			values: map[string]erp.Value{"c": text("1899-12-30 00:00:00")},
		},
		{
			name: "a time in a text is not the empty day", field: "payday",
			spec:   FieldSpec{Columns: col("c"), Empty: []string{"1899-12-30"}},
			values: map[string]erp.Value{"c": text("1899-12-30 08:00:00")}, want: "1899-12-30",
		},
		{
			name: "empty by the day in another form", field: "payday",
			spec:   FieldSpec{Columns: col("c"), Date: "DD/MM/YYYY", Empty: []string{"1899-12-30"}},
			values: map[string]erp.Value{"c": text("30/12/1899")},
		},
		{
			name: "a form for texts, beside a column that is an instant", field: "payday",
			spec:   FieldSpec{Columns: col("c"), Date: "YYYYMMDD"},
			values: map[string]erp.Value{"c": {Kind: erp.Instant, Text: "2026-10-02T01:30:00+00:00"}},
			want:   "2026-10-01",
		},
		{
			name: "a text of zeros is not the number zero", field: "product",
			spec: FieldSpec{Columns: col("c"), Empty: []string{"0"}}, values: map[string]erp.Value{"c": text("00")},
			want: "00",
		},
		{
			name: "a reference by a code of two columns", field: "wallet_id",
			spec:   FieldSpec{Columns: col("c", "l"), Ref: "wallets"},
			values: map[string]erp.Value{"c": text(" 12 "), "l": text("01")}, want: walletID,
		},
		{
			name: "a reference that is missing makes the row wait", field: "wallet_id",
			spec: FieldSpec{Columns: col("c"), Ref: "wallets"}, values: map[string]erp.Value{"c": text("99")},
			waiting: &trade.Awaited{Ref: "wallets", Code: "99"},
		},
		{
			name: "a reference in other capitals is named", field: "wallet_id",
			spec: FieldSpec{Columns: col("c"), Ref: "wallets"}, values: map[string]erp.Value{"c": text("ana@COOP.br")},
			waiting: &trade.Awaited{Ref: "wallets", Code: "ana@COOP.br", Spelled: "Ana@coop.br"},
		},
		{
			name: "a reference that is no UUID makes it invalid", field: "wallet_id",
			spec: FieldSpec{Columns: col("c"), Ref: "wallets"}, values: map[string]erp.Value{"c": text("13")},
			rule: trade.RuleUUID,
		},
		{
			name: "a blank code is missing", field: "wallet_id",
			spec:   FieldSpec{Columns: col("c", "l"), Ref: "wallets"},
			values: map[string]erp.Value{"c": text("  "), "l": {Kind: erp.Null}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := compileTestField(t, tt.field, tt.spec)
			got, problem, waiting := f.Apply(func(c string) (erp.Value, bool) { v, ok := tt.values[c]; return v, ok },
				refs, nil)
			rule := ""
			if problem != nil {
				rule = problem.Rule
			}
			if rule != tt.rule {
				t.Errorf("rule = %q, want %q", rule, tt.rule)
			}
			if diff := cmp.Diff(tt.waiting, waiting); diff != "" {
				t.Errorf("waiting (-want +got):\n%s", diff)
			}
			if problem == nil && waiting == nil && got.Text != tt.want {
				t.Errorf("text = %q, want %q", got.Text, tt.want)
			}
		})
	}
}

func compileTestField(t *testing.T, field string, spec FieldSpec) fieldMapping {
	t.Helper()
	for _, rule := range trade.Rules(trade.OrderCommitments) {
		if rule.Field == field {
			f := must.Get(compileField("jobs.contracts.fields."+field, rule, spec, time.FixedZone("", -3*60*60)))(t)
			return f
		}
	}
	t.Fatalf("no field %s", field)
	return fieldMapping{}
}

func TestAFaultOfTheMappingNamesItsPlace(t *testing.T) {
	t.Parallel()
	col := []string{"c"}
	tests := []struct {
		name, field string
		spec        FieldSpec
		want        string
	}{
		{
			"column and const", "currency",
			FieldSpec{Columns: col, Const: ptr("BRL")},
			"fields.currency: give either a column or a const",
		},
		{"neither", "currency", FieldSpec{}, "fields.currency: give either a column or a const"},
		{
			"two columns without a ref", "currency",
			FieldSpec{Columns: []string{"a", "b"}},
			"fields.currency.column: several columns make a code",
		},
		{
			"unknown kind of reference", "wallet_id",
			FieldSpec{Columns: col, Ref: "walets"},
			`fields.wallet_id.ref: "walets" is no kind of reference`,
		},
		{"a year of two digits", "order_date", FieldSpec{Columns: col, Date: "DD/MM/YY"}, "fields.order_date.date"},
		{
			"a form of numbers that does not exist", "price",
			FieldSpec{Columns: col, Number: "1 234,56"},
			"fields.price.number",
		},
		{"a number form for a date", "order_date", FieldSpec{Columns: col, Number: "1234,56"}, "is no number"},
		{
			"a value map that says two things", "product",
			FieldSpec{Columns: col, Values: map[string]string{"sj": "SOJA", "SJ ": "MILHO"}},
			`fields.product.values: "sj" stands for two values`,
		},
		{"a scale out of range", "price", FieldSpec{Columns: col, Scale: ptr(int32(40))}, "fields.price.scale"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, rule := range trade.Rules(trade.OrderCommitments) {
				if rule.Field != tt.field {
					continue
				}
				_, err := compileField("jobs.contracts.fields."+tt.field, rule, tt.spec, time.UTC)
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("compileField = %v, want it to contain %q", err, tt.want)
				}
			}
		})
	}
}

func TestKeysHaveOneTextFormThatComesApartAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		parts []erp.Value
		want  string
	}{
		{"trimmed on both sides", []erp.Value{text(" 01 "), text("000123   ")}, "01|000123"},
		{"a bar inside a part", []erp.Value{text("a|b"), text("c")}, `a\|b|c`},
		{"a backslash inside a part", []erp.Value{text(`a\`), text("c")}, `a\\|c`},
		{"a blank part stays", []erp.Value{text("01"), text("  ")}, "01|"},
		{"integers plain", []erp.Value{{Kind: erp.Int, Text: "7"}, text("x")}, "7|x"},
		{"numbers without the fraction's zeros", []erp.Value{{Kind: erp.Number, Text: "7.00"}, text("x")}, "7|x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			key, err := keyOf(erp.NewRow([]string{"a", "b"}, tt.parts), []string{"a", "b"})
			if err != nil || key != tt.want {
				t.Fatalf("keyOf = %q, %v; want %q", key, err, tt.want)
			}
			var parts []string
			for _, p := range tt.parts {
				parts = append(parts, PlainText(p))
			}
			if diff := cmp.Diff(parts, SplitCode(key)); diff != "" {
				t.Errorf("splitCode (-want +got):\n%s", diff)
			}
		})
	}
	for name, parts := range map[string][]erp.Value{
		"NULL": {text("01"), {Kind: erp.Null}}, "unreadable": {text("01"), {Kind: erp.Text, Err: "bytes"}},
		"all blank": {text(" "), text("")},
	} {
		if key, err := keyOf(erp.NewRow([]string{"a", "b"}, parts), []string{"a", "b"}); err == nil {
			t.Errorf("%s: keyOf = %q, want an error", name, key)
		}
	}
}

func FuzzKeysOfDifferentPartsDiffer(f *testing.F) {
	f.Add("a", "bc", "ab", "c")
	f.Add(`a\`, "b", "a", `\b`)
	f.Add("a|b", "c", "a", "b|c")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		a, b, c, d = strings.TrimSpace(a), strings.TrimSpace(b), strings.TrimSpace(c), strings.TrimSpace(d)
		if same := JoinCode([]string{a, b}) == JoinCode([]string{c, d}); same != (a == c && b == d) {
			t.Errorf("(%q,%q) and (%q,%q) give the same key: %t", a, b, c, d, same)
		}
	})
}

func FuzzNumbersNeverPassAsSomethingElse(f *testing.F) {
	for _, s := range []string{
		"1.234,56", "-1,5", "1e5", "NaN", "0x10", "１２", "1..2", ",5", "5,",
		"9999999999999999999999999999999999999999",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for sample := range numberForms {
			form, _ := parseNumberForm(sample)
			n, err := form.Read(text(s), s)
			if err != nil {
				continue
			}
			again, err := trade.ParseDecimal(n.String())
			if err != nil || !again.Equal(n) || strings.ContainsAny(n.String(), "eE,+") {
				t.Errorf("%q in form %s is %q, which does not read back: %v", s, sample, n, err)
			}
		}
	})
}
