package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// The verdict of the first page says in numbers who must do something, and is green only where
// nothing waits.
func TestTheVerdictOfTheFirstPageSaysInNumbersWhatWaits(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-after@1")
	b := d.as(trade.Reader).Get("/").Wants(http.StatusOK, "Espera por alguém: Contabilidade 2 linhas; TI 1 linha")
	well := func() bool { return strings.Contains(b.Get("/").Body, `verdict well"`) }
	if well() {
		t.Error("it is green although rows wait")
	}

	// What was changed after it was sent has its chip, which leads to what changed.
	sent := d.rows(trade.Accepted)[0]
	_, number, _ := strings.Cut(sent.Key, "|")
	d.sql("erp.db", `UPDATE contrato SET quantidade = '1600' WHERE num = '`+number+`'`)
	d.run(0, "sync", "--sweep")
	b.Get("/").Wants(http.StatusOK, `href="/changed?flag=changed">1 · `, "1 mudou depois do envio")
}

func TestTheFirstPageIsGreenWhereNothingWaits(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, "", `DELETE FROM contrato WHERE num NOT IN ('000001', '000002')`)
	d.as(trade.Reader).Get("/").Wants(http.StatusOK, `verdict well"`, "Está tudo em ordem: nada espera",
		"2 no ERP")
}

// An installation that has read nothing yet names the next step instead of an equation without a
// right side.
func TestTheFirstPageOfAnEmptyInstallationNamesTheNextStep(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, "", `DELETE FROM contrato`)
	b := d.as(trade.Reader).Get("/").Wants(http.StatusOK, "A leitura do ERP não trouxe nenhum documento",
		`href="/schedules"`)
	if strings.Contains(b.Body, "0 no ERP") {
		t.Error("it has an equation without a right side")
	}
}
