package main

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// titlesIn returns what leads each row of the list, in its order.
func titlesIn(b *consoletest.Browser) (out []string) {
	for _, m := range regexp.MustCompile(`<th scope="row"><a [^>]*title="([^"]*) · [^"·]*">`).FindAllStringSubmatch(b.Body, -1) {
		out = append(out, m[1])
	}
	return out
}

// newList is a console whose contracts show their producers, in two branches.
func newList(t *testing.T, on string) *deskWorld {
	t.Helper()
	d := newDeskOn(t, on, "", `
		UPDATE contrato SET produtor = 'P2' WHERE num = '000004';
		INSERT INTO contrato SELECT '02', '000009', '10', produtor, loja, usuario, produto, local, safra, um, tipo,
			'20260115', carteira, preco, inicio, fim, modalidade, pagto, forma, situacao FROM contrato WHERE num = '000002'`)
	d.write("config.yaml", strings.Replace(d.read("config.yaml"), "    query: |\n      SELECT *",
		`    show: {contrato: num, produtor: nome}
    query: |
      SELECT *, CASE num WHEN '000002' THEN 'João Ávila' WHEN '000009' THEN 'Joana' ELSE 'Ana' END AS nome`, 1))
	d.run(0, "sync", "--sweep")
	d.open()
	return d
}

// The list is in the order of any column, narrowed by what documents say, with sums, parts to take off,
// proposals to choose from, in its files and its orders.
func TestTheListIsSortedAndNarrowedByWhatDocumentsSay(t *testing.T) {
	onEither(t, func(t *testing.T, on string) {
		t.Parallel()
		d := newList(t, on)
		b := d.as(trade.Accountant)
		lists := func(query string, want ...string) *consoletest.Browser {
			t.Helper()
			if b.Get("/rows?" + query); b.Status != http.StatusOK {
				t.Fatalf("%s: status %d", query, b.Status)
			}
			if got := titlesIn(b); !slices.Equal(got, want) {
				t.Errorf("%s lists %q, want %q", query, got, want)
			}
			return b
		}
		one, two, three, four := "000001 · Ana", "000002 · João Ávila", "000003 · Ana", "000004 · Ana"
		nine := "000009 · Joana"
		for query, want := range map[string][]string{
			"sort=-value":            {two, three, nine, four, one}, // without a price they come last
			"sort=value":             {nine, three, two, one, four},
			"sort=-volume":           {one, four, three, two, nine},
			"sort=day":               {nine, one, two, three, four},
			"sort=-title":            {nine, four, three, two, one},
			"sort=product":           {two, nine, one, three, four},
			"sort=-branch":           {nine, four, three, two, one},
			"sort=-producer":         {two, nine, four, three, one},
			"product=milho":          {nine, two},
			"producer=joao":          {two},
			"producer=Jo":            {nine, two},
			"producer=Ana":           {four, three, one}, // not Joana: one is called so
			"branch=02":              {nine},
			"branch=2&job=contracts": {"000009"}, // without its zero
			"product=SOJA&producer=Ana&state=invalid":           {three},
			"value_from=R%24+38.850%2C00":                       {two, three}, // the largest first
			"value_from=11295&value_until=38850.00&sort=oldest": {three, nine},
			"day_from=2026-03-11&day_until=12/03/2026":          {three, two}, // the newest first
			"day_from=2026-01-15&day_until=2026-01-15":          {nine},
			"product=SOJA&cause=rule:payday&from=2001-01-01":    {three},
			"q=000003&product=SOJA":                             {three},
			"q=000003&product=MILHO":                            {},
			"product=caf%C3%A9":                                 {},
		} {
			lists(query, want...)
		}
		lists("product=MILHO&value_from=1&sort=oldest", two, nine).Wants(http.StatusOK,
			`href="/rows?sort=oldest&amp;value_from=1"`, "Produto: MILHO", "Valor a partir de 1",
			"Soma de 2 documentos", "R$ 237.195,00", ">12,600<", `<span class="count">2</span>`, `<option value="MILHO">`, `value="MILHO" list="names-product"`)
		lists("producer=jo", nine, two).Wants(http.StatusOK, `<option value="João Ávila">`, `<option value="Ana">`)
		b.Header = http.Header{"Hx-Request": {"true"}, "Hx-Target": {"names-producer"}} // somebody types
		b.Get("/rows?producer=jo&product=&job=contracts").Wants(http.StatusOK, `<option value="João Ávila">`,
			`<option value="Joana">`)
		if b.Header = nil; strings.Contains(b.Body, `<option value="Ana">`) ||
			strings.Contains(b.Body, "<table") || strings.Count(b.Body, "<datalist") != 1 {
			t.Errorf("more than the names with the text is answered: %s", b.Body)
		}
		lists("day_until=2026-03-10", one, nine).Wants(http.StatusOK, `<option value="">conforme o filtro`)
		if strings.Contains(b.Body, `ente" selected`) || strings.Contains(b.Body, `"newest" selected`) || strings.Contains(b.Body, `day" selected`) {
			t.Error("an order is chosen that the filter has by itself")
		}
		for _, query := range []string{
			"value_from=x", "day_from=2026-02-30", "day_until=x", "product=%00", "branch=%ff", "sort=-worth",
			"after=1_", "after=1_1", "sort=-value&after=x", "sort=-value&after=1_2_3",
		} {
			b.Get("/rows?" + query).Wants(http.StatusBadRequest)
		}

		query := "day_from=2026-03-11&product=SOJA"
		lists(query, four, three)
		form := with(b.Form("/decisions/export"), "format", "csv", "query", query)
		b.Post("/decisions/export", form).Wants(http.StatusOK)
		first, second := strings.Index(b.Body, "01|000004"), strings.Index(b.Body, "01|000003")
		if first < 0 || second < first || strings.Contains(b.Body, "01|000002") ||
			strings.Contains(b.Body, "01|000001") {
			t.Errorf("the file has\n%s", b.Body)
		}
		b.Get("/resync?"+url.Values{"filter": {query}}.Encode()).Wants(http.StatusOK, "Documentos a ler: 2.")
	})
}

// A list that is narrowed by a season has the values of its rows, and their sum.
func TestAListOfASeasonHasItsValues(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	worth := regexp.MustCompile(`R\$\s[0-9.,]+`)
	b := d.as(trade.Reader).Get("/rows?job=contracts")
	all := len(worth.FindAllString(b.Body, -1))
	some := len(worth.FindAllString(b.Get("/rows?job=contracts&harvest=2025%2F2026").Body, -1))
	if some == 0 || some > all {
		t.Errorf("%d values of a season, %d of all", some, all)
	}
}

// A list has no column that is empty in all its rows, and says what a row is.
func TestAListHasNoEmptyColumn(t *testing.T) {
	t.Parallel()
	b := newList(t, "sqlite").as(trade.Reader)
	if strings.Contains(b.Get("/rows?job=contracts&q=000004").Wants(http.StatusOK, ">000004<").Body, "money") {
		t.Error("a column of values has none")
	}
	b.Get("/rows?job=contracts&q=000002").Wants(http.StatusOK, `class="number money"`)
	b.Get("/rows?job=contracts&q=000004&sort=value").Wants(http.StatusOK, `class="number money"`)
	b.Get("/rows").Wants(http.StatusOK, ">contrato</td>")
}

// A list of a season keeps it on its next page, in another order, of one type, without another part of its filter, and
// in what is done with all of it; what needs somebody is only that of the season.
func TestAListOfASeasonKeepsIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.crowd(70)
	d.sql("erp.db", `UPDATE contrato SET safra = (SELECT safra FROM contrato WHERE num = '000002') WHERE num = '700001'`)
	d.run(0, "sync", "--sweep")
	b := d.as(trade.Accountant)
	link := regexp.MustCompile(`href="(/(?:rows|act/[a-z]+|resync)\?[^"]*)"`)
	for query, n := range map[string]int{"job=contracts&state=invalid": 70, "job=contracts&state=needs_person": 71} {
		b.Get("/rows?harvest=2025%2F2026&"+query).Wants(http.StatusOK, `value="2025/2026"`,
			fmt.Sprintf(`<span class="count">%d</span>`, n))
		query = url.Values{"filter": {html.UnescapeString(b.Form("/decisions/export").Get("query"))}}.Encode()
		if !strings.Contains(query, "harvest") {
			t.Errorf("the file is that of %s", query)
		}
		_, part, _ := strings.Cut(b.Body, `<div id="part">`)
		next, without := "", 0
		kinds := map[string]int{}
		for _, m := range link.FindAllStringSubmatch(part, -1) {
			to := must.Get(url.Parse(html.UnescapeString(m[1])))(t)
			of := to.Query()
			if filter := of.Get("filter"); filter != "" {
				of = must.Get(url.ParseQuery(html.UnescapeString(filter)))(t)
			}
			if of.Get("harvest") != "2025/2026" {
				without++
			}
			if of.Has("after") {
				next = to.String()
			}
			kinds[to.Path]++
		}
		if without != 1 || next == "" || kinds["/rows"] < 10 || kinds["/act/dismiss"] != 1 || kinds["/resync"] != 1 {
			t.Errorf("%s: %d addresses have no season, the next page is %q: %v", query, without, next, kinds)
		}
		if more := len(titlesIn(b.Get(next))); more != n-50 {
			t.Errorf("the next page of %s has %d documents", query, more)
		}
		b.Get("/act/dismiss?"+query).Wants(http.StatusOK, fmt.Sprintf("Aplica-se a %d de %d documentos", n, n))
	}
	b.Get("/rows?harvest=" + strings.Repeat("1,", 100)).Wants(http.StatusBadRequest)
}
