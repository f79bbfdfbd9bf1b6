package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// The first page says in grain and money what may be on the platform, with one button, then what waits
// for the person's own department; others have a line each, and it is green only where nothing waits.
func TestTheFirstPageSaysInGrainAndMoneyWhatWaitsMineFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-after@1")
	b := d.as(trade.Accountant).Get("/").Wants(http.StatusOK,
		`href="/doubts/next">Resolver 1<`, `href="/doubts"><span>Sem confirmação ou em duplicidade</span><strong>1<`,
		`href="/pending?who=it"><span>TI</span><strong>1<`, `>sem confirmação</a>`, "O que resolver primeiro")
	mine, its := strings.Index(b.Body, "<span>Contabilidade</span>"), strings.Index(b.Body, "<span>TI</span>")
	if mine < 0 || mine > its {
		t.Errorf("the department of who looks is not the first:\n%s", b.Body)
	}
	if n := strings.Count(b.Body, `<a role="button" href=`); n != 1 {
		t.Errorf("it has %d filled buttons", n)
	}
	if strings.Contains(b.Body, `verdict well"`) || strings.Contains(b.Body, "no ERP</strong> =") {
		t.Errorf("it is green although rows wait, or counts them a second time:\n%s", b.Body)
	}
	other := d.as(trade.Administrator).Get("/").Wants(http.StatusOK, "<span>TI</span>").Body
	if strings.Index(other, "<span>TI</span>") > strings.Index(other, "<span>Contabilidade</span>") {
		t.Errorf("the department of who looks is not the first:\n%s", other)
	}
	reader := d.as(trade.Reader).Get("/").Wants(http.StatusOK,
		`href="/doubts"><span>Sem confirmação ou em duplicidade</span><strong>1<`)
	if strings.Contains(reader.Body, "Resolver") || strings.Contains(reader.Body, "documento sem confirmação") {
		t.Error("who only looks is offered to resolve")
	}

	// What was changed after it was sent has its line, which leads to what changed.
	sent := d.rows(trade.Accepted)[0]
	_, number, _ := strings.Cut(sent.Key, "|")
	d.sql("erp.db", `UPDATE contrato SET quantidade = '1600' WHERE num = '`+number+`'`)
	d.run(0, "sync", "--sweep")
	b.Get("/").Wants(http.StatusOK, `href="/changed"><span>Alterados</span><strong>1<`)
}

// Each product has one bar of what is missing, whose parts lead to their lists, and so does what is on the
// platform. It is of one season; another one can be chosen.
func TestTheFirstPageHasABarForEachProduct(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-after@1")
	b := d.as(trade.Reader).Get("/").Wants(http.StatusOK, "O que falta, por produto", "falta (t)",
		`<a href="/?season=2025%2f2026" aria-current="page">Safra 2025/2026</a>`,
		`state=accepted" title="0% de 132 t na plataforma">0%</a>`, `<i class="fill-doubt"></i>sem confirmação</th>`,
		`<td class="number fill-doubt" data-label="sem confirmação" title="90,03`,
		`"><a href="/rows?grain=SOJA&amp;harvest=2025%2F2026&amp;line=erp&amp;measure=contracted&amp;state=in_doubt">90</a>`)
	if strings.Contains(b.Body, "MILHO") {
		t.Error("a season has documents of another one")
	}
	other := `grain=MILHO&amp;harvest=2026%2F2026&amp;line=erp&amp;measure=contracted&amp;state=accepted" title="100% de 12 t na plataforma">100%</a>`
	b.Get("/?season=2026/2026").Wants(http.StatusOK, other)
	b.Get("/season?season=2026/2026").Wants(http.StatusOK, other)
	b.Get("/season").Wants(http.StatusOK, "O que falta, por produto",
		"Valor que falta na plataforma: R$ ", "Há quanto tempo espera, por setor")
}

func TestTheFirstPageIsGreenWhereNothingWaits(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, "", `DELETE FROM contrato WHERE num NOT IN ('000001', '000002')`)
	b := d.as(trade.Reader).Get("/").Wants(http.StatusOK, `verdict well"`, "Está tudo em ordem: nada espera", "100%")
	d.sql("state.db", `ALTER TABLE alert RENAME TO gone`) // what waits cannot be counted
	if b.Get("/").Wants(http.StatusOK, "O que falta, por produto"); strings.Contains(b.Body, "Está tudo em ordem") {
		t.Error("all is well although nobody knows")
	}
}

// Where only a delivery waits, for a contract that is not here, it is counted.
func TestADeliveryThatWaitsForNoKnownContractIsCounted(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, weighed, `DELETE FROM contrato WHERE num NOT IN ('000001', '000002');`+tickets+
		`; UPDATE romaneio SET contrato = '000999'`)
	b := d.as(trade.Reader).Get("/").Wants(http.StatusOK, `"><span>Contabilidade</span><strong>1</strong><small>Dependem<`)
	for _, path := range []string{"/pending", "/pending?who=accounting"} {
		b.Get(path).Wants(http.StatusOK, ">Contabilidade 1</a>", "1 documento parado por 1 causa")
	}
}

// An installation that has sent nothing leads step by step to its first contract: it names the next
// step, with where it is done.
func TestAnEmptyInstallationLeadsToItsFirstContract(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, "", `DELETE FROM contrato`)
	b := d.as(trade.Reader).Get("/").Wants(http.StatusOK, "Do ERP até o primeiro contrato enviado", `aria-current="step"`,
		"A leitura do ERP não trouxe nenhum documento", `href="/routines"`)
	if n := strings.Count(b.Body, `class="done"`); n != 2 {
		t.Errorf("%d steps are done, want the description and the ERP:\n%s", n, b.Body)
	}
	if strings.Contains(b.Body, "O que falta, por produto") {
		t.Error("it has a picture of nothing")
	}
}

// A negative amount in the ERP is no grain that waits: it lowers no sum of what does.
func TestANegativeAmountIsInNoSumOfWhatWaits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Accountant)
	for _, wrong := range []string{"quantidade = '-4300'", "quantidade = '300', preco = '-129,50'"} {
		d.sql("erp.db", `UPDATE contrato SET pagto = '2026-06-15', `+wrong+` WHERE num = '000003'`)
		d.run(0, "sync")
		for _, path := range []string{"/pending", "/"} {
			if b.Get(path).Wants(http.StatusOK, "deve ser maior que zero"); strings.Contains(b.Body, "−") {
				t.Errorf("with %s a sum of %s is below zero", wrong, path)
			}
		}
	}
}
