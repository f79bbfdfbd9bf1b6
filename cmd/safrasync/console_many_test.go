package main

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// crowd gives the ERP more contracts without a payday, which no run sends.
func (d *deskWorld) crowd(n int) {
	d.t.Helper()
	d.sql("erp.db", fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO contrato SELECT filial, printf('7%%05d', i), '100', produtor, loja, usuario, produto, local, safra,
		um, tipo, emissao, carteira, preco, inicio, fim, modalidade, pagto, forma, situacao
		FROM contrato, n WHERE num = '000003'`, n))
	d.run(0, "sync")
}

// plan opens the plan of an act on all rows of a filter.
func (d *deskWorld) plan(b *consoletest.Browser, act, filter string, wants ...string) url.Values {
	d.t.Helper()
	b.Get("/rows?" + filter).Wants(http.StatusOK)
	b.Get("/act/"+act+"?"+url.Values{"filter": {filter}}.Encode()).Wants(http.StatusOK, wants...)
	form := b.Form("/act/" + act)
	if strings.Contains(b.Body, `name="mark"`) {
		form.Set("mark", markOf(b))
	}
	for _, texts := range form {
		texts[0] = html.UnescapeString(texts[0])
	}
	return form
}

// Of few rows of one job the foot has one line with values, also where all jobs have very many. Of very many
// there is a file, but none of decisions, which could not be uploaded.
func TestTheFootOfAShortListHasOneLineAmongManyRows(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, weighed+"\nbrakes: {new_rows: 0}\n", tickets)
	d.crowd(10_000)
	b := d.as(trade.Accountant)
	b.Get("/rows?sum=1&job=contracts").Wants(http.StatusOK, "10.005", "Soma de 10.004 documentos")
	b.Get("/rows?job=contracts").Wants(http.StatusOK, "50.000", `hx-get="/rows?sum=1&amp;job=contracts"`, "somar todos")
	if strings.Contains(b.Body, "Soma de ") || strings.Contains(b.Body, "10.005") {
		t.Error("very many are added up before the page asks")
	}
	form := b.Form("/decisions/export")
	b.Post("/decisions/export", with(form, "format", "decisoes.csv")).Wants(http.StatusBadRequest, "rows_many")
	// the numbers of the tabs come later
	foot := b.Get("/rows?job=deliveries").Wants(http.StatusOK, "Soma de 1 documento", `hx-get="/rows?sum=1&amp;job=deliveries"`).Body
	if n := strings.Count(foot, "Soma de "); n != 1 {
		t.Errorf("the foot has %d sums", n)
	}
}

// An act is done for all rows of a filter, of which the list shows one page.
func TestAllRowsOfAFilterAreDismissedAndReopened(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.crowd(70)
	b := d.as(trade.Accountant)
	const filter = "job=contracts&state=invalid"
	b.Get("/rows?"+filter).Wants(http.StatusOK, "Dispensar estes", `href="/act/dismiss?filter=job%3Dcontracts%26state%3Dinvalid"`)
	for _, not := range []string{"Reabrir estes", "Tentar estes de novo"} {
		if strings.Contains(b.Body, not) {
			t.Errorf("the list offers %q for invalid rows", not)
		}
	}
	for _, path := range []string{"/rows", "/rows?job=contracts"} {
		b.Get(path).Wants(http.StatusOK, "Exportar", "No máximo 50.000 documentos por arquivo")
		if strings.Contains(b.Body, "/act/") || strings.Contains(b.Body, "/resync") {
			t.Errorf("%s, a list that nothing narrows, offers an act on all of it", path)
		}
	}
	b.Get("/rows?job=contracts&product=MILHO").Wants(http.StatusOK, "/resync?filter=job%3Dcontracts%26product%3DMILHO")
	if strings.Contains(b.Body, "/act/") {
		t.Error("a list of what was sent offers an act that applies to no row of it")
	}
	for _, all := range []string{"", "sort%3Dkey", "after%3D1"} {
		b.Get("/act/dismiss?filter=" + all).Wants(http.StatusBadRequest)
	}
	form := d.plan(b, "dismiss", filter, "Aplica-se a 71 de 71 documentos", "438 t",
		"São 71 documentos", "Os primeiros")
	b.Post("/act/dismiss", with(form, "reason", "lote de teste")).Wants(http.StatusUnprocessableEntity,
		"O número digitado não é o dos documentos")
	b.Post("/act/dismiss", with(form, "reason", "x", "count", "71")).Wants(http.StatusUnprocessableEntity,
		"ao menos 5 caracteres")
	done := with(form, "reason", "lote de teste", "count", "71")
	b.Post("/act/dismiss", done).Wants(http.StatusOK, "Feito: dispensada")
	if n := len(d.rows(trade.Dismissed)); n != 71 {
		t.Errorf("%d rows are dismissed", n)
	}
	b.Post("/act/dismiss", done).Wants(http.StatusConflict, "nada foi feito", "Nenhum documento está mais nesta lista")
	form = d.plan(b, "reopen", "state=dismissed", "Aplica-se a 71 de 71")
	b.Post("/act/reopen", with(form, "reason", "foi engano", "count", "71")).Wants(http.StatusOK, "Feito: reaberta")
	if n := len(d.rows(trade.Invalid)); n != 71 {
		t.Errorf("%d rows are invalid again", n)
	}
	d.as(trade.Reader).Get("/act/dismiss?filter=" + url.QueryEscape(filter)).Wants(http.StatusForbidden)
}

// What a filter selects and the act does not apply to is counted with its reason; what changes between
// plan and act is left alone and told.
func TestThePlanOfAFilterSaysWhatDoesNotApplyAndTheResultWhatChanged(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-after@1")
	d.crowd(2)
	doubt, _ := d.inDoubt()
	b := d.as(trade.Accountant)
	form := d.plan(b, "dismiss", "job=contracts", "Não se aplica", "a plataforma já tem o registro",
		"talvez já exista na plataforma: procure lá", fmt.Sprintf("/rows/%d", doubt.ID))
	before := len(d.rows(trade.Dismissed))
	d.run(0, "dismiss", "contracts", "01|700001", "--reason", "outra pessoa", "--as", "ivo", "--yes")
	b.Post("/act/dismiss", with(form, "reason", "lote de teste")).Wants(http.StatusOK, "Feito com",
		"1 documento nada foi feito",
		"700001", "dispensado")
	if e := d.entry("contracts", doubt.Key); e.State != trade.InDoubt {
		t.Errorf("a filter dismissed a row in doubt: it is %s", e.State)
	}
	if n := len(d.rows(trade.Dismissed)) - before; n < 2 || d.entry("contracts", "01|700002").State != trade.Dismissed {
		t.Errorf("%d rows were dismissed", n)
	}
	// Another person cannot do what this one was shown.
	form = d.plan(b, "reopen", "state=dismissed&q=700002")
	d.as(trade.Administrator).Get("/rows").Submit("/act/reopen", with(form, "reason", "foi engano")).Wants(
		http.StatusConflict, "nada foi feito")
}

// What is refused is tried again by a filter; the next run sends it.
func TestAllRowsOfAFilterAreTriedAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `status=400,type=application/json@1,body={"messages":["message.producer.not-found"]}`)
	row := d.rows(trade.Rejected)[0]
	b := d.as(trade.Accountant)
	form := d.plan(b, "retry", "state=rejected", "Aplica-se a 1 de 1 documento", "Nada pode duplicar")
	b.Post("/act/retry", with(form, "reason", "cadastro corrigido lá")).Wants(http.StatusOK,
		"Feito: vai na próxima execução")
	if e := d.entry(row.Job, row.Key); e.State != trade.Pending {
		t.Errorf("it is %s", e.State)
	}
}

// Where the rules ask for two people, the second sees what the first saw, and approves exactly that.
func TestAnActOnAFilterWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.extend("\napprove: {dismiss: 2}\n")
	d.crowd(3)
	d.settle()
	carla, ana := d.as(trade.Accountant), d.as(trade.Administrator)
	form := d.plan(carla, "dismiss", "job=contracts", "Aplica-se a 5 de")
	carla.Post("/act/dismiss", with(form, "reason", "lote de teste")).Wants(http.StatusOK,
		"falta a aprovação de outra pessoa", "lote de teste")
	if n := len(d.rows(trade.Dismissed)); n != 0 {
		t.Fatalf("%d rows were dismissed by one person", n)
	}
	ana.Get("/approvals/1").Wants(http.StatusOK, "700001", "5 linhas")
	ana.Submit("/approvals/1/approve", url.Values{"reason": {"conferi com a filial"}}).
		Wants(http.StatusOK, "Aprovado e feito")
	if n := len(d.rows(trade.Dismissed)); n != 5 {
		t.Errorf("%d rows are dismissed", n)
	}
}

// newDeskRefused has rows in each of two jobs that can be dismissed: two contracts and a delivery.
func newDeskRefused(t *testing.T) *deskWorld {
	t.Helper()
	return newDeskOn(t, state.SQLite, weighed, tickets,
		`status=400,type=application/json@3,body={"messages":["message.delivery.volume-exceeded"]}`)
}

// A filter of two jobs asks for two approvals: both are told, each with its job and its rows.
func TestEachApprovalForAnActOnAFilterIsTold(t *testing.T) {
	t.Parallel()
	d := newDeskRefused(t)
	d.extend("\napprove: {dismiss: 2}\n")
	carla := d.as(trade.Accountant)
	form := d.plan(carla, "dismiss", "state=needs_person", "Aplica-se a 3 de 3")
	carla.Post("/act/dismiss", with(form, "reason", "lote de teste")).Wants(http.StatusOK,
		`href="/approvals/1"`, `href="/approvals/2"`, "com 2 documentos nada foi feito ainda", "com 1 documento nada foi feito ainda")
	if strings.Contains(carla.Body, "Feito com") {
		t.Error("it tells of rows with which nothing was done")
	}
}

// An error on the way does not hide what was done before it.
func TestAnErrorInAnActOnAFilterTellsWhatWasDoneBefore(t *testing.T) {
	t.Parallel()
	d := newDeskRefused(t)
	b := d.as(trade.Accountant)
	form := d.plan(b, "dismiss", "state=needs_person", "Aplica-se a 3 de 3")
	d.sql("state.db", `CREATE TRIGGER sick BEFORE UPDATE ON entry WHEN NEW.job = 'deliveries'
		BEGIN SELECT RAISE(ABORT, 'sick'); END`)
	b.Post("/act/dismiss", with(form, "reason", "lote de teste")).Wants(http.StatusInternalServerError,
		"Houve um erro no meio", "Feito com 2 documentos", "Voltar à lista")
	if n := len(d.rows(trade.Dismissed)); n != 2 {
		t.Errorf("%d rows are dismissed", n)
	}
	d.sql("state.db", `DROP TRIGGER sick`)
	form = d.plan(b, "dismiss", "state=needs_person", "Aplica-se a 1 de 1")
	b.Post("/act/dismiss", with(form, "reason", "lote de teste")).Wants(http.StatusOK, "Feito: dispensada")
}

// A filter may name people: neither the audit nor what waits for approval keeps it.
func TestWhatAFilterSearchesIsKeptNowhere(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.crowd(2)
	row := d.correct()
	const told = "2001-02-03"
	filter := "from=" + told + "&job=contracts&state=invalid"
	d.rereadBy(d.as(trade.Accountant), "/resync?"+url.Values{"filter": {filter}}.Encode())
	if now := d.entry(row.Job, row.Key); now.State != trade.Accepted {
		t.Fatalf("the row is %s", now.State)
	}
	d.extend("\napprove: {dismiss: 2}\n")
	b := d.as(trade.Accountant)
	form := d.plan(b, "dismiss", filter, "Aplica-se a")
	b.Post("/act/dismiss", with(form, "reason", "lote de teste")).Wants(http.StatusOK, "falta a aprovação")
	kept := string(must.Get(d.host.Store.Approval(t.Context(), 1))(t).Plan)
	for _, r := range must.Get(d.host.Store.Audit(t.Context(), 0))(t) {
		kept += "\n" + r.Act + " " + r.Target + " " + r.Detail
	}
	if strings.Contains(kept, told) || strings.Count(kept, `"filtered":true`) != 3 {
		t.Errorf("it keeps %s", kept)
	}
}

// On paper the parts of the filter that are set are readable, and nothing that only sets one.
func TestChromiumPrintsTheFilterOfAList(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := newChrome(t, d.server.URL, 1280, 900)
	c.logIn(trade.Accountant)
	c.open("/rows?q=0000&job=contracts&state=invalid&cause=rule:payday")
	must.Get(chromedp.Call(c.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}))(t)
	text := c.text()
	for _, not := range []string{"+ ", "Exportar", "Limpar"} {
		if strings.Contains(text, not) {
			t.Errorf("the paper has %q:\n%s", not, text)
		}
	}
	shown := must.Get(chromedp.Run(c.ctx, chromedp.Evaluate[int](
		`[...document.querySelectorAll(".facet, #f-q")].filter((part) => part.offsetWidth > 0).length`)))(t)
	if shown != 3 {
		t.Errorf("the paper has %d parts of a filter of three", shown)
	}
}

// The plan for a filter is for everybody, on a phone and on a desk, in the light and in the dark.
func TestChromiumPlansAnActOnAFilter(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.crowd(60)
	c := newChrome(t, d.server.URL, 1280, 800)
	complaints := c.complaints()
	c.logIn(trade.Accountant)
	c.open("/rows?job=contracts&state=invalid")
	c.press(".menus > details:last-child > summary")
	c.click(`a[href^="/act/dismiss"]`)
	c.everywhere("act on a filter")
	c.fill("textarea[name=reason]", "lote de teste")
	c.fill("input[name=count]", "61")
	c.click("article form button")
	c.shows("Feito: dispensada")
	if list := complaints(); len(list) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(list, "; "))
	}
}

// Who types a name is proposed those that have it, of the job and the state that the form shows.
func TestChromiumProposesTheNamesThatHaveWhatIsTyped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := newChrome(t, d.server.URL, 1280, 800)
	c.logIn(trade.Accountant)
	c.open("/rows?job=contracts")
	c.press("details:has(#f-product) > summary")
	c.do(chromedp.Evaluate[chromedp.Void](`window.asked = new Promise(done => document.body.addEventListener(
		"htmx:afterSettle", e => done(e.detail.pathInfo.finalRequestPath))); 0`))
	c.fill("input[name=product]", "soj")
	asked, err := chromedp.Run(c.ctx, chromedp.Evaluate[string](`window.asked.then(path => path + " " +
		[...document.querySelectorAll("#names-product option")].map(o => o.value).join())`, chromedp.EvalAwaitPromise))
	must.Do(t, err)
	if !strings.Contains(asked, "job=contracts") || !strings.HasSuffix(asked, " SOJA") {
		t.Errorf("asked and proposed: %s", asked)
	}
}

// everywhere is accessible at the width of a desk and of a phone, in the light and in the dark.
func (c *chrome) everywhere(name string) {
	c.t.Helper()
	for _, width := range []int64{390, 1280} {
		c.do(chromedp.EmulateViewport(width, 844))
		for _, theme := range []string{"dark", "light"} {
			c.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.documentElement.dataset.theme = %q;
				for (const a of document.getAnimations()) a.finish(); 0`, theme)))
			c.accessible(fmt.Sprintf("%s, %s, %d", name, theme, width))
		}
	}
}
