package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

func TestWhatTheERPChangedIsShownWithItsEffectAndDealtWith(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.as(trade.Reader).Get("/changed").Wants(http.StatusOK, "Nada mudou após o envio")
	d.sql("erp.db",
		`UPDATE contrato SET quantidade = '1600' WHERE num = '000001'; UPDATE contrato SET situacao = 'cancelado' WHERE num = '000002'`)
	d.run(0, "sync")

	b := d.as(trade.Accountant).Get("/changed").Wants(http.StatusOK, "01|000001", `alterado após o envio <span class="count">1</span>`,
		"Enviado 90,03 t, agora 96 t", ">5,970</span></td>", "Enviado 12 t, agora 0 t",
		">−12,000</span></td>", "−R$ 225.900,00", "<del>12 t</del> → –", "Diferença t<",
		`Todos <span class="count">2</span>`, "Todos os que podem ser marcados (2 documentos)")
	if strings.Contains(b.Body, " 0 t<") || strings.Contains(b.Body, ">0,000</span>") ||
		strings.Contains(b.Body, "$ 0,00") {
		t.Error("a difference of nothing is shown")
	}
	all := with(b.Form("/act/acknowledge"), "group", "*")
	// What was sent, and what the ERP has, is no one sum: the differences stand in their groups.
	b.Post("/act/acknowledge", all).Wants(http.StatusOK, "Aplica-se a 2 de 2 documentos</strong>")
	b.Get("/changed")
	d.as(trade.Reader).Get("/changed?flag=cancelled").Wants(http.StatusOK, "01|000002")

	// A list has what the ERP has now; a letter what was sent, as the platform has it.
	is := func(n string) string { return "/rows/" + strconv.FormatInt(d.entry("contracts", "01|"+n).ID, 10) }
	d.as(trade.Reader).Get("/rows?job=contracts&sort=-volume").Wants(http.StatusOK, "1.600 SC", ">96,000<")
	if page := d.as(trade.Reader).Get(is("000001")).Body; !strings.Contains(page, "de 1.500,5 SC (90,03 t) de SOJA") {
		t.Errorf("the letter of the changed contract says another quantity than what was sent:\n%s", page)
	}
	changed, cancelled := d.entry("contracts", "01|000001"), d.entry("contracts", "01|000002")
	rows := url.Values{"flag": {""}, "row": {strconv.FormatInt(changed.ID, 10), strconv.FormatInt(cancelled.ID, 10)}}
	b.Submit("/act/acknowledge", rows).Wants(http.StatusOK, "Aplica-se a 2 de 2 documentos", "Evidência")
	form := b.Form("/act/acknowledge")
	other := d.as(trade.Administrator).Get("/changed")
	other.Submit("/act/acknowledge", url.Values{"flag": {""}, "row": {rows["row"][0]}}).Wants(http.StatusOK)
	stale := with(other.Form("/act/acknowledge"), "reason", "acertado por telefone")
	b.Post("/act/acknowledge", with(form, "reason", "já")).Wants(http.StatusUnprocessableEntity, "ao menos 5 caracteres")
	b.Post("/act/acknowledge", with(form, "reason", "acertado na tela da plataforma, protocolo 4711")).Wants(http.StatusOK,
		"Feito: marcada como resolvida", "Nada mudou após o envio")
	if e := d.entry("contracts", changed.Key); e.Flags.Has(trade.Changed) || !e.Acknowledged.Has(trade.Changed) {
		t.Errorf("the flags are %v, dealt with %v", e.Flags, e.Acknowledged)
	}
	other.Post("/act/acknowledge", stale).Wants(http.StatusOK, "1 documento nada foi feito",
		"01|000001")
	// What somebody else dealt with meanwhile is not as if nothing had been marked.
	plan := url.Values{"token": {b.Token()}, "flag": {""}, "row": rows["row"]}
	b.Post("/act/acknowledge", plan).Wants(http.StatusOK, "Nenhum documento está mais nesta lista")
	plan.Del("row")
	b.Post("/act/acknowledge", plan).Wants(http.StatusOK, "Marque ao menos um documento")
	d.as(trade.Reader).Get("/audit?act=acknowledge").Wants(http.StatusOK, "o contrato 01|000001",
		"o contrato 01|000002", "carla", "protocolo 4711")
}

// A record that was deleted on the platform, as an event said and a reading confirmed, is dealt
// with like what the ERP changed: the row stays as it was sent, and its mark is told once.
func TestARecordDeletedOnThePlatformIsDealtWith(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	row := d.entry("contracts", "01|000001")
	must.Do(t, d.box.Server.DeleteCommitment(row.RemoteID))
	after := row // as the engine's hearing leaves it
	after.UpdatedAt, after.Flags = office.Now(), after.Flags.With(trade.DeletedRemote, true).With(trade.Changed, true)
	record := trade.AuditRecord{
		At: office.Now(), Who: "safrasync", Act: "deleted on the platform",
		Target: row.Job + " " + row.Key,
	}
	if done, err := d.host.Store.Act(t.Context(),
		[]trade.Act{{Update: &trade.Update{From: row.State, Entry: after}, Audit: record}}); err != nil || !done[0] {
		t.Fatalf("the row could not be flagged: %v, %v", done, err)
	}
	b := d.as(trade.Accountant).Get("/changed?flag=deleted_remote").Wants(http.StatusOK, "01|000001",
		`Todos <span class="count">1</span>`, // with two flags it is one document
		`excluído na plataforma <span class="count">1</span>`, row.RemoteID, `name="row"`)
	b.Submit("/act/acknowledge", url.Values{"flag": {""}, "row": {strconv.FormatInt(row.ID, 10)}}).Wants(http.StatusOK,
		"Aplica-se a 1 de 1 documento", "Evidência")
	b.Post("/act/acknowledge", with(b.Form("/act/acknowledge"), "reason",
		"excluído a pedido do produtor, protocolo 4712")).Wants(http.StatusOK, "Feito: marcada como resolvida",
		"Nada mudou após o envio")
	if e := d.entry("contracts", row.Key); e.Flags.Has(trade.DeletedRemote) ||
		!e.Acknowledged.Has(trade.DeletedRemote) || e.State != trade.Accepted || e.RemoteID != row.RemoteID {
		t.Errorf("the row is %s with id %q, flags %v, dealt with %v", e.State, e.RemoteID, e.Flags, e.Acknowledged)
	}
	d.as(trade.Reader).Get("/audit?act=acknowledge").Wants(http.StatusOK, "o contrato 01|000001", "carla",
		"protocolo 4712")
}

// cells returns the texts of the cells of the first line of a table with this heading.
func cells(page, heading string) []string {
	_, rest, _ := strings.Cut(page, `<th scope="row">`+heading+`</th>`)
	line, _, _ := strings.Cut(rest, "</tr>")
	var out []string
	for _, cell := range strings.Split(line, "</td>") {
		if text := strings.TrimSpace(tags.ReplaceAllString(cell, " ")); text != "" {
			out = append(out, strings.Join(strings.Fields(text), " "))
		}
	}
	return out
}

var tags = regexp.MustCompile(`<[^>]*>`)

// changes returns the lines of the list of what changed after sending, by what changed.
func (d *deskWorld) changes(query string) map[string][]string {
	d.t.Helper()
	out := map[string][]string{}
	page := d.as(trade.Accountant).Get("/changed" + query).Wants(http.StatusOK).Body
	for _, group := range strings.Split(page, "<tbody>")[1:] {
		group, _, _ = strings.Cut(group, "</tbody>")
		head, lines, _ := strings.Cut(group, "</tr>")
		of, _, _ := strings.Cut(head, `<span class="`)
		of = strings.TrimSpace(tags.ReplaceAllString(of, ""))
		for _, line := range strings.Split(lines, "</tr>") {
			if text := strings.Join(strings.Fields(tags.ReplaceAllString(line, " ")), " "); text != "" {
				out[of] = append(out[of], text)
			}
		}
	}
	return out
}

// The key of a sent contract holds another contract now, which has no price. People correct the
// platform by this table: it shows what the ERP has now, what was sent, and what the platform was
// seen to have.
func TestAChangedRowShowsTheERPAsItIsNowBesideWhatWasSent(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("state.db", `UPDATE reference SET label = 'Carteira Milho' WHERE kind = 'wallets' AND code = '10'`)
	d.sql("erp.db", `UPDATE contrato SET tipo = 'A_FIXAR', preco = NULL, inicio = NULL, fim = NULL, modalidade = NULL,
		pagto = NULL, forma = NULL, quantidade = '650', produto = '001' WHERE num = '000002'`)
	d.run(0, "sync")
	b := d.as(trade.Reader)
	page := b.Get(fmt.Sprintf("/rows/%d", d.entry("contracts", "01|000002").ID)).Wants(http.StatusOK, "Agora no ERP",
		"Na plataforma").Body
	const replaced = "renumerado ou trocado" // such rows stand apart, with the question
	list := d.changes("")
	const question = "É o mesmo documento?"
	if b.Get("/changed"); strings.Contains(b.Body, question) {
		t.Error("who may only read is asked what to decide")
	}
	b.Get(fmt.Sprintf("/rows/%d", d.entry("contracts", "01|000002").ID))
	decides := d.as(trade.Accountant)
	decides.Get("/changed").Wants(http.StatusOK, `href="/changed?flag=replaced">renumerado ou trocado <span class="count">1<`)
	if decides.Get("/changed?flag=replaced").Wants(http.StatusOK, question); strings.Contains(decides.Body, `name="row"`) {
		t.Error("what is decided by itself can be marked")
	}
	for heading, want := range map[string][]string{
		"preço": {"vazio", "1.129,50", "não lido"}, "modalidade": {"vazio", "BALCAO", "não lido"},
		"data de pagamento": {"vazio", "15/06/2026", "não lido"}, "quantidade": {"650", "200", "não lido"},
	} {
		got := cells(page, heading)
		for i, text := range want {
			if len(got) != 3 || got[i] != text && !strings.HasPrefix(got[i], text+" ") {
				t.Errorf("%s: %q, want %q", heading, got, want)
				break
			}
		}
		if line := list[replaced]; len(line) != 1 || !strings.Contains(line[0], " · "+heading) || list[heading] != nil {
			t.Errorf("the list says of %s %q, and apart %q", heading, list[heading], line)
		}
	}
	b.Get(fmt.Sprintf("/rows/%d", d.entry("contracts", "01|000002").ID))
	// This line stands above what says when the ERP was read.
	text := tags.ReplaceAllString(b.Wants(http.StatusOK).Body, "")
	if !regexp.MustCompile(`No ERP, lido em [^:]*\d:\d\d\s+39 t\s*Contrato a fixar de 650 SC \(39 t\) de SOJA`).MatchString(text) {
		t.Error("the top of the page does not say when the ERP was read")
	}
	b.Wants(http.StatusOK, "<small>Enviado</small>", "Contrato de compra de 200 SC (12 t) de MILHO")

	// A cancelled contract is not shown as if the ERP had it.
	d.sql("erp.db", `UPDATE contrato SET situacao = 'cancelado' WHERE num = '000002'`)
	d.run(0, "sync", "--sweep")
	if got := d.changes("")[replaced]; len(got) != 1 || !strings.Contains(got[0], "cancelado no ERP após o envio") ||
		strings.Contains(got[0], "quantidade") {
		t.Errorf("the cancelled contract: %q", got)
	}
}

// A de-para that is corrected after contracts were sent with it: they are in the list of what has
// changed, until a person has dealt with them.
func TestARowThatWasSentWithAFormerIDIsInTheListOfWhatHasChanged(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const other = "0b98fbe4-6680-4a11-9ba1-192ec42b7170"
	d.run(0, "refs", "set", "wallets", "10", other, "--reason", "cadastro errado", "--as", "ana", "--yes")
	d.run(0, "sync")
	b := d.as(trade.Reader)
	b.Get("/changed?flag=recoded").Wants(http.StatusOK, "01|000002", `o de-para mudou após o envio <span class="count">2</span>`)
	d.as(trade.Reader).Get("/").Wants(http.StatusOK, `href="/changed"><span>Alterados</span><strong>2<`)
	d.run(0, "acknowledge", "contracts", "01|000002", "--reason", "corrigido na plataforma", "--as", "ana", "--yes")
	d.run(0, "sync", "--sweep")
	if e := d.entry("contracts", "01|000002"); e.Flags.Has(trade.Recoded) || !e.Acknowledged.Has(trade.Recoded) {
		t.Errorf("flags %v, acknowledged %v", e.Flags, e.Acknowledged)
	}
}

// One change, told by four pages and stored once: the pages say the same of it.
func TestThePagesAgreeOnAChangeAfterSending(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("erp.db", `UPDATE contrato SET quantidade = '260' WHERE num = '000002'`)
	d.run(0, "sync", "--sweep")
	row := d.entry("contracts", "01|000002")
	if row.State != trade.Accepted || !row.Flags.Has(trade.Changed) {
		t.Fatalf("the row is %s with %v", row.State, row.Flags)
	}
	b := d.as(trade.Reader)
	for path, texts := range map[string][]string{
		"/":        {"Alterados1após o envio"},
		"/changed": {"alterado após o envio 1", "enviado 200 → agora 260", "R$ 67.770,00", row.RemoteID},
		fmt.Sprintf("/rows/%d", row.ID): {
			"Contrato de compra de 260 SC (15,6 t) de MILHO", "R$ 293.670,00 15,6 t", "Contrato de compra de 200 SC (12 t) de MILHO", row.RemoteID,
		},
		"/report?show=1&part=divergences": {
			"15,600 t", "12,000 t", "3,600 t", "R$ 293.670,00", "R$ 225.900,00", "R$ 67.770,00",
		},
	} {
		page := strings.Join(strings.Fields(tags.ReplaceAllString(b.Get(path).Wants(http.StatusOK).Body, "")), " ")
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("%s does not say %q", path, text)
			}
		}
	}
}

// People take values over to the platform by hand: each column says of when it is. A pass that could
// not read the ERP leaves the time of the last reading, and says why there is no newer one.
func TestAChangedRowSaysWhenTheERPAndThePlatformWereAsked(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("erp.db", `UPDATE contrato SET preco = '140,00' WHERE num = '000001'`)
	d.run(0, "sync")
	row := d.entry("contracts", "01|000001")
	paths := []string{"/changed", fmt.Sprintf("/rows/%d", row.ID)}
	b := d.as(trade.Reader)
	says := func(texts ...string) {
		t.Helper()
		for _, path := range paths {
			page := b.Get(path).Wants(http.StatusOK, texts...).Body
			if n := strings.Count(page, ">ERP: ") + strings.Count(page, ">Contratos, ERP: "); n != 1 {
				t.Errorf("%s tells %d times when the ERP was read", path, n)
			}
		}
	}
	said := func(at time.Time) string { return at.In(d.host.App.Config.Zone()).Format("02/01/2006 15:04") }
	read := must.Get(d.host.Store.Runs(t.Context(), "contracts", 1))(t)[0]
	if read.ReadAt.IsZero() {
		t.Fatal("a pass that read the ERP does not say when")
	}
	sent := must.Get(d.host.Store.Attempts(t.Context(), row.ID))(t)[0].StartedAt
	says("ERP: lido em "+said(read.ReadAt), "Enviado em "+said(sent), "Plataforma: não consultada")

	// The platform was asked, first without an answer that has the values.
	d.candidate(row.RemoteID, "heard", `{}`)
	d.sql("state.db", fmt.Sprintf(`UPDATE candidate SET asked_at = %d`, sent.Add(time.Hour).UnixMilli()))
	says("Plataforma: consultada em " + said(sent.Add(time.Hour)) + ", sem resposta que tenha os valores")
	d.sql("state.db", `UPDATE candidate SET state = 'read', fields = '{"price":"131.00"}'`)
	says("Plataforma: como estava em " + said(sent.Add(time.Hour)))
	if got := d.changes("")["preço"]; len(got) != 1 || !strings.Contains(got[0], "Na plataforma: 131,00") {
		t.Errorf("the platform's value is not shown: %q", got)
	}

	// A row that the ERP lost, and an ERP that cannot be read.
	must.Do(t, os.Rename(d.path("erp.db"), d.path("away.db")))
	d.run(1, "sync")
	failed := must.Get(d.host.Store.Runs(t.Context(), "contracts", 1))(t)[0]
	says("ERP: lido em "+said(read.ReadAt), "sem leitura nova desde "+said(failed.StartedAt)+": ")

	// A job that never was read to the end, and a pass of which no end is known.
	d.sql("state.db", `DELETE FROM run; UPDATE job_cursor SET swept_at = NULL`)
	says("ERP: nunca lido por inteiro")
	must.Do(t, d.host.Store.StartRun(t.Context(),
		trade.RunReport{ID: "019a0000-0000-7000-8000-000000000001", Job: "contracts", StartedAt: read.StartedAt}))
	says("ERP: nunca lido por inteiro", "leitura começada em "+said(read.StartedAt)+", sem fim registrado")
}

// Many documents that changed are one table, by field, with sums that add up; a whole group is dealt with
// at once, also what the page does not show.
func TestChangesAreGroupedByFieldAndDealtWithByGroup(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("erp.db", `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
		INSERT INTO contrato SELECT filial, printf('8%05d', i), 100 + i, produtor, loja, usuario, produto, local, safra,
		um, tipo, emissao, carteira, preco, inicio, fim, modalidade, '2026-06-15', forma, situacao
		FROM contrato, n WHERE num = '000002'`)
	d.run(0, "sync")
	d.sql("erp.db", `UPDATE contrato SET preco = '1139,50' WHERE num LIKE '8%';
		UPDATE contrato SET quantidade = quantidade + 10 WHERE num LIKE '80005%'`)
	d.run(0, "sync")
	b := d.as(trade.Accountant).Get("/changed").Wants(http.StatusOK, `Todos <span class="count">60</span>`,
		"ver todos os 60", "ver todos os 10")
	// 60 documents of 101 to 160 sacas, ten of them with 10 sacas more at the former price: all at 10,00 more.
	b.Wants(http.StatusOK, "R$ 79.300,00", "R$ 112.950,00", ">6,000</span></td>")
	list := d.changes("")
	if len(list["preço"]) != 5 || len(list["quantidade"]) != 5 {
		t.Fatalf("%d and %d lines are shown", len(list["preço"]), len(list["quantidade"]))
	}
	if line := list["preço"][0]; !strings.Contains(line, "enviado 1.129,50 → agora 1.139,50") ||
		!strings.Contains(line, "800059") || !strings.Contains(line, "R$ 1.690,00") {
		t.Errorf("the largest difference is not first: %s", line)
	}
	one := d.changes("?group=price")["preço"]
	two := d.changes("?group=price&after=50")
	if len(one) != 50 || len(two["preço"]) != 10 || len(two["quantidade"]) != 0 {
		t.Errorf("pages of %d and %d lines", len(one), len(two["preço"]))
	}
	b.Get("/changed?group=price").Wants(http.StatusOK, "after=50&amp;group=price")
	form := with(b.Form("/act/acknowledge"), "group", "amount")
	b.Post("/act/acknowledge", form).Wants(http.StatusOK, "Aplica-se a 10 de 10 documentos",
		"10 documentos destes mudaram também em outro campo")
	form = with(b.Form("/act/acknowledge"), "reason", "acertado na tela, protocolo 4713")
	b.Post("/act/acknowledge", form).Wants(http.StatusOK, "Feito: marcada como resolvida",
		`Todos <span class="count">50</span>`)
	b.Post("/act/acknowledge", with(b.Form("/act/acknowledge"), "group", "*")).Wants(http.StatusOK,
		"Aplica-se a 50 de 50 documentos")
	form = with(b.Form("/act/acknowledge"), "reason", "acertado na tela, protocolo 4714")
	// One of them changes again before they are dealt with: it stays, and is named.
	d.sql("erp.db", `UPDATE contrato SET preco = '1140,50' WHERE num = '800001'`)
	d.run(0, "sync")
	b.Post("/act/acknowledge", form).Wants(http.StatusOK, "Feito com 49 documentos",
		"1 documento nada foi feito", "01|800001")
	b.Get("/changed").Wants(http.StatusOK, `Todos <span class="count">1</span>`, "01|800001")
	b.Post("/act/acknowledge", form).Wants(http.StatusConflict, "nada foi feito")
}

// A change of the code of a reference is shown with labels, not with ids alone.
func TestAChangedReferenceIsShownByItsLabels(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("state.db", `UPDATE reference SET label = 'Carteira ' || code WHERE kind = 'wallets'`)
	d.run(0, "refs", "set", "wallets", "11", "0b98fbe4-6680-4a11-9ba1-192ec42b7170", "--reason", "carteira nova",
		"--as", "ana", "--yes")
	d.sql("state.db", `UPDATE reference SET label = 'Carteira Nova' WHERE kind = 'wallets' AND code = '11'`)
	d.sql("erp.db", `UPDATE contrato SET carteira = '11' WHERE num = '000002'`)
	d.run(0, "sync")
	if got := d.changes("")["carteira"]; len(got) != 1 || !strings.Contains(got[0], "enviado Carteira 10 ") ||
		!strings.Contains(got[0], "agora Carteira Nova ") {
		t.Errorf("the wallets: %q", got)
	}
}

// What changed after sending is for everybody, on a phone and on a desk, in the light and in the dark.
func TestChromiumDealsWithAGroupOfChanges(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("erp.db", `UPDATE contrato SET preco = preco || '9' WHERE num = '000001';
		UPDATE contrato SET quantidade = '210' WHERE num = '000002'`)
	d.run(0, "sync")
	c := newChrome(t, d.server.URL, 1280, 800)
	complaints := c.complaints()
	c.logIn(trade.Accountant)
	c.open("/changed")
	c.everywhere("changed")
	c.press(`input[name=group][value="amount"]`)
	c.click(`form[action="/act/acknowledge"] button`)
	c.everywhere("changed plan")
	c.fill("textarea[name=reason]", "acertado na tela da plataforma")
	c.click(`form[action="/act/acknowledge"] button`)
	c.shows("Feito: marcada como resolvida")
	if list := complaints(); len(list) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(list, "; "))
	}
}

// What the platform refused, because it has such a record already, was never sent: nothing of it changed after
// sending, wherever that is counted.
func TestARowThatWasNeverCreatedIsNotAmongTheChanges(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "duplicate@1")
	held := d.rows(trade.Held)[0]
	_, num, _ := strings.Cut(held.Key, "|")
	d.sql("erp.db", `UPDATE contrato SET quantidade = '1600' WHERE num = '`+num+`'`)
	d.run(0, "sync")
	if e := d.entry("contracts", held.Key); !e.Flags.Has(trade.Changed) || e.State != trade.Held || e.RemoteID != "" {
		t.Fatalf("%s is %s, %v", e.Key, e.State, e.Flags)
	}
	page := d.as(trade.Reader).Get("/changed").Wants(http.StatusOK, "Nada mudou após o envio").Body
	if strings.Contains(page, `href="/changed?flag=changed"`) || strings.Contains(page, held.Key) {
		t.Error("it is among what changed")
	}
}

// Who does not yet know whether a renumbered contract is the one that was sent cannot mark its loss as
// resolved: neither by the button, nor by the list, nor by a request of their own.
func TestARecordOfAnUndecidedPairIsNotMarkedAsResolved(t *testing.T) {
	t.Parallel()
	d := heldDesk(t)
	old := d.entry("contracts", "01|000001")
	id := strconv.FormatInt(old.ID, 10)
	b := d.as(trade.Accountant).Get("/rows/" + id).Wants(http.StatusOK)
	if strings.Contains(b.Body, "/act/acknowledge?row=") {
		t.Fatal("the button is offered")
	}
	b.Get("/changed").Wants(http.StatusOK, `href="/rows/`+id+`"`)
	if strings.Contains(b.Body, `name="row" value="`+id) {
		t.Error("the list offers a tick")
	}
	b.Post("/act/acknowledge", url.Values{"token": {b.Token()}, "row": {id}}).Wants(http.StatusOK,
		"outra linha está retida por causa desta")
	if strings.Contains(b.Body, `name="mark"`) {
		t.Error("the plan can be done")
	}
	d.run(1, "acknowledge", old.Job, old.Key, "--reason", "não é o mesmo", "--yes")
	if e := d.entry(old.Job, old.Key); !e.Flags.Has(trade.MissingInERP) {
		t.Errorf("the flags are %v", e.Flags)
	}
	retry := d.as(trade.Accountant).Get(fmt.Sprintf("/act/retry?row=%d", d.entry("contracts", "01|000901").ID))
	retry.Post("/act/retry", with(retry.Form("/act/retry"), "reason", "são dois", "checked", "1")).Wants(http.StatusOK)
	d.run(0, "acknowledge", old.Job, old.Key, "--reason", "saiu do ERP", "--yes")
}
