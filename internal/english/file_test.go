package english_test

import (
	"archive/zip"
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/internal/english"
	"github.com/safrasync/safrasync/internal/must"
)

func TestTheTextsOfAFileAreWhatPeopleReadInIt(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	must.Do(t, book.SetSheetName("Sheet1", "Linhas"))
	must.Do(t, book.SetCellStr("Linhas", "A1", "the key & more"))
	must.Do(t, book.SetCellInt("Linhas", "B1", 12))
	choice := excelize.NewDataValidation(true)
	choice.SetSqref("A2:A9")
	must.Do(t, choice.SetDropList([]string{"adotar", "without"}))
	choice.SetInput("Decisão", "what you want")
	must.Do(t, book.AddDataValidation("Linhas", choice))
	sheet := must.Get(book.WriteToBuffer())(t).Bytes()
	must.Do(t, book.Close())
	table := []byte("\ufeffchave;\"o que; fazer\"\r\n1;\"it is \"\"so\"\"\"\r\n")
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, f := range []struct {
		name string
		data []byte
	}{{"a.xlsx", sheet}, {"b.csv", table}, {"c.jsonl", []byte(`{"the":"key"}`)}, {"d.html", []byte("<p>")}} {
		must.Get(must.Get(archive.Create(f.name))(t).Write(f.data))(t)
	}
	must.Do(t, archive.Close())
	texts := must.Get(english.Texts("x.zip", b.Bytes()))(t)
	if _, told := texts["c.jsonl"]; told || len(texts) != 3 || texts["d.html"] != "<p>" {
		t.Errorf("the texts of the archive: %q", texts)
	}
	if diff := cmp.Diff("chave\no que; fazer\n1\nit is \"so\"", texts["b.csv"]); diff != "" {
		t.Error(diff)
	}
	want := []string{"the more | the key & more", "what you | what you want", "without | without"}
	got := english.Lines(texts["a.xlsx"])
	slices.Sort(got)
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("the workbook lacks %q: %q", line, got)
		}
	}
	if _, err := english.Texts("a.xlsx", table); err == nil {
		t.Error("a table is no workbook")
	}
}

func TestInJSONItIsTheTexts(t *testing.T) {
	t.Parallel()
	got := must.Get(english.JSON([]byte(`{"the":"rotina","blocks":[{"text":"was gone"},7,null]}`)))(t)
	if diff := cmp.Diff([]string{"was gone | was gone"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := english.JSON([]byte("it is")); err == nil {
		t.Error("a text is no document")
	}
}
