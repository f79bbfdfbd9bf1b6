package office

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

const (
	idA = "11111111-1111-4111-8111-11111111111a"
	idB = "11111111-1111-4111-8111-11111111111b"
)

func TestReferencesAreReadAsSpreadsheetsWriteThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		codes map[string]string
		bad   []int // lines
	}{
		"comma": {"code,id\n1," + idA + "\n", map[string]string{"1": idA}, nil},
		"semicolon, byte order mark, CRLF": {
			"\ufeffCode;ID\r\n1;" + idA + "\r\n",
			map[string]string{"1": idA},
			nil,
		},
		"tab": {"code\tid\n1\t" + idA, map[string]string{"1": idA}, nil},
		"quotes and blanks": {
			"code,id\n\" 01 | 2 \", {" + strings.ToUpper(idA) + "} \n",
			map[string]string{"01|2": idA},
			nil,
		},
		"an escaped | stays in its part": {
			"code,id\na\\|b|c," + idA + "\n",
			map[string]string{`a\|b|c`: idA},
			nil,
		},
		"lines of blanks": {
			"code,id\n,\n\n1," + idA + "\n , \n",
			map[string]string{"1": idA},
			nil,
		},
		"the same line twice": {
			"code,id\n1," + idA + "\n1," + idA + "\n",
			map[string]string{"1": idA},
			nil,
		},
		"a code with two ids": {
			"code,id\n1," + idA + "\n1," + idB + "\n",
			map[string]string{"1": idA},
			[]int{3},
		},
		"no code": {"code,id\n |,x\n," + idA + "\n", nil, []int{2, 3}},
		"no UUID": {
			"code,id\n1,123\n2," + idA + "\n",
			map[string]string{"2": idA},
			[]int{2},
		},
		"too many columns": {"code,id\n1," + idA + ",x\n", nil, []int{2}},
		"a broken quote ends what can be read": {
			"code,id\n1," + idA + "\n\"2," + idB + "\n3," + idB + "\n",
			map[string]string{"1": idA},
			[]int{3},
		},
		"a third column has labels": {
			"code;id;label\n1;" + idA + ";Carteira Soja\n2;" + idA + "\n",
			map[string]string{"1": idA},
			[]int{3},
		},
		"a number that the spreadsheet shortened": {
			"code;id\n1,23457E+11;" + idA + "\n01|1E-5;" + idB,
			nil,
			[]int{2, 3},
		},
		"letters that cannot be seen": {
			"code,id\n\u200b1," + idA + "\n1\u00ad2," + idA + "\n1\u00a02," + idA + "\n\u00a03\u00a0," + idA + "\n",
			map[string]string{"3": idA},
			[]int{2, 3, 4},
		},
		"cells and a separator for Excel": {
			"sep=;\r\ncode;id\r\n=\"000123\";=\"" + idA + "\"\r\n\"=\"\"02\"\"\";" + idB + "\r\nx;y\r\n",
			map[string]string{"000123": idA, "02": idB},
			[]int{5},
		},
		"blank columns at the end": {
			"code;id;;;\n1;" + idA + ";;;\n2;" + idA + ";;x;\n",
			map[string]string{"1": idA},
			[]int{3},
		},
		"Windows-1252": {
			"code;id;label\nS\xe3o;" + idA + ";A\xe7\xfacar\n",
			map[string]string{"São": idA},
			nil,
		},
		"UTF-16": {
			"\xff\xfec\x00o\x00d\x00e\x00\t\x00i\x00d\x00\n\x00\xe7\x00\t\x00x\x00\n\x00", nil,
			[]int{2},
		},
		"a formula that was guarded on its way":  {"code,id\n'=1," + idA + "\n", map[string]string{"=1": idA}, nil},
		"an apostrophe that is part of the code": {"code,id\n'1," + idA + "\n", map[string]string{"'1": idA}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := must.Get(readReferences(strings.NewReader(c.text), ReferenceLayout{}, words.Machine))(t)
			if c.codes == nil {
				c.codes = map[string]string{}
			}
			if diff := cmp.Diff(c.codes, got.Codes); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
			var lines []int
			for _, b := range got.Bad {
				lines = append(lines, b.Line)
			}
			if diff := cmp.Diff(c.bad, lines); diff != "" {
				t.Errorf("invalid lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFileThatIsNoTableIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "1," + idA + "\n", "code\n1\n", "id,code\n", "PK\x03\x04", "code,id\n\x00"} {
		if _, err := readReferences(strings.NewReader(text), ReferenceLayout{}, words.Machine); err == nil {
			t.Errorf("readReferences(%q) has no error", text)
		}
	}
}

// What spreadsheets make of a list of the ERP: titles, other names of the columns, lost zeros,
// documents as people write them, lines that are not wanted.
func TestAListOfASpreadsheetIsReadByItsColumns(t *testing.T) {
	t.Parallel()
	places := ReferenceLayout{
		Code: []string{"Filial", "local "}, ID: "id na plataforma", Label: "NOME",
		Where: []string{"Situação=ativo"}, Pad: []int{3, 4},
	}
	documents := ReferenceLayout{Code: []string{"CPF/CNPJ"}, ID: "Id", As: "document"}
	const head = "Cooperativa; os \"locais\"\r\n\r\n\"Id na\nplataforma\";Nome;Filial;Local;Situação;;\r\n"
	for name, c := range map[string]struct {
		layout ReferenceLayout
		text   string
		codes  map[string]string // with their labels
		bad    []string          // parts of what is told
		out    int
	}{
		"titles, blank lines and lost zeros": {
			places,
			head + idA + ";Armazém;1;12;Ativo;;\r\n;;;;;;\r\n" + idB + ";;001;A1;ATIVO\r\n;Velho;9;x;Inativo\r\n",
			map[string]string{"001|0012": "Armazém", "001|A1": ""},
			nil,
			1,
		},
		"what cannot be padded": {
			places,
			head + idA + ";a;1234;1;Ativo\n" + idA + ";b;1;1.234;Ativo\n" + idA + ";c;;1;Ativo\n" + idA +
				";d;1;#N/D;Ativo\n;e;1;2;Ativo\n" + idA + ";f;1;2;Ativo;;7\n",
			map[string]string{},
			[]string{
				`column Filial (C): "1234" has more`, `column Local (D): "1.234" seems`, `column Filial (C): the code is blank`,
				`column Local (D): "#N/D" is no code`, `column Id na plataforma (A): the id is blank`, "has 7 columns",
			},
			0,
		},
		"documents": {
			documents,
			"CPF/CNPJ,Id\n529.982.247-25," + idA + "\n1234567890," + idA + "\n191," + idB + "\n52998224726," +
				idA + "\n191000001," + idA + "\n11222333000181," + idB + "\n1234567898," + idB,
			map[string]string{"52998224725": "", "01234567890": "", "11222333000181": ""},
			[]string{
				"`*91` can be a CPF and also a CNPJ", "`*********26` is neither",
				"`*******01` is neither", "`********98` is neither",
			},
			0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := must.Get(readReferences(strings.NewReader(c.text), c.layout, words.Machine))(t)
			codes := map[string]string{}
			for code := range got.Codes {
				codes[code] = got.Labels[code]
			}
			if diff := cmp.Diff(c.codes, codes); diff != "" || got.LeftOut != c.out || len(got.Bad) != len(c.bad) {
				t.Fatalf("%d left out, %v; codes (-want +got):\n%s", got.LeftOut, got.Bad, diff)
			}
			for i, want := range c.bad {
				if !strings.Contains(got.Bad[i].Text, want) {
					t.Errorf("invalid: %s, want %s", got.Bad[i].Text, want)
				}
			}
		})
	}
}

func TestALayoutThatTheFileDoesNotHaveIsRefused(t *testing.T) {
	t.Parallel()
	full := ReferenceLayout{Code: []string{"Filial"}, ID: "Id", Where: []string{"Situação=Ativo"}}
	for text, want := range map[string]string{
		"Título\nFilail;Id;Situação\n1;" + idA + ";Ativo\n": `no column "Filial"; it has: Filail · Id · Situação; did you mean "Filail"?`,
		"Filial;Id;Situação;filial\n":                       `"Filial" appears twice in the header (A and D)`,
		"Filial;Id;Situação\n1;" + idA + ";Inativo\n":       "none of the 1 lines meets the filter",
		"":                                      "no line",
		"Filial;Id;Situa\xe7\xe3o;S\xc3\xa3o\n": "mixes encodings",
	} {
		_, err := readReferences(strings.NewReader(text), full, words.Machine)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, l := range []ReferenceLayout{
		{ID: "Id"},
		{Code: []string{"a"}},
		{Where: []string{"a=b"}},
		{Code: []string{"a", "b"}, ID: "c", Pad: []int{3}},
		{Pad: []int{-1}},
		{As: "number"},
		{Code: []string{"a"}, ID: "b", Where: []string{"a"}},
		{Pad: []int{3}, As: "document"},
	} {
		if _, err := readReferences(strings.NewReader("code,id\n"), l, words.Machine); err == nil {
			t.Errorf("the layout %v is taken", l)
		}
	}
}

// FuzzReadReferences: no file makes the reader panic, and what it read survives an export and
// another import.
func FuzzReadReferences(f *testing.F) {
	for _, seed := range []string{
		"code,id\n1," + idA + "\n", "\ufeffcode;id\r\n'=1|2;" + idA, "code\tid\n''@x\t" + idA,
		"code,id\n\"a\nb\"," + idA + "\n", "code,id\n\\|," + idA, "code,id\n\"", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := readReferences(strings.NewReader(text), ReferenceLayout{}, words.Machine)
		if err != nil {
			return
		}
		var table []trade.Reference
		for code, id := range first.Codes {
			table = append(table, trade.Reference{Code: code, ID: id, Label: first.Labels[code]})
		}
		var file bytes.Buffer
		must.Do(t, writeReferences(&file, table))
		records := must.Get(csv.NewReader(bytes.NewReader(file.Bytes())).ReadAll())(t)
		for _, cell := range slices.Concat(records...) {
			if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
				t.Errorf("a spreadsheet would run %q", cell)
			}
		}
		second, err := readReferences(&file, ReferenceLayout{}, words.Machine)
		if err != nil || len(second.Bad) > 0 {
			t.Fatalf("the export cannot be read: %v %v", err, second.Bad)
		}
		if diff := cmp.Diff(first.Codes, second.Codes); diff != "" {
			t.Errorf("an export and import changed the table (-before +after):\n%s", diff)
		}
	})
}

// A list comes as a workbook: the sheet that is named is read, with the place of each line in it.
func TestAListIsReadFromTheNamedSheetOfAWorkbook(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	must.Get(book.NewSheet("Produtores"))(t)
	for i, line := range [][]any{
		{"Lista de", "produtores"},
		{},
		{"Documento", "Pessoa", "Nome; apelido", "Id"},
		{1234567890, "PF", "São\nJosé", idA},
		{},
		{"98.765", "PF", "", idB},
		{191, "PJ", "Banco", idB},
	} {
		must.Do(t, book.SetSheetRow("Produtores", fmt.Sprintf("A%d", i+1), &line))
	}
	var file bytes.Buffer
	must.Get(book.WriteTo(&file))(t)
	layout := ReferenceLayout{
		Code: []string{"documento"}, ID: "id", Label: "Nome; apelido", Where: []string{"Pessoa=PF"},
		As: "cpf", Sheet: "Produtores",
	}
	got := must.Get(readReferences(bytes.NewReader(file.Bytes()), layout, words.Machine))(t)
	if diff := cmp.Diff(map[string]string{"01234567890": idA + " São José"}, map[string]string{
		"01234567890": got.Codes["01234567890"] + " " + got.Labels["01234567890"],
	}); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
	if len(got.Bad) != 1 || got.Bad[0].Line != 6 || got.LeftOut != 1 {
		t.Errorf("invalid lines %v, left out %d", got.Bad, got.LeftOut)
	}
	again := must.Get(readReferences(strings.NewReader(got.Text),
		ReferenceLayout{Code: layout.Code, ID: "id", As: "cpf", Where: layout.Where}, words.Machine))(t)
	if diff := cmp.Diff(got.Codes, again.Codes); diff != "" {
		t.Errorf("the text that a page keeps is another list:\n%s", diff)
	}
	for name, wrong := range map[string]struct {
		layout ReferenceLayout
		text   string
	}{
		"no sheet": {ReferenceLayout{Sheet: "Produtos"}, `"Produtos"`},
		"large":    {ReferenceLayout{Unpacked: 100}, "MiB"},
	} {
		if _, err := readReferences(bytes.NewReader(file.Bytes()), wrong.layout, words.Machine); err == nil ||
			!strings.Contains(err.Error(), wrong.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A number that lost its zeros may be a person's or a company's: the layout says which, and a document of
// the other kind is none. E-mail addresses are compared in lower case where the layout says so.
func TestTheFormOfACodeIsSaid(t *testing.T) {
	t.Parallel()
	const head = "code,id\n"
	for name, c := range map[string]struct{ as, code, want string }{
		"either, ambiguous": {"document", "191", ""},
		"a person":          {"cpf", "191", "00000000191"},
		"a company":         {"cnpj", "191", "00000000000191"},
		"a person's number": {"cnpj", "529.982.247-25", ""},
		"an address":        {"lower", "Debora.Nervis@coop.br", "debora.nervis@coop.br"},
		"parts":             {"lower", "Filial|ÁREA", "filial|área"},
	} {
		got := must.Get(readReferences(strings.NewReader(head+c.code+","+idA+"\n"),
			ReferenceLayout{As: c.as}, words.Machine))(t)
		if _, ok := got.Codes[c.want]; ok != (c.want != "") || len(got.Bad) == len(got.Codes) {
			t.Errorf("%s: codes %v, invalid %v", name, got.Codes, got.Bad)
		}
		if name == "either, ambiguous" && (len(got.Bad) == 0 || !strings.Contains(got.Bad[0].Text, "--code-as cpf")) {
			t.Errorf("%s: %v does not say what to do", name, got.Bad)
		}
	}
}
