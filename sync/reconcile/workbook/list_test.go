package workbook_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/reconcile/workbook"
)

// A list has names and prices: however large it is, none of it is put into a file of its own meanwhile.
func TestALargeListIsInNoTemporaryFile(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "absent"))
	var b bytes.Buffer
	list := must.Get(workbook.NewList(&b, workbook.ListForm{
		Name: "rows", Hidden: 1, Columns: []workbook.ListColumn{{Title: "a", Offers: []string{"x", "y"}}, {Title: "b"}},
	}))(t)
	text := strings.Repeat("x", 32_000)
	for range 600 { // 19 MB; excelize writes a file from 16 MiB on
		must.Do(t, list.Row([]string{"<&", text}))
	}
	must.Do(t, list.Close())
	book := must.Get(excelize.OpenReader(&b))(t)
	if got := must.Get(book.GetCellValue("rows", "A601"))(t); got != "<&" {
		t.Errorf("the last row has %q", got)
	}
	offers := must.Get(book.GetDataValidations("rows"))(t)
	if len(offers) != 1 || offers[0].Sqref != "A2:A601" || !strings.Contains(offers[0].Formula1, "x,y") {
		t.Errorf("what a cell offers: %+v", *offers[0])
	}
	if shown := must.Get(book.GetColVisible("rows", "B"))(t); shown {
		t.Error("the hidden column is shown")
	}
	must.Do(t, book.Close())
}

// A sheet that people do not see is not read in place of the one that they do.
func TestAHiddenSheetIsNotReadUnlessItIsNamed(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	must.Get(book.NewSheet("seen"))(t)
	must.Do(t, book.SetCellValue("Sheet1", "A1", "hidden"))
	must.Do(t, book.SetCellValue("seen", "A1", "seen"))
	book.SetActiveSheet(1)
	must.Do(t, book.SetSheetVisible("Sheet1", false))
	file := must.Get(book.WriteToBuffer())(t)
	for sheet, want := range map[string]string{"": "seen", "Sheet1": "hidden"} {
		got := ""
		must.Get(workbook.Read(file.Bytes(), sheet, 1<<20, func(cells []string, _ int) error {
			got += cells[0]
			return nil
		}))(t)
		if got != want {
			t.Errorf("of sheet %q it reads %q", sheet, got)
		}
	}
}
