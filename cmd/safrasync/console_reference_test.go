package main

import (
	"bytes"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// upload sends a file with a form of the page that is shown, and its other fields, each a name and
// a value.
func upload(b *consoletest.Browser, path, content string, fields ...string) *consoletest.Browser {
	t := b.World.T
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	must.Do(t, form.WriteField("token", b.Token()))
	for i := 0; i < len(fields); i += 2 {
		must.Do(t, form.WriteField(fields[i], fields[i+1]))
	}
	must.Get(io.WriteString(must.Get(form.CreateFormFile("file", "tabela.csv"))(t), content))(t)
	must.Do(t, form.Close())
	return b.Send(http.MethodPost, path, form.FormDataContentType(), body.String())
}

// planned sends a form with a code, and again when its plan was shown.
func planned(b *consoletest.Browser, path string, form url.Values) *consoletest.Browser {
	b.World.T.Helper()
	b.Submit(path, form).Wants(http.StatusOK)
	form.Set("mark", b.Form(path).Get("mark"))
	return b.Submit(path, form)
}

func TestAMissingCodeIsStoredAndItsRowsGo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.as(trade.Accountant).Get("/references/wallets").Wants(http.StatusOK, "Códigos sem de-para",
		"12", `title="24 t">1</a>`,
		"33333333-3333-4333-8333-333333333310")
	b := d.as(trade.Administrator).Get("/references/wallets?code=12").Wants(http.StatusOK, `value="12"`)
	b.Submit("/references/wallets/set", url.Values{
		"code": {"12"}, "id": {"nonsense"},
		"reason": {"carteira nova"},
	}).Wants(http.StatusUnprocessableEntity, "O id da plataforma não é válido")
	b.Submit("/references/wallets/set", url.Values{
		"code": {"12"}, "id": {"33333333-3333-4333-8333-333333333312"},
		"reason": {""},
	}).Wants(http.StatusUnprocessableEntity, "ao menos 5 caracteres")
	form := url.Values{
		"code": {" 12 "}, "id": {"33333333-3333-4333-8333-333333333312"},
		"reason": {"carteira nova"},
	}
	b.Submit("/references/wallets/set", form).Wants(http.StatusOK, "segue o que aguarda este código: 1 contrato")
	if strings.Contains(b.Body, "Gravado.") || strings.Contains(b.Body, "já tem este id") {
		t.Error("a code is stored before its plan is seen, or has the id of another")
	}
	form.Set("mark", b.Form("/references/wallets/set").Get("mark"))
	b.Submit("/references/wallets/set", form).Wants(http.StatusOK, "Gravado.", "Nada falta.")
	d.run(0, "sync")
	if e := d.entry("contracts", "01|000004"); e.State != trade.Accepted {
		t.Errorf("the row that waited for the code is %s", e.State)
	}
	b.Get("/references/wallets?text=12").Wants(http.StatusOK, "33333333-3333-4333-8333-333333333312")
	b.Submit("/references/wallets/remove", url.Values{"code": {"12"}, "reason": {"era engano"}}).Wants(http.StatusOK,
		"Removido.")
	b.Get("/audit?target=wallets").Wants(http.StatusOK, "gravou no de-para", "removeu do de-para", "carteira nova",
		"era engano", "ana")
}

// Before a code is stored the form says which other code has its id, and which id it had. A plan that was of
// another id stores nothing.
func TestACodeWithTheIDOfAnotherIsSaidBeforeItIsStored(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const first, second = "33333333-3333-4333-8333-333333333310", "33333333-3333-4333-8333-333333333312"
	for role, path := range map[trade.Role]string{trade.Administrator: "set", trade.Accountant: "propose"} {
		b := d.as(role).Get("/references/wallets?code=12")
		form := url.Values{"code": {"12"}, "id": {first}, "reason": {"carteira nova"}}
		b.Submit("/references/wallets/"+path, form).Wants(http.StatusOK,
			"10 já tem este id: os documentos dos dois iriam para o mesmo registro", "1 contrato")
		form.Set("id", second)
		form.Set("mark", b.Form("/references/wallets/"+path).Get("mark"))
		b.Submit("/references/wallets/"+path, form).Wants(http.StatusOK, "segue o que aguarda este código")
		form = url.Values{"code": {"10"}, "id": {second}, "reason": {"carteira nova"}}
		b.Submit("/references/wallets/"+path, form).Wants(http.StatusOK, "O código tem hoje o id "+first)
	}
	for _, line := range must.Get(d.host.Store.ListReferences(t.Context(), "wallets"))(t) {
		if line.Code == "12" || line.ID == second {
			t.Errorf("stored before its plan was seen: %+v", line)
		}
	}
}

// What a code keeps from going is shown in its own currency; of nothing with a price there is no amount.
func TestAMissingCodeShowsTheMoneyThatItHas(t *testing.T) {
	t.Parallel()
	d := &deskWorld{bench: newCoop(t, state.SQLite, sandbox.Options{})}
	d.write("config.yaml", strings.Replace(d.read("config.yaml"), "{const: BRL}", "{const: USD}", 1))
	d.sql("erp.db", `INSERT INTO contrato SELECT filial, '000911', quantidade, produtor, loja, usuario, produto, local,
		safra, um, tipo, emissao, '13', NULL, inicio, fim, modalidade, pagto, forma, situacao
		FROM contrato WHERE num = '000004';
		UPDATE contrato SET preco = '129,50' WHERE num = '000004'`)
	d.people()
	d.run(0, "sync")
	d.open()
	b := d.as(trade.Administrator)
	for _, path := range []string{"/references/wallets", "/"} {
		b.Get(path).Wants(http.StatusOK, "US$")
		if strings.Contains(b.Body, "R$ 0") || strings.Contains(b.Body, ">0,00<") {
			t.Errorf("%s shows money that there is not", path)
		}
	}
}

// The page of the causes and that of the de-para say the same of a missing code: fixations, which are the
// grain of a contract, stand apart, and rows that lack something else too are named.
func TestTheDeParaCountsAsTheCausesDo(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, weighed, tickets+`; INSERT INTO romaneio SELECT 'T2', filial, '000004', volume, dia, car FROM romaneio`)
	d.sql("erp.db", `INSERT INTO contrato SELECT filial, '000911', quantidade, produtor, loja, usuario, produto, local,
		safra, um, 'FIXACAO_COMPRA', emissao, carteira, preco, inicio, fim, modalidade, pagto, forma, situacao
		FROM contrato WHERE num = '000004'`)
	d.run(0, "sync", "--sweep")
	b := d.as(trade.Accountant).Get("/pending").Wants(http.StatusOK, ">1 contrato</a>", ">1 fixação</a>")
	b.Get("/references/wallets").Wants(http.StatusOK, "Total, sem repetir")
	// each number leads to exactly the rows that it counts
	links := regexp.MustCompile(`data-label="(?:contratos|fixações|entregas)"><a href="([^"]+)" title="[^"]*">([0-9]+)<`).
		FindAllStringSubmatch(b.Body, -1)
	if len(links) != 6 { // of the code, and of all
		t.Errorf("the numbers are %v", links)
	}
	for _, link := range links {
		b.Get(html.UnescapeString(link[1])).Wants(http.StatusOK, `class="only-heard" role="status">`+link[2]+" documento")
	}
	b.Get("/references/wallets")
	if strings.Contains(b.Body, "outra pendência") {
		t.Error("it says that rows stand under another cause")
	}
}

func TestACSVIsShownBeforeItCounts(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Administrator).Get("/references/wallets")
	upload(b, "/references/wallets/plan", "name;id\n1;2\n").Wants(http.StatusOK,
		"a primeira linha deve ser o cabeçalho")
	b.Get("/references/wallets")
	upload(b, "/references/wallets/plan", "code;id\n12;nonsense\n").Wants(http.StatusOK,
		"1 linha inválida", "linha 2")
	b.Get("/references/wallets")
	upload(b, "/references/wallets/plan", "\ufeffcode;id\r\n10;33333333-3333-4333-8333-333333333399\r\n12;33333333-3333-4333-8333-333333333312\r\n").
		Wants(http.StatusOK, "1 novo, 1 alterado, 0 sem mudança", "33333333-3333-4333-8333-333333333310")
	form := with(b.Form("/references/wallets/import"), "reason", "lista de novembro")
	b.Post("/references/wallets/import", form).Wants(http.StatusOK, "Importado.",
		"33333333-3333-4333-8333-333333333399")
	b.Post("/references/wallets/import", form).Wants(http.StatusUnprocessableEntity, "não muda nada")

	b.Get("/references/wallets/export").Wants(http.StatusOK,
		"code,id\n10,33333333-3333-4333-8333-333333333399\n12,33333333-3333-4333-8333-333333333312\n")
	if got := b.Got.Get("Content-Disposition"); !strings.Contains(got, "wallets.csv") {
		t.Errorf("the file is offered as %q", got)
	}
	b.Get("/audit?target=wallets").Wants(http.StatusOK, "importou o de-para", "lista de novembro", "exportou o de-para")
}

// The file of a Brazilian Excel is read by its columns, also when the plan is confirmed.
func TestTheFileOfASpreadsheetIsUploadedAsItIs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Administrator).Get("/references/wallets").Wants(http.StatusOK, "As colunas têm outros nomes")
	const file = "Carteiras\nC\xf3digo;Nome;Situa\xe7\xe3o;Id\n7;A\xe7\xfacar;Ativo;33333333-3333-4333-8333-333333333307\n8;x;Inativo;\n"
	columns := []string{"code", "Código", "id", "Id", "label", "nome", "where", "Situação=Ativo", "pad", "x"}
	upload(b, "/references/wallets/plan", file, columns...).Wants(http.StatusOK, "informe um para cada parte")
	b.Get("/references/wallets")
	columns[9] = "3"
	upload(b, "/references/wallets/plan", file, columns...).Wants(http.StatusOK, "1 novo, 0 alterados",
		"Fora do filtro: 1 linha.", "007</span> Açúcar")
	b.Post("/references/wallets/import", with(b.Form("/references/wallets/import"), "reason", "lista de novembro")).
		Wants(http.StatusOK, "Importado.", "007", "Açúcar")
	b.Get("/references/wallets")
	upload(b, "/references/wallets/plan", "code;id\n1,2E+11;33333333-3333-4333-8333-333333333307\n").Wants(http.StatusOK,
		"coluna code (A)", "encurtou um número")
}

func TestReferencesOfTheERPAreChangedThere(t *testing.T) {
	t.Parallel()
	d := newDemoDesk(t)
	b := d.as(trade.Administrator).Get("/references/wallets").Wants(http.StatusOK, "é lido do ERP a cada execução")
	b.Submit("/references/wallets/set", url.Values{
		"code": {"12"}, "id": {"33333333-3333-4333-8333-333333333312"},
		"reason": {"carteira nova"},
	}).Wants(http.StatusForbidden)
}

// Beside a code without an id stands what the ERP calls it: what people see of all rows that wait for it.
func TestAMissingCodeHasTheNameThatTheERPHasForIt(t *testing.T) {
	t.Parallel()
	d := &deskWorld{bench: newCoop(t, state.SQLite, sandbox.Options{})}
	d.write("config.yaml", strings.Replace(d.read("config.yaml"), "    query: |\n      SELECT *",
		"    show: {contrato: num, carteira: nome}\n    query: |\n      SELECT *, 'Soja Maracaju 111.444.777-35' AS nome", 1))
	d.sql("erp.db", `UPDATE contrato SET carteira = '12'`)
	d.people()
	d.run(0, "sync")
	d.open()
	const name = "Soja Maracaju ***.444.777-**"
	for _, path := range []string{"/references/wallets", "/pending?cause=ref:wallets"} {
		page := d.as(trade.Accountant).Get(path).Wants(http.StatusOK, name).Body
		if i := strings.Index(page, name); strings.Contains(page[max(0, i-40):i], "contrato: ") {
			t.Errorf("%s: the number of one row is no name of the code", path)
		}
	}
	if out, _ := d.run(0, "refs", "list", "wallets"); !strings.Contains(out, "12 (carteira: "+name+")") {
		t.Errorf("the list has no name for the code:\n%s", out)
	}
}
