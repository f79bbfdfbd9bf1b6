package main

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// Who takes care of a cause says so, and until when: then the first page reminds nobody of it, the
// page of causes has it apart, and the digest names who it is.
func TestACauseIsTakenCareOfUntilADay(t *testing.T) {
	t.Parallel()
	d := newDemoDesk(t)
	b := d.as(trade.Accountant)
	b.Get("/").Wants(http.StatusOK, `href="/pending?who=platform"><span>Plataforma</span><strong>16<`)
	stuck := must.Get(d.host.Office.Stuck(t.Context(), trade.Portuguese, true))(t)
	var cause office.Cause
	for _, c := range stuck.Causes {
		if c.Cause == "message.wallet.not-found" {
			cause = c
		}
	}
	form := func(pairs ...string) url.Values {
		b.Get("/pending?cause=" + cause.Key)
		seen := regexp.MustCompile(`name="cause" value="` + cause.Key + `"><input type="hidden" name="seen" value="(\d+)"`).
			FindStringSubmatch(b.Body)
		own := with(b.Form("/pending/own"), "seen", seen[1], "cause", cause.Key, "owner", "Maria", "note",
			"chamado 4711 de 529.982.247-25")
		return with(own, pairs...)
	}
	day := time.Now().AddDate(0, 0, 3)
	for wants, pairs := range map[string][]string{
		"dentro de um ano": {"until", "2020-01-01"}, "depois de hoje": {"until", "amanhã"},
		"60 letras": {"owner", strings.Repeat("M", 61)},
	} {
		b.Post("/pending/own", form(pairs...)).Wants(http.StatusUnprocessableEntity, wants)
	}
	b.Post("/pending/own", form("cause", "nothing")).Wants(http.StatusOK, "não existe mais")
	b.Post("/pending/own", form("until", day.Format(time.DateOnly))).Wants(http.StatusOK,
		"Com responsável, até um dia", "Com Maria até "+day.Format("02/01/2006"), "chamado 4711", "(carla,")
	if strings.Contains(b.Body, "529.982.247-25") {
		t.Error("the note shows a document")
	}
	left := 16 - (cause.Rows() - cause.Behind)
	b.Get("/").Wants(http.StatusOK, fmt.Sprintf(`href="/pending?who=platform"><span>Plataforma</span><strong>%d<`, left),
		`href="/pending#quiet">`)
	_, text, err := d.host.Office.Digest(t.Context())
	must.Do(t, err)
	if want := "com Maria até " + day.Format("02/01/2006"); !strings.Contains(text, want) {
		t.Errorf("the digest lacks %q:\n%s", want, text)
	}
	b.Get("/audit").Wants(http.StatusOK, "deu a causa “", "” a Maria até "+day.Format("02/01/2006"))
	if strings.Contains(b.Body, "a causa "+cause.Cause) {
		t.Errorf("the audit names the cause %s by its code", cause.Cause)
	}
	b.Post("/pending/own", form("seen", "1")).Wants(http.StatusUnprocessableEntity, "Outra pessoa mudou", "chamado 4711")
	b.Post("/pending/own", form("leave", "1")).Wants(http.StatusOK, "Guardado.")
	b.Get("/").Wants(http.StatusOK, `href="/pending?who=platform"><span>Plataforma</span><strong>16<`)
	d.as(trade.Reader).Post("/pending/own", form()).Wants(http.StatusForbidden)
}
