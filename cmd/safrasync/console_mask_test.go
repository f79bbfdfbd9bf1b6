package main

import (
	"archive/zip"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// forms are the ways in which people and ERPs write one CPF.
var forms = []string{
	"52998224725", "00052998224725", "P52998224725", "01_529.982.247-25", "529.982.247-25",
	"529 982 247 25", "529.982-247/25", "529\u2011982\u2011247\u201225", "529·982·247·25", "52.998.224.725",
	"529\u200b982\u202f247\u221225", "５２９.９８２.２４７-２５",
}

var unmasked = regexp.MustCompile(`529\D{0,3}982\D{0,3}247\D{0,3}25|52\.998\.224\.725|５２９`)

func TestNoPageAndNoFileShowsADocument(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var sql strings.Builder
	// as the code of the producer, as the number, and in double, so that the bridge names it
	for i, form := range forms {
		fmt.Fprintf(&sql, `CREATE TABLE novo AS SELECT * FROM contrato WHERE num = '000002'; UPDATE novo SET num = '%s', produtor = '%s', filial = '%02d';
			INSERT INTO contrato SELECT * FROM novo; UPDATE novo SET quantidade = '10.5'; INSERT INTO contrato SELECT * FROM novo; DROP TABLE novo;`, form, form, i+10)
		fmt.Fprintf(&sql,
			`CREATE TABLE novo AS SELECT * FROM contrato WHERE num = '000003'; UPDATE novo SET num = 'N%d', produtor = '%s'; INSERT INTO contrato SELECT * FROM novo; DROP TABLE novo;`, i, form)
	}
	sql.WriteString(`CREATE TABLE novo AS SELECT * FROM contrato WHERE num = '000002'; UPDATE novo SET num = '52998224725', filial = '99';
		INSERT INTO contrato SELECT * FROM novo; DROP TABLE novo;`)
	d.sql("erp.db", sql.String())
	_, log := d.run(0, "sync", "--sweep", "--verbose")
	d.run(0, "report", "--output", filepath.Join(t.TempDir(), "r.csv"), "--reason",
		"pediu "+strings.Join(forms, ", "), "--as", "ana")
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
	if unmasked.MatchString(log) {
		t.Error("the log shows a document")
	}
	list := filepath.Join(t.TempDir(), "d.csv")
	d.run(0, "report", "--failed", "--format", "csv", "--output", list)
	text := string(must.Get(os.ReadFile(list))(t))
	from := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	from.Comma = ';'
	rows := must.Get(from.ReadAll())(t)
	for _, cells := range rows {
		cells[2] = "" // the key: by it the row is found again
	}
	hidden("the file of decisions", fmt.Sprint(rows))
	if !regexp.MustCompile(`"msg":"attempt","job":"\w+","run":"[^"]+","row":\d+,"attempt"`).MatchString(log) {
		t.Error("the log does not say of which row it speaks, or by its key")
	}
	reader := d.as(trade.Reader)
	for _, page := range []string{"/rows", "/audit", "/report?show=1&part=bridge"} {
		hidden(page, reader.Get(page).Wants(http.StatusOK).Body)
	}
	open := causesOpen(reader)
	if !strings.Contains(open, `<div class="cause">`) {
		t.Error("no cause was opened")
	}
	hidden("the causes", open)
	parts := reader.Get("/report?show=1&single=1&unit=money").Wants(http.StatusOK).Body
	for _, part := range reconcile.AllSections {
		parts += reader.Get("/report?show=1&single=1&part=" + string(part)).Wants(http.StatusOK).Body
	}
	hidden("the parts of the report", parts)
	b := d.as(trade.Accountant)
	hidden("the file of the audit", b.Get("/audit/export").Wants(http.StatusOK).Body)
	for _, format := range []string{"csv", "html", "json", "xlsx", "zip"} {
		b.Get("/report?show=1").Submit("/report/export",
			url.Values{"format": {format}, "show": {"1"}, "single": {"1"}}).Wants(http.StatusOK)
		hidden(format, readable(t, format, b.Body))
	}
}

// readable is the text of a file.
func readable(t *testing.T, format, body string) (text string) {
	t.Helper()
	switch format {
	case "xlsx":
		book := must.Get(excelize.OpenReader(strings.NewReader(body)))(t)
		for _, sheet := range book.GetSheetList() {
			rows := must.Get(book.GetRows(sheet))(t)
			text += fmt.Sprintln(rows)
		}
	case "zip":
		files := must.Get(zip.NewReader(strings.NewReader(body), int64(len(body))))(t)
		for _, file := range files.File {
			from := must.Get(file.Open())(t)
			part := must.Get(io.ReadAll(from))(t)
			text += file.Name + "\n" + readable(t, strings.TrimPrefix(filepath.Ext(file.Name), "."), string(part))
		}
	case "gz":
		z := must.Get(gzip.NewReader(strings.NewReader(body)))(t)
		rows := must.Get(io.ReadAll(z))(t)
		return string(rows)
	default:
		return body
	}
	return text
}

var pageLink = regexp.MustCompile(`(?:href|action)="(/[^"]*)"`)

// What people typed, and what the platform answered, on every page that a reader and an
// accountant come to.
func TestWhatPeopleTypedAndThePlatformSaidIsMaskedOnEveryPage(t *testing.T) {
	t.Parallel()
	said := strings.Join(forms, "; ")
	d := newDesk(t, `status=400,type=application/json,body={"messages":["produtor `+said+` bloqueado"]}`)
	d.sql("erp.db", `CREATE TABLE novo AS SELECT * FROM contrato WHERE num = '000001'; UPDATE novo SET num = '000011'; INSERT INTO contrato SELECT * FROM novo;
		UPDATE novo SET num = '000012'; INSERT INTO contrato SELECT * FROM novo;
		UPDATE novo SET num = '000013', tipo = '`+said+`', preco = '`+said+`', fim = '`+said+`', produto = 'P52998224725'; INSERT INTO contrato SELECT * FROM novo; DROP TABLE novo;`)
	d.faults("lost-after")
	d.run(0, "sync")
	typed := func(args ...string) { d.run(0, append(args, "--reason", "pedido de "+said, "--as", "ana")...) }
	typed("retry", "contracts", "01|000001", "--yes")
	typed("dismiss", "contracts", "01|000011", "--yes")
	typed("report", "--close", "2026-10-31", "--yes")
	typed("pause", "contracts")
	d.run(1, "sync", "contracts")
	doubt, decided := d.entry("contracts", "01|000012"), d.entry("contracts", "01|000011")
	spoken := map[string]bool{}
	for _, role := range []trade.Role{trade.Reader, trade.Accountant} {
		b := d.as(role)
		seen, todo := map[string]bool{},
			[]string{
				"/", "/rows?state=rejected", "/audit/export", fmt.Sprintf("/doubts/%d", doubt.ID),
				fmt.Sprintf("/rows/%d", doubt.ID), fmt.Sprintf("/doubts/%d", decided.ID),
				fmt.Sprintf("/rows/%d", decided.ID), "/rows?state=invalid",
			}
		for len(todo) > 0 && len(seen) < 200 {
			path := todo[0]
			todo = todo[1:]
			if seen[path] || strings.HasPrefix(path, "/static/") || path == "/logout" || path == "/live" ||
				strings.Contains(path, "reveal") {
				continue
			}
			seen[path] = true
			b.Get(strings.ReplaceAll(path, "&amp;", "&"))
			if at := unmasked.FindStringIndex(b.Body); at != nil {
				t.Errorf("%s shows the %s %q", path, role, b.Body[max(0, at[0]-120):min(len(b.Body), at[1]+40)])
			}
			if strings.Contains(b.Body, "***.982.247-**") {
				spoken[strings.Trim(regexp.MustCompile(`[?].*|[0-9a-f-]{30,}|[0-9]+`).ReplaceAllString(path, ""),
					"/")] = true
			}
			for _, m := range pageLink.FindAllStringSubmatch(b.Body, -1) {
				todo = append(todo, m[1])
			}
		}
		decision(b, doubt, "dismiss")
		if unmasked.MatchString(b.Body) {
			t.Errorf("the plan shows the %s a document", role)
		}
	}
	b := d.as(trade.Accountant)
	for _, format := range []string{"csv", "html", "json", "zip"} {
		b.Get("/report?show=1").Submit("/report/export",
			url.Values{"format": {format}, "show": {"1"}, "single": {"1"}}).Wants(http.StatusOK)
		text := readable(t, format, b.Body)
		if at := unmasked.FindStringIndex(text); at != nil {
			t.Errorf("the report as %s shows %q", format, text[max(0, at[0]-120):at[1]])
		}
		if format == "zip" && !strings.Contains(text, `"masked":true`) {
			t.Error("no closing has a document: the test shows little")
		}
	}
	for _, page := range []string{"", "audit", "audit/export", "pending", "report", "rows", "routines"} {
		if !spoken[page] {
			t.Errorf("/%s does not speak of it: the test shows little", page)
		}
	}
}
