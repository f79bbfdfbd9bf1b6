package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// The round trip of a spreadsheet: rows of a filter go out, decisions come back, are shown, and are
// done when the person says so.
func TestRowsGoToASpreadsheetAndDecisionsComeBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Accountant).Get("/rows?job=contracts").Wants(http.StatusOK, "Excel", "CSV")
	form := with(b.Form("/decisions/export"), "format", "decisoes.csv")
	b.Post("/decisions/export", form).Wants(http.StatusOK, "01|000003", "v2-")
	if strings.Contains(b.Body, "safrasync ") || strings.Contains(b.Body, "`") {
		t.Errorf("a file for accountants has commands in it:\n%s", b.Body)
	}
	if kind := b.Got.Get("Content-Disposition"); !strings.Contains(kind, "decisoes.csv") {
		t.Errorf("it is no file: %s", kind)
	}
	sheet := b.Body
	if strings.Count(sheet, "01|000001") != 1 || strings.Contains(sheet, "deliveries") {
		t.Error("the file has rows that the filter leaves out, or lacks some")
	}
	decide := func(sheet, key, decision, why string) string {
		lines := strings.Split(sheet, "\r\n")
		for i, line := range lines {
			if cells := strings.Split(line, ";"); strings.Contains(line, key) {
				cells[len(cells)-6], cells[len(cells)-4] = decision, why
				lines[i] = strings.Join(cells, ";")
			}
		}
		return strings.Join(lines, "\r\n")
	}
	upload(b.Get("/decisions"), "/decisions/plan", "a;b\n1;2\n").Wants(http.StatusOK, "não")
	filled := decide(sheet, "01|000003", "dispensar", "lançado em duplicidade")
	upload(b.Get("/decisions"), "/decisions/plan", decide(filled, "01|000004", "enviar de novo", "x")).
		Wants(http.StatusOK, "1 linha", "lançado em duplicidade", "Não será feito", "Linha ")
	form = b.Form("/decisions/do")
	b.Post("/decisions/do", form).Wants(http.StatusUnprocessableEntity, "Há linhas que não serão feitas")
	form.Set("skip", "1")
	stale := url.Values{"token": form["token"], "sheet": form["sheet"], "mark": {"0"}, "skip": {"1"}}
	b.Post("/decisions/do", stale).Wants(http.StatusConflict)
	if e := d.entry("contracts", "01|000003"); e.State != trade.Invalid {
		t.Fatalf("it was done with another mark: %s", e.State)
	}
	b.Post("/decisions/do", form).Wants(http.StatusOK, "Feito.")
	if e := d.entry("contracts", "01|000003"); e.State != trade.Dismissed {
		t.Errorf("it was not done: %s", e.State)
	}
	b.Post("/decisions/do", form).Wants(http.StatusUnprocessableEntity, "nada que possa ser feito")
	b.Get("/audit").Wants(http.StatusOK, "exportou uma lista de documentos", "lançado em duplicidade", "carla")
}

// The file of a list is the list: numbers are numbers, its sums are those of the page, also of what a figure of the
// reconciliation is made of, and no cell has a command. The codes that the de-para lacks are a file, too.
func TestTheFileOfAListIsTheList(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Accountant)
	sheets := func(body string) map[string][][]string {
		t.Helper()
		book := must.Get(excelize.OpenReader(strings.NewReader(body)))(t)
		out := map[string][][]string{}
		for _, name := range book.GetSheetList() {
			out[name] = must.Get(book.GetRows(name, excelize.Options{RawCellValue: true}))(t)
		}
		if text := fmt.Sprint(out); strings.Contains(text, "safrasync ") || strings.Contains(text, "contracts") {
			t.Errorf("a file for accountants has commands or names of jobs in it:\n%s", text)
		}
		return out
	}
	file := func(query, title, rows, tonnes, value string) {
		t.Helper()
		b.Get("/rows?"+query).Wants(http.StatusOK, tonnes)
		form := with(b.Form("/decisions/export"), "format", "xlsx", "query", query)
		got := sheets(b.Post("/decisions/export", form).Wants(http.StatusOK).Body)
		if got["Relatório"][0][0] != title {
			t.Errorf("the file of %s has the title %q, want %q", query, got["Relatório"][0][0], title)
		}
		sums := got["Somas"][1]
		want := []string{"Contratos", rows, strings.ReplaceAll(tonnes, ",", ".")}
		if value != "" {
			want = append(want, "BRL", value)
		}
		if !slices.Equal(sums, want) || strconv.Itoa(len(got["Documentos"])-1) != rows {
			t.Errorf("the file of %s has the sums %q of %d documents, want %q", query, sums, len(got["Documentos"])-1, want)
		}
	}
	file("job=contracts", "Documentos", "4", "144,03", "264750")
	file("line=difference&measure=contracted&grain=SOJA",
		"Documentos · Produto: SOJA · na diferença · contratado", "2", "42", "38850")
	file("line=difference&measure=value&currency=BRL&grain=SOJA",
		"Documentos · Moeda: BRL · Produto: SOJA · na diferença · valor fixado", "1", "18", "38850")
	b.Get("/references/wallets").Wants(http.StatusOK, `href="/references/wallets/export?missing=1"`)
	book := sheets(b.Get("/references/wallets/export?missing=1").Wants(http.StatusOK).Body)
	if title := book["Relatório"][0][0]; title != "Códigos sem de-para: Carteiras" {
		t.Errorf("the file of the missing codes has the title %q", title)
	}
	missing := book["Códigos sem de-para"]
	if len(missing) != 2 || !slices.Equal(missing[1][2:5], []string{"contratos", "1", "24"}) || missing[1][0] != "12" {
		t.Errorf("the missing codes are %q", missing)
	}
}

// A key with a blank part reads like a mistake: pages and printed reports say that it is blank. The
// key itself can be copied, searched for in both forms, and is exact in files for programs.
func TestPeopleReadThatAPartOfAKeyIsBlank(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("erp.db", `UPDATE contrato SET num = '' WHERE num = '000003'`)
	d.run(0, "sync")
	id := d.entry("contracts", "01|").ID
	b := d.as(trade.Reader)
	b.Get("/rows?job=contracts").Wants(http.StatusOK, "01 | (vazio)")
	b.Get("/pending?cause="+url.QueryEscape("rule:payday required_for_COMPRA")).Wants(http.StatusOK, "01|(vazio)")
	b.Get(fmt.Sprintf("/rows/%d", id)).Wants(http.StatusOK, "01 | (vazio)", `<code class="copy">01|</code>`)
	other := d.entry("contracts", "01|000001").ID
	for text, found := range map[string]int64{"01|(vazio)": id, "01 | (vazio)": id, "01 | 000001": other} {
		if page := b.Get("/rows?q=" + url.QueryEscape(text)).Wants(http.StatusOK).Body; !strings.Contains(page,
			fmt.Sprintf(`href="/rows/%d"`, found)) {
			t.Errorf("%q does not find the row", text)
		}
	}
	d.run(0, "report", "-o", d.path("page.html"))
	d.run(0, "report", "--section", "contracts", "--format", "csv", "-o", d.path("file.csv"))
	page, file := d.read("page.html"), d.read("file.csv")
	if !strings.Contains(page, "01|(vazio)") || strings.Contains(file, "(vazio)") ||
		!strings.Contains(file, "01|") {
		t.Error("the printed report does not say what is blank, or the file for programs does")
	}
}

// The list shows what people know a row by, and is sorted by each column where that is bounded.
func TestTheListOfRowsIsSortedByItsColumns(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Reader)
	order := func(path string, keys ...string) {
		t.Helper()
		b.Get(path).Wants(http.StatusOK, "Documento", "R$")
		at := -1
		for _, key := range keys {
			next := strings.Index(b.Body, ">"+key)
			if next <= at {
				t.Errorf("%s: %s is not after those before it", path, key)
			}
			at = next
		}
	}
	order("/rows?job=contracts&sort=-volume", "01 | 000001", "01 | 000004", "01 | 000003", "01 | 000002")
	order("/rows?job=contracts&sort=volume", "01 | 000002", "01 | 000003", "01 | 000004", "01 | 000001")
	order("/rows?job=contracts&sort=-value", "01 | 000002")
	order("/rows?job=contracts&sort=title", "01 | 000001", "01 | 000002", "01 | 000003", "01 | 000004")
	b.Get("/rows?sort=-volume").Wants(http.StatusOK, `aria-sort="descending"`, "R$ 225.900,00", "11/03/2026")
	b.Get("/rows?sort=nonsense").Wants(http.StatusBadRequest)
}
