package office

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/words"
)

// LibreOffice opens a list, takes codes and documents for numbers, and saves it in each encoding and
// with each separator that people choose. All of them are the same table.
func TestAListThatLibreOfficeSavedIsReadInEveryEncoding(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := filepath.Join(dir, "list.csv")
	must.Do(t, os.WriteFile(list, []byte("Relatório\n\nSituação,Código,CPF,Nome,Id\nAtivo,007,01234567890,São José,"+idA+
		"\nInativo,008,52998224725,Açaí,\n"), 0o600))
	for name, form := range map[string]string{
		"Windows-1252, semicolon": "59,34,1", "UTF-8, comma": "44,34,76", "UTF-16, tab": "9,34,65535",
	} {
		out := t.TempDir()
		cmd := exec.CommandContext(t.Context(), "soffice", "--headless", "--norestore", "--nologo",
			"-env:UserInstallation=file://"+filepath.Join(dir, "profile"), "--infilter=CSV:44,34,76,1", "--convert-to",
			"csv:Text - txt - csv (StarCalc):"+form, "--outdir", out, list)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("soffice: %v\n%s", err, text)
		}
		file := must.Get(os.ReadFile(filepath.Join(out, "list.csv")))(t)
		for as, layout := range map[string]ReferenceLayout{
			"007": {Code: []string{"Código"}, Pad: []int{3}}, "01234567890": {Code: []string{"CPF"}, As: AsDocument},
		} {
			layout.ID, layout.Label, layout.Where = "Id", "Nome", []string{"Situação=Ativo"}
			got, err := readReferences(bytes.NewReader(file), layout, words.Machine)
			if err != nil || len(got.Bad) > 0 {
				t.Fatalf("%s: %v, %v\n%q", name, err, got.Bad, file)
			}
			if diff := cmp.Diff(map[string]string{as: idA + " São José"}, map[string]string{
				as: fmt.Sprint(got.Codes[as], " ", got.Labels[as]),
			}); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%q", name, diff, file)
			}
		}
	}
}
