package main

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

func TestRunsAreShownWithTheirSums(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-after@1")
	d.run(0, "sync")
	b := d.as(trade.Reader).Get("/routines").Wants(http.StatusOK, "Contratos", "pendência")
	_, last, _ := strings.Cut(b.Body, "Última execução")
	if !strings.Contains(last[:min(len(last), 600)], "sem novidade") {
		t.Errorf("the last run is not the newest, which found nothing new: %.600s", last)
	}
	if n := strings.Count(b.Body, "pendência"); n == 0 {
		t.Error("no run says that it left something to somebody")
	}
	id := b.Body[strings.LastIndex(b.Body, `href="/runs/`)+len(`href="/runs/`):] // the first of both
	id, _, _ = strings.Cut(id, `"`)
	list := regexp.MustCompile(`(?s)href="/runs/` + id + `".*?class="state (\w+)" title="([^"]+)"`).FindStringSubmatch(
		b.Body[strings.LastIndex(b.Body, `href="/runs/`):])
	b.Get("/runs/"+id).Wants(http.StatusOK, id, "Sem confirmação", "Enviados", "Soma de",
		fmt.Sprintf(`<span class="state %s">%s</span>`, list[1], list[2])) // it ended as the list says
	b.Wants(http.StatusOK, fmt.Sprintf("/rows/%d", d.rows(trade.InDoubt)[0].ID),
		fmt.Sprintf("sem confirmação %d", len(d.rows(trade.InDoubt))), fmt.Sprintf("com erro %d", len(d.rows(trade.Invalid))))
	b.Get("/routines?job=nothing").Wants(http.StatusOK, "Ainda não houve execução")

	d.sql("erp.db", `CREATE TABLE n AS SELECT * FROM contrato WHERE num = '000003'; UPDATE n SET num = '000903';
		INSERT INTO contrato SELECT * FROM n; UPDATE n SET num = '000904', produto = 'CEVADA';
		INSERT INTO contrato SELECT * FROM n; DROP TABLE n`)
	d.run(0, "sync", "contracts")
	_, id, _ = strings.Cut(b.Get("/routines?job=contracts").Body, `href="/runs/`)
	id, _, _ = strings.Cut(id, `"`)
	b.Get("/runs/"+id).Wants(http.StatusOK, "com erro 3 (+2)", "Causa agora", "of_run="+id+"%3Ainvalid")
}

// A row that nobody need cure goes by itself, unless its job is paused.
func TestARowOfAPausedJobDoesNotSayThatItGoes(t *testing.T) {
	t.Parallel()
	d := newDeskRefused(t)
	row := d.rows(trade.Rejected)[0]
	d.run(0, "retry", row.Job, row.Key, "--reason", "corrigido lá", "--as", "ivo", "--yes")
	path := fmt.Sprintf("/rows/%d", row.ID)
	b := d.as(trade.Reader).Get(path).Wants(http.StatusOK, "Ninguém: segue automaticamente")
	b.Get("/").Wants(http.StatusOK, "1 documento segue automaticamente")
	d.run(0, "pause", row.Job, "--reason", "conferir na balança", "--as", "ivo", "--yes")
	b.Get(path).Wants(http.StatusOK, "A rotina Entregas está suspensa")
	for _, page := range []string{path, "/"} {
		if strings.Contains(b.Get(page).Body, "segue automaticamente") {
			t.Errorf("%s says that the row goes", page)
		}
	}
}

// However many runs came after it, a run ended on its page as it did in the list, also as the last one of a
// page of it.
func TestAnOldRunEndsOnItsPageAsInTheList(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	at := office.Now()
	for i := range 700 {
		run := trade.RunReport{
			ID: fmt.Sprintf("r%03d", i), Job: "contracts", StartedAt: at, EndedAt: trade.End{Time: at}, New: 1, Read: i,
			States: map[trade.State]int{trade.Invalid: 9000 + 2*i},
		}
		must.Do(t, d.host.Store.StartRun(t.Context(), run))
		must.Do(t, d.host.Store.FinishRun(t.Context(), run))
	}
	b := d.as(trade.Reader).Get("/routines?job=contracts")
	for page := range 2 {
		if ends := strings.Count(b.Body, `<span class="state waiting" title="2 pendências">`); ends < 300 {
			t.Errorf("of page %d of the list, %d runs left two rows", page, ends)
		}
		last := b.Body[strings.LastIndex(b.Body, `href="/runs/r`)+len(`href="/runs/`):]
		last, _, _ = strings.Cut(last, `"`)
		b.Get("/runs/"+last).Wants(http.StatusOK, `<span class="state waiting">2 pendências</span>`,
			"(+2)", `<p class="chips"><a href="/pending">`)
		next := regexp.MustCompile(`/routines\?after=\d+`).FindString(b.Get("/routines?job=contracts").Body)
		b.Get(next + "&job=contracts")
	}
}

// A run that goes on is shown with what it has done until now, and never as one of nothing.
func TestARunThatGoesOnShowsWhatItHasDone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	must.Do(t, d.host.Store.StartRun(t.Context(), trade.RunReport{
		ID: "now", Job: "contracts", StartedAt: office.Now(),
	}))
	b := d.as(trade.Reader).Get("/routines").Wants(http.StatusOK, "interrompida, sem fim registrado")
	if strings.Count(b.Body, `">–</td>`) != 5 { // how long it took, too
		t.Errorf("what is not known is shown as a number:\n%s", b.Body)
	}
	b.Get("/runs/now").Wants(http.StatusOK, `id="live-contracts"`) // a place for what the stream brings
	d.host.Board.Observe(run.Progress{Job: "contracts", Phase: run.Reading, Read: 761})
	d.host.Board.Observe(run.Progress{Job: "contracts", Phase: run.Sending, Done: 43, Total: 99})
	for _, path := range []string{"/routines", "/runs/now"} {
		b.Get(path).Wants(http.StatusOK, "em execução", "761", "43", "enviando: 43 de 99")
	}
	d.host.Board.Observe(run.Progress{Job: "contracts", Phase: run.Done})
}

// What a job does stands in its card, which a stream keeps as it is, with the button of its state, and in no
// other place of the page.
func TestChromiumShowsARunInTheCardOfItsJob(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := newChrome(t, d.server.URL, 1366, 768)
	complaints := c.complaints()
	c.logIn(trade.Administrator)
	c.open("/routines")
	sends := func(done int) {
		d.host.Board.Observe(run.Progress{Job: "contracts", Phase: run.Sending, Done: done, Total: 99})
	}
	for _, done := range []int{43, 50} {
		sends(done)
		c.do(chromedp.WaitVisible(chromedp.CSS(fmt.Sprintf(`.routine #live-contracts progress[value="%d"]`, done))))
	}
	c.do(chromedp.WaitVisible(chromedp.CSS(`.routine:has(#live-contracts) a[href="/act/pause?job=contracts"]`)))
	c.shows("Parar", "enviando: 50 de 99")
	sends(51) // into the card that has come since
	c.do(chromedp.WaitVisible(chromedp.CSS(`.routine #live-contracts progress[value="51"]`)))
	if n := must.Get(chromedp.Run(c.ctx, chromedp.Evaluate[int](`document.querySelectorAll("progress").length`)))(t); n != 1 {
		t.Errorf("the run is shown %d times", n)
	}
	c.accessible("a run in its card")
	d.host.Board.Observe(run.Progress{Job: "contracts", Phase: run.Done})
	c.do(chromedp.WaitVisible(chromedp.CSS(`.routine:has(#live-contracts:empty) a[href="/act/run?job=contracts"].small`)))
	if list := complaints(); len(list) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(list, "; "))
	}
}

func TestAJobIsPausedWithANoteResumedAndRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.as(trade.Accountant).Get("/routines").Wants(http.StatusOK, "Contratos")
	b := d.as(trade.Administrator).Get("/routines").Wants(http.StatusOK, "Executar agora", "Suspender")
	order := func(act, reason string) *consoletest.Browser {
		t.Helper()
		b.Get("/routines")
		b.Get("/act/" + act + "?job=contracts").Wants(http.StatusOK)
		return b.Post("/act/"+act, with(b.Form("/act/"+act), "reason", reason))
	}
	order("run", "a carteira foi vinculada").Wants(http.StatusOK, "Pedido feito.",
		"A execução de Contratos começa em instantes")
	// Without JavaScript the same address tells the result.
	_, told, _ := strings.Cut(b.Body, `href="/routines?ran=`)
	told, _, _ = strings.Cut(told, `"`)
	told = "/routines?ran=" + html.UnescapeString(told)
	d.run(0, "sync", "contracts")
	b.Get(told).Wants(http.StatusOK, "A execução de Contratos terminou em",
		"5 documentos lidos, 0 novos, 0 mudados.", "Ver a execução")
	order("pause", "").Wants(http.StatusUnprocessableEntity, "ao menos 5 caracteres")
	order("pause", "inventário até terça").Wants(http.StatusOK, "Suspensa por uma pessoa",
		"inventário até terça", "Retomar")
	_, paused, _ := strings.Cut(b.Body, "inventário até terça")
	if paused, _, _ = strings.Cut(paused, "</article>"); strings.Contains(paused, "Próximas") {
		t.Error("a job that is paused is said to have next times")
	}
	if home := b.Get("/").Wants(http.StatusOK, "suspensa").Body; strings.Contains(home, "próxima") {
		t.Error("a job that is paused is said to run next")
	}
	b.Get("/routines")
	b.Get("/act/pause?job=contracts").Wants(http.StatusConflict,
		"a rotina já está suspensa")
	b.Get("/act/run?job=contracts").Wants(http.StatusConflict,
		"a rotina já está suspensa")
	b.Get("/act/release?job=contracts").Wants(http.StatusConflict,
		"a rotina já está suspensa")
	b.Get("/act/explode?job=contracts").Wants(http.StatusNotFound)
	status, err := d.host.Store.JobStatus(t.Context(), "contracts")
	if err != nil || status.State != trade.Paused {
		t.Fatalf("the job is %s, %v", status.State, err)
	}
	order("resume", "inventário terminado").Wants(http.StatusOK, "Retomada;", "Executar agora", "próxima em")
	b.Get("/audit?target=contracts").Wants(http.StatusOK, "mandou executar", "a carteira foi vinculada", "suspendeu",
		"retomou", "inventário terminado")
}

func TestAStopThatAPersonEndsIsReleased(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("erp.db", `CREATE TEMP TABLE one AS SELECT * FROM contrato WHERE num = '000001'; UPDATE one SET num = '000913';
		INSERT INTO contrato SELECT * FROM one`)
	d.run(0, "sync", "--record-only")
	stop := &trade.Stop{Code: "in_doubt", Why: trade.Say("several unknown outcomes in a row")}
	must.Do(t, d.host.Store.SetJobStatus(t.Context(),
		trade.JobStatus{Job: "contracts", State: trade.Stopped, Since: office.Now(), Stop: stop}))
	b := d.as(trade.Administrator).Get("/routines").Wants(http.StatusOK, "Ver e liberar", "parada",
		"Quando estiver resolvido, um administrador usa “Ver e liberar”.")
	b.Get("/act/release?job=contracts").Wants(http.StatusOK, "O que foi mostrado é liberado",
		`<a href="/rows?job=contracts&amp;state=pending">Agora 1 documento está pronto para o envio (fora os com erro de dados e os que aguardam outros)</a> ·`)
	form := with(b.Form("/act/release"), "reason", "conferido na plataforma")
	b.Post("/act/release", with(form, "mark", "another")).Wants(http.StatusConflict, "nada foi feito")
	b.Post("/act/release", with(b.Form("/act/release"), "reason",
		"conferido na plataforma")).Wants(http.StatusOK, "Liberada;")
}

// Of a stop that ends by itself the next try is told, and no time of the schedule before it, at
// which nothing runs.
func TestWhileAStopHoldsTheNextTimeIsItsEnd(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	// By its schedule the job runs at each tenth minute, and the stop ends between two of them.
	until := office.Now().Truncate(10 * time.Minute).Add(95 * time.Minute)
	must.Do(t, d.host.Store.SetJobStatus(t.Context(), trade.JobStatus{
		Job: "contracts", State: trade.BackingOff, Since: office.Now(),
		Stop: &trade.Stop{Code: "api_unreachable", Why: trade.Say("no answer"), Until: until},
	}))
	var job office.JobStatus
	out, _ := d.run(0, "status", "--json")
	must.Do(t, json.Unmarshal([]byte(out), &job))
	if job.NextRun == nil || !job.NextRun.Equal(until) || len(job.NextRuns) != 5 || !job.NextRuns[1].After(until) {
		t.Errorf("next: %v, %v; tried again at %v", job.NextRun, job.NextRuns, until)
	}
	zone := d.host.App.Config.Zone()
	if out, _ := d.run(0, "status"); !strings.Contains(out, "do serviço: "+until.In(zone).Format("02/01 15:04")) {
		t.Errorf("status for people:\n%s", out)
	}
	local := until.In(zone)
	shown := local.Format("02/01/2006 15:04")
	b := d.as(trade.Reader)
	early := local.Truncate(10 * time.Minute)
	b.Get("/routines").Wants(http.StatusOK, shown, "próxima em ")
	if strings.Contains(b.Body, early.Format("02/01/2006 15:04")) {
		t.Errorf("the schedules have %s, at which nothing runs", early)
	}
}

// A release that waits for a second person is told wherever the job is, and ordered no second time.
func TestAReleaseThatWaitsIsTold(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.extend("\napprove: {release: 2}\n")
	stop := &trade.Stop{Code: "brake_new_rows", Brake: &trade.Brake{Job: "contracts", Rows: 430, Limit: 170}}
	must.Do(t, d.host.Store.SetJobStatus(t.Context(),
		trade.JobStatus{Job: "contracts", State: trade.Paused, Since: office.Now(), Stop: stop}))
	const plain, link = "430 linhas novas de uma vez; a trava age acima de 170. Nada foi enviado.", `<a href="/approvals/1">`
	d.as(trade.Reader).Get("/").Wants(http.StatusOK, plain, "um administrador usa “Ver e liberar”")
	b := d.as(trade.Administrator).Get("/act/release?job=contracts").Wants(http.StatusOK, plain)
	if strings.Contains(b.Body, "Ver e liberar") {
		t.Error("the page of a release names another button")
	}
	b.Post("/act/release", with(b.Form("/act/release"), "reason", "conferido com a filial")).Wants(http.StatusOK,
		"falta a aprovação", plain)
	for _, path := range []string{"/", "/routines", "/act/release?job=contracts"} {
		b.Get(path).Wants(http.StatusOK, plain, "espera por um administrador: "+link, "Pedido por ana")
	}
}

// After the release of a brake rows may be made twice: the plan says what the platform has already,
// and demands that a person has compared.
func TestAReleaseThatMayDoubleSaysWhatExistsAndDemandsATick(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("config.yaml", strings.Replace(d.read("config.yaml"), "  contracts:", "  contratos:", 1))
	d.run(1, "sync", "contratos")
	d.open()
	sent := d.rows(trade.Accepted)[0]
	b := d.as(trade.Administrator).Get("/routines")
	b.Get("/act/release?job=contratos").Wants(http.StatusOK, "já estão na plataforma, ou podem estar",
		sent.Key, sent.RemoteID, "não há como apagar", "Conferi: os documentos novos")
	form := with(b.Form("/act/release"), "reason", "são outras linhas")
	form.Del("checked")
	b.Post("/act/release", form).Wants(http.StatusUnprocessableEntity, "Marque que conferiu")
	b.Post("/act/release", with(form, "checked", "1")).Wants(http.StatusOK, "Liberada;")
}

// After hours without a sign of life the console says since when, and that this may be an old copy;
// a release needs the word of a person.
func TestAnAbsenceIsReleasedInTheConsole(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	since := time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)
	must.Do(t, d.host.Store.TaskBegan(t.Context(), "life", since))
	must.Do(t, d.host.Store.SignOfLife(t.Context(), []string{"contracts"}, since.Add(200*24*time.Hour), run.Absence))
	b := d.as(trade.Administrator)
	b.Get("/").Wants(http.StatusOK, "sinal de vida")
	b.Get("/routines").Wants(http.StatusOK, "sinal de vida")
	b.Get("/act/release?job=contracts").Wants(http.StatusOK,
		"sinal de vida", "não se sabe")
	form := with(b.Form("/act/release"), "reason", "só ficou desligado")
	form.Del("checked")
	b.Post("/act/release", form).Wants(http.StatusUnprocessableEntity, "Marque que conferiu")
	b.Post("/act/release", with(form, "checked", "1")).Wants(http.StatusOK, "Liberada;")
	if s := must.Get(d.host.Store.JobStatus(t.Context(), "contracts"))(t); s.State != trade.Idle {
		t.Errorf("after the release: %+v", s)
	}
}

func TestTheAuditIsFilteredExportedAndProved(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Accountant).Get("/audit").Wants(http.StatusOK, "importou o de-para",
		`<a href="/references/wallets">Carteiras</a>`, "Conferir a integridade")
	if strings.Contains(b.Body, "</strong> entrou") {
		t.Error("logins stand among the decisions")
	}
	b.Get("/audit?logins=1").Wants(http.StatusOK, "</strong> entrou", "carla", `<option value="carla">`)
	b.Get("/audit?logins=1&who=%C3%A7ARLA").Wants(http.StatusOK, "</strong> entrou")
	d.run(0, "dismiss", "contracts", "01|000003", "--reason", "engano", "--as", "Zoé", "--yes")
	b.Get("/audit?who=zoe").Wants(http.StatusOK, "<strong>Zoé</strong> dispensou ",
		fmt.Sprintf(`<a href="/rows/%d">o contrato 01`, d.entry("contracts", "01|000003").ID))
	b.Get("/audit?who=nobody").Wants(http.StatusOK, "Nenhum ato com este filtro")
	b.Get("/audit?from=2026-02-31").Wants(http.StatusUnprocessableEntity, "Isto não é uma data")
	b.Get("/audit?until=2001-01-01").Wants(http.StatusOK, "Nenhum ato com este filtro")
	b.Get("/audit/check?act=login").Wants(http.StatusOK, "A auditoria está como foi gravada.")
	b.Get("/audit/export?act=login").Wants(http.StatusOK, "\ufeffNº;Quando;Quem", ";carla;", "\r\n")
	b.Get("/audit?act=audit+export").Wants(http.StatusOK, "exportou a auditoria")
	d.sql("state.db", `DROP TRIGGER audit_unchanged; UPDATE audit SET reason = 'outra' WHERE seq = 2`)
	b.Get("/audit/check").Wants(http.StatusOK, "A auditoria foi alterada: o registro 2")
}
