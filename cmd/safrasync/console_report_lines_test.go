package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// Each line of the reconciliation leads to its document, or to what it is the sum of; it says which of two
// numbers is the ERP's, and what producers are called.
func TestLinesOfTheReconciliationLeadToTheirDocuments(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("state.db", `UPDATE reference SET label = 'Célio Peruzzo 529.982.247-25' WHERE kind = 'producers'`)
	d.sql("erp.db", `UPDATE contrato SET quantidade = '260' WHERE num = '000002'`)
	d.run(0, "sync")
	d.run(0, "dismiss", "contracts", "01|000003", "--reason", "lançado por engano", "--as", "ivo", "--yes")
	changed, dismissed := d.entry("contracts", "01|000002"), d.entry("contracts", "01|000003")
	b := d.as(trade.Reader).Get("/report?show=1").Wants(http.StatusOK)
	part := func(id string) string {
		_, text, _ := strings.Cut(b.Body, `<div id="`+id+`"`)
		text, _, _ = strings.Cut(text, "\n</div>")
		return text
	}
	line := part("divergences")
	for _, want := range []string{
		fmt.Sprintf(`<a href="/rows/%d">`, changed.ID), "15.600 kg<small>no ERP</small>", "12.000 kg<small>enviado</small>",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("the divergence does not have %q:\n%s", want, line)
		}
	}
	if line := part("exceptions"); !strings.Contains(line, fmt.Sprintf(`<a href="/rows/%d">`, dismissed.ID)) {
		t.Errorf("the decision leads nowhere:\n%s", line)
	}
	totals := part("totals")
	first, rest, _ := strings.Cut(totals, "</details>")
	if !strings.Contains(first, "<details open>") || !strings.Contains(first, "Geral") ||
		strings.Contains(rest, "<details open>") || !strings.Contains(rest, "Por produtor") ||
		!strings.Contains(rest, "Por safra") {
		t.Errorf("the totals are not in groups:\n%s", totals)
	}
	_, producers, _ := strings.Cut(rest, "Por produtor")
	masked := `Célio Peruzzo <span class="whole">***.982.247-**</span></a><small>P1|01</small>`
	if !strings.Contains(producers, masked) || strings.Contains(totals, "529.982") {
		t.Errorf("the producers are not named:\n%s", producers)
	}
	at := regexp.MustCompile(`/report\?[^"]*producer=[^"]+`).FindString(producers)
	b.Get(strings.ReplaceAll(at, "&amp;", "&")).Wants(http.StatusOK, "P1|01")
}

// The list to which a line of a product's bridge leads has the documents of that product alone, and its sum
// is the line's figure.
func TestTheListOfALineOfABridgeHasItsSum(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("erp.db", `INSERT INTO contrato SELECT filial, '000921', '250', produtor, loja, usuario, '002', local, safra, um,
		tipo, emissao, carteira, preco, inicio, fim, modalidade, pagto, forma, situacao FROM contrato WHERE num = '000003'`)
	d.run(0, "sync", "--sweep")
	b := d.as(trade.Accountant).Get("/report?show=1")
	line := regexp.MustCompile(`<a href="([^"]+rule%3Apayday[^"]+grain=(SOJA|MILHO)[^"]+measure=contracted[^"]*)">[^<]*</a></th>` +
		`<td class="number count-of">1</td><td class="number">−([0-9,]+)</td>`)
	lines := line.FindAllStringSubmatch(b.Body, -1)
	sums := map[string]string{}
	for _, l := range lines {
		sums[l[2]] = l[3]
		list := regexp.MustCompile(`Soma de 1 documento(?s:.*?)<td[^>]*>\s*([0-9,]+)\s*<`).FindStringSubmatch(
			b.Get(strings.ReplaceAll(l[1], "&amp;", "&")).Wants(http.StatusOK, "Soma de 1 documento").Body)
		if list == nil || list[1] != l[3] {
			t.Errorf("the line of %s has %s t, its list %q", l[2], l[3], list)
		}
	}
	if sums["SOJA"] != "18" || sums["MILHO"] != "15" {
		t.Errorf("the lines of the bridges are %q", sums)
	}
}

// A document number is read in one line, on a phone as well.
func TestChromiumBreaksNoDocumentNumber(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("state.db", `UPDATE reference SET label = 'Peruzzo & Filhos Comércio de Grãos 529.982.247-25' WHERE kind = 'producers'`)
	c := newChrome(t, d.server.URL, 390, 844)
	c.logIn(trade.Reader)
	c.open("/report?show=1#totals")
	c.everywhere("totals")
	broken := must.Get(chromedp.Run(c.ctx, chromedp.Evaluate[string](`(() => {
		for (const d of document.querySelectorAll("#totals details")) d.open = true;
		const one = document.querySelector("#totals .whole");
		if (!one) return "there is none";
		for (let width = 40; width < 400; width += 5) {
			one.closest("a").style.cssText = "display: block; width: " + width + "px";
			if (one.getClientRects().length > 1) return "broken at " + width;
		}
		return "";
	})()`)))(t)
	if broken != "" {
		t.Error(broken)
	}
}
