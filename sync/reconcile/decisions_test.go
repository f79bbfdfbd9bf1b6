package reconcile

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile/workbook"
	"github.com/safrasync/safrasync/trade"
)

// exported writes the rows that need a decision and gives them as a table.
func exported(t *testing.T, w *world, form Form, lang trade.Lang) ([][]string, []byte) {
	t.Helper()
	o := portuguese
	o.Lang = lang
	var b bytes.Buffer
	must.Do(t, w.take(Cut{}).Decisions(o, form, nil, &b))
	if form == Commas {
		return must.Get(csvRows(b.Bytes()))(t), b.Bytes()
	}
	book := must.Get(excelize.OpenReader(bytes.NewReader(b.Bytes())))(t)
	defer book.Close()
	return must.Get(book.GetRows(book.GetSheetName(0)))(t), b.Bytes()
}

// filled writes the file as a person would save it, with other cells, of "key/column".
func filled(t *testing.T, form Form, raw []byte, rows [][]string, cells map[string]string) []byte {
	t.Helper()
	book, err := excelize.NewFile(), error(nil)
	if form == Workbook {
		book, err = excelize.OpenReader(bytes.NewReader(raw))
	}
	for at, text := range cells {
		key, id, _ := strings.Cut(at, "/")
		line := slices.IndexFunc(rows, func(r []string) bool { return r[decisionColumn("key")] == key })
		if err != nil || line < 0 {
			t.Fatalf("%s is not in %v, %v", key, rows, err)
		}
		if form == Commas {
			rows[line][decisionColumn(id)] = text
			continue
		}
		cell, _ := excelize.CoordinatesToCellName(decisionColumn(id)+1, line+1)
		err = book.SetCellStr(book.GetSheetName(0), cell, text)
	}
	var b bytes.Buffer
	if w := csv.NewWriter(&b); form == Commas {
		w.Comma = ';'
		err = w.WriteAll(rows)
	} else {
		err = errors.Join(err, book.Write(&b), book.Close())
	}
	must.Do(t, err)
	return b.Bytes()
}

// What a person fills in is done through the same acts, with the same audit, from a workbook and
// from CSV, in both languages.
func TestDecisionsMakeTheRoundTrip(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.october()
		for _, c := range []struct {
			form  Form
			lang  trade.Lang
			key   string
			words string
			want  trade.State
		}{
			{Workbook, trade.Portuguese, "02|000005", "Tentar  de Novo", trade.Pending},
			{Commas, trade.English, "02|000008", "dismiss", trade.Dismissed},
			{Workbook, trade.English, "02|000007", "Acknowledge", trade.Accepted},
		} {
			rows, raw := exported(t, w, c.form, c.lang)
			data := filled(t, c.form, raw, rows,
				map[string]string{c.key + "/decision": c.words, c.key + "/why": "combinado com a Ana"})
			list, faults, err := ReadDecisions(t.Context(), bytes.NewReader(data), workbook.UnpackedBrowser, c.lang)
			if err != nil || len(faults) > 0 || len(list) != 1 {
				t.Fatalf("%s: %+v, faults %+v, %v", c.key, list, faults, err)
			}
			people := w.acts()
			plans, refused, err := PlanDecisions(t.Context(), people, list)
			if err != nil || len(refused) > 0 || len(plans) != 1 {
				t.Fatalf("%s: %+v, refused %+v, %v", c.key, plans, refused, err)
			}
			done, err := people.Do(t.Context(), plans[0].Plan,
				trade.Person{Name: "maria", From: "maria@srv", Reason: plans[0].Reason})
			if err != nil || !done.Steps[0].Done {
				t.Fatalf("%s: %+v, %v", c.key, done, err)
			}
			e := w.store.Read("contracts", c.key)
			if e.State != c.want || c.want == trade.Accepted && e.Flags.Has(trade.Changed) {
				t.Errorf("%s is %s %v", c.key, e.State, e.Flags)
			}
			audit, err := w.store.Audit(t.Context(), 1)
			if err != nil || audit[0].Reason != "combinado com a Ana" || audit[0].Target != "contracts "+c.key {
				t.Errorf("audit %+v, %v", audit, err)
			}
		}
	})
}

// People read the title of a job; its name is beside the row's version, for the import. A sheet whose
// columns were moved is read as well.
func TestASheetShowsTheTitleOfAJobAndKeepsItsNameForTheImport(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	w.october()
	o := portuguese
	o.Titles = trade.Titles{"contracts": "Contratos de compra"}
	var b bytes.Buffer
	must.Do(t, w.take(Cut{}).Decisions(o, Commas, nil, &b))
	rows := must.Get(csvRows(b.Bytes()))(t)
	shown := rows[1][:decisionColumn(hiddenFrom)]
	if shown[0] != "Contratos de compra" || slices.Contains(shown, "contracts") {
		t.Errorf("people read %q", shown)
	}
	for i, cells := range rows { // as every sheet had it before
		last := decisionColumn("job")
		rows[i] = slices.Concat(cells[:2], cells[last:last+1], cells[2:last], cells[last+1:])
	}
	rows[1][decisionColumn("decision")+1], rows[1][decisionColumn("why")+1] = "dispensar", "digitado duas vezes"
	var moved bytes.Buffer
	must.Do(t, csv.NewWriter(&moved).WriteAll(rows))
	list, faults, err := ReadDecisions(t.Context(), &moved, workbook.UnpackedBrowser, trade.Portuguese)
	if err != nil || len(faults) > 0 || len(list) != 1 || list[0].Job != "contracts" {
		t.Errorf("%+v, faults %+v, %v", list, faults, err)
	}
}

// A key of the ERP with signs that nobody sees makes the round trip: a spreadsheet shows them in
// braces. Such a sign that came into a key on the way is named, with its place.
func TestSignsInKeysThatNobodySees(t *testing.T) {
	t.Parallel()
	for _, form := range []Form{Workbook, Commas} {
		w := newWorld(t, "sqlite")
		w.october()
		key := "02|\u202e0011\u2028A\u200b"
		w.send(w.add("contracts", key, soy.with(row{"amount": "7"})), trade.OutcomeNotCreated)
		rows, raw := exported(t, w, form, trade.Portuguese)
		shown := `02|\u{202E}0011\u{2028}A\u{200B}`
		data := filled(t, form, raw, rows, map[string]string{
			shown + "/decision": "dispensar", shown + "/why": "digitado duas vezes",
		})
		list, faults, err := ReadDecisions(t.Context(), bytes.NewReader(data), workbook.UnpackedBrowser,
			trade.Portuguese)
		if err != nil || len(faults) > 0 || len(list) != 1 || list[0].Key != key {
			t.Fatalf("%s: %+v, faults %+v, %v", form, list, faults, err)
		}
		if plans, refused, err := PlanDecisions(t.Context(), w.acts(), list); err != nil || len(refused) > 0 ||
			len(plans) != 1 {
			t.Errorf("%s: %+v, refused %+v, %v", form, plans, refused, err)
		}
		for sign, name := range map[string]string{"\u2067": "U+2067", "\ufffd": "U+FFFD", "\u00a0": "U+00A0"} {
			rows, raw := exported(t, w, form, trade.Portuguese)
			data := filled(t, form, raw, rows, map[string]string{
				"02|000005/decision": "dispensar", "02|000005/why": "digitado duas vezes",
			})
			data = filled(t, form, data, rows, map[string]string{"02|000005/key": "02|00" + sign + "0005"})
			list, faults, err := ReadDecisions(t.Context(), bytes.NewReader(data), workbook.UnpackedBrowser,
				trade.Portuguese)
			if err != nil || len(list) > 0 || len(faults) != 1 ||
				!strings.Contains(faults[0].Text, name+", na posição 6") ||
				strings.Contains(faults[0].Text, "zeros") {
				t.Errorf("%s, %s: %+v, %+v, %v", form, name, list, faults, err)
			}
		}
	}
}

// A file that was made before the rows moved, or whose rows were altered, does nothing; each fault
// names its line and column.
func TestStaleAndAlteredRowsAreNamed(t *testing.T) {
	t.Parallel()
	for _, form := range []Form{Workbook, Commas} {
		w := newWorld(t, "sqlite")
		w.october()
		rows, raw := exported(t, w, form, trade.Portuguese)
		why := "combinado com a Ana"
		data := filled(t, form, raw, rows, map[string]string{
			"02|000005/decision": "dispensar", "02|000005/why": why, // moves meanwhile
			"02|000006/decision": "reenviar", "02|000006/why": why, "02|000007/decision": "reconhecer",
			"02|000007/why":      "ok",
			"02|000008/decision": "dispensar", "02|000008/why": why, "02|000008/product": "MILHO",
			"02|000010/decision": "apagar", "02|000010/why": why,
		})
		list, faults, err := ReadDecisions(t.Context(), bytes.NewReader(data), workbook.UnpackedBrowser,
			trade.Portuguese)
		must.Do(t, err)
		var got []string
		for _, f := range faults {
			got = append(got, fmt.Sprintf("%s %s: %s", rows[f.Line-1][decisionColumn("key")], f.Column, f.Text[:20]))
		}
		want := []string{
			"02|000006 DECISÃO: enviar de novo pode ", "02|000007 MOTIVO DA DECISÃO: falta: escreva ao me",
			"02|000008 Produto: foi alterada, ou tro", "02|000010 DECISÃO: não é uma decisão",
		}
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(got))); diff != "" {
			t.Errorf("%s: faults (-want +got):\n%s", form, diff)
		}
		w.change(w.store.Read("contracts", "02|000005"),
			func(e *trade.Entry) { e.Cause = "message.producer.not-found" })
		plans, refused, err := PlanDecisions(t.Context(), w.acts(), list)
		if err != nil || len(plans) != 0 || len(refused) != 1 || refused[0].Refusal != acts.Moved ||
			refused[0].Key != "02|000005" {
			t.Errorf("%s: plans %+v, refused %+v, %v", form, plans, refused, err)
		}
	}
}

// Nothing that may double, or hide that a record may be there, is done in bulk.
func TestWhatMayDoubleIsNotDecidedInBulk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	w.october()
	doubt := w.store.Read("contracts", "02|000006")
	held := w.change(w.add("contracts", "03|000020", soy),
		func(e *trade.Entry) { e.State, e.Cause = trade.Held, trade.CauseExists })
	list := []Decision{
		{Line: 2, Job: "contracts", Key: doubt.Key, Version: doubt.Version, Act: "retry", Reason: "combinado"},
		{Line: 3, Job: "contracts", Key: doubt.Key, Version: doubt.Version, Act: "dismiss", Reason: "combinado"},
		{Line: 4, Job: "contracts", Key: held.Key, Version: held.Version, Act: "retry", Reason: "combinado"},
	}
	plans, refused, err := PlanDecisions(t.Context(), w.acts(), list)
	if err != nil || len(plans) != 0 || len(refused) != 3 || refused[0].Refusal != acts.IsInDoubt ||
		!refused[1].OneByOne || !refused[2].OneByOne {
		t.Errorf("plans %+v, refused %+v, %v", plans, refused, err)
	}
	rows, _ := exported(t, w, Commas, trade.Portuguese)
	for _, r := range rows[1:] {
		if offered := r[decisionColumn("allowed")]; r[1] == doubt.Key && offered != "confirmar id" ||
			r[1] == held.Key && offered != "dispensar, confirmar id" {
			t.Errorf("%s: offered %q", r[1], offered)
		}
	}
}

func TestAnotherFileIsNoFileOfDecisions(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"empty": "", "another table": "a;b\n1;2\n", "a ZIP": "PK\x03\x04rubbish",
		"a broken quote": "\"a;b\n",
	} {
		list, faults, err := ReadDecisions(t.Context(), strings.NewReader(data), workbook.UnpackedBrowser,
			trade.Portuguese)
		if err == nil ||
			len(list)+len(faults) > 0 || !strings.Contains(err.Error(), "report --failed") {
			t.Errorf("%s: %v, %v, %v", name, list, faults, err)
		}
	}
	_, _, err := ReadDecisions(t.Context(), strings.NewReader("a\xff"), workbook.UnpackedBrowser, trade.English)
	if err == nil ||
		!strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("other bytes: %v", err)
	}
}

// Keys are compared as they were written. A spreadsheet that turns 0900 into 900 does not move the
// decision of 0900 to the row 900, and the key is named.
func TestADecisionStaysWithItsKeyWhenZerosAreLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	for _, key := range []string{"0900", "900", "00"} {
		w.change(w.add("deliveries", key, soy),
			func(e *trade.Entry) { e.State, e.Cause = trade.Held, trade.CauseExists })
	}
	rows, raw := exported(t, w, Commas, trade.Portuguese)
	filled(t, Commas, raw, rows, map[string]string{
		"0900/decision": "dispensar", "0900/why": "combinado com a Ana",
		"00/decision": "dispensar", "00/why": "combinado com a Ana",
	})
	for _, r := range rows { // as a spreadsheet saves them
		if key := decisionColumn("key"); r[key] == "0900" || r[key] == "00" {
			r[key] = r[key][1:]
		}
	}
	var data bytes.Buffer
	out := csv.NewWriter(&data)
	out.Comma = ';'
	must.Do(t, out.WriteAll(rows))
	list, faults, err := ReadDecisions(t.Context(), &data, workbook.UnpackedBrowser, trade.Portuguese)
	if err != nil || len(list) != 0 || len(faults) != 2 {
		t.Fatalf("decisions %+v, faults %+v, %v", list, faults, err)
	}
	for _, f := range faults {
		if f.Column != "Chave no ERP" || !strings.Contains(f.Text, "não é a chave que foi exportada") {
			t.Errorf("fault %+v", f)
		}
	}
	same := filled(t, Commas, raw, must.Get(csvRows(raw))(t), map[string]string{
		"0900/decision": "dispensar", "0900/why": "combinado com a Ana",
	})
	list, faults, err = ReadDecisions(t.Context(), bytes.NewReader(same), workbook.UnpackedBrowser, trade.Portuguese)
	if err != nil || len(faults) != 0 || len(list) != 1 || list[0].Key != "0900" {
		t.Errorf("decisions %+v, faults %+v, %v", list, faults, err)
	}
}

func csvRows(raw []byte) ([][]string, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))))
	r.Comma = ';'
	return r.ReadAll()
}

// A workbook that is small only while it is packed is refused by what its directory says, before
// anything of it is unpacked, and no copy of it stays on the disk.
func TestAWorkbookThatUnpacksToTooMuchIsNotOpened(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for name, sizes := range map[string][]int{
		"one part":  {workbook.UnpackedBrowser + 1},
		"two parts": {9 << 20, 9 << 20},
	} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for i, size := range sizes {
			part := must.Get(z.Create(fmt.Sprintf("xl/worksheets/sheet%d.xml", i+1)))(t)
			must.Get(part.Write(bytes.Repeat([]byte(" "), size)))(t)
		}
		must.Do(t, z.Close())
		_, _, err := ReadDecisions(t.Context(), &b, workbook.UnpackedBrowser, trade.Portuguese)
		if err == nil || !strings.Contains(err.Error(), "16 MiB") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := must.Get(os.ReadDir(temporary))(t); len(left) > 0 {
		t.Errorf("%v stays on the disk", left)
	}
}

// Whoever gave the file has gone: it is not read to its end.
func TestAFileOfDecisionsIsNotReadForNobody(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.october()
		for _, form := range []Form{Workbook, Commas} {
			_, raw := exported(t, w, form, trade.English)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, _, err := ReadDecisions(ctx, bytes.NewReader(raw), workbook.UnpackedBrowser,
				trade.English); !errors.Is(err,
				context.Canceled) {
				t.Errorf("%s: %v", form, err)
			}
		}
	})
}

// Whoever fills in the sheet has no command line: the advice names decisions and pages.
func TestTheAdviceOfTheSheetNamesNoCommand(t *testing.T) {
	t.Parallel()
	for advice, want := range map[string]string{
		"se for ele, `safrasync adopt` com o id; se não, `safrasync resend --checked`.": "se for ele, “confirmar id” com o id; se não, “Não existe lá: enviar de novo” no painel.",
		"se são dois: `safrasync retry --checked`; se é um só: `safrasync dismiss`":     "se são dois: “São dois: enviar” no painel; se é um só: “dispensar”",
		"se não foi criado: `safrasync retry`":                                          "se não foi criado: “tentar de novo”",
		"Leia a resposta com `safrasync why`":                                           "Leia a resposta com “Documentos” no painel",
		"Confira o mapeamento com `safrasync preview`.":                                 "Confira o mapeamento com safrasync preview.",
	} {
		if got := inWords(advice, trade.Portuguese); got != want {
			t.Errorf("%q is %q, want %q", advice, got, want)
		}
	}
}

// Who exports a list of several jobs gets each row of it, in whatever order the list was.
func TestTheDecisionsOfAListHaveEachOfItsRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	w.october()
	var ids []int64
	must.Do(t, w.store.Rows(t.Context(), trade.RowQuery{}, func(e trade.Entry) error {
		ids = append(ids, e.ID)
		return nil
	}))
	for range 2 {
		var b bytes.Buffer
		must.Do(t, w.take(Cut{}).Decisions(portuguese, Commas, ids, &b))
		if lines := must.Get(csvRows(b.Bytes()))(t); len(lines) != len(ids)+1 {
			t.Errorf("%d lines for %d rows", len(lines), len(ids))
		}
		slices.Reverse(ids)
	}
}
