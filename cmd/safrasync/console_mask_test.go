package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/trade"
)

// forms are the ways in which people and ERPs write one CPF.
var forms = []string{"52998224725", "00052998224725", "P52998224725", "01_529.982.247-25", "529.982.247-25", "529 982 247 25", "529.982-247/25"}

var unmasked = regexp.MustCompile(`529\D{0,3}982\D{0,3}247\D{0,3}25`)

func TestD3NoPageAndNoFileShowsADocument(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var sql strings.Builder
	for i, form := range forms { // as the code of the producer, as the number, and in double, so that the bridge names it
		fmt.Fprintf(&sql, `CREATE TABLE novo AS SELECT * FROM contrato WHERE num = '000002'; UPDATE novo SET num = '%s', produtor = '%s', filial = '%02d';
			INSERT INTO contrato SELECT * FROM novo; UPDATE novo SET quantidade = '10.5'; INSERT INTO contrato SELECT * FROM novo; DROP TABLE novo;`, form, form, i+10)
		fmt.Fprintf(&sql, `CREATE TABLE novo AS SELECT * FROM contrato WHERE num = '000003'; UPDATE novo SET num = 'N%d', produtor = '%s'; INSERT INTO contrato SELECT * FROM novo; DROP TABLE novo;`, i, form)
	}
	if err := runSQLText(d.dir+"/erp.db", sql.String()); err != nil {
		t.Fatal(err)
	}
	d.must(0, "", "sync", "--sweep")
	d.must(0, "", "report", "--output", filepath.Join(t.TempDir(), "r.csv"), "--reason", "pediu "+strings.Join(forms, ", "), "--as", "ana")
	hidden := func(where, text string) {
		t.Helper()
		if at := unmasked.FindStringIndex(text); at != nil {
			found := text[max(0, at[0]-160):min(len(text), at[1]+40)]
			t.Errorf("%s shows %q", where, found)
		}
		if !strings.Contains(text, "***.982.247-**") {
			t.Errorf("%s does not speak of it: the test shows nothing", where)
		}
	}
	reader := d.as(trade.Reader)
	for _, page := range []string{"/rows", "/pending", "/audit", "/report?show=1", "/report?show=1&single=1"} {
		hidden(page, reader.get(page).shows(http.StatusOK).body)
	}
	b := d.as(trade.Accountant)
	hidden("the file of the audit", b.get("/audit/export").shows(http.StatusOK).body)
	for _, format := range []string{"csv", "html", "json", "xlsx"} {
		b.get("/report?show=1").submit("/report/export", url.Values{"format": {format}, "show": {"1"}, "single": {"1"}}).shows(http.StatusOK)
		text := b.body
		if format == "xlsx" {
			book, err := excelize.OpenReader(bytes.NewReader([]byte(b.body)))
			if err != nil {
				t.Fatal(err)
			}
			text = ""
			for _, sheet := range book.GetSheetList() {
				rows, err := book.GetRows(sheet)
				if err != nil {
					t.Fatal(err)
				}
				text += fmt.Sprintln(rows)
			}
		}
		hidden(format, text)
	}
}
