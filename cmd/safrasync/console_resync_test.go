package main

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// correct gives the row of the sample cooperative that is not valid what it lacks.
func (d *deskWorld) correct() trade.Entry {
	d.t.Helper()
	d.sql("erp.db", `UPDATE contrato SET pagto = '2026-06-15' WHERE num = '000003'`)
	return d.entry("contracts", "01|000003")
}

var markField = regexp.MustCompile(`name="mark" value="([^"]+)"`)

// rereadBy orders what a plan of reading again shows, and waits until its runs are over.
func (d *deskWorld) rereadBy(b *consoletest.Browser, path string, more ...string) {
	d.t.Helper()
	b.Get(path).Wants(http.StatusOK, "Ler de novo")
	form := with(b.Form("/resync"), append([]string{
		"mark", markField.FindStringSubmatch(b.Body)[1], "reason", "corrigido no ERP",
	}, more...)...)
	for _, texts := range form {
		texts[0] = html.UnescapeString(texts[0])
	}
	b.Post("/resync", form).Wants(http.StatusOK, "Pedido feito.")
	_, told, _ := strings.Cut(b.Body, `<p class="no-paper"><a href="`)
	told, _, _ = strings.Cut(told, `"`)
	for strings.Contains(b.Body, "o resultado aparece aqui") {
		b.Get(html.UnescapeString(told)).Wants(http.StatusOK)
	}
	b.Wants(http.StatusOK, "terminou em")
}

func TestARowIsReadAgainFromItsPageAndItsResultIsToldThere(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	row := d.correct()
	other := d.rows(trade.Accepted)[0]
	b := d.as(trade.Accountant).Get(fmt.Sprintf("/rows/%d", row.ID)).Wants(http.StatusOK, "Ler de novo do ERP",
		fmt.Sprintf("/resync?row=%d", row.ID))
	b.Get(fmt.Sprintf("/resync?row=%d", row.ID)).Wants(http.StatusOK, "Documentos a ler: 1.",
		"Podem ser enviados: 1.")
	d.rereadBy(b, fmt.Sprintf("/resync?row=%d", row.ID))
	now := d.entry(row.Job, row.Key)
	if now.State != trade.Accepted {
		t.Fatalf("the row is %s", now.State)
	}
	b.Wants(http.StatusOK, "1 documento lido", "Enviados 1", now.RemoteID, "Contratos")
	// The order stands in the audit, with who gave it; nothing else was sent.
	b.Get("/audit?target=000003").Wants(http.StatusOK, "carla", "corrigido no ERP")
	if d.entry(other.Job, other.Key).Attempts != other.Attempts {
		t.Error("a row that was not asked for was sent")
	}
	b.Get(fmt.Sprintf("/resync?row=%d", other.ID)).Wants(http.StatusOK, "Nada seria enviado")
}

func TestThePlanOfReadingAgainIsDoneOnceByTwoTabs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	row := d.correct()
	b := d.as(trade.Accountant)
	path := fmt.Sprintf("/resync?row=%d", row.ID)
	b.Get(path)
	form := with(b.Form("/resync"), "mark", markField.FindStringSubmatch(b.Body)[1], "reason", "corrigido no ERP")
	b.Post("/resync", with(form, "reason", "")).Wants(http.StatusUnprocessableEntity, "ao menos 5 caracteres")
	b.Post("/resync", with(form, "reason", "corrigido no ERP")).Wants(http.StatusOK, "Pedido feito.")
	b.Post("/resync", form).Wants(http.StatusConflict, "nada foi feito")
	b.Get("/audit?act=resync").Wants(http.StatusOK, "corrigido no ERP")
	// The page has two of one act in one line: the ledger is asked.
	ordered := slices.DeleteFunc(must.Get(d.host.Store.Audit(t.Context(), 0))(t), func(r trade.AuditRecord) bool {
		return r.Act != "resync" && r.Reason != "corrigido no ERP"
	})
	if len(ordered) != 1 {
		t.Errorf("it was ordered %d times: %v", len(ordered), ordered)
	}
}

func TestReadingAgainIsNotDoneIfSomebodyDecidedAboutTheRowSinceThePlan(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	row := d.correct()
	b := d.as(trade.Accountant).Get(fmt.Sprintf("/resync?row=%d", row.ID))
	form := with(b.Form("/resync"), "mark", markField.FindStringSubmatch(b.Body)[1], "reason", "corrigido no ERP")
	d.run(0, "dismiss", row.Job, row.Key, "--reason", "lançado por engano", "--as", "ivo", "--yes")
	b.Post("/resync", form).Wants(http.StatusConflict, "nada foi feito")
	if now := d.entry(row.Job, row.Key); now.State != trade.Dismissed || now.Attempts != 0 {
		t.Errorf("the row is %s after %d requests", now.State, now.Attempts)
	}
}

func TestACauseAFilterAndWholeJobsAreReadAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	row := d.correct()
	b := d.as(trade.Accountant).Get("/pending")
	causes := regexp.MustCompile(`/pending\?cause=[^"]+#c`).FindAllString(b.Body, -1)
	if len(causes) == 0 {
		t.Fatalf("no cause can be opened:\n%s", b.Body)
	}
	for _, cause := range causes {
		b.Get(strings.TrimSuffix(html.UnescapeString(cause), "#c")).Wants(http.StatusOK, "/resync?cause=")
		path := regexp.MustCompile(`/resync\?cause=[^"]+`).FindString(b.Body)
		b.Get(html.UnescapeString(path)).Wants(http.StatusOK, "Documentos a ler")
	}
	filter := url.Values{"job": {"contracts"}, "state": {"invalid"}}.Encode()
	b.Get("/rows?"+filter).Wants(http.StatusOK, "/resync?filter=")
	d.rereadBy(b, "/resync?"+url.Values{"filter": {filter}}.Encode())
	b.Wants(http.StatusOK, "1 documento lido", "Enviados 1", d.entry(row.Job, row.Key).RemoteID)
	b.Get("/resync?"+url.Values{"filter": {filter}}.Encode()).Wants(http.StatusOK, "Nada a ler")
	b.Get("/resync?filter=%3B").Wants(http.StatusBadRequest)
	b.Get("/resync?filter=").Wants(http.StatusOK, "Documentos a ler: ")

	b.Get("/resync?job=contracts").Wants(http.StatusForbidden, "Seu perfil não permite isto")
	b.Get("/resync").Wants(http.StatusBadRequest)
	b = d.as(trade.Administrator).Get("/resync?job=nothing").Wants(http.StatusNotFound)
	d.rereadBy(b, "/resync?job=contracts")
	b.Wants(http.StatusOK, "A execução de Contratos terminou em")
	d.rereadBy(b, "/resync")
	b.Get("/resync?job=contracts&from=2026-01-01&until=2026-02-30").Wants(http.StatusBadRequest)
	b.Get("/audit").Wants(http.StatusOK, "ana")
}

// Reading a cause again reads the rows that the page counts for it, and not those that another problem of
// the same field keeps.
func TestOnlyTheRowsOfACauseAreReadAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("erp.db", `INSERT INTO contrato SELECT filial, '000912', quantidade, produtor, loja, usuario, produto, local, safra,
		um, tipo, emissao, carteira, preco, inicio, fim, modalidade, '2062-06-17', forma, situacao
		FROM contrato WHERE num = '000001'`)
	d.run(0, "sync", "--sweep")
	b := d.as(trade.Accountant).Get("/pending")
	causes := regexp.MustCompile(`/pending\?cause=[^"]+payday[^"]*#c`).FindAllString(b.Body, -1)
	if len(causes) != 2 {
		t.Fatalf("the causes of the day of payment are %q", causes)
	}
	for _, cause := range causes {
		b.Get(strings.TrimSuffix(html.UnescapeString(cause), "#c")).Wants(http.StatusOK, "/resync?cause=")
		path := regexp.MustCompile(`/resync\?cause=[^"]+`).FindString(b.Body)
		b.Get(html.UnescapeString(path)).Wants(http.StatusOK, "Documentos a ler: 1.")
	}
}

// An administrator reads a period, or everything, again in three clicks from the first page.
func TestChromiumReadsEverythingAgainInThreeClicks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := newChrome(t, d.server.URL, 1366, 768)
	c.logIn(trade.Administrator)
	from := c.clicks
	c.click(`a[href="/routines"]`)
	c.accessible("routines, read again")
	c.click(`a[href="/resync"]`)
	c.shows("todos os documentos", "Documentos a ler")
	c.fill("[name=reason]", "conferir tudo")
	c.click(`form[action="/resync"] button`)
	c.shows("Rotinas")
	if n := c.clicks - from; n > 3 {
		t.Errorf("it took %d clicks", n)
	}
}

// Before they press, a person sees the plan; then the run, and what came of it, in the same place and
// without another click.
func TestChromiumReadsARowAgainInThreeClicks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	row := d.correct()
	c := newChrome(t, d.server.URL, 1280, 800)
	complaints := c.complaints()
	c.logIn(trade.Accountant)
	c.open(fmt.Sprintf("/rows/%d", row.ID))
	c.clicks = 0
	c.click(fmt.Sprintf(`a[href="/resync?row=%d"]`, row.ID))
	c.accessible("resync")
	c.fill("[name=reason]", "corrigido no ERP")
	c.click(`article form button`)
	c.do(chromedp.WaitVisible(chromedp.CSS(`#ran .state.accepted`)))
	c.do(chromedp.WaitVisible(chromedp.CSS(`article .state.accepted`))) // the page itself follows
	c.shows("1 documento lido", "Enviados 1", d.entry(row.Job, row.Key).RemoteID)
	c.accessible("resync told")
	if c.clicks > 3 {
		t.Errorf("it took %d clicks", c.clicks)
	}
	if list := complaints(); len(list) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(list, "; "))
	}
}

// impatient lets no page wait for a plan.
func (d *deskWorld) impatient() {
	d.t.Helper()
	d.host.Office = office.New(office.Deps{
		Config: d.host.App.Config, Store: d.host.Store, Jobs: d.host.Engine.Jobs, Engine: d.host.Engine,
		Board: d.host.Board, Log: d.host.App.Log, Lang: d.host.App.Lang(), Now: office.Now,
		ReportPatience: time.Nanosecond,
	})
	d.t.Cleanup(d.host.Office.Close)
	c := d.host.Console()
	d.server = httptest.NewServer(c)
	d.t.Cleanup(func() { c.Close(); d.server.Close() })
}

// A plan that fails while the page does not look is told once; a stale form then does nothing.
func TestAPlanThatFailsLaterIsTold(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	row := d.correct()
	d.impatient()
	d.sql("erp.db", "ALTER TABLE contrato RENAME TO outro")
	at := fmt.Sprintf("/resync?row=%d", row.ID)
	b := d.as(trade.Accountant).Get(at)
	for strings.Contains(b.Body, "Lendo o ERP") {
		if !strings.Contains(b.Body, html.EscapeString(at)) {
			t.Fatalf("the page does not ask for itself again:\n%s", b.Body)
		}
		b.Get(at)
	}
	b.Wants(http.StatusOK, "o ERP não pôde ser lido")
	d.sql("erp.db", "ALTER TABLE outro RENAME TO contrato")
	for b.Get(at); strings.Contains(b.Body, "Lendo o ERP"); b.Get(at) {
		b.Wants(http.StatusOK)
	}
	b.Wants(http.StatusOK, "Documentos a ler: 1.")
}

// A plan that takes long is made in the background: the page says how far it is, and shows it when it is
// there.
func TestAPlanThatTakesLongIsShownWhenItIsMade(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	row := d.correct()
	d.impatient()
	b := d.as(trade.Accountant).Get(fmt.Sprintf("/resync?row=%d", row.ID)).Wants(http.StatusOK,
		"Lendo o ERP para mostrar o que mudaria", `http-equiv="refresh"`)
	for strings.Contains(b.Body, "Lendo o ERP") {
		b.Get(fmt.Sprintf("/resync?row=%d", row.ID)).Wants(http.StatusOK)
	}
	b.Wants(http.StatusOK, "Documentos a ler: 1.")
}

// What was refused and is due again goes with what is read again, and may be refused again: neither the
// plan nor the result hides it.
func TestReadingAgainSaysThatWhatWasRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	const refused = `order_commitments:status=400%s,body={"messages":["message.producer.not-found"]}`
	d := newDesk(t, fmt.Sprintf(refused, "@2"))
	row := d.rows(trade.Rejected)[0]
	path := fmt.Sprintf("/resync?row=%d", row.ID)
	d.as(trade.Accountant).Get(path).Wants(http.StatusOK, "Documentos a ler: 1.", "Nada seria enviado")
	d.sql("state.db", "UPDATE entry SET next_attempt_at = 1 WHERE next_attempt_at > 0; UPDATE block SET next_at = 1")
	d.faults(fmt.Sprintf(refused, ""))
	d.open() // the plan was stored
	b := d.as(trade.Accountant).Get(path).Wants(http.StatusOK, "Podem ser enviados: 1.", "nova tentativa")
	d.rereadBy(b, path)
	b.Wants(http.StatusOK, "0 mudados.</strong>", "Rejeitados 1")
	if now := d.entry(row.Job, row.Key); now.Attempts != row.Attempts+1 {
		t.Errorf("%d requests, want one more than %d", now.Attempts, row.Attempts)
	}
}
