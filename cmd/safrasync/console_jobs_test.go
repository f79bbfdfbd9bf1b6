package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/trade"
)

func TestRunsAreShownWithTheirSums(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-after@1")
	d.run(0, "sync")
	b := d.as(trade.Reader).get("/runs").shows(http.StatusOK, "Contratos", "completa")
	if n := strings.Count(b.body, "há o que decidir"); n != 1 {
		t.Errorf("%d of two runs of one job say that there is something to decide, want the newest", n)
	}
	_, id, _ := strings.Cut(b.body, `href="/runs/`)
	id, _, _ = strings.Cut(id, `"`)
	b.get("/runs/"+id).shows(http.StatusOK, id, "Situação das linhas depois dela", "Enviadas", "Soma")
	b.get("/runs?job=nothing").shows(http.StatusOK, "Ainda não houve execução")
}

func TestAJobIsPausedWithANoteResumedAndRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.as(trade.Accountant).get("/schedules").shows(http.StatusOK, "Contratos")
	b := d.as(trade.Administrator).get("/schedules").shows(http.StatusOK, "Executar agora", "Suspender")
	order := func(act, reason string) *browser {
		t.Helper()
		b.get("/schedules")
		b.submit("/schedules/contracts/plan", url.Values{"act": {act}}).shows(http.StatusOK)
		return b.post("/schedules/contracts/do", with(b.fields("/schedules/contracts/do"), "reason", reason))
	}
	order("run", "a carteira foi vinculada").shows(http.StatusOK, "Pedido feito:")
	order("pause", "").shows(http.StatusUnprocessableEntity, "ao menos 5 caracteres")
	order("pause", "inventário até terça").shows(http.StatusOK, "Suspensa por uma pessoa",
		"inventário até terça", "Retomar")
	b.submit("/schedules/contracts/plan", url.Values{"act": {"pause"}}).shows(http.StatusConflict,
		"a rotina já está suspensa")
	b.submit("/schedules/contracts/plan", url.Values{"act": {"run"}}).shows(http.StatusConflict,
		"a rotina já está suspensa")
	b.submit("/schedules/contracts/plan", url.Values{"act": {"release"}}).shows(http.StatusConflict,
		"a rotina já está suspensa")
	b.submit("/schedules/contracts/plan", url.Values{"act": {"explode"}}).shows(http.StatusBadRequest)
	status, err := d.host.Store.JobStatus(t.Context(), "contracts")
	if err != nil || status.State != trade.Paused {
		t.Fatalf("the job is %s, %v", status.State, err)
	}
	order("resume", "inventário terminado").shows(http.StatusOK, "Retomada;", "Executar agora")
	b.get("/audit?target=contracts").shows(http.StatusOK, "mandou executar", "a carteira foi vinculada", "suspendeu",
		"retomou", "inventário terminado")
}

func TestAStopThatAPersonEndsIsReleased(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	stop := &trade.Stop{Code: "in_doubt", Text: "several unknown outcomes in a row"}
	if err := d.host.Store.SetJobStatus(t.Context(),
		trade.JobStatus{Job: "contracts", State: trade.Stopped, Since: cli.Now(), Stop: stop}); err != nil {
		t.Fatal(err)
	}
	b := d.as(trade.Administrator).get("/schedules").shows(http.StatusOK, "Liberar", "parada")
	b.submit("/schedules/contracts/plan", url.Values{"act": {"release"}}).shows(http.StatusOK, "Será liberado",
		"a parada")
	form := with(b.fields("/schedules/contracts/do"), "reason", "conferido na plataforma")
	b.post("/schedules/contracts/do", with(form, "mark", "another")).shows(http.StatusConflict, "nada foi feito")
	b.post("/schedules/contracts/do", with(b.fields("/schedules/contracts/do"), "reason",
		"conferido na plataforma")).shows(http.StatusOK, "Liberada;")
}

func TestTheAuditIsFilteredExportedAndProved(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Accountant).get("/audit").shows(http.StatusOK, "entrou", "carla", "importou de-para",
		"Conferir a integridade")
	b.get("/audit?who=nobody").shows(http.StatusOK, "Nenhum ato com este filtro")
	b.get("/audit?from=2026-02-31").shows(http.StatusUnprocessableEntity, "O dia não existe")
	b.get("/audit?until=2001-01-01").shows(http.StatusOK, "Nenhum ato com este filtro")
	b.get("/audit/check?act=login").shows(http.StatusOK, "A auditoria está como foi gravada.")
	b.get("/audit/export?act=login").shows(http.StatusOK, "\ufeffNº;Quando;Quem", ";carla;", "\r\n")
	b.get("/audit?act=audit+export").shows(http.StatusOK, "exportou a auditoria")
	d.sql("state.db", `DROP TRIGGER audit_unchanged; UPDATE audit SET reason = 'outra' WHERE seq = 2`)
	b.get("/audit/check").shows(http.StatusOK, "A auditoria foi alterada: o registro 2")
}
