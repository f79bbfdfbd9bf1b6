package reconcile

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/reconcile/workbook"
	"github.com/safrasync/safrasync/trade"
)

func workbookOf(t *testing.T, s *Snapshot, most int) *excelize.File {
	t.Helper()
	var b bytes.Buffer
	must.Get(s.Report(portuguese, newXLSX(&b, most)))(t)
	book := must.Get(excelize.OpenReader(&b))(t)
	t.Cleanup(func() { _ = book.Close() })
	return book
}

func TestAWorkbookHasTypesFiltersAndAFrozenHeader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	w.october()
	book := workbookOf(t, w.take(Cut{}), workbook.SheetRows)
	if got := strings.Join(book.GetSheetList(),
		"|"); got != "Relatório|Resumo|Ponte com o ERP|Do ERP à plataforma|Totais|Contratos|Entregas|Rastreabilidade|Divergências|Exceções|Mensagens da plataforma" {
		t.Errorf("sheets %s", got)
	}
	panes, err := book.GetPanes("Contratos")
	if err != nil || !panes.Freeze || panes.YSplit != 1 {
		t.Errorf("panes %+v, %v", panes, err)
	}
	tables, err := book.GetTables("Contratos")
	if err != nil || len(tables) != 1 || !strings.HasPrefix(tables[0].Range, "A1:") {
		t.Errorf("tables %+v, %v", tables, err)
	}
	// Every sheet is on A4 across, with its first row and the number on each page. Up to twelve columns are
	// as wide as a page; more go on beside it, in readable letters, each page with what says which row it is.
	names := book.GetDefinedName()
	for i, sheet := range book.GetSheetList() {
		columns := must.Get(book.GetCols(sheet))(t)
		wide := len(columns) > 12
		page, err := book.GetPageLayout(sheet)
		if err != nil || *page.Orientation != "landscape" || *page.Size != 9 || *page.FitToHeight != 0 {
			t.Errorf("%s is printed as %+v, %v", sheet, page, err)
		}
		props, err := book.GetSheetProps(sheet)
		if err != nil || *props.FitToPage == wide || wide && *page.AdjustTo != 70 {
			t.Errorf("%s with %d columns fits a page: %v, %v", sheet, len(columns), *props.FitToPage, err)
		}
		for n := range columns {
			name := must.Get(excelize.ColumnNumberToName(n + 1))(t)
			if width, err := book.GetColWidth(sheet, name); err != nil || width == 9.140625 {
				t.Errorf("column %s of %s has no width of its own, %v", name, sheet, err)
			}
		}
		foot, err := book.GetHeaderFooter(sheet)
		if err != nil || !strings.HasSuffix(foot.OddFooter, "&P / &N") ||
			!strings.Contains(foot.OddFooter, "Relatório") {
			t.Errorf("below %s stands %+v, %v", sheet, foot, err)
		}
		want := "'" + sheet + "'!$1:$1"
		if wide { // of a report without texts to show: job, branch and key; for the totals by what, name and product
			want = "'" + sheet + "'!$A:$C," + want
		}
		if i > 0 && !slices.ContainsFunc(names, func(n excelize.DefinedName) bool {
			return n.Name == "_xlnm.Print_Titles" && n.RefersTo == want && n.Scope == sheet
		}) {
			t.Errorf("the first row of %s does not stand on each page: %+v", sheet, names)
		}
	}
	for cell, want := range map[string]struct {
		typ  excelize.CellType
		text string
	}{
		"C2": {excelize.CellTypeInlineString, "01|000001"}, "J2": {excelize.CellTypeInlineString, "001"},
		"F2": {excelize.CellTypeUnset, "05/10/2026"},
		"O2": {excelize.CellTypeUnset, "6,000.00"}, "G9": {excelize.CellTypeInlineString, "=FEIJAO"},
	} {
		typ := must.Get(book.GetCellType("Contratos", cell))(t)
		text, err := book.GetCellValue("Contratos", cell)
		if err != nil || typ != want.typ || text != want.text {
			t.Errorf("%s: %v %q, want %v %q, %v", cell, typ, text, want.typ, want.text, err)
		}
		if formula, err := book.GetCellFormula("Contratos", cell); err != nil || formula != "" {
			t.Errorf("%s is the formula %q, %v", cell, formula, err)
		}
	}
}

// A section that has more rows than a sheet holds goes on in further sheets, each with its header.
func TestMoreRowsThanASheetHoldsGoOn(t *testing.T) {
	t.Parallel()
	book := workbookOf(t, manyRows(t, 100), 11)
	seen := map[string]bool{}
	for _, name := range []string{"Contratos", "Contratos (2)", "Contratos (3)", "Entregas", "Entregas (8)"} {
		rows, err := book.GetRows(name)
		if err != nil || len(rows) < 2 || rows[0][2] != "Chave no ERP" {
			t.Errorf("sheet %s has %d rows, %v", name, len(rows), err)
		}
		for _, r := range rows[1:] {
			if seen[name[:3]+r[2]] {
				t.Errorf("row %s stands twice", r[2])
			}
			seen[name[:3]+r[2]] = true
		}
	}
}

// A sheet that would pass what its bytes may be goes on in a further one, with every row in one of
// them; a workbook that would be too large altogether is refused.
func TestF167ASheetEndsBeforeItsBytesAreTooMany(t *testing.T) {
	t.Parallel()
	const most = 32 << 10
	s := manyRows(t, 200)
	var b bytes.Buffer
	w := newXLSX(&b, workbook.SheetRows)
	w.book.SheetMost = most
	must.Get(s.Report(portuguese, w))(t)
	archive := must.Get(zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len())))(t)
	for _, part := range archive.File {
		if part.UncompressedSize64 > most {
			t.Errorf("%s has %d bytes", part.Name, part.UncompressedSize64)
		}
	}
	book := must.Get(excelize.OpenReader(&b))(t)
	defer book.Close()
	seen := map[string]bool{}
	for _, name := range book.GetSheetList() {
		rows := must.Get(book.GetRows(name))(t)
		if strings.HasPrefix(name, "Contratos") || strings.HasPrefix(name, "Entregas") {
			for _, r := range rows[1:] {
				seen[r[2]] = true
			}
		}
	}
	if sheets := len(book.GetSheetList()); len(seen) != 200 || sheets < 12 {
		t.Errorf("%d of 200 rows on %d sheets", len(seen), sheets)
	}
	w = newXLSX(io.Discard, workbook.SheetRows)
	w.book.Most = 32 << 10
	if _, err := s.Report(portuguese, w); !errors.Is(err, ErrWorkbook) {
		t.Errorf("a workbook that is too large: %v", err)
	}
}

// What spreadsheets would take for something else comes back as it was.
func TestTextsOfAWorkbookComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	texts := []string{
		" blank before", "after ", "_x0041_", "a_x005F_x0041_b", "<&>\"'", "two\nlines", "=1+1", "_x",
		"😀 ação", strings.Repeat("é", workbook.CellText), "00012",
	}
	s := manyRows(t, 0)
	var b bytes.Buffer
	w := NewXLSX(&b)
	heading := Heading{Title: "x", Zone: s.zone, Lang: trade.Portuguese}
	err := errors.Join(w.Begin(heading),
		w.Section(Section{
			Title: "Textos",
			Columns: []Column{
				{"a", "A", TextColumn},
				{"t", "T", TimeColumn},
				{"d", "D", DayColumn},
				{"n", "N", NumberColumn},
			},
		}))
	at := time.Date(2026, 10, 31, 23, 59, 59, 0, s.zone)
	for _, text := range texts {
		err = errors.Join(err, w.Row([]any{text, at, Day("2026-10-31"), trade.NewDecimal(-1234567890123, 4)}))
	}
	long := strings.Repeat("😀", workbook.CellText)
	must.Do(t, err, w.Row([]any{long, nil, Day(""), nil}), w.End())
	book := must.Get(excelize.OpenReader(&b))(t)
	defer book.Close()
	for i, want := range texts {
		line := strconv.Itoa(i + 2)
		for cell, want := range map[string]string{
			"A": want, "B": "31/10/2026 23:59:59", "C": "31/10/2026",
			"D": "-123,456,789.0123",
		} {
			if got, err := book.GetCellValue("Textos", cell+line); err != nil || got != want {
				t.Errorf("%s%s is %.80q, want %.80q, %v", cell, line, got, want, err)
			}
		}
	}
	if got, err := book.GetCellValue("Textos", "A"+strconv.Itoa(len(texts)+2)); err != nil ||
		got != strings.Repeat("😀", workbook.CellText/2) {
		t.Errorf("a text that is too long has %d bytes, %v", len(got), err)
	}
}

// A sum of many decimals is a number, or a sum over it would leave it out; what has no decimals to lose is text.
func TestNumbersThatASpreadsheetCannotKeepAreText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"123456789012345": "123456789012345", "1234567890123456": "", "0.000000000000001": "0.000000000000001",
		"-99999999999.9999": "-99999999999.9999", "0.1": "0.1", "0": "0", "12345678901.234567": "12345678901.2346",
		"717393271.0036725": "717393271.003673", "999999999999999.9": "", "1234567890123456.5": "",
	} {
		d := must.Get(trade.ParseDecimal(text))(t)
		if number, ok := workbook.Number(d); ok != (want != "") || ok && number != want {
			t.Errorf("%s is %s, a number: %v, want %q", text, number, ok, want)
		}
	}
}

// What a report of many rows holds does not grow with the rows. With SAFRASYNC_TEST_LONG=1 it is a
// million of them, else as many as that says.
func TestF167MemoryDoesNotGrowWithTheRows(t *testing.T) {
	rows, forms := 20_000, []string{"csv", "xlsx"}
	if os.Getenv("SAFRASYNC_TEST_LONG") != "" {
		rows, forms = 1_000_000, append(forms, "json")
		if n, err := strconv.Atoi(os.Getenv("SAFRASYNC_TEST_LONG")); err == nil && n > 1 { // so many
			rows = n
		}
	}
	s := manyRows(t, rows)
	for _, form := range forms {
		out, err := os.Create(filepath.Join(t.TempDir(), "report."+form))
		if err != nil {
			t.Fatal(err)
		}
		w := map[string]Writer{
			"csv": NewCSV(out, 0), "xlsx": NewXLSX(out), "json": NewJSON(out),
		}[form]
		peak := watchHeap()
		began := time.Now()
		_, err = s.Report(portuguese, w)
		took := time.Since(began)
		most := peak()
		info, statErr := out.Stat()
		if err != nil || statErr != nil || out.Close() != nil {
			t.Fatal(err, statErr)
		}
		t.Logf("%s of %d rows: %s, at most %d MiB of heap, %d MiB of file", form, rows, took.Round(time.Millisecond),
			most>>20, info.Size()>>20)
		if most > 96<<20 {
			t.Errorf("%s of %d rows takes %d MiB of heap", form, rows, most>>20)
		}
	}
}

// watchHeap returns the largest heap until it is asked.
func watchHeap() func() uint64 {
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
			select {
			case <-tick.C:
			case <-stop:
				done <- most
				return
			}
		}
	}()
	return func() uint64 { close(stop); return <-done }
}

// Where the console has a public address, a divergence leads to its document, in the workbook and on
// the page, and the heading to the report; without one nothing does.
func TestADivergenceLeadsToItsDocumentInTheConsole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	w.october()
	s := w.take(Cut{})
	for _, console := range []string{"", "https://safrasync.coop.example"} {
		o := portuguese
		o.Console = console
		var b bytes.Buffer
		must.Get(s.Report(o, NewXLSX(&b)))(t)
		book := must.Get(excelize.OpenReader(&b))(t)
		t.Cleanup(func() { _ = book.Close() })
		rows := must.Get(book.GetRows("Divergências"))(t)
		column := slices.Index(rows[0], "Chave no ERP")
		cell := must.Get(excelize.CoordinatesToCellName(column+1, 2))(t)
		formula := must.Get(book.GetCellFormula("Divergências", cell))(t)
		key := rows[1][column]
		want := ""
		if console != "" {
			want = `HYPERLINK("` + console + "/search?" + url.Values{"q": {key}}.Encode() + `","` + key + `")`
		}
		if formula != want || key == "" {
			t.Errorf("%s leads to %q, want %q", key, formula, want)
		}
		about := must.Get(book.GetRows("Relatório"))(t)
		line := "No painel: " + console + "/report"
		if slices.ContainsFunc(about, func(r []string) bool { return len(r) > 0 && r[0] == line }) != (console != "") {
			t.Errorf("the heading leads to the report: %q", about)
		}
	}
}
