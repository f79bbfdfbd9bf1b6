package main

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// inDoubt is the one row of the contracts that is in doubt, and another that was sent.
func (d *deskWorld) inDoubt() (doubt, sent trade.Entry) {
	d.t.Helper()
	for _, key := range []string{"01|000001", "01|000002"} {
		switch e := d.entry("contracts", key); e.State {
		case trade.InDoubt:
			doubt = e
		case trade.Accepted:
			sent = e
		}
	}
	if doubt.ID == 0 || sent.ID == 0 {
		d.t.Fatal("there is no row in doubt beside one that was sent")
	}
	return doubt, sent
}

// createdFor is the id of the record that the platform made of a row without telling.
func (d *deskWorld) createdFor(known string) string {
	d.t.Helper()
	for _, r := range d.box.Server.Created() {
		if r.ID != known {
			return r.ID
		}
	}
	d.t.Fatal("the platform has no record that the ledger does not know")
	return ""
}

// F158, F159: too early is told with the time left; an id is read back and compared, and one that
// is another row's, or unknown, is refused.
func TestARowInDoubtIsFoundOnThePlatformAndConfirmed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-after@1")
	doubt, sent := d.inDoubt()
	desk := "/doubts/" + strconv.FormatInt(doubt.ID, 10)

	d.as(trade.Reader).Get("/").Wants(http.StatusOK,
		`<a href="/doubts"><span>Sem confirmação ou em duplicidade</span><strong>1</strong>`)
	d.as(trade.Reader).Get("/doubts").Wants(http.StatusOK, doubt.Key,
		"sem resposta da plataforma", ">decisão em 1")
	b := d.as(trade.Accountant).Get(desk).Wants(http.StatusOK, "Procure na plataforma um registro com", "P1|01",
		"Está lá", "1 de 1", "Aguarde")
	if strings.Contains(b.Body, "<dd>R$</dd>") {
		t.Error("a currency without a price is to be looked for")
	}
	if strings.Contains(b.Body, "enviar de novo") {
		t.Error("a second sending is offered within the quarantine")
	}
	plan := func(act string, pairs ...string) *consoletest.Browser {
		t.Helper()
		return decision(b, doubt, act, pairs...)
	}
	plan("adopt", "id", "nonsense").Wants(http.StatusUnprocessableEntity, "não é um id")
	plan("adopt", "id", "11111111-1111-4111-8111-11111111aaaa").Wants(http.StatusUnprocessableEntity,
		"a plataforma não conhece este id")
	plan("adopt", "id", sent.RemoteID).Wants(http.StatusUnprocessableEntity, "este id já é de outro registro")
	plan("adopt", "no_id", "1").Wants(http.StatusUnprocessableEntity, "informe o id")
	plan("resend").Wants(http.StatusUnprocessableEntity, "ainda pode ser executado", "Aguarde") // F158
	plan("reopen").Wants(http.StatusBadRequest)

	id := d.createdFor(sent.RemoteID)
	plan("adopt", "id", id).Wants(http.StatusOK, "Tudo o que a plataforma mostra é igual",
		"O documento passa a constar como enviado")
	form := b.Form("/act/adopt")
	b.Post("/act/adopt", with(form, "reason", "oi")).Wants(http.StatusUnprocessableEntity, "ao menos 5 caracteres")
	form = with(form, "reason", "vi na tela da plataforma")
	second := d.as(trade.Administrator).Get(desk)
	b.Post("/act/adopt", form).Wants(http.StatusOK, "Registrado como já enviado.", "Nada para decidir")
	if e := d.entry("contracts", doubt.Key); e.State != trade.Accepted || e.RemoteID != id {
		t.Errorf("the row is %s with id %q, want accepted with %q", e.State, e.RemoteID, id)
	}
	// The second of two people is told who was first (F157).
	decision(second, doubt, "dismiss").Wants(http.StatusConflict,
		"Já decidido por carla às", "vi na tela da plataforma")
}

// A row that is held before it was ever sent is not shown as sent.
func TestTheDeskOfARowThatWasNeverSentSaysSo(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, "", `INSERT INTO contrato SELECT * FROM contrato WHERE num = '000001'`)
	held := d.entry("contracts", "01|000001")
	b := d.as(trade.Accountant).Get("/doubts/"+strconv.FormatInt(held.ID, 10)).Wants(http.StatusOK,
		"Corrija o ERP para que a chave apareça uma só vez", "Ainda não foi enviado.")
	for _, wrong := range []string{"Enviado em", "até onde o envio chegou", "Envios"} {
		if strings.Contains(b.Body, wrong) {
			t.Errorf("the desk of a row that was never sent says %q", wrong)
		}
	}
}

func TestARecordThatDiffersIsConfirmedASecondTime(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-after@1")
	doubt, _ := d.inDoubt()
	// Somebody typed it on the platform by hand, with another amount.
	amount := doubt.Quantity.Amount.String()
	body := strings.Replace(string(doubt.Payload), `"amount":`+amount, `"amount":7`, 1)
	if body == string(doubt.Payload) {
		t.Fatalf("the payload %s has no amount %s", doubt.Payload, amount)
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost,
		d.box.URL+"/api/v1/integration/order-commitments", strings.NewReader(body)))(t)
	request.Header.Set("Authorization", platformCanary)
	request.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	must.Do(t, err)
	text, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	_, id, _ := strings.Cut(string(text), `"id":"`)
	id, _, _ = strings.Cut(id, `"`)

	b := d.as(trade.Accountant)
	decision(b, doubt, "adopt", "id", id).Wants(http.StatusOK,
		"não é igual ao deste documento", "≠", "apesar das diferenças")
	form := with(b.Form("/act/adopt"), "reason", "é este o registro")
	b.Post("/act/adopt", form).Wants(http.StatusUnprocessableEntity, "Marque que conferiu")
	b.Post("/act/adopt", with(form, "checked", "1")).Wants(http.StatusOK, "Registrado como já enviado.")
	if e := d.entry("contracts", doubt.Key); e.RemoteID != id {
		t.Errorf("the row has the id %q, want %q", e.RemoteID, id)
	}
}

// Who gave the password more than ten minutes ago gives it again before a second sending.
func TestASecondSendingNeedsTheQuarantineTheCheckAndThePassword(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-before,reset@1")
	doubt, _ := d.inDoubt()
	desk := "/doubts/" + strconv.FormatInt(doubt.ID, 10)
	b := d.as(trade.Accountant).Get(desk) // from now on this host knows of the doubt
	d.sql("state.db", fmt.Sprintf(`UPDATE quarantine SET ticks = ticks - %d`, time.Hour))
	b.Get(desk).Wants(http.StatusOK, "Não existe lá", "Será enviado de novo")
	decision(b, doubt, "resend").Wants(http.StatusOK, "se já existir lá, ficará duplicado",
		"Conferi na plataforma")
	form := with(b.Form("/act/resend"), "reason", "não está lá")
	b.Post("/act/resend", form).Wants(http.StatusUnprocessableEntity, "Marque que conferiu")
	form = with(form, "checked", "1")
	d.sql("state.db", `UPDATE login SET proved_at = proved_at - 3600000`)
	b.Post("/act/resend", form).Wants(http.StatusUnprocessableEntity, "Digite sua senha")
	b.Post("/act/resend", with(form, "password", "errada de todo")).Wants(http.StatusUnprocessableEntity,
		"A senha não confere")
	if e := d.entry("contracts", doubt.Key); e.State != trade.InDoubt {
		t.Fatalf("the row is %s before anybody may send it again", e.State)
	}
	b.Post("/act/resend", with(form, "password", consoletest.Password)).Wants(http.StatusOK,
		"É enviado de novo na próxima execução.")
	if e := d.entry("contracts", doubt.Key); e.State != trade.Pending || e.Generation != 2 {
		t.Errorf("the row is %s in generation %d, want pending in 2", e.State, e.Generation)
	}
}

func TestOfManyWhoDecideAtOnceOneDoes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-after@1")
	doubt, _ := d.inDoubt()
	var forms []url.Values
	var browsers []*consoletest.Browser
	for range 6 {
		b := d.as(trade.Accountant)
		decision(b, doubt, "dismiss").Wants(http.StatusOK,
			"O documento não será enviado")
		forms, browsers = append(forms, with(b.Form("/act/dismiss"), "reason", "não será enviada")), append(browsers, b)
	}
	var working gosync.WaitGroup
	for i, b := range browsers {
		working.Go(func() { b.Post("/act/dismiss", forms[i]) })
	}
	working.Wait()
	done := 0
	for _, b := range browsers {
		if b.Status == http.StatusOK {
			b.Wants(http.StatusOK, "Fica de fora;")
			done++
			continue
		}
		if !strings.Contains(b.Body, "Já decidido por carla") {
			// the first one was still being done: who decides again is told
			b.Wants(http.StatusConflict, "e nada foi feito")
			b.Post("/act/dismiss", with(b.Form("/act/dismiss"), "reason", "não será enviada"))
		}
		b.Wants(http.StatusConflict, "Já decidido por carla")
	}
	if done != 1 {
		t.Errorf("%d decided, want 1", done)
	}
}

// weighed is a job of deliveries, and tickets its table.
const (
	weighed = `
  deliveries:
    sends: deliveries
    query: SELECT * FROM romaneio
    key: [ticket]
    fields:
      contract_id: {column: [filial, contrato], sent_by: contracts}
      delivered_volume: volume
      delivered_volume_unit_of_measure: {const: kg}
      delivery_date: {column: dia, date: YYYYMMDD}
      car: car
`
	tickets = `CREATE TABLE romaneio (ticket TEXT, filial TEXT, contrato TEXT, volume TEXT, dia TEXT, car TEXT);
		INSERT INTO romaneio VALUES ('T1', '01', '000001', '30000', '20260415', 'MT-5107925-0123456789ABCDEF0123456789ABCDEF')`
)

// Who decides one doubt sees the next, how far they have come, and in the end that nothing is left;
// what is put off comes again.
func TestOneDoubtLeadsToTheNext(t *testing.T) {
	t.Parallel()
	const another = `; INSERT INTO romaneio SELECT 'T2', filial, '000002', volume, dia, car FROM romaneio`
	d := newDeskOn(t, state.SQLite, weighed, tickets+another, "lost-after@1", "lost-after@3")
	contract, _ := d.inDoubt()
	ticket := d.rows(trade.InDoubt)[1]
	b := d.as(trade.Accountant).Get("/").Wants(http.StatusOK, `href="/doubts/next"`)
	b.Get("/doubts").Wants(http.StatusOK, `colspan="4">Contratos</th>`, `colspan="4">Entregas</th>`,
		`href="/doubts/next">Começar pelo primeiro<`, fmt.Sprintf(`href="/doubts/%d"`, ticket.ID))
	b.Get("/doubts/next").Wants(http.StatusOK, "1 de 2", contract.Key, "Decidir depois")
	if strings.Contains(d.as(trade.Reader).Get(fmt.Sprintf("/doubts/%d", contract.ID)).Body, "Decidir depois") {
		t.Error("a reader is offered to decide later")
	}
	b.Get("/doubts/next?only=in_doubt").Wants(http.StatusOK, "1 de 2",
		fmt.Sprintf(`href="/doubts/next?after=%d&amp;done=0&amp;only=in_doubt"`, contract.ID))
	b.Get(fmt.Sprintf("/doubts/next?after=%d", contract.ID)).Wants(http.StatusOK, "2 de 2", ticket.Key)
	b.Get(fmt.Sprintf("/doubts/next?after=%d", ticket.ID)).Wants(http.StatusOK, "1 de 2", contract.Key)
	decide := func(e trade.Entry, act string) *consoletest.Browser {
		t.Helper()
		progress := b.Form("/act/dismiss")
		noID := map[string]string{"adopt": "1"}[act] // nobody knows the id of a ticket
		decision(b, e, act, "done", progress.Get("done"), "no_id", noID).Wants(http.StatusOK)
		return b.Post("/act/"+act, with(b.Form("/act/"+act), "reason", "visto na tela"))
	}
	decide(contract, "dismiss").Wants(http.StatusOK, "2 de 2", ticket.Key, "Fica de fora;")
	decide(ticket, "adopt").Wants(http.StatusOK, "Nada para decidir", "Registrado como já enviado")
	b.Get("/doubts/next").Wants(http.StatusOK, "Nada para decidir")
}

func TestADeliveryIsConfirmedWithoutAnID(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, weighed, tickets, "lost-after@3")
	doubt := d.entry("deliveries", "T1")
	if doubt.State != trade.InDoubt {
		t.Fatalf("the delivery is %s: %+v", doubt.State, doubt.Error)
	}
	page := "/doubts/" + strconv.FormatInt(doubt.ID, 10)
	b := d.as(trade.Accountant).Get(page).Wants(http.StatusOK, "mas não sei o id",
		"A plataforma não permite ler este registro")
	decision(b, doubt, "adopt", "no_id", "1").Wants(http.StatusOK,
		"O documento passa a constar como enviado, sem id.")
	b.Post("/act/adopt", with(b.Form("/act/adopt"), "reason", "vi o romaneio na tela")).Wants(http.StatusOK,
		"Registrado como já enviado.")
	if e := d.entry(doubt.Job, doubt.Key); e.State != trade.Accepted || e.RemoteID != "" || e.RecordedBy == 0 {
		t.Errorf("the row is %s with id %q, closed by act %d", e.State, e.RemoteID, e.RecordedBy)
	}
}

// A refusal that proves that nothing was created is not told as an answer that leaves it open.
func TestTheDeskOfWhatExistsAlreadySaysThatTheRequestCreatedNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "duplicate@1")
	held := d.rows(trade.Held)[0]
	at := fmt.Sprintf("/doubts/%d", held.ID)
	b := d.as(trade.Accountant).Get(at).Wants(http.StatusOK, "recusado: não criou nada")
	if strings.Contains(b.Body, "não diz se criou") {
		t.Error("it is told that the answer does not say whether it created the record")
	}
}

// The counts of a pass are those of the pass, not of what a page lists of it; what created nothing comes
// first, and each number leads to its documents, with the same sum.
func TestTheCountsOfAPassAreThoseOfThePass(t *testing.T) {
	t.Parallel()
	d := newDesk(t, `order_commitments:status=400@2,body={"messages":["message.producer.not-found"]}`, "duplicate@1")
	pass := must.Get(d.host.Store.Runs(t.Context(), "contracts", 1))(t)[0]
	sent := map[trade.RunResult]int{}
	for _, part := range must.Get(d.host.Office.RunParts(t.Context(), pass))(t) {
		sent[part.Result] = part.Rows
	}
	created, refused, exist := sent[trade.RunCreated], sent[trade.RunRefused], sent[trade.RunExists]
	if refused != 1 || exist != 1 || created+refused+exist != pass.RowsSent() {
		t.Errorf("of %d rows sent it says %v", pass.RowsSent(), sent)
	}
	b := d.as(trade.Reader)
	for part, n := range sent {
		b.Get(fmt.Sprintf("/runs/%s?part=%s", pass.ID, part)).Wants(http.StatusOK)
		_, list, _ := strings.Cut(b.Body, `href="/rows?`)
		list, _, _ = strings.Cut(list, `"`)
		_, foot, _ := strings.Cut(b.Body, "<tfoot>")
		_, sum, _ := strings.Cut(foot, `<td class="number"`)
		_, sum, _ = strings.Cut(sum, ">")
		sum, _, _ = strings.Cut(sum, "<")
		b.Get("/rows?"+html.UnescapeString(list)).Wants(http.StatusOK, fmt.Sprintf("Soma de %d documento", n), sum)
	}
	b.Get("/runs/"+pass.ID).Wants(http.StatusOK, `part=exists" aria-current="page"`)
	b.Get("/rows?of_run=nothing%3Acreated").Wants(http.StatusNotFound)
}

// On the desk the documents by which people search are shown by one recorded click, and what was
// never sent is no search term: who looked on the platform for it would find nothing, and send again.
func TestTheDeskShowsDocumentsByARecordedClick(t *testing.T) {
	t.Parallel()
	d := &deskWorld{bench: newCoop(t, state.SQLite, sandbox.Options{})}
	d.write("config.yaml", strings.Replace(d.read("config.yaml"), "    query: |\n      SELECT *",
		"    show: {produtor: nome}\n    query: |\n      SELECT *, 'Ana 111.444.777-35' AS nome", 1))
	d.faults("lost-after")
	d.people()
	d.run(0, "sync")
	d.open()
	row := d.rows(trade.InDoubt)[0]
	at := fmt.Sprintf("/doubts/%d", row.ID)
	b := d.as(trade.Accountant).Get(at).Wants(http.StatusOK, "(nada disto foi enviado): Ana ***.444.777-**",
		"Mostrar documentos (fica registrado)", "produtor (id na plataforma)",
		`<code class="uuid copy" title="11111111-1111-4111-8111-111111111111">`)
	look, erp, cut := strings.Cut(b.Body[strings.Index(b.Body, `id="look"`):], "No ERP é")
	for _, term := range []string{">SOJA<", ">quantidade<", "11111111-1111-4111-8111-111111111111"} {
		if !strings.Contains(look, term) {
			t.Errorf("%s was sent, and is no search term", term)
		}
	}
	for _, own := range []string{"Ana", "P1|01"} {
		if !cut || strings.Contains(look, own) || !strings.Contains(erp, own) {
			t.Errorf("%s was never sent, and stands among the search terms, or nowhere", own)
		}
	}
	b.Submit(at+"/reveal", url.Values{}).Wants(http.StatusOK, "(nada disto foi enviado): Ana 111.444.777-35")
	if strings.Contains(b.Body, "Mostrar documentos") {
		t.Error("what is shown is offered to be shown")
	}
	b.Get("/audit").Wants(http.StatusOK, "viu os CPF e CNPJ")
	d.as(trade.Reader).Get(at).Wants(http.StatusOK, "***.444.777-**")
	if strings.Contains(d.as(trade.Reader).Get(at).Body, "Mostrar documentos") {
		t.Error("a reader is offered the documents")
	}
}
