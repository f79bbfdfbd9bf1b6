package main

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// newDemoDesk opens a console on what `safrasync demo` leaves behind: contracts, deliveries and
// traceability records that are stuck for many reasons.
func newDemoDesk(t *testing.T) *deskWorld {
	t.Helper()
	d := &deskWorld{bench: &bench{program: newProgram(t)}}
	d.takeDemo(d.dir)
	d.file = d.path("config.yaml")
	d.people()
	d.open()
	return d
}

// with adds values to a form.
func with(form url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form
}

func TestEveryPageOfTheDeskIsThereForThoseWhoMaySeeIt(t *testing.T) {
	t.Parallel()
	d := newDemoDesk(t)
	reader := d.as(trade.Reader)
	for _, path := range []string{
		"/season", "/pending", "/doubts", "/changed", "/references", "/references/farms", "/routines",
		"/events", "/alerts", "/audit", "/audit/check", "/approvals", "/report", "/rows", "/",
	} {
		reader.Get(path).Wants(http.StatusOK, "<h1>")
		if missing := regexp.MustCompile(`>[a-z_]+(\.[a-z_]+)+<`).FindString(reader.Body); missing != "" {
			t.Errorf("%s shows %s: there is no such phrase", path, missing)
		}
	}
	for _, path := range []string{"/act/retry?cause=x", "/references/producers/export", "/audit/export"} {
		reader.Get(path).Wants(http.StatusForbidden, "Seu perfil não permite isto")
	}
	for path, form := range map[string]url.Values{
		"/act/pause": {"job": {"contracts"}}, "/act/acknowledge": {}, "/act/adopt": {"row": {"1"}, "done": {"0"}},
		"/references/producers/set": {},
	} {
		reader.Get("/routines")
		reader.Submit(path, form).Wants(http.StatusForbidden, "Seu perfil não permite isto")
	}
	reader.Get("/runs/no-such-run").Wants(http.StatusNotFound)
	reader.Get("/references/nothing").Wants(http.StatusNotFound)
	reader.Get("/doubts/999999").Wants(http.StatusNotFound)
}

// Every page of the menu, those behind it, and one act of each kind, with either ledger.
func TestEveryPageIsThereWithEitherLedger(t *testing.T) {
	onEither(t, func(t *testing.T, on string) {
		t.Parallel()
		d := newDeskOn(t, on, "", "", "lost-after@1")
		d.sql("erp.db", `UPDATE contrato SET quantidade = '210' WHERE num = '000002'`)
		d.run(0, "sync")
		doubt, invalid, sent := d.rows(trade.InDoubt)[0], d.rows(trade.Invalid)[0], d.rows(trade.Accepted)[0]
		b := d.as(trade.Administrator)
		_, run, _ := strings.Cut(b.Get("/routines").Body, `href="/runs/`)
		run, _, _ = strings.Cut(run, `"`)
		paths := []string{
			"/pending?who=it", "/references/wallets?text=1", "/report?show=1&single=1&part=contracts", "/audit/check",
			"/audit?act=login&who=ana&target=x&from=2026-01-01", "/runs/" + run, "/routines?job=contracts", "/account",
			"/changed?flag=changed", fmt.Sprintf("/doubts/%d", doubt.ID), fmt.Sprintf("/rows/%d", doubt.ID),
			fmt.Sprintf("/rows/%d", sent.ID), fmt.Sprintf("/act/dismiss?row=%d", invalid.ID),
			"/rows?state=needs_person", "/rows?cause=ref:wallets", "/rows?flag=changed&sort=oldest",
			"/rows?sort=key&state=accepted", "/rows?q=3", "/rows?q=nowhere",
			"/rows?q=00&sort=key&after=" + fmt.Sprint(doubt.ID),
			"/rows?from=2026-01-01&until=2099-01-01&job=contracts",
		}
		menu := regexp.MustCompile(`<li><a href="(/[a-z]*)"`).FindAllStringSubmatch(b.Get("/").Body, -1)
		for _, m := range menu {
			paths = append(paths, m[1])
		}
		if len(menu) < 11 {
			t.Fatalf("the menu has %d pages: %v", len(menu), menu)
		}
		for _, path := range paths {
			b.Get(path).Wants(http.StatusOK, "<h1>")
		}
		b.Get("/rows?flag=changed").Wants(http.StatusOK, fmt.Sprintf("/rows/%d", sent.ID))
		b.Get("/rows?q=3").Wants(http.StatusOK, fmt.Sprintf("/rows/%d", invalid.ID))

		act := fmt.Sprintf("/act/dismiss?row=%d", invalid.ID)
		b.Get(act).Submit(act, url.Values{"mark": {markOf(b)}, "reason": {"lançado duas vezes"}}).Wants(http.StatusOK,
			"Feito: dispensada")
		decision(b, doubt, "adopt", "id", d.createdFor(sent.RemoteID)).Wants(http.StatusOK, "é igual")
		b.Post("/act/adopt", with(b.Form("/act/adopt"), "reason", "visto na tela")).Wants(http.StatusOK,
			"Registrado como já enviado.")
		one := url.Values{"flag": {""}, "row": {fmt.Sprint(sent.ID)}}
		b.Get("/changed").Submit("/act/acknowledge", one).Wants(http.StatusOK,
			"1 documento")
		b.Post("/act/acknowledge", with(b.Form("/act/acknowledge"), "reason",
			"corrigido na plataforma")).Wants(http.StatusOK, "Feito: marcada como resolvida")
		planned(b.Get("/references/wallets"), "/references/wallets/set", url.Values{
			"code": {"12"}, "id": {"33333333-3333-4333-8333-333333333312"},
			"reason": {"carteira nova"},
		}).Wants(http.StatusOK, "Gravado.")
		b.Get("/routines").Get("/act/pause?job=contracts").Wants(http.StatusOK)
		b.Post("/act/pause", with(b.Form("/act/pause"), "reason", "inventário")).Wants(http.StatusOK,
			"Suspensa por uma pessoa")
		b.Get("/report").Submit("/report/close/plan", url.Values{"month": {lastMonth(d)}}).Wants(http.StatusOK,
			"Lista de conferência")
		b.Post("/report/close/do", with(b.Form("/report/close/do"), "reason", "mês conferido", "signed",
			"1")).Wants(http.StatusOK,
			"O mês foi fechado")
		b.Get("/audit/check").Wants(http.StatusOK, "A auditoria está como foi gravada.")
	})
}

// The button opens the table that is short of a code: with the code, for those who may fill it in.
func TestTheReferencesThatOpenAreThoseThatAreMissing(t *testing.T) {
	t.Parallel()
	d := newDemoDesk(t)
	b := d.as(trade.Reader).Get("/pending?who=it&cause=ref:delivery_places").Wants(http.StatusOK,
		`href="/references/delivery_places">Abrir o de-para`)
	if strings.Contains(b.Body, `href="/references">Abrir`) {
		t.Errorf("a cause leads to no table of its own:\n%s", b.Body)
	}
	d = newDesk(t)
	b = d.as(trade.Administrator).Get("/pending?who=it&cause=ref:wallets").Wants(http.StatusOK)
	link := regexp.MustCompile(`href="(/references/wallets\?code=12)#add"`).FindStringSubmatch(b.Body)
	if link == nil {
		t.Fatalf("no link fills in the code:\n%s", b.Body)
	}
	b.Get(link[1]).Wants(http.StatusOK, `name="code" value="12"`)
}

func TestPendingIsByCauseAndCountsWhatWaitsBehind(t *testing.T) {
	t.Parallel()
	d := newDemoDesk(t)
	d.as(trade.Reader).Get("/").Wants(http.StatusOK, "O que resolver primeiro",
		"COMPRA exige data de pagamento", `href="/pending?who=platform"><span>Plataforma</span><strong>16<`)
	b := d.as(trade.Reader).Get("/pending").Wants(http.StatusOK, "Pendências por causa",
		"carteira não encontrada na plataforma</a> <small>C08</small>")
	if strings.Contains(b.Body, "Quem resolve") || strings.Contains(b.Body, "MILHO") {
		t.Error("the page has the details of a cause that is not open")
	}
	b.Get("/pending?cause=message.wallet.not-found").Wants(http.StatusOK, "Quem resolve", "aria-current",
		">6 contratos</a></td></tr>", `<th scope="row">MILHO</th><td class="number">874,660</td><td class="number"><div>R$ 891.261,97`,
		`<th scope="row">SOJA</th><td class="number">582,520</td><td class="number"><div>R$ 1.345.801,38`,
		">2 entregas</a> que aguardam essas linhas", "1 registro de rastreabilidade", "ver todos os 6")
	if strings.Contains(b.Body, "Tentar de novo (") {
		t.Error("a reader is offered an act")
	}
	b.Get("/pending?who=it&cause=ref:delivery_places").Wants(http.StatusOK, "local de entrega sem de-para",
		"Abrir o de-para")
	if strings.Contains(b.Body, "C08") {
		t.Error("the page shows what somebody else fixes")
	}
	// The command line groups by the same code, and each row stands in one group.
	stuck := must.Get(d.host.Office.Stuck(t.Context(), trade.Portuguese, true))(t)
	rows := stuck.Moving
	for _, c := range stuck.Causes {
		rows += c.Rows()
	}
	want := 0
	for _, job := range d.host.Engine.Jobs {
		counts := must.Get(d.host.Store.Counts(t.Context(), job.Name()))(t)
		for _, c := range counts {
			switch c.State {
			case trade.Waiting, trade.Invalid, trade.Rejected, trade.InDoubt, trade.Held:
				want += c.Count
			}
		}
	}
	if rows != want {
		t.Errorf("the groups have %d rows, the ledger %d", rows, want)
	}
}

// causesOpen returns the page of causes, with each of them open in turn.
func causesOpen(b *consoletest.Browser) string {
	pages := b.Get("/pending").Body
	for _, path := range regexp.MustCompile(`/pending\?cause=[^"]+#c`).FindAllString(pages, -1) {
		pages += b.Get(strings.TrimSuffix(html.UnescapeString(path), "#c")).Wants(http.StatusOK, `<div class="cause">`).Body
	}
	return pages
}

// A cause that is open shows its first rows, and leads to all of them: as many as it says.
func TestACauseLeadsToItsRows(t *testing.T) {
	t.Parallel()
	d := newDemoDesk(t)
	b := d.as(trade.Reader)
	stuck := must.Get(d.host.Office.Stuck(t.Context(), trade.Portuguese, true))(t)
	page := b.Get("/pending").Body
	if n := strings.Count(page, `<tr id="c`) + strings.Count(page, `<tr class="urgent" id="c`); n != len(stuck.Causes) {
		t.Fatalf("%d causes are shown, want %d", n, len(stuck.Causes))
	}
	for _, c := range stuck.Causes {
		at := "/pending?cause=" + url.QueryEscape(c.Key)
		link := strings.ReplaceAll(html.EscapeString(at), "+", "&#43;")
		if !strings.Contains(page, `href="`+at+`#c`) && !strings.Contains(page, `href="`+link+`#c`) {
			t.Errorf("no link opens %s", c.Key)
		}
		open := b.Get(at).Wants(http.StatusOK, c.Advice.Who).Body
		all := regexp.MustCompile(`href="(/rows\?[^"]+)">ver (?:todos os )?(\d+)<`).FindStringSubmatch(open)
		if all == nil {
			t.Fatalf("%s leads to no list:\n%s", c.Key, open)
		}
		want := c.Rows() - c.Behind
		if want == 0 { // they wait for a contract that has no group
			want = c.Kinds()[0].Rows
		}
		list := b.Get(html.UnescapeString(all[1])).Wants(http.StatusOK).Body
		if n := strings.Count(list, `<th scope="row"><a href="/rows/`); n != want || all[2] != strconv.Itoa(want) {
			t.Errorf("%s says %s and lists %d rows, want %d", c.Key, all[2], n, want)
		}
		_, rows, _ := strings.Cut(open, `<tr class="open">`)
		shown := regexp.MustCompile(`<th scope="row"><a href="/(?:rows|doubts)/(\d+)"`).FindAllStringSubmatch(rows, -1)
		if len(shown) != min(want, 20) {
			t.Errorf("%s shows %d rows", c.Key, len(shown))
		}
		for _, row := range shown {
			if !strings.Contains(list, `href="/rows/`+row[1]+`"`) {
				t.Errorf("the row %s of %s is not in its list", row[1], c.Key)
			}
		}
	}
}

// unlinked are more contracts, which a platform that refuses them all keeps from going.
const unlinked = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
	INSERT INTO contrato SELECT '02', printf('%06d', i), quantidade, produtor, loja, usuario, produto, local, safra,
		um, tipo, emissao, carteira, preco, inicio, fim, modalidade, pagto, forma, situacao
	FROM contrato, n WHERE num = '000001'`

func TestAllRowsOfACauseAreTriedAgainWithTheirNumberTyped(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, "", unlinked, `status=400@1-,body={"messages":["message.wallet.producer-not-linked"]}`)
	b := d.as(trade.Accountant).Get("/pending?cause=message.wallet.producer-not-linked").Wants(http.StatusOK,
		"produtor não vinculado à carteira", "62 contratos", "Tentar de novo (62 documentos)", "ver todos os 62")
	if n := strings.Count(b.Body, `<th scope="row"><a href="/rows/`); n != 20 {
		t.Errorf("%d documents of the cause are shown", n)
	}
	path := "/act/retry?cause=message.wallet.producer-not-linked"
	b.Get(path).Wants(http.StatusOK, "São 62 documentos. Digite o número", "Nada pode duplicar")
	form := with(b.Form("/act/retry"), "reason", "a carteira foi vinculada")
	b.Post("/act/retry", form).Wants(http.StatusUnprocessableEntity, "O número digitado não é o dos documentos")
	b.Post("/act/retry", with(form, "count", "61")).Wants(http.StatusUnprocessableEntity,
		"O número digitado não é o dos documentos")

	other := d.as(trade.Administrator).Get(path)
	stale := with(other.Form("/act/retry"), "reason", "a carteira foi vinculada", "count", "62", "mark",
		"of another moment")
	other.Post("/act/retry", stale).Wants(http.StatusConflict, "nada foi feito")

	b.Post("/act/retry", with(form, "count", "62")).Wants(http.StatusOK, "Feito: vai na próxima execução")
	if strings.Contains(b.Body, "62 contratos") {
		t.Error("the page still shows what goes with the next run")
	}
	counts := must.Get(d.host.Store.Counts(t.Context(), "contracts"))(t)
	for _, c := range counts {
		if c.State == trade.Rejected || c.State == trade.Pending && c.Count != 62 {
			t.Errorf("%d rows are %s", c.Count, c.State)
		}
	}
	b.Get(path).Wants(http.StatusOK, "Nenhum documento está mais nesta lista")
	b.Get("/audit?act=retry").Wants(http.StatusOK, "a carteira foi vinculada", "carla")
}

func TestThePagesSpeakEnglish(t *testing.T) {
	t.Parallel()
	d := newDemoDesk(t)
	b := d.as(trade.Administrator).Get("/account")
	b.Submit("/preferences", url.Values{"lang": {"en"}, "theme": {"dark"}, "next": {"/pending"}}).Wants(http.StatusOK,
		`lang="en"`, "Pending, by cause", "wallet not found on the platform", ">6 contracts</a>", "2,237,063")
	b.Get("/pending?cause=message.wallet.not-found").Wants(http.StatusOK, "R$ 1,345,801.38", "see all 6")
	for path, text := range map[string]string{
		"/doubts": "To decide", "/changed": "Changed after sending", "/references/wallets": "Wallets",
		"/routines": "Runs",
		"/events":   "Events of the platform", "/alerts": "Nobody is told",
		"/routines?job=contracts": "Run now", "/audit": "Verify the audit",
	} {
		b.Get(path).Wants(http.StatusOK, text)
	}
}

// Language and appearance are chosen on the page of the account, not at the foot of each page; before
// there is an account, on the page where one logs in.
func TestPreferencesStandOnThePageOfTheAccount(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Reader)
	if b.Get("/rows").Wants(http.StatusOK); strings.Contains(b.Body, "/preferences") {
		t.Error("the list of rows asks for language and appearance")
	}
	b.Get("/account").Wants(http.StatusOK, "Idioma e aparência")
	b.Submit("/preferences", url.Values{"lang": {"en"}, "theme": {"dark"}, "next": {"/account"}}).Wants(http.StatusOK,
		`lang="en"`, `data-theme="dark"`, "Language and appearance")
	d.browser().Get("/login").Wants(http.StatusOK, `action="/preferences"`)
}
