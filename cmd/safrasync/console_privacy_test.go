package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// hostile is what somebody may have typed into the ERP.
const hostile = `<img src=x onerror="window.hurt=1">`

// typed is a desk whose ERP has a CPF for a code of one contract, and markup for one of another.
func typed(t *testing.T, faults ...string) (d *deskWorld, document, markup trade.Entry) {
	t.Helper()
	d = newDesk(t, faults...)
	rows := d.rows(trade.Invalid, trade.Waiting)
	sql := fmt.Sprintf(
		`UPDATE contrato SET produtor = '52998224725' WHERE filial || '|' || num = '%s'; UPDATE contrato SET usuario = '%s' WHERE filial || '|' || num = '%s'`,
		rows[0].Key, hostile, rows[1].Key)
	d.sql("erp.db", sql)
	d.run(0, "sync")
	return d, d.entry(rows[0].Job, rows[0].Key), d.entry(rows[1].Job, rows[1].Key)
}

// A document is masked on every page; who may sees it after a click that the audit keeps.
func TestDocumentsAreShownOnlyByARecordedClick(t *testing.T) {
	t.Parallel()
	d, row, _ := typed(t, "lost-after@1")
	// Of another contract the document is the code that its de-para lacks, and so the cause why it
	// does not go.
	d.sql("erp.db", `UPDATE contrato SET produtor = '52998224725', usuario = 'U1', carteira = '10' WHERE num = '000004'`)
	// And somebody typed it into a field of its own of two that had left: of one in doubt, and of
	// one that was sent.
	doubt, sent := d.inDoubt()
	d.sql("erp.db", fmt.Sprintf(`UPDATE contrato SET safra = '52998224725' WHERE filial || '|' || num IN ('%s', '%s')`,
		doubt.Key, sent.Key))
	d.run(0, "sync")
	desk, acknowledge := fmt.Sprintf("/doubts/%d", doubt.ID), fmt.Sprintf("/act/acknowledge?row=%d", sent.ID)
	d.as(trade.Reader).Get(desk).Wants(http.StatusOK) // from now on this host knows of the doubt
	d.sql("state.db", afterQuarantine)
	path, reveal := fmt.Sprintf("/rows/%d", row.ID), fmt.Sprintf("/reveal/%d", row.ID)
	for _, role := range trade.Roles {
		b := d.as(role)
		hidden := func(where string) {
			t.Helper()
			if strings.Contains(b.Body, "52998224725") || strings.Contains(b.Body, "529.982.247-25") {
				t.Errorf("%s sees the document on %s", role, where)
			}
		}
		if role.May(trade.Accountant) {
			b.Get(acknowledge).Wants(http.StatusOK, "***.982.247-**")
			hidden(acknowledge)
			decision(b, doubt, "resend").Wants(http.StatusUnprocessableEntity, "***.982.247-**")
			hidden("the plan of " + desk)
		}
		for _, page := range []string{
			"/", "/rows", "/rows?q=" + url.QueryEscape(row.Key), "/pending", "/doubts",
			"/changed", "/references/producers", desk, fmt.Sprintf("/rows/%d", doubt.ID),
			fmt.Sprintf("/rows/%d", sent.ID), path,
		} {
			if page == "/references/producers" && role.May(trade.Administrator) {
				continue // who keeps the table must see its codes
			}
			b.Get(page).Wants(http.StatusOK)
			hidden(page)
		}
		if b.Got.Get("Cache-Control") != "no-store" {
			t.Errorf("Cache-Control is %q", b.Got.Get("Cache-Control"))
		}
		b.Wants(http.StatusOK, "***.982.247-**")
		if may := role.May(trade.Accountant); strings.Contains(b.Body, reveal) != may {
			t.Errorf("%s is offered the document: %v", role, !may)
		} else if b.Submit(reveal, url.Values{}); may {
			b.Wants(http.StatusOK, "52998224725", "viu os CPF e CNPJ")
		} else {
			b.Wants(http.StatusForbidden, "código “role”")
		}
	}
	records := must.Get(d.host.Store.AuditOf(t.Context(), row.Job+" "+row.Key, 0))(t)
	var who []string
	for _, r := range records {
		if r.Act == "reveal" {
			who = append(who, r.Who)
		}
	}
	if !slices.Equal(who, []string{"ana", "carla"}) {
		t.Errorf("the audit names %v", who)
	}
}

// What the ERP wrote is text in a real browser, wherever it is shown.
func TestMarkupOfTheERPIsInert(t *testing.T) {
	t.Parallel()
	d, _, row := typed(t)
	c := newChrome(t, d.server.URL, 1366, 768)
	c.logIn(trade.Accountant)
	for _, path := range []string{
		"/rows", fmt.Sprintf("/rows/%d", row.ID), fmt.Sprintf("/act/dismiss?row=%d", row.ID),
		"/rows?q=" + url.QueryEscape(hostile),
	} {
		c.open(path)
		hurt, err := chromedp.Run(c.ctx,
			chromedp.Evaluate[bool](`window.hurt === 1 || document.querySelector("main img") !== null`))
		if err != nil || hurt {
			t.Errorf("%s: the browser did what the ERP says (%v)", path, err)
		}
	}
	c.open(fmt.Sprintf("/rows/%d", row.ID))
	c.shows(hostile)
}

// No page and no answer of the monitoring has a secret; the console has no metrics.
func TestPagesAndMetricsTellNoSecret(t *testing.T) {
	t.Parallel()
	d, row, _ := typed(t)
	b := d.as(trade.Administrator)
	for _, path := range []string{
		"/", "/rows", fmt.Sprintf("/rows/%d", row.ID), "/users", "/account", "/metrics",
		"/healthz",
	} {
		b.Get(path)
		for _, secret := range []string{platformCanary, "argon2", consoletest.Password} {
			if strings.Contains(b.Body, secret) {
				t.Errorf("%s tells %s", path, secret)
			}
		}
	}
	b.Get("/metrics").Wants(http.StatusNotFound)
}
