package reconcile

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/trade"
)

func workbook(t *testing.T, s *Snapshot, most int) *excelize.File {
	t.Helper()
	var b bytes.Buffer
	if _, err := s.Report(portuguese, newXLSX(&b, most)); err != nil {
		t.Fatal(err)
	}
	book, err := excelize.OpenReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = book.Close() })
	return book
}

func TestAWorkbookHasTypesFiltersAndAFrozenHeader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	w.october()
	book := workbook(t, w.take(Cut{}), sheetRows)
	if got := strings.Join(book.GetSheetList(), "|"); got != "Relatório|Resumo|Totais|Contratos|Entregas|Rastreabilidade|Divergências|Exceções|Mensagens da plataforma" {
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
	for cell, want := range map[string]struct {
		typ  excelize.CellType
		text string
	}{
		"C2": {excelize.CellTypeInlineString, "01|000001"}, "J2": {excelize.CellTypeInlineString, "001"}, "F2": {excelize.CellTypeUnset, "05/10/2026"},
		"O2": {excelize.CellTypeUnset, "6,000.00"}, "G9": {excelize.CellTypeInlineString, "=FEIJAO"},
	} {
		typ, err := book.GetCellType("Contratos", cell)
		if err != nil {
			t.Fatal(err)
		}
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
	book := workbook(t, manyRows(t, 100), 11)
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

func TestNumbersThatASpreadsheetCannotKeepAreText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"123456789012345": true, "1234567890123456": false, "0.000000000000001": true, "-99999999999.9999": true, "0.1": true, "12345678901.234567": false, "0": true,
	} {
		d, err := trade.ParseDecimal(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := spreadsheetNumber(d); ok != want {
			t.Errorf("%s is a number: %v, want %v", text, ok, want)
		}
	}
}

// What a report of many rows holds beside its contracts does not grow with the rows. With SAFRASYNC_TEST_LONG=1 it is a million of them, else as many as that says.
func TestMemoryDoesNotGrowWithTheRows(t *testing.T) {
	rows := 20_000
	if os.Getenv("SAFRASYNC_TEST_LONG") != "" {
		rows = 1_000_000
		if n, err := strconv.Atoi(os.Getenv("SAFRASYNC_TEST_LONG")); err == nil && n > 1 { // so many
			rows = n
		}
	}
	s := manyRows(t, rows)
	for _, form := range []string{"csv", "xlsx"} {
		out, err := os.Create(filepath.Join(t.TempDir(), "report."+form))
		if err != nil {
			t.Fatal(err)
		}
		w := NewCSV(out, 0)
		if form == "xlsx" {
			w = NewXLSX(out)
		}
		peak := watchHeap()
		began := time.Now()
		_, err = s.Report(portuguese, w)
		took := time.Since(began)
		most := peak()
		info, statErr := out.Stat()
		if err != nil || statErr != nil || out.Close() != nil {
			t.Fatal(err, statErr)
		}
		t.Logf("%s of %d rows: %s, at most %d MiB of heap, %d MiB of file", form, rows, took.Round(time.Millisecond), most>>20, info.Size()>>20)
		if limit := uint64(300<<20) + 1600*uint64(rows/4); most > limit {
			t.Errorf("%s of %d rows takes %d MiB of heap", form, rows, most>>20)
		}
	}
}

// watchHeap tells the most that the heap held until it is asked.
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
