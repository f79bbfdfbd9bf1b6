package specimen_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/specimen"
	"github.com/safrasync/safrasync/trade"
)

var day = trade.DateOf(time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC))

func ptr[T any](v T) *T { return &v }

func field(columns ...string) mapping.FieldSpec { return mapping.FieldSpec{Columns: columns} }

// contracts is a job with every way of a mapping.
func contracts(t interface{ Fatal(...any) }) *mapping.Job {
	job, err := mapping.Compile(mapping.JobSpec{
		Name: "contracts", Sends: trade.OrderCommitments, Query: "SELECT 'Maria Canário'",
		Key:   []string{"filial", "num"},
		Title: "Contratos de Maria Canário", Schedule: "0 3 * * *", Sweep: "0 3 * * *", Invalid: "erro",
		Cancelled: &mapping.CancelledSpec{Column: "situacao", Values: []string{"cancelado"}},
		Show:      []mapping.ShowSpec{{Label: "Produtor", Column: "nome"}},
		Fields: map[string]mapping.FieldSpec{
			"amount":      {Columns: []string{"quantidade"}, Number: "1.234,56"},
			"producer_id": {Columns: []string{"cpf"}, Lookup: trade.ProducerByDocument, Empty: []string{"0"}},
			"issuer_id":   {Const: ptr("22222222-2222-4222-8222-222222222201")},
			"product": {
				Columns: []string{"produto"},
				Values:  map[string]string{"001": "SOJA", "Milho": "MILHO"},
			},
			"delivery_place_id": {
				Columns: []string{"local"},
				Values:  map[string]string{"Fazenda Canário": "33333333-3333-4333-8333-333333333301"},
			},
			"haverst":             field("safra"),
			"unit_of_measurement": {Columns: []string{"um"}, Default: ptr("SC")},
			"order_type":          field("tipo"),
			"order_date":          {Columns: []string{"emissao"}, Date: "YYYYMMDD"},
			"wallet_id":           {Columns: []string{"filial", "carteira"}, Ref: "wallets"},
			"currency":            {Const: ptr("BRL")},
			"price": {
				Columns: []string{"preco"}, Number: "1.234,56", Per: &mapping.FieldSpec{Columns: []string{"um_preco"}},
				In: "unit_of_measurement", Empty: []string{"0"},
			},
			"initial_delivery_date": field("inicio"),
			"end_delivery_date":     field("fim"),
			"modality":              field("modalidade"),
			"payday":                field("pagto"),
			"payment_type":          field("forma"),
		},
	}, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// draw returns a row, and the texts in it that must not leave.
func draw(t *rapid.T, job *mapping.Job) (trade.Values, []string) {
	name := rapid.StringMatching(`[A-Z][a-zçã]{5,9} [A-Z][a-z]{5,9}`)
	money := rapid.StringMatching(`[1-9][0-9]{1,2}\.[0-9]{3},[0-9]{2}`)
	code := rapid.StringMatching(`[1-9][0-9]{9}|[A-F1-9]{10}|  [1-9][0-9]{8} `)
	open := map[string][]string{
		"produto": {"001", " milho ", "002", ""}, "safra": {"2025/2026", "2025/2029", "2025", ""},
		"um": {"SC", "TON", "KG", "BAG", ""}, "tipo": {"COMPRA", "A_FIXAR", "VENDA"},
		"emissao":  {"20260310", "20261340", "", "19990101"},
		"um_preco": {"SC", "TON", "BAG"}, "modalidade": {"BALCAO", "OUTRA"}, "forma": {"DINHEIRO", "", "X"},
		"situacao": {"aprovado", "cancelado", ""}, "erro": {"", "", "", "produtor sem cadastro"},
		"cpf": {
			"529.982.247-25", "52998224725", "11.222.333/0001-81", "529.982.247-26",
			"11111111111", "1234", "0", "", "12.ABC.345/01DE-35",
		},
	}
	personal := map[string]*rapid.Generator[string]{
		"quantidade": money, "preco": money, "local": name, "carteira": code, "num": code,
	}
	values, secrets := trade.Values{}, []string{}
	odd := rapid.SliceOfN(rapid.SampledFrom(job.Columns()), 0, 3).Draw(t, "odd columns")
	// a row is right but for a few columns; else none would go
	kinds := []string{"", "", "null", "unreadable", "typed"}
	day := func(column string, of ...string) string {
		if slices.Contains(odd, column) {
			return rapid.SampledFrom([]string{"1999-01-01", "2032-01-01", "", "Maria Cana"}).Draw(t, column)
		}
		return of[0]
	}
	for _, column := range job.Columns() {
		kind := ""
		if slices.Contains(odd, column) {
			kind = rapid.SampledFrom(kinds).Draw(t, column+" as")
		}
		text, personalText := "", false
		switch {
		case column == "filial":
			text, kind = "01", ""
		case column == "local" && !slices.Contains(odd, column):
			text = "Fazenda Canário"
		case column == "inicio", column == "fim", column == "pagto":
			text = day(column, "2026-04-30")
		case open[column] != nil:
			text = open[column][0]
			if column == "tipo" || column == "um" || column == "um_preco" || slices.Contains(odd, column) {
				text = rapid.SampledFrom(open[column]).Draw(t, column)
			}
			personalText = column == "cpf"
		default:
			of := personal[column]
			if slices.Contains(odd, column) && kind == "" {
				of = name
			}
			text, personalText = of.Draw(t, column), true
		}
		v := erp.Value{Kind: erp.Text, Text: text}
		switch {
		case column == "num":
		case kind == "null":
			v = erp.Value{}
		case kind == "unreadable":
			v = erp.Value{Kind: erp.Text, Err: "bytes not valid UTF-8 at %s\t3"}
		case kind == "typed" && (column == "preco" || column == "quantidade"):
			v = erp.Value{Kind: erp.Number, Text: rapid.SampledFrom([]string{
				"1129.50",
				"-4229.0000", "0.00", "100", "60",
			}).Draw(t, column+" number")}
			text = strings.TrimRight(strings.Trim(v.Text, "-0"), ".")
		case kind == "typed" && column == "cpf":
			v = erp.Value{Kind: erp.Int, Text: rapid.SampledFrom([]string{
				"1234567890",
				"52998224725",
			}).Draw(t, "cpf number")}
		}
		values[column] = mapping.CellOf(v)
		if personalText && v.Kind != erp.Null && v.Err == "" && len(strings.TrimSpace(text)) > 7 {
			secrets = append(secrets, strings.TrimSpace(v.Text))
		}
	}
	return values, secrets
}

// refsOf returns the references that a row needs, for most rows.
func refsOf(t *rapid.T, values trade.Values) mapping.Codes {
	out := mapping.Codes{}
	get := mapping.ColumnsIn(values)
	if rapid.IntRange(0, 3).Draw(t, "wallet known") > 0 {
		out["wallets"] = map[string]string{mapping.CodeOf(get, []string{
			"filial",
			"carteira",
		}): "44444444-4444-4444-8444-444444444401"}
	}
	v, _ := get("cpf")
	if document, err := mapping.DocumentOf(v); err == nil && rapid.IntRange(0, 3).Draw(t, "producer known") > 0 {
		out[trade.ProducerByDocument] = map[string]string{document: "11111111-1111-4111-8111-111111111101"}
	}
	return out
}

// Whatever the ERP has in a row: the rules say the same of the masked row, which is read back from its
// file as it was written, and nothing of a person is in the file.
func TestTheRulesSayTheSameOfTheMaskedRowAndNothingOfAPersonIsInIt(t *testing.T) {
	t.Parallel()
	job := contracts(t)
	states := map[trade.State]int{}
	rapid.Check(t, func(t *rapid.T) {
		values, secrets := draw(t, job)
		seen := dryrun.Seen{Values: values, References: refsOf(t, values), Today: day, FromERP: true}
		orig, _, err := seen.Judge(job)
		if err != nil {
			t.Fatal(err)
		}
		states[orig.State]++
		s, err := specimen.Make(specimen.Facts{Program: "1", Zone: time.UTC, Job: job, Seen: seen}, []byte("secret"))
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := specimen.Write(&file, s); err != nil {
			t.Fatal(err)
		}
		for _, secret := range append(secrets, "Canário", "529.982.247", "52998224725", "SELECT", "1111-4111") {
			if strings.Contains(file.String(), secret) {
				t.Fatalf("%q is in the file: %s", secret, file.String())
			}
		}
		read, err := specimen.Read(file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		again, err := read.Compile()
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := read.Seen().Judge(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(asJSON(t, s.Verdict), asJSON(t, got)); diff != "" {
			t.Fatalf("the file (-made +read):\n%s", diff)
		}
		if orig.State != got.State || orig.Cancelled != got.Cancelled {
			t.Fatalf("the row is %s (cancelled %v), masked %s (%v)", orig.State, orig.Cancelled,
				got.State, got.Cancelled)
		}
		if diff := cmp.Diff(rules(orig.Problems), rules(got.Problems)); diff != "" {
			t.Fatalf("the refusals (-real +masked):\n%s", diff)
		}
		if len(orig.WaitingFor) != len(got.WaitingFor) || sizes(orig.Payload) != sizes(got.Payload) {
			t.Fatalf("orig %+v\nmasked %+v", orig, got)
		}
	})
	for _, state := range []trade.State{trade.Pending, trade.Waiting, trade.Invalid} {
		if states[state] == 0 {
			t.Errorf("no row was %s: %v", state, states)
		}
	}
}

func asJSON(t *rapid.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func rules(problems []trade.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Field+" "+p.Rule+" "+p.Column)
	}
	return out
}

// sizes returns the names of the fields of a request, with their lengths.
func sizes(body []byte) string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(body, &fields)
	out := map[string]int{}
	for name := range fields {
		out[name] = 1
	}
	text, _ := json.Marshal(out)
	return string(text)
}

// Equal values stay equal, in the row, in what was sent, and in what the ledger has.
func TestEqualValuesStayEqual(t *testing.T) {
	t.Parallel()
	job := contracts(t)
	values := trade.Values{}
	for column, text := range map[string]string{
		"filial": "01", "num": "093812", "quantidade": "1.500,50", "cpf": "529.982.247-25", "produto": "001",
		"local": "Fazenda Canário", "safra": "2025/2026", "um": "SC", "tipo": "COMPRA",
		"emissao": "20260310", "carteira": "093812",
		"preco": "1.129,50", "um_preco": "SC", "inicio": "2026-04-01", "fim": "2026-05-31", "modalidade": "BALCAO",
		"pagto": "2026-06-15", "forma": "DINHEIRO", "situacao": "aprovado", "erro": "",
	} {
		values[column] = trade.Cell{Kind: 't', Text: text}
	}
	seen := dryrun.Seen{
		Values: values, Today: day, FromERP: true,
		References: mapping.Codes{
			"wallets":                {"01|093812": "44444444-4444-4444-8444-444444444401"},
			trade.ProducerByDocument: {"52998224725": "11111111-1111-4111-8111-111111111101"},
		},
	}
	verdict, _, err := seen.Judge(job)
	if err != nil || verdict.State != trade.Pending {
		t.Fatalf("%+v %v", verdict, err)
	}
	entry := &trade.Entry{
		Job: "contracts", Sends: trade.OrderCommitments, Key: "01|093812", State: trade.Rejected, Values: values,
		Payload: verdict.Payload, Cause: "message.wallet.not-found",
		Shown: trade.NewShown("01|093812", []trade.ShownText{{Label: "Produtor", Text: "Maria Canário"}}),
		Error: &trade.EntryError{
			Kind: trade.APIError, Status: 422,
			Messages: []string{"message.wallet.not-found", "Maria Canário"},
		},
	}
	s, err := specimen.Make(specimen.Facts{
		Program: "1", Zone: time.UTC, Job: job, Seen: seen, Entry: entry,
		Attempts: []trade.Attempt{{
			No: 1, Payload: verdict.Payload, Outcome: trade.OutcomeNotCreated, Status: 422,
			AnswerBody: `{"messages":["message.wallet.not-found"],"nome":"Maria Canário","valor":1129.5}`,
			Reason:     trade.Say("cause.said", "text", "Maria Canário"),
		}},
	}, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Row["num"] != s.Row["carteira"] || s.Row["num"].Text == "093812" {
		t.Errorf("093812 became %s and %s", s.Row["num"].Text, s.Row["carteira"].Text)
	}
	if diff := cmp.Diff(s.Row, s.Entry.Values); diff != "" {
		t.Errorf("the row and the ledger (-row +ledger):\n%s", diff)
	}
	same := func(body json.RawMessage) {
		t.Helper()
		var got, want any
		if json.Unmarshal(body, &got) != nil || json.Unmarshal(s.Verdict.Payload,
			&want) != nil || !cmp.Equal(want, got) {
			t.Errorf("was sent %s, would be sent %s", body, s.Verdict.Payload)
		}
	}
	same(s.Entry.Payload)
	same(s.Attempts[0].Payload)
	if s.Entry.Key != s.Verdict.Key || s.Entry.Key == "01|093812" {
		t.Errorf("the key is %s in the ledger, %s in the row", s.Entry.Key, s.Verdict.Key)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"Maria", "Canário", "1129.5", "1.129,50", "529.982", "093812", "444444", "1500.5"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s is in the file: %s", secret, text)
		}
	}
	if !bytes.Contains(text, []byte("message.wallet.not-found")) {
		t.Error("the key of the message is lost")
	}
}

// A file that was altered, is cut, or is of another form is refused.
func TestAFileThatWasAlteredIsRefused(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	if err := specimen.Write(&file, specimen.Specimen{Program: "1.2.3"}); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	for name, test := range map[string]struct{ text, want string }{
		"altered": {
			strings.Replace(text, "1.2.3", "1.2.4", 1),
			"the bundle was altered after it was made; ask for it again",
		},
		"cut": {text[:len(text)-9], "the bundle is damaged or not complete; ask for it again"},
		"another form": {
			strings.Replace(text, `"safrasync_row":1`, `"safrasync_row":2`, 1),
			"the bundle has form 2, and this version of the program reads form 1; use the version that made it",
		},
	} {
		if !specimen.Is([]byte(test.text)) {
			t.Errorf("%s: is not recognised", name)
		}
		if _, err := specimen.Read([]byte(test.text)); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
	if specimen.Is([]byte("job: contracts")) {
		t.Error("a case is taken for a bundle")
	}
}
