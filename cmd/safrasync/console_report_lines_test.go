package main

import (
	"fmt"
	"html"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
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
	b := d.as(trade.Reader)
	part := func(id string) string {
		b.Get("/report?show=1&part=" + id).Wants(http.StatusOK)
		_, text, _ := strings.Cut(b.Body, `<div id="`+id+`"`)
		text, _, _ = strings.Cut(text, "\n</div>")
		return text
	}
	line := part("divergences")
	for _, want := range []string{
		fmt.Sprintf(`<a href="/rows/%d">`, changed.ID), "15,600 t<small>no ERP</small>", "12,000 t<small>enviado</small>",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("the divergence does not have %q:\n%s", want, line)
		}
	}
	if line := part("exceptions"); !strings.Contains(line, fmt.Sprintf(`<a href="/rows/%d">`, dismissed.ID)) {
		t.Errorf("the decision leads nowhere:\n%s", line)
	}
	totals := part("totals")
	kept := b.Get("/report?harvest=&part=totals").Body
	if again := b.Get("/report?harvest=&part=totals").Body; again != kept {
		t.Error("a report is not as the one before left it")
	}
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
	b.Get(strings.ReplaceAll(at, "&amp;", "&")+"&part=totals").Wants(http.StatusOK, "P1|01")
}

// Each figure of the table and of the opened product leads to its documents: their list, and the file of it, have
// the figure as their sum, in tonnes and in money.
func TestTheListOfAFigureOfAnAccountHasItsSum(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("erp.db", `INSERT INTO contrato SELECT filial, '000921', '250', produtor, loja, usuario, '002', local, safra, um,
		tipo, emissao, carteira, preco, inicio, fim, modalidade, pagto, forma, situacao
		FROM contrato WHERE num = '000003';
		UPDATE contrato SET quantidade = '260' WHERE num = '000002'`)
	d.run(0, "sync", "--sweep")
	link := regexp.MustCompile(`<a href="(/rows\?[^"]+)">(?:−?[0-9.,]+|[^<]+)</a>(?:</th>(?s:.*?)<td class="number">([^<]+)</td></tr>|</td>)`)
	foot, tag := regexp.MustCompile(`(?s)<tfoot[^>]*>.*?</tfoot>`), regexp.MustCompile(`<[^>]*>`)
	exact := regexp.MustCompile(`title="([^"]+)"><a href="([^"]+)">`)
	for unit, currency := range map[string]string{"t": "", "money": "BRL"} {
		followed := 0
		for _, product := range []string{"SOJA ", "MILHO "} {
			path := "/report?show=1&unit=" + unit + "&open=" + url.QueryEscape(product+currency)
			page := d.as(trade.Accountant).Get(path).
				Wants(http.StatusOK).Body
			figures := map[string]string{}
			for _, m := range exact.FindAllStringSubmatch(page, -1) {
				figures[m[2]] = m[1]
			}
			for _, m := range link.FindAllStringSubmatch(page, -1) {
				if m[2] != "" {
					figures[m[1]] = m[2]
				}
			}
			for path, figure := range figures {
				if !strings.HasPrefix(path, "/rows?") {
					continue
				}
				path = strings.ReplaceAll(path, "&amp;", "&")
				list := d.as(trade.Accountant).Get(path).Wants(http.StatusOK)
				sums := strings.Fields(tag.ReplaceAllString(foot.FindString(list.Body), " "))
				figure = strings.TrimPrefix(strings.ReplaceAll(figure, "−", ""), "R$ ")
				if followed++; !slices.Contains(sums, figure) && !slices.Contains(sums, "−"+figure) {
					t.Errorf("%s leads to %s, whose sums are %q", figure, path, sums)
				}
			}
		}
		if followed < 12 {
			t.Errorf("in %s only %d figures lead to their documents", unit, followed)
		}
	}
}

// A document number is read in one line, on a phone as well.
func TestChromiumBreaksNoDocumentNumber(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("state.db", `UPDATE reference SET label = 'Peruzzo & Filhos Comércio de Grãos 529.982.247-25' WHERE kind = 'producers'`)
	c := newChrome(t, d.server.URL, 390, 844)
	c.logIn(trade.Reader)
	c.open("/report?show=1&part=totals")
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

// accountCell is a figure of the table of a closing, with its exact amount.
var accountCell = regexp.MustCompile(`<td class="number[^"]*" data-label="([^"]+)" title="([^"]*)">`)

// unread is what a screen does not show of the head of a line: tags, and what is only for paper.
var unread = regexp.MustCompile(`<small class="only-paper">[^<]*</small>|<[^>]+>`)

// Every line of a closing adds up: from what the query returns to what is on the platform. Deliveries stand under the
// product of their contract, also cancelled ones, or under none if the ledger does not have it, as one that was
// cancelled before it was sent; those of later months are counted neither as lines nor as grain.
func TestEachLineOfAClosingAddsUp(t *testing.T) {
	t.Parallel()
	d := newDemoDesk(t)
	closing := func() (rows string, lines map[string]map[string]float64) {
		t.Helper()
		d.run(0, "sync", "--sweep")
		body := d.as(trade.Accountant).Get("/report").Submit("/report/close/plan",
			url.Values{"month": {lastMonth(d)}}).Wants(http.StatusOK).Body
		_, table, _ := strings.Cut(body, `<table class="accounts`)
		table, _, _ = strings.Cut(table, "</table>")
		lines = map[string]map[string]float64{}
		product := ""
		for _, row := range strings.Split(table, "<tr")[2:] {
			head := strings.SplitAfter("<tr"+row, "</th>")[0]
			head = strings.Join(strings.Fields(unread.ReplaceAllString(head, " ")), " ")
			if strings.Contains(row, `scope="rowgroup"`) {
				product = head
				continue
			}
			line := map[string]float64{}
			for _, cell := range accountCell.FindAllStringSubmatch(row, -1) {
				text := strings.NewReplacer(".", "", ",", ".", "−", "-").Replace(html.UnescapeString(cell[2]))
				text, _, _ = strings.Cut(text, " t ")
				line[cell[1]] = must.Get(strconv.ParseFloat(text, 64))(t)
			}
			lines[product+" "+head] = line
		}
		return regexp.MustCompile(`[\d.]+ linhas, na`).FindString(body), lines
	}
	before, was := closing()
	d.sql("erp.db", `INSERT INTO romaneio (filial, ticket, data, situacao, alterado_em) VALUES
			('03', '99001', '20260620', 'FECHADO', '2026-06-20 10:00:00'),
			('03', '99002', '20260620', 'FECHADO', '2026-06-20 10:00:00'),
			('03', '99003', '20991105', 'FECHADO', '2026-06-20 10:00:00'),
			('03', '99004', '20260620', 'CANCELADO', '2026-06-20 10:00:00'),
			('03', '99005', '20260620', 'CANCELADO', '2026-06-20 10:00:00');
		INSERT INTO romaneio_item (filial, ticket, item, filial_contrato, contrato, volume_liquido, unidade) VALUES
			('03', '99001', 1, '03', '001020', '1.000', 'KG'), ('03', '99002', 1, '03', '777777', '20.000', 'KG'),
			('03', '99003', 1, '03', '001020', '300.000', 'KG'), ('03', '99004', 1, '03', '001020', '4.000.000', 'KG'),
			('03', '99005', 1, '02', '001020', '50.000', 'KG')`)
	after, lines := closing()
	if len(lines) < 10 || before == "" || after == before {
		t.Errorf("%d lines of %q and %q", len(lines), before, after)
	}
	for name, line := range lines {
		if math.Abs(line["consulta"]+line["fora"]-line["no ERP"]) > 0.05 {
			t.Errorf("%s: %v of the query do not come to what the ERP has", name, line)
		}
		sum := line["no ERP"]
		for step, amount := range line {
			if !slices.Contains([]string{"consulta", "fora", "no ERP", "enviado", "Diferença"}, step) {
				sum += amount
			}
		}
		if math.Abs(sum-line["enviado"]) > 0.05 || math.Abs(line["no ERP"]-line["enviado"]-line["Diferença"]) > 0.05 {
			t.Errorf("%s: %v do not come to what was sent", name, line)
		}
	}
	for name, want := range map[string]map[string]float64{
		"SOJA Entregue t":        {"consulta": 50, "fora": -50, "no ERP": 0, "enviado": 0},
		"sem produto Entregue t": {"consulta": 4321, "fora": -4300, "no ERP": 21, "enviado": 0},
		"SOJA Contratado t":      {"consulta": 0, "fora": 0, "no ERP": 0, "enviado": 0},
	} {
		if lines[name] == nil || was[name] == nil {
			t.Errorf("there is no line of %s: %v", name, lines)
		}
		for step, more := range want {
			if got := lines[name][step] - was[name][step]; math.Abs(got-more) > 0.0005 {
				t.Errorf("%s, %s: %v more, want %v (%v, %v)", name, step, got, more, was[name], lines[name])
			}
		}
	}
}
