package reconcile

import (
	"bytes"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/internal/must"
)

// office converts files with LibreOffice, which opens them as a person would; `make test` installs
// it.
func office(t *testing.T, to, filter string, files ...string) string {
	t.Helper()
	out := t.TempDir()
	args := []string{
		"--headless", "--norestore", "--nologo",
		"-env:UserInstallation=file://" + filepath.Join(t.TempDir(), "profile"), "--convert-to", to, "--outdir", out,
	}
	if filter != "" {
		args = append(args, "--infilter="+filter)
	}
	cmd := exec.CommandContext(t.Context(), "soffice", append(args, files...)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("soffice: %v\n%s", err, text)
	}
	return out
}

// LibreOffice opens both forms of the report: numbers are numbers, codes keep their zeros, days are
// days, and what begins like a formula stays text.
func TestF167LibreOfficeReadsTheReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	w.october()
	s, dir := w.take(Cut{}), t.TempDir()
	o := portuguese
	o.Sections = []SectionID{ContractsSection}
	for name, writer := range map[string]func(*bytes.Buffer) Writer{
		"book.xlsx": func(b *bytes.Buffer) Writer { return NewXLSX(b) },
		"table.csv": func(b *bytes.Buffer) Writer { return NewCSV(b, 1) },
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(mustReport(t, s, o, writer)), 0o600))
	}

	// The second sheet of the workbook, as LibreOffice shows its cells (numbers in its own
	// language), with formulas told as formulas.
	shown := office(t, "csv:Text - txt - csv (StarCalc):59,34,76,1,,1046,false,true,true,false,false,2", "",
		filepath.Join(dir, "book.xlsx"))
	files, err := filepath.Glob(filepath.Join(shown, "*.csv"))
	if err != nil || len(files) != 1 {
		t.Fatalf("LibreOffice wrote %v, %v", files, err)
	}
	text := must.Get(os.ReadFile(files[0]))(t)
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.Comma, r.FieldsPerRecord = ';', -1
	cells, err := r.ReadAll()
	if err != nil || len(cells) != 11 {
		t.Fatalf("LibreOffice shows %d rows, %v:\n%s", len(cells), err, text)
	}
	at := func(line int, title string) string {
		for i, head := range cells[0] {
			if head == title {
				return cells[line][i]
			}
		}
		t.Fatalf("no column %s in %v", title, cells[0])
		return ""
	}
	for _, want := range []struct {
		line       int
		title, has string
	}{
		{1, "Local de entrega", "001"},
		{1, "Chave no ERP", "01|000001"},
		{1, "Data", "05/10/2026"},
		{1, "kg no ERP", "6,000.00"},
		{1, "Enviado em", "31/10/2026 12:00:00"},
		{4, "Preço no ERP", "410.123456"},
		{8, "Produto", "=FEIJAO"},
		{8, "kg no ERP", "-300.00"},
	} {
		if got := at(want.line, want.title); got != want.has {
			t.Errorf("row %d, %s: LibreOffice shows %q, want %q", want.line, want.title, got, want.has)
		}
	}

	// The CSV as Excel in Brazil would read it: ; between cells, UTF-8, Portuguese numbers.
	opened := office(t, "xlsx", "Text - txt - csv (StarCalc):59,34,76,1,,1046", filepath.Join(dir, "table.csv"))
	book := must.Get(excelize.OpenFile(filepath.Join(opened, "table.xlsx")))(t)
	defer book.Close()
	sheet := book.GetSheetName(0)
	rows, err := book.GetRows(sheet, excelize.Options{RawCellValue: true})
	if err != nil || len(rows) != 11 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	column := func(title string) int {
		for i, head := range rows[0] {
			if head == title {
				return i
			}
		}
		t.Fatalf("no column %s in %v", title, rows[0])
		return 0
	}
	for _, want := range []struct {
		line       int
		title, has string
		number     bool
	}{
		{4, "Preço no ERP", "410.123456", true},
		{1, "kg no ERP", "6000", true},
		{1, "Data", "46300", true},
		{8, "Produto", "'=FEIJAO", false},
		{1, "Chave no ERP", "01|000001", false},
	} {
		cell := must.Get(excelize.CoordinatesToCellName(column(want.title)+1, want.line+1))(t)
		typ := must.Get(book.GetCellType(sheet, cell))(t)
		if got := rows[want.line][column(want.title)]; got != want.has ||
			(typ == excelize.CellTypeUnset || typ == excelize.CellTypeNumber) != want.number {
			t.Errorf("row %d, %s: LibreOffice read %q of type %v, want %q", want.line, want.title, got, typ, want.has)
		}
		if formula, err := book.GetCellFormula(sheet, cell); err != nil || strings.TrimSpace(formula) != "" {
			t.Errorf("%s is the formula %q, %v", cell, formula, err)
		}
	}
}

// Every sheet has filters in its first row, also one without rows, and a wide one is printed over several
// pages beside each other.
func TestLibreOfficeFiltersAndPrintsEverySheet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	w.october()
	s, dir := w.take(Cut{}), t.TempDir()
	book := filepath.Join(dir, "book.xlsx")
	must.Do(t, os.WriteFile(book, []byte(mustReport(t, s, portuguese,
		func(b *bytes.Buffer) Writer { return NewXLSX(b) })), 0o600))
	list := filepath.Join(dir, "list.xlsx")
	var rows bytes.Buffer
	to := must.Get(newDecisionFile(Workbook, &rows, portuguese.Lang))(t)
	must.Do(t, to.Row(make([]string, len(decisionColumns))), to.Close(), os.WriteFile(list, rows.Bytes(), 0o600))
	opened := office(t, "fods", "", book, list)
	for name, want := range map[string]int{"book.fods": 10, "list.fods": 1} {
		text := string(must.Get(os.ReadFile(filepath.Join(opened, name)))(t))
		if n := strings.Count(text, `table:display-filter-buttons="true"`); n != want {
			t.Errorf("%s has filters on %d sheets, want %d", name, n, want)
		}
	}
	for _, sheet := range []SectionID{ContractsSection, SummarySection} {
		o := portuguese
		o.Sections = []SectionID{sheet}
		must.Do(t, os.WriteFile(book, []byte(mustReport(t, s, o,
			func(b *bytes.Buffer) Writer { return NewXLSX(b) })), 0o600))
		pdf := string(must.Get(os.ReadFile(filepath.Join(office(t, "pdf", "", book), "book.pdf")))(t))
		pages := strings.Count(pdf, "/Type/Page") - strings.Count(pdf, "/Type/Pages")
		if wide := sheet == ContractsSection; wide != (pages > 2) { // the first is about the report
			t.Errorf("%s is printed on %d pages", sheet, pages)
		}
	}
}
