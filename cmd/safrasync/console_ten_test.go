package main

import (
	"archive/zip"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	chromium "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// What the ERP has beside the sample: contracts that go with their deliveries; contracts whose
// producer the platform has not linked to the wallet; contracts of a wallet that is in no de-para,
// with their deliveries.
const (
	seedContracts = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO contrato SELECT '%s', printf('%%06d', i), %d + i * 20, produtor, loja, usuario, produto, local,
			safra, um, tipo, emissao, '%s', preco, inicio, fim, modalidade, pagto, forma, situacao
		FROM contrato, n WHERE filial = '01' AND num = '000002';`
	seedTickets = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO romaneio SELECT printf('%s%%04d', i), '%s', printf('%%06d', (i - 1) / 3 + 1), CAST(24000 + i * 100 AS TEXT), '20260415', 'MT-5107925-0123456789ABCDEF0123456789ABCDEF' FROM n;`
)

// farMonth is the month on whose first day the jobs of the office run by themselves: January, but
// around the turn of the year July, so that no test is beside it.
func farMonth(now time.Time) int {
	if m := now.Month(); m == time.December || m == time.January {
		return 7
	}
	return 1
}

func TestTheJobsOfTheOfficeDoNotRunByThemselves(t *testing.T) {
	t.Parallel()
	for day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2028; day = day.AddDate(0, 0, 1) {
		first := time.Date(day.Year(), time.Month(farMonth(day)), 1, 0, 0, 0, 0, time.UTC)
		for _, at := range []time.Time{first, first.AddDate(1, 0, 0)} {
			if away := at.Sub(day).Abs(); away < 30*24*time.Hour {
				t.Fatalf("on %s a job runs at %s", day, at)
			}
		}
	}
}

// october makes a month of what the platform has: contracts of October with their deliveries, and
// one of the first days of November.
const october = `UPDATE contrato SET emissao = printf('202610%02d', CAST(num AS INTEGER)), inicio = '2026-10-05', fim = '2026-11-30' WHERE filial = '04';
	UPDATE contrato SET emissao = '20261102' WHERE filial = '04' AND num = '000022'; UPDATE romaneio SET dia = '20261020' WHERE ticket LIKE 'D%';`

// newOffice is a cooperative on a morning on which there is much to decide: `safrasync run` with
// its console, whose jobs run when somebody orders it: by themselves they do so once a year,
// complete sweeps too, so that the times that the pages tell do not move with the days.
func newOffice(t *testing.T) (s *service, base string) {
	t.Helper()
	s = newService(t, state.SQLite, false, func(o *sandbox.Options) { o.OnPost = nil })
	s.edit(withPerson, "SELECT * FROM contrato")
	far := fmt.Sprintf(`1 %d *"`, farMonth(time.Now()))
	s.edit(`schedule: "@every 1s"`, "schedule: \"0 3 "+far+"\n    sweep: \"0 3 "+far)
	s.write("config.yaml", s.read("config.yaml")+strings.Replace(weighed, "sends: deliveries",
		"sends: deliveries\n    schedule: \"30 3 "+far+"\n    sweep: \"30 3 "+far, 1)+
		"\nbrakes: {new_rows: 0}\nconsole: {listen: 127.0.0.1:0, name: Cooperativa Exemplo}\nlanguage: pt-BR\n")
	day := func(faults []string, sql string) {
		t.Helper()
		s.sql("erp.db", sql)
		s.faults(faults...)
		s.must(0, "sync")
	}
	day([]string{"lost-after@1"},
		"DROP TABLE pessoa; CREATE TABLE romaneio (ticket TEXT, filial TEXT, contrato TEXT, volume TEXT, dia TEXT, car TEXT);"+
			fmt.Sprintf(seedContracts, 24, "04", 900, "10")+fmt.Sprintf(seedTickets, 48, "D", "04")+october)
	day([]string{`order_commitments:status=400@1-,body={"messages":["message.wallet.producer-not-linked"]}`},
		fmt.Sprintf(seedContracts, 62, "02", 1405, "10"))
	day(nil, fmt.Sprintf(seedContracts, 37, "03", 2810, "12")+fmt.Sprintf(seedTickets, 111, "W", "03")+`INSERT INTO romaneio SELECT 'W0112', '01', '000004', volume, dia, car FROM romaneio WHERE ticket = 'W0001';
		UPDATE contrato SET quantidade = '260' WHERE filial = '01' AND num = '000002'; UPDATE contrato SET situacao = 'cancelado' WHERE filial = '04' AND num = '000024'`)
	for _, role := range []trade.Role{trade.Accountant, trade.Administrator} {
		s.addUser(role)
	}
	s.start()
	return s, "http://" + s.line("the console",
		func(l logLine) bool { return l.Msg == "the console is served" }).Address
}

// entry is a row as the ledger has it.
func (s *service) entry(job, key string) (id int64, at trade.State, remote string) {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.path("state.db")+"?mode=ro")
	if err == nil {
		err = db.QueryRowContext(s.t.Context(),
			`SELECT e.id, state, COALESCE(r.remote_id, '') FROM entry e LEFT JOIN sent r ON r.id = e.record_id WHERE e.job = ? AND e.key = ?`, job, key).Scan(&id,
			&at, &remote)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		s.t.Fatal(err)
	}
	return id, at, remote
}

// number is a row's in the ledger, which addresses of the console have.
func (s *service) number(key string) int64 {
	s.t.Helper()
	id, _, _ := s.entry("contracts", key)
	return id
}

// The ten things that people do most, in a real Chromium, with the real service, its ledger and the
// sandbox. They are one morning of one cooperative: each goes on from where the one before has
// ended. Only the long form does them.
func TestThePeopleOfACooperativeDoTheirTenThings(t *testing.T) {
	if !long && os.Getenv(goldenVariable) == "" {
		return
	}
	s, base := newOffice(t)
	c := newChrome(t, base, goldenWidth, goldenHeight)
	complaints := c.complaints()
	thing := func(name string, do func()) {
		t.Helper()
		if !t.Failed() { // the next things begin where this one should have ended
			t.Run(name, func(t *testing.T) {
				outer := c.t
				c.t, s.t, c.clicks = t, t, 0
				defer func() { c.t, s.t = outer, outer }()
				begun := time.Now()
				do()
				t.Logf("%d clicks, %.1f s", c.clicks, time.Since(begun).Seconds())
			})
		}
	}
	c.logIn(trade.Accountant)
	thing("01-inicio", func() {
		c.shows("sem confirmação ou em duplicidade", "O que resolver primeiro", "62 contratos", "carla")
		c.golden("01-inicio")
	})
	thing("02-contrato", func() {
		c.click(`nav a[href="/rows"]`)
		link := fmt.Sprintf(`#part a[href="/rows/%d"]`, s.number("01|000003"))
		c.do(chromedp.SendKeys(chromedp.CSS("#content input[type=search]"), "3\r"),
			chromedp.WaitVisible(chromedp.CSS(link)))
		c.accessible("rows")
		c.click(link)
		c.shows("01 | 000003", "com erro", "data de pagamento", "Quem resolve")
		c.golden("02-contrato")
	})
	thing("03-dispensar", func() {
		id := s.number("01|000003")
		c.open(fmt.Sprintf("/rows/%d", id))
		c.press("details.others > summary")
		c.click(fmt.Sprintf(`a[href="/act/dismiss?row=%d"]`, id))
		c.fill("textarea[name=reason]", "contrato lançado duas vezes no ERP")
		c.golden("03-dispensar")
		c.click("article form button")
		c.shows("Feito: dispensada", "contrato lançado duas vezes no ERP", "carla")
		if _, is, _ := s.entry("contracts", "01|000003"); is != trade.Dismissed {
			t.Errorf("the row is %s", is)
		}
	})
	thing("04-pendencias", func() {
		c.click(`nav a[href="/pending"]`)
		c.shows("produtor não vinculado à carteira", "62 contratos", "133.314.885\t112")
		c.golden("04-pendencias")
		retry := `a[href^="/act/retry?cause=message.wallet.producer-not-linked"]`
		c.click(`.causes a[href*="cause=message.wallet.producer-not-linked"]`)
		c.click(retry)
		c.accessible("retry")
		c.shows("São 62 documentos. Digite o número")
		c.fill("input[name=count]", "62")
		c.fill("[name=reason]", "o produtor foi vinculado à carteira")
		c.click("article form button")
		c.shows("Feito: vai na próxima execução", "Vai na próxima execução de Contratos, em")
		if c.open("/pending"); strings.Contains(c.text(), "62 contratos") {
			t.Error("what goes with the next run is still shown as stuck")
		}
	})
	thing("05-sem-confirmacao", func() {
		c.open("/") // from here on three clicks, and what a person types
		c.click(`.first a[href="/doubts/next"]`)
		c.shows("1 de 1", "Procure na plataforma")
		c.accessible("doubt")
		// by the first request, whose answer was lost
		made := s.box.Server.CreatedOf(sandbox.ResourceOrderCommitments)[0].ID
		c.fill("#found input[name=id]", made)
		c.click("#found .one button")
		c.shows("Tudo o que a plataforma mostra é igual")
		c.fill("[name=reason]", "visto na tela da plataforma")
		c.golden("05-sem-confirmacao")
		c.click("article form button")
		c.shows("Registrado como já enviado.", "Nada para decidir")
		if _, is, remote := s.entry("contracts", "01|000001"); is != trade.Accepted || remote != made {
			t.Errorf("the row is %s as %s, want %s", is, remote, made)
		}
	})
	thing("06-alterado", func() {
		c.click(`nav a[href="/changed"]`)
		c.shows("quantidade", "todos os documentos deste grupo", "3,600", "cancelado no ERP após o envio 1")
		c.golden("06-alterado")
		c.press(fmt.Sprintf(`input[name=row][value="%d"]`, s.number("01|000002")))
		c.click("main form .acts button")
		c.fill("textarea[name=reason]", "acertado na tela da plataforma, protocolo 4711")
		c.accessible("changed plan")
		c.click("form[action='/act/acknowledge'] button")
		c.shows("Feito: marcada como resolvida")
	})
	c.click(`form[action="/logout"] button`)
	c.logIn(trade.Administrator)
	thing("07-de-para", func() {
		c.click(`nav a[href="/references"]`)
		c.open("/references/wallets")
		c.click(`a[href^="/references/wallets?code=12"]`)
		c.shows("7.105,800", "R$ 133.314.885,00", "112")
		c.fill("#add input[name=id]", "33333333-3333-4333-8333-333333333312")
		c.fill("#add input[name=reason]", "carteira 12 criada na plataforma")
		c.golden("07-de-para")
		c.click("#add button")
		c.shows("segue o que aguarda este código") // the second time it is stored
		c.accessible("references plan")
		c.click("#add button")
		c.shows("Gravado.", "Nada falta.")
	})
	thing("08-executar", func() {
		for _, job := range []string{"contracts", "deliveries"} {
			c.click(`nav a[href="/routines"]`)
			if job == "contracts" {
				c.golden("08-executar")
			}
			c.click(fmt.Sprintf(`header > .acts > a[href="/act/run?job=%s"]`, job))
			c.fill("[name=reason]", "a carteira 12 está no de-para")
			c.click(`form[action="/act/run"] button`)
			c.shows("Pedido feito.")
			c.do(chromedp.WaitVisible(chromedp.CSS("#ran:not([hx-get])"))) // it has ended
			c.shows("A execução de "+map[string]string{
				"contracts": "Contratos", "deliveries": "Entregas",
			}[job]+" terminou em", "Enviados ")
			s.line("the run of "+job, func(l logLine) bool { return l.Msg == "run" && l.Job == job && l.Sent >= 100 })
		}
		for _, key := range []string{"01|000004", "02|000062", "03|000037"} {
			if _, is, _ := s.entry("contracts", key); is != trade.Accepted {
				t.Errorf("%s is %s", key, is)
			}
		}
		if n := len(s.box.Server.CreatedOf(sandbox.ResourceDeliveries)); n != 48+112 {
			t.Errorf("the platform has %d deliveries", n)
		}
	})
	c.click(`form[action="/logout"] button`)
	c.logIn(trade.Accountant)
	thing("09-conciliacao", func() {
		c.click(`nav a[href="/report"]`)
		c.do(chromedp.WaitVisible(chromedp.CSS(".accounts")))
		c.shows("Safra 2026/2026", "Sobra sem explicação", "Resumo", "Diferença", "Planilha (XLSX)")
		c.accessible("report")
		file := c.download(`button[name=format][value=xlsx]`)
		book := must.Get(zip.OpenReader(file))(t)
		defer book.Close()
		if _, err := fs.Stat(book, "xl/workbook.xml"); err != nil {
			t.Error(err)
		}
		c.golden("09-conciliacao")
	})
	thing("10-fechar", func() {
		c.open("/report")
		c.press(`details:has(input[type=month]) > summary`)
		c.do(chromedp.WaitVisible(chromedp.CSS(`input[type=month]`)),
			chromedp.SetValue(chromedp.CSS(`input[type=month]`), "2026-10"))
		c.click(`details > form[action="/report/close/plan"] button`)
		c.shows("Lista de conferência")
		c.fill("[name=reason]", "outubro conferido com o razão")
		c.shows("Lista de conferência", "Pontos em aberto", "Eu, carla, conferi")
		c.accessible("closing")
		c.golden("10-fechar")
		c.press(`input[name=signed]`)
		c.click(`form[action="/report/close/do"] button`)
		c.shows("O mês foi fechado", "outubro conferido com o razão", "Fechamento de 10/2026", "carla",
			"o que foi guardado")
		c.accessible("closed month")
	})
	if list := complaints(); len(list) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(list, "; "))
	}
	s.stop()
}

// download clicks on something that gives a file, and returns where it is.
func (c *chrome) download(selector string) string {
	c.t.Helper()
	dir := c.t.TempDir()
	must.Get(chromedp.CallBrowser(c.ctx, chromium.SetDownloadBehavior, chromium.SetDownloadBehaviorParams{
		Behavior: chromium.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: dir, EventsEnabled: new(true),
		BrowserContextID: chromedp.FromContext(c.ctx).BrowserContextID,
	}))(c.t)
	events := chromedp.BrowserEvents(c.ctx, chromium.DownloadProgress)
	c.press(selector)
	for event, err := range events {
		if err != nil {
			c.t.Fatal(err)
		}
		switch event.State {
		case chromium.DownloadProgressStateCompleted:
			file := filepath.Join(dir, event.GUID)
			if _, err := os.Stat(file); err == nil {
				return file
			} // else it is another window's
		case chromium.DownloadProgressStateCanceled:
			c.t.Fatal("the browser did not take the file")
		}
	}
	c.t.Fatal("the browser ended before it had the file")
	return ""
}
