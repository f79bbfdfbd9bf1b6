package main

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/trade"
)

// extend adds to the configuration, and opens the console anew.
func (d *deskWorld) extend(text string) {
	d.t.Helper()
	d.write("config.yaml", d.read("config.yaml")+text)
	d.open()
}

// settle makes the accounts of the console older than any order: those of the tests were added by
// the account that also orders on the command line.
func (d *deskWorld) settle() {
	d.t.Helper()
	d.sql("state.db", `DROP TRIGGER audit_unchanged; UPDATE audit SET at = at - 90000000 WHERE act = 'user add'`)
}

// What one person orders, at the command line or in the console, another sees as it was planned
// and approves or declines.
func TestWhatNeedsTwoPeopleIsApprovedInTheConsole(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.extend("\napprove: {dismiss: 2, reopen: 2, close: 2, release: 2}\n")
	carla, ana := d.as(trade.Accountant), d.as(trade.Administrator)
	row := d.entry("contracts", "01|000003")
	if row.State != trade.Invalid {
		t.Fatalf("the row is %s", row.State)
	}
	carla.Get(fmt.Sprintf("/act/dismiss?row=%d", row.ID))
	form := with(carla.Form("/act/dismiss"), "reason", "lançado por engano")
	carla.Post("/act/dismiss", form).Wants(http.StatusOK, "falta a aprovação de outra pessoa", "lançado por engano",
		"Você pediu ou já aprovou", "Retirar o pedido")
	if e := d.entry("contracts", "01|000003"); e.State != trade.Invalid {
		t.Fatalf("it was done by one person: %s", e.State)
	}
	carla.Submit("/approvals/1/approve", url.Values{"reason": {"eu mesma aprovo"}}).Wants(http.StatusConflict,
		"É preciso outra pessoa")
	d.as(trade.Reader).Get("/approvals").Wants(http.StatusOK, "Dispensar: 01|000003<", "carla", "1 de 2")
	ana.Get("/").Wants(http.StatusOK, `<a href="/approvals">1 pedido espera por você</a>`)
	ana.Get("/approvals/1").Wants(http.StatusOK, "carla", "lançado por engano", "Aprovar e fazer", "dispensado")
	late := map[string]*consoletest.Browser{}
	for _, answer := range []string{"approve", "decline"} {
		late[answer] = d.as(trade.Administrator).Get("/approvals/1")
	}
	ana.Submit("/approvals/1/approve", url.Values{"reason": {"conferi com a filial"}}).Wants(http.StatusOK,
		"Aprovado e feito", "Nada aguarda aprovação", `<a href="/approvals/1">Dispensar`)
	// a page that was open meanwhile, and a command, say that it was decided, and not that nothing was done
	for answer, b := range late {
		b.Submit("/approvals/1/"+answer, url.Values{"reason": {"conferi também"}}).Wants(http.StatusOK,
			"Já foi decidido por outra pessoa.")
	}
	_, told := d.run(1, "approvals", "approve", "1", "--reason", "conferi também", "--as", "rui", "--yes")
	if !strings.Contains(told, "já foi decidido") {
		t.Errorf("the command says %q", told)
	}
	ana.Get("/audit?act=approval+give").Wants(http.StatusOK, "aprovou", "conferi com a filial")
	if e := d.entry("contracts", "01|000003"); e.State != trade.Dismissed {
		t.Errorf("it was not done: %s", e.State)
	}
	ana.Get("/audit").Wants(http.StatusOK, "carla &#43; ana", "pediu a aprovação", "aprovou")

	d.run(0, "reopen", "contracts", "01|000003", "--reason", "era certo", "--as", "ivo", "--yes")
	ana.Get("/approvals").Wants(http.StatusOK, "Reabrir", "ivo")
	ana.Get(fmt.Sprintf("/rows/%d", row.ID)).Wants(http.StatusOK, `<a href="/approvals/2">Reabrir: `)
	d.run(1, "approvals", "approve", "2", "--reason", "por outro nome", "--as", "joana", "--yes") // the same account
	ana.Get("/approvals/2")
	ana.Submit("/approvals/2/decline", url.Values{"reason": {"não era certo"}}).Wants(http.StatusOK, "Recusado")
	if e := d.entry("contracts", "01|000003"); e.State != trade.Dismissed {
		t.Errorf("what was declined was done: %s", e.State)
	}
	// what was decided can be read on, and decided no more
	ana.Get("/approvals").Wants(http.StatusOK, "Nada aguarda aprovação", `<a href="/approvals/2">Reabrir`,
		`<span class="state">recusado</span>`, `<span class="state">aprovado</span>`)
	page := ana.Get("/approvals/2").Wants(http.StatusOK, "Recusado por ana em", "não era certo",
		"O que foi pedido").Body
	if strings.Contains(page, "/approvals/2/approve") || strings.Contains(page, "Pessoas necessárias") {
		t.Error("a request that was declined can be approved")
	}
	ana.Get("/approvals/1").Wants(http.StatusOK, "Aprovado por",
		`<a href="/audit?target=contracts%2001%7c000003">Veja na auditoria o que foi feito depois.</a>`)
	ana.Get("/audit?target=contracts%2001%7c000003").Wants(http.StatusOK, "lançado por engano")
	d.run(1, "approvals", "approve", "2", "--reason", "outra vez agora", "--as", "rui", "--yes")
	if e := d.entry("contracts", "01|000003"); e.State != trade.Dismissed {
		t.Errorf("what was declined was done later: %s", e.State)
	}
}

// Accountants propose a code, an administrator approves it; they run a job, and nothing else of it.
func TestAccountantsProposeACodeAndRunAJob(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	carla, ana := d.as(trade.Accountant), d.as(trade.Administrator)
	carla.Get("/references/wallets").Wants(http.StatusOK, "Propor um código")
	carla.Submit("/references/wallets/propose", url.Values{"code": {"12"}, "id": {"x"}, "reason": {"carteira nova"}}).
		Wants(http.StatusUnprocessableEntity, "O id da plataforma não é válido")
	planned(carla, "/references/wallets/propose", url.Values{
		"code": {" 12 "}, "id": {"33333333-3333-4333-8333-333333333312"}, "reason": {"carteira nova"},
	}).Wants(http.StatusOK, "Gravar no de-para", "33333333-3333-4333-8333-333333333312")
	carla.Submit("/approvals/1/approve", url.Values{"reason": {"eu mesma"}}).Wants(http.StatusForbidden)
	ana.Get("/approvals/1").Wants(http.StatusOK, "carteira nova", "Código 12 do ERP")
	ana.Submit("/approvals/1/approve", url.Values{"reason": {"conferi na plataforma"}}).Wants(http.StatusOK,
		"Aprovado e feito")
	ana.Get("/references/wallets?text=12").Wants(http.StatusOK, "33333333-3333-4333-8333-333333333312")
	ana.Get("/audit").Wants(http.StatusOK, "aprovou o pedido sobre Carteiras 12")

	carla.Get("/routines").Wants(http.StatusOK, "Executar agora")
	carla.Get("/act/run?job=contracts").Wants(http.StatusOK, "Executar agora")
	ana.Get("/act/run?job=contracts&sweep=1").Wants(http.StatusOK, "A rotina lê o ERP inteiro")
	carla.Get("/routines")
	carla.Get("/act/pause?job=contracts").Wants(http.StatusForbidden)
}

// A month that needs two people is closed by the second, whoever ordered it where.
func TestAMonthIsClosedByTwoPeople(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.extend("\napprove: {close: 2}\n")
	d.settle()
	d.run(0, "report", "--close", "2026-03", "--reason", "conferido", "--yes")
	ana := d.as(trade.Administrator)
	ana.Get("/approvals/1").Wants(http.StatusOK, "Fechar o mês: 03/2026", "conferido")
	if closed, err := d.host.Store.Closings(t.Context(), trade.Date{}); err != nil || len(closed) > 0 {
		t.Fatal(closed, err)
	}
	ana.Submit("/approvals/1/approve", url.Values{"reason": {"conferi também"}}).Wants(http.StatusOK,
		"Aprovado e feito")
	ana.Get("/audit").Wants(http.StatusOK, "aprovou o pedido sobre 03/2026", "fechou um mês 03/2026")
	closed, err := d.host.Store.Closings(t.Context(), trade.Date{})
	if err != nil || len(closed) != 1 || !regexp.MustCompile(`.+ \+ ana$`).MatchString(closed[0].Who) {
		t.Errorf("closings %+v, %v", closed, err)
	}
}

// F161: an administrator can make people, and log in as them. Such a person is nobody else.
func TestAnAdministratorIsNotTwoPeople(t *testing.T) {
	t.Parallel()
	const password, refused = "uma frase bem comprida de outra pessoa", "Não vale como outra pessoa"
	const reason = "conferi com a filial"
	d := newDesk(t)
	d.extend("\napprove: {dismiss: 2}\n")
	d.settle()
	ana := d.as(trade.Administrator)
	row := d.entry("contracts", "01|000003")
	order := func() {
		ana.Get(fmt.Sprintf("/act/dismiss?row=%d", row.ID))
		form := with(ana.Form("/act/dismiss"), "reason", "lançado por engano")
		ana.Post("/act/dismiss", form).Wants(http.StatusOK, "falta a aprovação de outra pessoa")
	}
	chooseAnother := func(b *consoletest.Browser, first string) {
		t.Helper()
		if !strings.Contains(b.Body, "Esta senha foi dada por outra pessoa") {
			return
		}
		const own = "outra frase bem comprida"
		b.Submit("/account/password", url.Values{"old": {first}, "new": {own}, "again": {own}}).Wants(http.StatusOK)
	}
	approves := func(name string, status int, text string) {
		t.Helper()
		b := d.browser().LogIn(name, password).Wants(http.StatusOK, name)
		chooseAnother(b, password)
		b.Get("/approvals/1")
		b.Submit("/approvals/1/approve", url.Values{"reason": {reason}}).Wants(status, text)
	}
	order()
	ana.Get("/users")
	ana.Submit("/users", url.Values{"name": {"zoe"}, "role": {"accountant"}, "password": {password}}).
		Wants(http.StatusOK, "zoe")
	approves("zoe", http.StatusConflict, refused)
	ana.Get("/users")
	ana.Submit("/users/carla", url.Values{"do": {"password"}, "password": {password}}).Wants(http.StatusOK)
	approves("carla", http.StatusConflict, refused)
	if e := d.entry("contracts", "01|000003"); e.State != trade.Invalid {
		t.Fatalf("one person did it: %s", e.State)
	}
	// made by a made one: an administrator's second account changes a third
	ana.Get("/users")
	ana.Submit("/users", url.Values{"name": {"rui"}, "role": {"administrator"}, "password": {password}}).
		Wants(http.StatusOK, "rui")
	rui := d.browser().LogIn("rui", password)
	chooseAnother(rui, password)
	rui.Get("/users")
	rui.Submit("/users", url.Values{"name": {"eva"}, "role": {"accountant"}, "password": {password}}).
		Wants(http.StatusOK, "eva")
	approves("eva", http.StatusConflict, refused)
}

// Who is asked to approve a closing sees the checklist and the figures that the first person saw.
func TestTheApprovalOfAClosingShowsChecklistAndFigures(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.extend("\napprove: {close: 2}\n")
	d.run(0, "report", "--close", "2026-03", "--reason", "conferido", "--yes")
	d.as(trade.Administrator).Get("/approvals/1").Wants(http.StatusOK, "O ERP foi lido por inteiro depois do fim do mês",
		"leitura completa em", "SOJA", "MILHO", "Contratado", "Quem pode aprovar: outra pessoa da contabilidade",
		"Aprovar e fazer")
	_, told := d.run(1, "approvals", "approve", "1", "--reason", "eu mesmo", "--as", "ivo", "--yes")
	for _, want := range []string{"SOJA", "MILHO", "2 linhas ainda por resolver"} {
		if !strings.Contains(told, want) {
			t.Errorf("the command does not show %q:\n%s", want, told)
		}
	}
}

// An act on rows is approved with what each row is: a link, its weight and value, the reason of its
// state, what is known to exist of it, and the fields that were or would be sent.
func TestTheApprovalOfAnActShowsTheRowsAndTheirCounterparts(t *testing.T) {
	t.Parallel()
	d := heldDesk(t)
	d.extend("\napprove: {retry: 2, dismiss: 2}\n")
	held, old := d.entry("contracts", "01|000901"), d.entry("contracts", "01|000001")
	d.run(0, "retry", "contracts", held.Key, "--reason", "é outro", "--as", "ivo", "--yes", "--checked")
	d.run(0, "dismiss", "contracts", "01|000003", "01|000902", "--reason", "engano", "--as", "ivo", "--yes")
	b := d.as(trade.Accountant)
	b.Get("/approvals/1").Wants(http.StatusOK, fmt.Sprintf(`href="/rows/%d"`, held.ID),
		fmt.Sprintf(`href="/rows/%d"`, old.ID), old.RemoteID, "90,03 t", "nunca foi enviada", "SOJA")
	b.Get("/approvals/2").Wants(http.StatusOK, "2 linhas · 30 t · R$ 225.900,00", "coluna pagto")
	b.Get("/approvals").Wants(http.StatusOK, "<div>R$ 225.900,00</div>", "<q>engano</q>", "1 de 2", ">espera por você<")
}

// A code of a de-para is approved with what it lets go, and only administration is called.
func TestTheApprovalOfACodeSaysWhatItFreesAndWhoMayApprove(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	carla, ana := d.as(trade.Accountant), d.as(trade.Administrator)
	carla.Get("/references/wallets")
	planned(carla, "/references/wallets/propose", url.Values{
		"code": {"12"}, "id": {"33333333-3333-4333-8333-333333333312"}, "reason": {"carteira nova"},
	}).Wants(http.StatusOK, "Gravar no de-para: Carteiras 12", "Se a plataforma conhecer este id, segue o que aguarda este código: 1 contrato (24 t)",
		"Quem pode aprovar: outra pessoa da administração")
	if called(carla) || !called(ana.Get("/")) {
		t.Error("somebody is called who cannot approve, or nobody is")
	}
	carla.Get("/references/wallets").Wants(http.StatusOK, "aguarda aprovação", `href="/approvals/1"`,
		`href="/references/wallets?code=12#add"`, "Informar o id")
	carla.Submit("/references/wallets/propose", url.Values{
		"code": {" 12"}, "id": {"33333333-3333-4333-8333-333333333313"}, "reason": {"outra carteira"},
	}).Wants(http.StatusConflict, "Já há um pedido para este código", `href="/approvals/1"`)
	carla.Get("/references/wallets")
	carla.Submit("/references/wallets/propose", url.Values{
		"code": {" "}, "id": {"33333333-3333-4333-8333-333333333313"}, "reason": {"outra carteira"},
	}).Wants(http.StatusUnprocessableEntity, "O código do ERP está vazio")
	d.runIn(t.Context(), consoletest.Password+"\n", 0, "users", "add", "bruno", "--role", "accountant",
		"--password-stdin")
	other := d.browser().LogIn("bruno", consoletest.Password).Get("/approvals/1").Wants(http.StatusOK,
		"Quem pode aprovar: outra pessoa da administração.", "Recusar")
	if strings.Contains(other.Body, "Aprovar e fazer") {
		t.Error("who may not approve is offered it")
	}
	ana.Get("/approvals/1")
	ana.Submit("/approvals/1/decline", url.Values{"reason": {"outra carteira"}}).Wants(http.StatusOK)
	past := ana.Get("/approvals/1").Wants(http.StatusOK, "Código 12 do ERP").Body
	for _, of := range []string{"Se a plataforma conhecer", "Nenhuma linha aguarda", "Ninguém perguntou", "Ver todos"} {
		if strings.Contains(past, of) {
			t.Errorf("what was decided speaks of today: %s", of)
		}
	}
	d.sql("state.db", `UPDATE approval SET plan = '{'`)
	ana.Get("/approvals").Wants(http.StatusOK, `<a href="/approvals/1">Gravar no de-para: Carteiras 12</a>`, "recusado")
}

// Whoever cannot approve is not called, and reads whom it waits for.
func TestWhoeverCannotApproveIsNotCalled(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.extend("\napprove: {dismiss: 2, close: 2}\n")
	d.settle()
	d.run(0, "dismiss", "contracts", "01|000003", "--reason", "engano", "--as", "ivo", "--yes")
	d.run(0, "report", "--close", "2026-03", "--reason", "conferido", "--yes")
	b := d.as(trade.Accountant).Get("/").Wants(http.StatusOK,
		`<a href="/approvals">2 pedidos esperam por você</a>`)
	b.Get("/approvals").Wants(http.StatusOK, `href="/approvals/1"`, `href="/approvals/2"`)
	for _, id := range []int{2, 1} {
		at := fmt.Sprintf("/approvals/%d", id)
		b.Get(at)
		b.Submit(at+"/approve", url.Values{"reason": {"conferi com a filial"}}).Wants(http.StatusOK, "Aprovado e feito")
	}
	b.Get("/references/wallets")
	planned(b, "/references/wallets/propose", url.Values{
		"code": {"12"}, "id": {"33333333-3333-4333-8333-333333333312"}, "reason": {"carteira nova"},
	}).Wants(http.StatusOK)
	b.Get("/references/wallets").Wants(http.StatusOK, "espera por um administrador", `href="/approvals/3"`)
	if b.Get("/").Wants(http.StatusOK); called(b) || strings.Contains(b.Body, "por você") {
		t.Error("who ordered is called to approve")
	}
	d.as(trade.Administrator).Get("/").Wants(http.StatusOK, `<a href="/approvals">1 pedido espera por você</a>`)
}

// called reports whether the menu calls the person to the approvals.
func called(b *consoletest.Browser) bool {
	_, link, _ := strings.Cut(b.Body, `<a href="/approvals"`)
	link, _, _ = strings.Cut(link, "</a>")
	return strings.Contains(link, `class="count`)
}

// A doubt about which somebody has ordered an act already says so.
func TestADoubtSaysThatAnActWaitsForApproval(t *testing.T) {
	t.Parallel()
	d, row, _ := inDoubt(t)
	d.extend("\napprove: {dismiss: 2}\n")
	d.run(0, "dismiss", row.Job, row.Key, "--reason", "engano", "--as", "ivo", "--yes")
	b := d.as(trade.Accountant)
	b.Get(fmt.Sprintf("/doubts/%d", row.ID)).Wants(http.StatusOK, "aguarda aprovação", `href="/approvals/1"`)
	b.Get(fmt.Sprintf("/rows/%d", row.ID)).Wants(http.StatusOK, `href="/approvals/1"`)
}

// What waits for a second person is for everybody, on a phone and on a desk, in the light and in the dark:
// the list, a decision about documents, a code of the de-para, and a closing.
func TestChromiumShowsWhatWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.extend("\napprove: {dismiss: 2, close: 2}\n")
	d.crowd(25)
	d.settle()
	carla := d.as(trade.Accountant)
	form := d.plan(carla, "dismiss", "job=contracts&state=invalid")
	carla.Post("/act/dismiss", with(form, "reason", "lote de teste")).Wants(http.StatusOK)
	carla.Get("/report").Submit("/report/close/plan", url.Values{"month": {lastMonth(d)}}).Wants(http.StatusOK,
		"É preciso outra pessoa.")
	carla.Post("/report/close/do", with(carla.Form("/report/close/do"), "reason", "mês conferido", "signed",
		"1")).Wants(http.StatusOK, "falta a aprovação")
	c := newChrome(t, d.server.URL, 1280, 800)
	complaints := c.complaints()
	c.logIn(trade.Administrator)
	for _, path := range []string{"/approvals", "/approvals/1", "/approvals/2"} {
		c.open(path)
		c.shows("carla")
		c.everywhere(path)
	}
	if list := complaints(); len(list) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(list, "; "))
	}
}

// Who approves reads what the ERP calls the producer and the wallet, and not only their ids.
func TestWhoApprovesSeesWhatTheERPCallsTheIds(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "status=404@1")
	d.sql("state.db", `UPDATE reference SET label = 'Carteira da Soja' WHERE kind = 'wallets'`)
	d.extend("\napprove: {retry: 2}\n")
	d.settle()
	b := d.as(trade.Administrator).Get(fmt.Sprintf("/act/retry?row=%d", d.rows(trade.Rejected)[0].ID))
	b.Post("/act/retry", with(b.Form("/act/retry"), "reason", "já foi corrigido")).Wants(http.StatusOK,
		"falta a aprovação de outra pessoa", "Carteira da Soja", "P1|01")
}
