package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// Page, file and command line give the same numbers: the page's summary is that of `report`.
func TestTheReconciliationIsReadAndExported(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Accountant).Get("/report").Wants(http.StatusOK, "Conciliação ERP × Plataforma",
		"Conferir e fechar", `aria-current="page">Safra 2025/2026</a>`, "Sobra sem explicação: 0.")
	b.Get("/report?show=1&from=31/10/2026").Wants(http.StatusUnprocessableEntity, "não é uma data")
	b.Get("/report?show=1&from=2026-02-01&to=2026-01-01").Wants(http.StatusUnprocessableEntity, "antes da inicial")
	b.Get("/report?show=1&product=SOJA").Wants(http.StatusOK, "Resumo", "Diferença", "SOJA",
		"Planilha (XLSX)")
	if moment, figures := strings.Index(b.Body, "<strong>Posição em "), strings.Index(b.Body,
		`<table class="accounts`); moment < 0 || moment > figures {
		t.Error("the page does not say before its figures of when they are")
	}
	if strings.Contains(b.Body, "C000") {
		t.Error("single rows are shown that nobody asked for")
	}
	b.Submit("/report/export", url.Values{"format": {"csv"}, "show": {"1"}}).Wants(http.StatusOK, "\ufeff",
		"Contratos;contratos;Diferença;0;")
	csv := b.Body
	if got := b.Got.Get("Content-Disposition"); got != `attachment; filename="conciliacao.csv"` {
		t.Errorf("Content-Disposition: %s", got)
	}
	file := filepath.Join(t.TempDir(), "r.csv")
	d.run(0, "report", "--output", file, "--section", "summary,bridge,difference,totals,divergences,exceptions,messages",
		"--reason", "conferir", "--as", "ana")
	text := must.Get(os.ReadFile(file))(t)
	if got, want := summaryOf(csv), summaryOf(string(text)); got != want || !strings.Contains(got, "Contratos") {
		t.Errorf("the console says\n%s\nand the command line\n%s", got, want)
	}
	if got, want := d.exported("console"), d.exported("@"); !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("the audit has of the console's export %s and of the command's %s", got, want)
	}
	b.Get("/report?show=1").Submit("/report/export", url.Values{"format": {"xlsx"}, "show": {"1"}}).Wants(http.StatusOK)
	if !bytes.HasPrefix([]byte(b.Body), []byte("PK")) {
		t.Error("this is no workbook")
	}
	b.Get("/report?show=1").Submit("/report/export", url.Values{"format": {"exe"}}).Wants(http.StatusBadRequest)
	b.Get("/report?show=1&closing=none").Wants(http.StatusNotFound)
	b.Get("/report?show=1").Submit("/report/export", url.Values{"format": {"csv"}, "closing": {"none"}}).
		Wants(http.StatusNotFound)
	b.Get("/audit?act=report+export").Wants(http.StatusOK, "exportou a conciliação r.csv")
	if lines := strings.Count(b.Body, "exportou a conciliação "); lines != 3 {
		t.Errorf("three exports are %d lines", lines)
	}
	var formats []string // of which only the file of the audit tells people
	for _, r := range must.Get(d.host.Store.Audit(t.Context(), 0))(t) {
		if r.Act == reconcile.ActExport {
			var detail struct{ Format string }
			must.Do(t, json.Unmarshal([]byte(r.Detail), &detail))
			formats = append(formats, detail.Format)
		}
	}
	if !slices.Equal(formats, []string{"xlsx", "csv", "csv"}) {
		t.Errorf("the audit has exports of %q", formats)
	}
	d.as(trade.Reader).Get("/report?show=1").Wants(http.StatusOK, "Resumo")
}

// Each part of the bridge leads to what is meant, and a negative price lowers no sum.
func TestThePartsOfTheBridgeAreLinks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, change := range []string{"num = NULL", "num = '000009', preco = '-100,00'", "quantidade = '10.5'"} {
		d.sql("erp.db", `CREATE TABLE novo AS SELECT * FROM contrato WHERE num = '000002'; UPDATE novo SET `+change+`;
			INSERT INTO contrato SELECT * FROM novo; DROP TABLE novo;`)
	}
	d.run(0, "sync", "--sweep")
	b := d.as(trade.Reader).Get("/report?show=1&part=bridge")
	line := func(path, text, keys string, cells ...string) string {
		out := `<a href="` + path + `">` + text + `</a>`
		if keys != "" {
			out += "<small>Quais: " + keys + "</small>"
		}
		out += "</td>"
		for i, cell := range cells {
			out += `<td class="number" data-label="` + []string{"Quantidade", "t", "Valor"}[i] + `">` + cell + `</td>`
		}
		return out
	}
	for _, text := range []string{
		line("/routines?job=contracts", "linhas lidas no ERP", "", "8", "198,660", "R$ 482.509,75"),
		line("/rows?job=contracts&amp;line=documents", "documentos", "", "4"),
		line("/rows?job=contracts&amp;line=negative", "documentos com preço ou volume negativo", "", "1", "12,000",
			"−R$ 20.000,00"),
		line("/routines?job=contracts", "canceladas no ERP", "01|000005", "1", "30,000"),
		line("/routines?job=contracts", "sem número (chave inutilizável)", "01|NULL", "1", "12,000", "R$ 225.900,00"),
		line("/routines?job=contracts", "a mais com número repetido no ERP", "01|000002", "1", "0,630",
			"R$ 11.859,75"),
	} {
		b.Wants(http.StatusOK, text)
	}
	// The same for each product, with the state and cause of what has not gone, in figures and table.
	b.Get("/report?show=1").Wants(http.StatusOK, "De que é feita",
		`<a href="/rows?cause=rule%3Apayday&amp;grain=SOJA&amp;line=erp&amp;measure=contracted&amp;state=invalid">data de pagamento</a></th>`+
			`<td class="number">1</td><td class="number">−18,000</td>`, "Sobra sem explicação: 0.")
	// What a season has beside its sum stands with the sum, and leads to its documents.
	b.Get("/report?show=1").Wants(http.StatusOK, "Fora desta soma: ",
		`<a href="/rows?line=outside%3Anegative&amp;measure=contracted">1 com preço ou volume negativo</a>`)
	b.Get("/report?harvest=2025/2026&show=1").Wants(http.StatusOK, "Fora desta soma: ",
		"3 canceladas no ERP, sem número ou com número repetido, de qualquer safra</a>")
	b.Get("/rows?line=outside%3Anegative&measure=contracted").Wants(http.StatusOK, "000009")
	b.Get("/report?show=1&unit=sc").Wants(http.StatusOK, `<td class="number">1</td><td class="number">−300,00</td>`)
	b.Get("/report?show=1&open=MILHO+").Wants(http.StatusOK, "fora: a mais com número repetido no ERP",
		"fora: com preço ou volume negativo")
	totals := b.Get("/report?show=1&part=totals").Wants(http.StatusOK, "Totais</h2>").Body
	if strings.Contains(totals, "−20.000") || strings.Contains(totals, "205.900") {
		t.Errorf("the negative price lowers a total:\n%s", totals)
	}
}

// The lines of a part of the report stand under what they have in common, which they do not repeat.
func TestLinesOfAReportAreFolded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("erp.db", `UPDATE contrato SET quantidade = '1400.50' WHERE num = '000001'`)
	d.run(0, "sync", "--sweep")
	b := d.as(trade.Reader)
	for part, once := range map[string]string{
		"divergences": "volume no ERP difere do enviado", "summary": ">Contratos ", "totals": ">geral<",
	} {
		body := b.Get("/report?show=1&part="+part).Wants(http.StatusOK, `<span class="count">`, "As listas abertas daqui mostram o estado atual.").Body
		if part == "divergences" && !strings.Contains(body, "1 divergência acima da tolerância, sem tratamento</p>") {
			t.Error("the divergences are not counted as where a month is closed")
		}
		want := 1
		if part == "totals" {
			want = 0
		}
		if n := strings.Count(body, once); n != want {
			t.Errorf("%s says %q %d times, want %d", part, once, n, want)
		}
	}
}

// What the rows say of a contract, and what the divergences say of it, is one; what a person
// has dealt with is marked, and counts no more.
func TestACancelledContractAndAnAcknowledgedChangeHaveOneAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("erp.db", `UPDATE contrato SET situacao = 'cancelado' WHERE num = '000002'; UPDATE contrato SET quantidade = '1400.50' WHERE num = '000001';`)
	d.run(0, "sync", "--sweep")
	same := func(wanted string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "r.json")
		d.run(0, "report", "--output", file, "--section", "contracts,divergences", "--reason", "conferir",
			"--as", "ana")
		text := must.Get(os.ReadFile(file))(t)
		contracts, got := map[string]string{}, []string{}
		for line := range strings.Lines(string(text)) {
			var l struct {
				Section, Key, Kind, Acknowledged string
				KgDifference                     json.Number `json:"kg_difference"`
				Difference                       json.Number
			}
			must.Do(t, json.Unmarshal([]byte(line), &l))
			switch l.Section {
			case "contracts":
				contracts[l.Key] = l.KgDifference.String()
			case "divergences":
				got = append(got, strings.TrimSpace(l.Key+" "+l.Kind+" "+l.Difference.String()+" "+l.Acknowledged))
				if contracts[l.Key] != l.Difference.String() {
					t.Errorf("%s differs by %s among the contracts and by %s among the divergences", l.Key,
						contracts[l.Key], l.Difference)
				}
			}
		}
		if text := strings.Join(got, ", "); text != wanted {
			t.Errorf("the divergences are %s, want %s", text, wanted)
		}
	}
	same("01|000001 volume -6000, 01|000002 left_erp -12000")
	d.as(trade.Accountant).Get("/report").Submit("/report/close/plan",
		url.Values{"month": {lastMonth(d)}}).Wants(http.StatusOK, "2 divergências acima da tolerância")
	d.run(0, "acknowledge", "contracts", "01|000001", "01|000002", "--reason", "corrigido na plataforma", "--as",
		"ana", "--yes")
	same("01|000001 volume -6000 acknowledged, 01|000002 left_erp -12000 acknowledged")
}

// lastMonth is the last month that has ended.
func lastMonth(d *deskWorld) string {
	at := office.Now().In(d.host.App.Config.Zone())
	return at.AddDate(0, 0, -at.Day()).Format("2006-01")
}

// A closing shows grain and money, leads to what is open, takes months that have documents, and
// asks again when the month was closed before.
func TestAClosingShowsWhatItKeepsAndLeadsToWhatIsOpen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Accountant).Get("/report").Wants(http.StatusOK, `name="month"`)
	for month, text := range map[string]string{
		"2026-03-15": "não é um mês", "março": "não é um mês", "2019-01": "Não há documento até este mês",
		office.Now().In(d.host.App.Config.Zone()).Format("2006-01"): "ainda não terminou",
	} {
		// today is the last day of its month
		if end, _ := reconcile.MonthEnd(month); !end.IsZero() && !d.future(end) && strings.Contains(text, "terminou") {
			continue
		}
		b.Get("/report").Submit("/report/close/plan",
			url.Values{"month": {month}}).Wants(http.StatusUnprocessableEntity, text)
	}
	b.Get("/report").Submit("/report/close/plan", url.Values{"month": {lastMonth(d)}}).Wants(http.StatusOK,
		`state=invalid">com erro: 1 contrato</a> · 18,000 t · R$ 38.850,00`,
		`state=waiting">aguardando: 1 contrato</a> · 24,000 t`,
		"leitura completa em", "Pontos em aberto: 2", "MILHO", `title="12,000 t · 200,00 sc"><span>12</span>`,
		`title="225.900,00"><span>225.900</span>`, `title="132,030 t · 2.200,50 sc"><span>132</span>`)
	form := with(b.Form("/report/close/do"), "reason", "mês conferido")
	b.Post("/report/close/do", form).Wants(http.StatusUnprocessableEntity, "Falta a assinatura")
	form = with(b.Form("/report/close/do"), "reason", "mês conferido", "signed", "1")
	b.Post("/report/close/do", form).Wants(http.StatusOK, "O mês foi fechado",
		"Fechamento de "+lastMonth(d)[5:]+"/"+lastMonth(d)[:4],
		"mês conferido", "aguardando: 1 contrato", `title="132,030 t · 2.200,50 sc"><span>132</span>`)
	list, err := d.host.Store.Closings(t.Context(), trade.Date{})
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	b.Get("/report/closings/"+list[0].ID).Wants(http.StatusOK, "SHA-256 "+list[0].Hash,
		`<small class="only-paper">R$</small>`) // whose numbers are whole on paper, whatever the screen has them in
	b.Get("/report/closings/none").Wants(http.StatusNotFound)
	b.Get("/report").Submit("/report/close/plan", url.Values{"month": {lastMonth(d)}}).Wants(http.StatusOK,
		"já foi fechado em", consoletest.People[trade.Accountant], "mês conferido")
	form = with(b.Form("/report/close/do"), "reason", "corrigido depois", "signed", "1")
	delete(form, "again")
	b.Post("/report/close/do", form).Wants(http.StatusUnprocessableEntity, "Fechar de novo")
	b.Post("/report/close/do", with(b.Form("/report/close/do"), "reason", "corrigido depois", "again",
		"1", "signed", "1")).Wants(http.StatusOK, "O mês foi fechado")
}

// A month is compared with the ERP as it is at that moment, also where no pass has read it: what left it,
// what came, and that it cannot be read.
func TestAClosingComparesWithTheERPOfThatMoment(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	month := url.Values{"month": {lastMonth(d)}}
	plan := func(wants ...string) {
		t.Helper()
		d.as(trade.Accountant).Get("/report").Submit("/report/close/plan", month).Wants(http.StatusOK, wants...)
	}
	closing := func(wants ...string) {
		t.Helper()
		_, told := d.run(2, "report", "--close", lastMonth(d), "--reason", "mês conferido", "--as", "ana")
		for _, want := range wants {
			if !strings.Contains(told, want) {
				t.Errorf("the command does not say %q:\n%s", want, told)
			}
		}
	}
	same := `O ERP tem agora o que está na conta</strong> <span class="state accepted">`
	plan(same, "lido por inteiro para esta página em")
	closing("O ERP foi lido agora: tem o que está na conta.")
	d.sql("erp.db", `DELETE FROM contrato WHERE num = '000002';
		UPDATE contrato SET quantidade = '1300.50' WHERE num = '000001'`)
	plan("novos 0, alterados 1; na conta e não mais no ERP: 1. Diferença: −24 t", "Leia tudo de novo antes de fechar")
	closing("alterados 1, não mais no ERP 1; diferença de")
	d.run(0, "sync", "--sweep")
	plan(same)
	d.sql("erp.db", `ALTER TABLE contrato RENAME TO contratos`)
	plan("não conferido com o ERP agora: o ERP não pôde ser lido", "Os números são os da leitura completa de")
	closing("contracts não foi conferida com o ERP agora: o ERP não pôde ser lido")
}

// future reports whether a day has not come yet.
func (d *deskWorld) future(day trade.Date) bool {
	return trade.DateOf(office.Now().In(d.host.App.Config.Zone())).Before(day)
}

// exported are the details of exports in the audit that came from somewhere, without the numbers of
// the reports.
func (d *deskWorld) exported(from string) (out []string) {
	d.t.Helper()
	records := must.Get(d.host.Store.Audit(d.t.Context(), 0))(d.t)
	for _, r := range records {
		if _, detail, found := strings.Cut(r.Detail, `","kind":`); found && r.Act == reconcile.ActExport &&
			strings.Contains(r.From, from) {
			out = append(out, detail)
		}
	}
	return out
}

// summaryOf is the first table of a report in CSV.
func summaryOf(csv string) string {
	_, rest, _ := strings.Cut(csv, "Resumo")
	summary, _, _ := strings.Cut(rest, "\r\n\r\n")
	return summary
}

// A month is closed after a look at what would be kept, and printed again with the same numbers;
// who closes without a reason, or what somebody else has moved meanwhile, closes nothing.
func TestAMonthIsClosedAndPrintedAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	end, _ := reconcile.MonthEnd(lastMonth(d))
	b := d.as(trade.Accountant).Get("/report")
	b.Submit("/report/close/plan", url.Values{"month": {"2999-01"}}).Wants(http.StatusUnprocessableEntity,
		"ainda não terminou")
	b.Get("/report").Submit("/report/close/plan", url.Values{"month": {lastMonth(d)}}).Wants(http.StatusOK,
		"4 linhas, na posição de", "Lista de conferência")
	form := b.Form("/report/close/do")
	b.Post("/report/close/do", with(form, "reason", "")).Wants(http.StatusUnprocessableEntity, "ao menos 5 caracteres")
	b.Post("/report/close/do",
		with(form, "reason", "outubro conferido", "signed", "1", "mark", "another")).Wants(http.StatusConflict,
		"nada foi feito")
	b.Post("/report/close/do", with(b.Form("/report/close/do"), "reason", "outubro conferido", "signed",
		"1")).Wants(http.StatusOK,
		"O mês foi fechado", "outubro conferido", consoletest.People[trade.Accountant])
	closings := must.Get(d.host.Store.Closings(t.Context(), end))(t)
	b.Get("/report?show=1&closing="+closings[0].ID).Wants(http.StatusOK, "Resumo", consoletest.People[trade.Accountant])
	b.Get("/audit?act=report+close").Wants(http.StatusOK, "outubro conferido")
}
