package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// extend adds to the configuration, and opens the console anew.
func (d *deskWorld) extend(text string) {
	d.t.Helper()
	d.write("config.yaml", d.read("config.yaml")+text)
	d.open()
}

// C4: what one person orders, at the command line or in the console, another sees as it was planned
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
	at := "/rows/" + strconv.FormatInt(row.ID, 10)
	carla.get(at + "/dismiss")
	form := with(carla.fields(at+"/dismiss"), "reason", "lançado por engano")
	form.Set("mark", regexp.MustCompile(`name="mark" value="([0-9a-f]+)"`).FindStringSubmatch(carla.body)[1])
	carla.post(at+"/dismiss", form).shows(http.StatusOK, "falta a aprovação de outra pessoa", "lançado por engano",
		"Você pediu ou já aprovou", "Retirar o pedido")
	if e := d.entry("contracts", "01|000003"); e.State != trade.Invalid {
		t.Fatalf("it was done by one person: %s", e.State)
	}
	carla.submit("/approvals/1/approve", url.Values{"reason": {"eu mesma aprovo"}}).shows(http.StatusConflict,
		"É preciso outra pessoa")
	d.as(trade.Reader).get("/approvals").shows(http.StatusOK, "Dispensar", "carla", "1 de 2")
	ana.get("/approvals/1").shows(http.StatusOK, "carla", "lançado por engano", "Aprovar e fazer", "dispensado")
	ana.submit("/approvals/1/approve", url.Values{"reason": {"conferi com a filial"}}).shows(http.StatusOK,
		"Aprovado e feito", "Nada aguarda aprovação")
	if e := d.entry("contracts", "01|000003"); e.State != trade.Dismissed {
		t.Errorf("it was not done: %s", e.State)
	}
	ana.get("/audit").shows(http.StatusOK, "carla &#43; ana", "pediu aprovação", "aprovou")

	d.run(0, "reopen", "contracts", "01|000003", "--reason", "era certo", "--as", "ivo", "--yes")
	ana.get("/approvals").shows(http.StatusOK, "Reabrir", "ivo")
	d.run(1, "approve", "2", "--reason", "por outro nome", "--as", "joana", "--yes") // the same account
	ana.get("/approvals/2")
	ana.submit("/approvals/2/decline", url.Values{"reason": {"não era certo"}}).shows(http.StatusOK, "Recusado")
	if e := d.entry("contracts", "01|000003"); e.State != trade.Dismissed {
		t.Errorf("what was declined was done: %s", e.State)
	}
}

// Accountants propose a code, an administrator approves it; they run a job, and nothing else of it.
func TestAccountantsProposeACodeAndRunAJob(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	carla, ana := d.as(trade.Accountant), d.as(trade.Administrator)
	carla.get("/references/wallets").shows(http.StatusOK, "Propor um código")
	carla.submit("/references/wallets/propose", url.Values{"code": {"12"}, "id": {"x"}, "reason": {"carteira nova"}}).
		shows(http.StatusUnprocessableEntity, "o id deve ser um UUID")
	carla.submit("/references/wallets/propose", url.Values{
		"code": {" 12 "}, "id": {"33333333-3333-4333-8333-333333333312"}, "reason": {"carteira nova"},
	}).shows(http.StatusOK, "Gravar no de-para", "33333333-3333-4333-8333-333333333312")
	carla.submit("/approvals/1/approve", url.Values{"reason": {"eu mesma"}}).shows(http.StatusForbidden)
	ana.get("/approvals/1").shows(http.StatusOK, "carteira nova", "Código 12 do ERP")
	ana.submit("/approvals/1/approve", url.Values{"reason": {"conferi na plataforma"}}).shows(http.StatusOK,
		"Aprovado e feito")
	ana.get("/references/wallets?text=12").shows(http.StatusOK, "33333333-3333-4333-8333-333333333312")

	carla.get("/schedules").shows(http.StatusOK, "Executar agora")
	carla.submit("/schedules/contracts/plan", url.Values{"act": {"run"}}).shows(http.StatusOK, "Executar agora")
	carla.get("/schedules")
	carla.submit("/schedules/contracts/plan", url.Values{"act": {"pause"}}).shows(http.StatusForbidden)
}

// A month that needs two people is closed by the second, whoever ordered it where.
func TestAMonthIsClosedByTwoPeople(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.extend("\napprove: {close: 2}\n")
	d.run(0, "report", "--close", "2026-03", "--reason", "conferido", "--yes")
	ana := d.as(trade.Administrator)
	ana.get("/approvals/1").shows(http.StatusOK, "Fechar o mês: 31/03/2026", "conferido")
	if closed, err := d.host.Store.Closings(t.Context(), trade.Date{}); err != nil || len(closed) > 0 {
		t.Fatal(closed, err)
	}
	ana.submit("/approvals/1/approve", url.Values{"reason": {"conferi também"}}).shows(http.StatusOK,
		"Aprovado e feito")
	closed, err := d.host.Store.Closings(t.Context(), trade.Date{})
	if err != nil || len(closed) != 1 || !regexp.MustCompile(`.+ \+ ana$`).MatchString(closed[0].Who) {
		t.Errorf("closings %+v, %v", closed, err)
	}
}
