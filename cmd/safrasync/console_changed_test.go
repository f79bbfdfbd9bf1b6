package main

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

func TestWhatTheERPChangedIsShownWithItsEffectAndDealtWith(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.as(trade.Reader).get("/changed").shows(http.StatusOK, "Nada mudou depois do envio")
	d.erp(`UPDATE contrato SET quantidade = '1600' WHERE num = '000001'; UPDATE contrato SET situacao = 'cancelado' WHERE num = '000002'`)
	d.must(0, "", "sync")

	b := d.as(trade.Accountant).get("/changed").shows(http.StatusOK, "01|000001", "alterado após o envio (1)", "Enviado 90,03 t, agora 96 t: diferença de 5,97 t",
		"Enviado 12 t, agora 0 t: diferença de −12 t", "Diferença em valor: R$ −225.900,00")
	d.as(trade.Reader).get("/changed?flag=cancelled").shows(http.StatusOK, "01|000002")

	changed, cancelled := d.entry("contracts", "01|000001"), d.entry("contracts", "01|000002")
	rows := url.Values{"row": {strconv.FormatInt(changed.ID, 10), strconv.FormatInt(cancelled.ID, 10)}}
	b.submit("/changed/plan", rows).shows(http.StatusOK, "2 linhas: a marca some", "Evidência")
	form := with(b.fields("/changed/do"), "reason", "acertado na tela da plataforma, protocolo 4711")
	other := d.as(trade.Administrator).get("/changed")
	other.submit("/changed/plan", url.Values{"row": {rows["row"][0]}}).shows(http.StatusOK)
	stale := with(other.fields("/changed/do"), "reason", "acertado por telefone")
	b.post("/changed/do", with(form, "reason", "já")).shows(http.StatusUnprocessableEntity, "ao menos 5 letras")
	b.post("/changed/do", with(form, "reason", "acertado na tela da plataforma, protocolo 4711")).shows(http.StatusOK, "Dado por tratado.", "Nada mudou depois do envio")
	if e := d.entry("contracts", changed.Key); e.Flags.Has(trade.Changed) || !e.Acknowledged.Has(trade.Changed) {
		t.Errorf("the flags are %v, dealt with %v", e.Flags, e.Acknowledged)
	}
	other.post("/changed/do", stale).shows(http.StatusOK, "Nada do que foi marcado")
	d.as(trade.Reader).get("/audit?act=acknowledge").shows(http.StatusOK, "contracts 01|000001", "contracts 01|000002", "carla", "protocolo 4711")
}
