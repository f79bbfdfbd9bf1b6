package main

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// rows lists all rows of a desk.
func (d *deskWorld) rows(states ...trade.State) []trade.Entry {
	d.t.Helper()
	var out []trade.Entry
	must.Do(d.t, d.host.Store.Rows(d.t.Context(), trade.RowQuery{States: states},
		func(e trade.Entry) error { out = append(out, e); return nil }))
	return out
}

// Who looks for a contract finds it by its number, sees in words why it did not go, and what it
// would look like.
func TestAPersonFindsAContractAndSeesWhyItDidNotGo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Reader)
	b.Get("/").Wants(http.StatusOK, "O que falta, por produto")
	invalid := d.rows(trade.Invalid)[0]
	_, number, _ := strings.Cut(invalid.Key, "|")
	short := strings.TrimLeft(number, "0")
	b.Get("/rows?q="+short).Wants(http.StatusOK, fmt.Sprintf("/rows/%d", invalid.ID), "com erro")
	path := fmt.Sprintf("/rows/%d", invalid.ID)
	d.as(trade.Accountant).Get(path).Wants(http.StatusOK, "O que fazer")
	b.Get(path).Wants(http.StatusOK, "No ERP",
		trade.Sentences(invalid.Error.Fields[:1], trade.Portuguese))
	for _, path := range []string{"/rows?state=nonsense", "/rows?flag=x", "/rows?from=yesterday", "/rows?after=x"} {
		b.Get(path).Wants(http.StatusBadRequest, "código “")
	}
	b.Header = http.Header{"Hx-Request": {"true"}, "Hx-Target": {"part"}}
	b.Get("/rows?value_from=abc").Wants(http.StatusBadRequest, "<h1", "código “")
	b.Header = nil
	b.Get("/rows?q=1753980").Wants(http.StatusOK, "Nenhum documento com este filtro. A busca olha número",
		"Por CPF ou CNPJ só a Contabilidade procura.")
	b.Get("/rows?q=529.982.247-25").Wants(http.StatusOK, "só a Contabilidade pode procurar")
	b.Get("/rows/999999").Wants(http.StatusNotFound, "código “not_found”")
}

// The list has a column for each text that people know a document by, and for what else of the key is
// not among them; one unit, sums at the foot, a tab for each job, and the filter as parts to take off.
func TestTheListOfDocumentsIsATableWithSums(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, weighed, tickets)
	d.write("config.yaml", strings.Replace(d.read("config.yaml"), "    query: |\n      SELECT *",
		"    show: {contrato: num, produtor: nome}\n    query: |\n      SELECT *, 'Ana 111.444.777-35' AS nome", 1))
	d.extend("\napprove: {dismiss: 2}\n")
	d.run(0, "sync", "--sweep")
	d.run(0, "dismiss", "contracts", "01|000003", "--reason", "engano", "--as", "ivo", "--yes")
	d.open()
	b := d.as(trade.Reader)
	for _, path := range []string{"/approvals", "/approvals/1", "/rows?state=invalid"} {
		b.Get(path).Wants(http.StatusOK, "000003", "Ana ***.444.777-**")
	}
	page := b.Get("/rows?job=contracts").Wants(http.StatusOK, "Soma de 4 documentos", "produtor</th>", "filial</th>",
		`title="000001 · 01 | 000001">000001</a>`, "Ana ***.444.777-**", "SOJA", "90,03", "R$ 225.900,00", "Contratos", "Entregas").Body
	if strings.Contains(page, `class="off"`) || strings.Contains(page, "Num</th>") {
		t.Errorf("there are parts of a filter, or a column twice:\n%s", page)
	}
	b.Get("/rows?job=contracts&state=invalid&cause=rule:payday").Wants(http.StatusOK,
		`<a class="off" href="/rows?cause=rule%3Apayday&amp;job=contracts"`, `href="/rows?job=contracts&amp;state=invalid"`,
		`<option value="rule:payday" selected>data de pagamento`)
	// Of all kinds there is no one sum: a delivery's grain is its contract's.
	foot := regexp.MustCompile(`(?s)<tfoot.*</tfoot>`).FindString(b.Get("/rows?sum=1").Wants(http.StatusOK,
		`aria-current="page">Todos`).Body)
	if !strings.Contains(foot, "Contratos: Soma de 4 documentos") || !strings.Contains(foot, "Entregas: Soma de ") ||
		strings.Count(foot, "<tr>") != 2 {
		t.Errorf("the sums of all documents are not one for each kind:\n%s", foot)
	}
}

// A document is found by its quantity, weight and value however they are typed, by a code of the ERP and
// by the beginning of its id, on both databases.
func TestADocumentIsFoundByItsFiguresCodesAndTheBeginningOfItsID(t *testing.T) {
	t.Parallel()
	for _, on := range []string{state.SQLite, state.Postgres} {
		d := newDeskOn(t, on, "", "UPDATE contrato SET carteira = 'C03' WHERE num = '000003'")
		b := d.as(trade.Reader)
		first, second := d.entry("contracts", "01|000001"), d.entry("contracts", "01|000002")
		for text, want := range map[string]int64{
			"1.500,5": first.ID, "1500,5": first.ID, "1500.5 sc": first.ID, "90,03 t": first.ID,
			"R$ 225.900,00": second.ID,
			"225900":        second.ID, "c03": d.entry("contracts", "01|000003").ID, first.RemoteID[:8]: first.ID,
			strings.ToUpper(second.RemoteID[:11]): second.ID,
		} {
			page := b.Get("/rows?q=" + url.QueryEscape(text)).Wants(http.StatusOK).Body
			if n := strings.Count(page, `<th scope="row"><a`); n != 1 ||
				!strings.Contains(page, fmt.Sprintf(`href="/rows/%d"`, want)) {
				t.Errorf("%s: %q finds %d documents", on, text, n)
			}
		}
	}
}

// The page of a row says what it is, who does what next, and in what order everything happened; of
// its fields those stand open in which ERP, request and platform are not the same.
func TestARowReadsLikeALetter(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, weighed, tickets)
	d.sql("state.db", `UPDATE reference SET label = 'Carteira Soja 529.982.247-25' WHERE kind = 'wallets'`)
	contract, delivery := d.entry("contracts", "01|000001"), d.entry("deliveries", "T1")
	if delivery.State != trade.Accepted {
		t.Fatalf("the delivery is %s", delivery.State)
	}
	d.heard(1, "order_commitments", contract.RemoteID, "UPDATE_WORKFLOW_ORDER_COMMITMENT", "NOT_ELIGIBLE")
	d.sql("state.db", `UPDATE exchange SET answer_body = replace(answer_body, '30000', '29999') WHERE attempt = (SELECT attempt FROM sent WHERE answer_id = '`+
		delivery.RemoteID+`')`)
	b := d.as(trade.Reader).Get(fmt.Sprintf("/rows/%d", contract.ID)).Wants(http.StatusOK,
		"Contrato a fixar de 1.500,5 SC (90,03 t) de SOJA, safra 2025/2026.", `data-copied="copiado"`, `<details class="rest" open>`,
		"Carteira Soja ***.982.247-**", "Entregas e rastreabilidade deste contrato", fmt.Sprintf("/rows/%d", delivery.ID))
	at := 0
	for _, step := range []string{
		"Visto no ERP", "Envio 1 feito", "Resposta: criado na plataforma", "não elegível", "Ver os",
	} {
		i := strings.Index(b.Body[at:], step)
		if i < 0 {
			t.Fatalf("%q is not on the page, or not after what was before it", step)
		}
		at += i
	}
	b.Get(fmt.Sprintf("/rows/%d", delivery.ID)).Wants(http.StatusOK, "Entrega de 30.000 KG (30 t), em 15/04/2026.")
	off, even, _ := strings.Cut(b.Body, "Ver os outros")
	if !strings.Contains(off, "29.999") || strings.Contains(off, "MT-5107925-0123456789ABCDEF0123456789ABCDEF</td>") ||
		!strings.Contains(even, "unidade do volume") {
		t.Errorf("what differs does not stand open alone:\n%s", b.Body)
	}
	invalid := d.rows(trade.Invalid)[0]
	b = d.as(trade.Accountant).Get(fmt.Sprintf("/rows/%d", invalid.ID)).Wants(http.StatusOK, "Ainda não foi enviado.")
	if n := strings.Count(b.Body, `role="button" href=`); n != 1 || !strings.Contains(b.Body, "Ler de novo do ERP") {
		t.Errorf("of a row that is cured in the ERP %d buttons stand out", n)
	}
	d.sql("erp.db", `UPDATE contrato SET quantidade = '1600' WHERE num = '000001'`)
	d.run(0, "sync")
	b.Get(fmt.Sprintf("/rows/%d", contract.ID)).Wants(http.StatusOK, "No ERP: alterado", "Marcar como resolvido",
		"seria enviado: 1.600")
	if n := strings.Count(b.Body, `role="button" href=`); n != 1 {
		t.Errorf("%d buttons stand out, want one", n)
	}
}

// A plan shows what will happen; it is done with a reason, once, and the audit names who did it.
func TestAPersonDismissesAndReopensARow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Accountant)
	row := d.rows(trade.Invalid)[0]
	path := fmt.Sprintf("/act/dismiss?row=%d", row.ID)
	b.Get(path).Wants(http.StatusOK, "O que vai acontecer")
	mark := markOf(b)
	b.Submit(path, url.Values{"mark": {mark}, "reason": {" x "}}).Wants(http.StatusUnprocessableEntity,
		"ao menos 5 caracteres")
	b.Submit(path, url.Values{"mark": {mark}, "reason": {"contrato lançado em duplicidade"}}).Wants(http.StatusOK,
		"Feito: dispensada", "contrato lançado em duplicidade", "carla")
	if e := d.entry(row.Job, row.Key); e.State != trade.Dismissed {
		t.Errorf("it is %s", e.State)
	}
	b.Get(path).Submit(path, url.Values{
		"mark":   {mark},
		"reason": {"outra vez a mesma coisa"},
	}).Wants(http.StatusConflict, "carla já decidiu")
	again := fmt.Sprintf("/act/reopen?row=%d", row.ID)
	b.Get(again).Submit(again, url.Values{"mark": {markOf(b)}, "reason": {"era o certo afinal"}}).Wants(http.StatusOK,
		"Feito: reaberta")
	if e := d.entry(row.Job, row.Key); e.State != trade.Invalid {
		t.Errorf("it is %s", e.State)
	}
}

// markOf is the mark of the plan that a page shows.
func markOf(b *consoletest.Browser) string {
	b.World.T.Helper()
	_, rest, ok := strings.Cut(b.Body, `name="mark" value="`)
	mark, _, _ := strings.Cut(rest, `"`)
	if !ok {
		b.World.T.Fatalf("no plan to confirm:\n%s", b.Body)
	}
	return mark
}

// What cannot be stored says so, and shows what the person wrote; what cannot be read does not claim
// that it was to be stored.
func TestWhatAPersonWroteIsNotLostWithAFault(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Accountant)
	path := fmt.Sprintf("/act/dismiss?row=%d", d.rows(trade.Invalid)[0].ID)
	form := url.Values{"mark": {markOf(b.Get(path))}, "reason": {"contrato <lançado> em duplicidade"}}
	d.sql("state.db", `CREATE TRIGGER broken BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no'); END`)
	b.Submit(path, form).Wants(http.StatusInternalServerError, "Não foi gravado; nada mudou",
		"contrato &lt;lançado&gt; em duplicidade")
	d.sql("state.db", `DROP TRIGGER broken; DROP VIEW tentativas; DROP VIEW attempts; DROP VIEW attempt`)
	b.Get(strings.Replace(path, "/act/dismiss?row=", "/rows/", 1)).Wants(http.StatusInternalServerError, "não pôde ser lida agora")
}

func TestWhoMayOnlyReadIsNotToldWhatToDoAboutARow(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `order_commitments:status=400@2,body={"messages":["message.producer.not-found"]}`)
	path := fmt.Sprintf("/rows/%d", d.rows(trade.Rejected)[0].ID)
	d.as(trade.Accountant).Get(path).Wants(http.StatusOK, "<dt>O que fazer</dt>")
	if b := d.as(trade.Reader).Get(path).Wants(http.StatusOK); strings.Contains(b.Body, "<dt>O que fazer</dt>") {
		t.Errorf("a reader is told what to do:\n%s", b.Body)
	}
}
