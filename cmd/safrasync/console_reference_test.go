package main

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// upload posts a file with the token of the page that is shown.
func (b *browser) upload(path, name, content string) *browser {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	token := tokenField.FindStringSubmatch(b.body)
	if token == nil {
		b.t.Fatalf("no token on the page:\n%s", b.body)
	}
	err := form.WriteField("token", token[1])
	if err == nil {
		w, failed := form.CreateFormFile(name, "tabela.csv")
		if err = failed; err == nil {
			_, err = w.Write([]byte(content))
		}
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.base+path, &body)
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	return b.send(request)
}

func TestAMissingCodeIsStoredAndItsRowsGo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.as(trade.Accountant).get("/references/wallets").shows(http.StatusOK, "Códigos sem de-para",
		"12", "1 contrato (24 t)",
		"33333333-3333-4333-8333-333333333310")
	b := d.as(trade.Administrator).get("/references/wallets?code=12").shows(http.StatusOK, `value="12"`)
	b.submit("/references/wallets/set", url.Values{
		"code": {"12"}, "id": {"nonsense"},
		"reason": {"carteira nova"},
	}).shows(http.StatusUnprocessableEntity, "o id deve ser um UUID")
	b.submit("/references/wallets/set", url.Values{
		"code": {"12"}, "id": {"33333333-3333-4333-8333-333333333312"},
		"reason": {""},
	}).shows(http.StatusUnprocessableEntity, "ao menos 5 caracteres")
	b.submit("/references/wallets/set", url.Values{
		"code": {" 12 "}, "id": {"33333333-3333-4333-8333-333333333312"},
		"reason": {"carteira nova"},
	}).shows(http.StatusOK, "Gravado.", "Nada falta.")
	d.run(0, "sync")
	if e := d.entry("contracts", "01|000004"); e.State != trade.Accepted {
		t.Errorf("the row that waited for the code is %s", e.State)
	}
	b.get("/references/wallets?text=12").shows(http.StatusOK, "33333333-3333-4333-8333-333333333312")
	b.submit("/references/wallets/remove", url.Values{"code": {"12"}, "reason": {"era engano"}}).shows(http.StatusOK,
		"Removido.")
	b.get("/audit?target=wallets").shows(http.StatusOK, "gravou de-para", "removeu de-para", "carteira nova",
		"era engano", "ana")
}

func TestACSVIsShownBeforeItCounts(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Administrator).get("/references/wallets")
	b.upload("/references/wallets/plan", "file", "name;id\n1;2\n").shows(http.StatusOK,
		"a primeira linha deve ser o cabeçalho")
	b.get("/references/wallets")
	b.upload("/references/wallets/plan", "file", "code;id\n12;nonsense\n").shows(http.StatusOK,
		"1 linha inválida", "linha 2")
	b.get("/references/wallets")
	b.upload("/references/wallets/plan", "file",
		"\ufeffcode;id\r\n10;33333333-3333-4333-8333-333333333399\r\n12;33333333-3333-4333-8333-333333333312\r\n").
		shows(http.StatusOK, "1 novo, 1 alterado, 0 sem mudança", "33333333-3333-4333-8333-333333333310")
	form := with(b.fields("/references/wallets/import"), "reason", "lista de novembro")
	b.post("/references/wallets/import", form).shows(http.StatusOK, "Importado.",
		"33333333-3333-4333-8333-333333333399")
	b.post("/references/wallets/import", form).shows(http.StatusUnprocessableEntity, "não muda nada")

	b.get("/references/wallets/export").shows(http.StatusOK,
		"code,id\n10,33333333-3333-4333-8333-333333333399\n12,33333333-3333-4333-8333-333333333312\n")
	if got := b.header.Get("Content-Disposition"); !strings.Contains(got, "wallets.csv") {
		t.Errorf("the file is offered as %q", got)
	}
	b.get("/audit?target=wallets").shows(http.StatusOK, "importou de-para", "lista de novembro", "exportou de-para")
}

func TestReferencesOfTheERPAreChangedThere(t *testing.T) {
	t.Parallel()
	d := newDemoDesk(t)
	b := d.as(trade.Administrator).get("/references/wallets").shows(http.StatusOK, "é lido do ERP a cada execução")
	b.submit("/references/wallets/set", url.Values{
		"code": {"12"}, "id": {"33333333-3333-4333-8333-333333333312"},
		"reason": {"carteira nova"},
	}).shows(http.StatusForbidden)
}
