package main

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// heldDesk is a desk with a contract that was renumbered after it was sent, one that was typed
// twice, and one whose key occurs twice.
func heldDesk(t *testing.T) *deskWorld {
	t.Helper()
	d := newDeskOn(t, state.SQLite, "\nchecks: {twin: hold}\n", "")
	copied := func(num, quantity, of string) string {
		return fmt.Sprintf(`INSERT INTO contrato SELECT filial, %s, %s, produtor, loja, usuario, produto, local, safra, um,
			tipo, emissao, carteira, preco, inicio, fim, modalidade, pagto, forma, situacao
			FROM contrato WHERE num = '%s';`, num, quantity, of)
	}
	d.sql("erp.db", "UPDATE contrato SET num = '000901' WHERE num = '000001';"+
		copied("'000902'", "quantidade", "000002")+copied("num", "'401'", "000004"))
	d.run(0, "sync", "--sweep")
	for key, cause := range map[string]string{
		"01|000901": trade.CauseRetyped, "01|000902": trade.CauseTwin, "01|000004": trade.CauseDuplicateKey,
	} {
		if e := d.entry("contracts", key); e.State != trade.Held || e.Cause != cause {
			t.Fatalf("%s is %s, %s", key, e.State, e.Cause)
		}
	}
	return d
}

// Sending a renumbered contract makes a second record of it: the plan says so, shows the first record
// beside it, and demands that a person declares them two documents.
func TestARetryThatMayDoubleSaysSoAndDemandsATick(t *testing.T) {
	t.Parallel()
	d := heldDesk(t)
	old, renumbered := d.entry("contracts", "01|000001"), d.entry("contracts", "01|000901")
	at := fmt.Sprintf("/act/retry?row=%d", renumbered.ID)
	b := d.as(trade.Accountant).Get(at).Wants(http.StatusOK, old.RemoteID, "01|000001",
		fmt.Sprintf(`href="/rows/%d"`, old.ID), "não há como apagar", "Conferi: são dois documentos", "nunca foi enviada", "enviado ")
	if strings.Contains(b.Body, "Nada pode duplicar") {
		t.Error("the plan says that nothing can double")
	}
	form := with(b.Form("/act/retry"), "reason", "é outro contrato")
	b.Post("/act/retry", form).Wants(http.StatusUnprocessableEntity, "Marque que conferiu")
	if e := d.entry("contracts", "01|000901"); e.State != trade.Held {
		t.Fatalf("without the declaration it is %s", e.State)
	}
	b.Post("/act/retry", with(form, "checked", "1")).Wants(http.StatusOK)
	if e := d.entry("contracts", "01|000901"); e.State != trade.Pending {
		t.Errorf("it is %s", e.State)
	}
}

// What cannot double is not said to double, and needs no tick.
func TestARetryThatCannotDoubleSaysSo(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "status=404@1")
	rejected := d.rows(trade.Rejected)
	if len(rejected) == 0 {
		t.Fatal("nothing is rejected")
	}
	b := d.as(trade.Accountant).Get(fmt.Sprintf("/act/retry?row=%d", rejected[0].ID)).Wants(http.StatusOK,
		"Nada pode duplicar", "recusado com certeza")
	if strings.Contains(b.Body, `name="checked"`) {
		t.Error("it demands a tick")
	}
}

// On the command line a retry that may double needs --checked, and names the other record.
func TestARetryThatMayDoubleNeedsCheckedOnTheCommandLine(t *testing.T) {
	t.Parallel()
	d := heldDesk(t)
	old := d.entry("contracts", "01|000001")
	_, told := d.run(1, "retry", "contracts", "01|000901", "--reason", "é outro", "--yes")
	for _, want := range []string{"PODE DUPLICAR", "--checked", "01|000001", old.RemoteID} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in:\n%s", want, told)
		}
	}
	out, _ := d.run(0, "retry", "contracts", "01|000901", "--reason", "é outro", "--yes", "--checked", "--json")
	if !strings.Contains(out, `"counterpart":{"job":"contracts","key":"01|000001","remote_id":"`+old.RemoteID) {
		t.Error(out)
	}
	out, _ = d.run(0, "rows", "contracts", "--state", "held", "--json")
	if !strings.Contains(out, `"counterpart":{"job":"contracts","key":"01|000002"`) {
		t.Error(out)
	}
}

// Wherever a held row is shown, it names the row that it was compared with, and asks what is to be
// found out about it.
func TestAHeldRowNamesWhatItWasComparedWith(t *testing.T) {
	t.Parallel()
	d := heldDesk(t)
	b := d.as(trade.Accountant)
	for _, row := range []struct {
		key, other, ask string
		desk            []string
	}{
		{
			"01|000901", "01|000001", "Decidir: é o mesmo documento?",
			[]string{"Registrar como já enviado", "São dois: enviar", "cria outro registro na plataforma", "Dispensar"},
		},
		{
			"01|000902", "01|000002", "Decidir: são dois documentos?",
			[]string{"São dois documentos", "cria outro registro na plataforma", "É um só, digitado duas vezes"},
		},
	} {
		held, other := d.entry("contracts", row.key), d.entry("contracts", row.other)
		link := fmt.Sprintf(`href="/rows/%d"`, other.ID)
		b.Get(fmt.Sprintf("/rows/%d", held.ID)).Wants(http.StatusOK, other.RemoteID, link, row.ask)
		b.Get(fmt.Sprintf("/doubts/%d", held.ID)).Wants(http.StatusOK, append(row.desk, other.RemoteID, link)...)
		b.Get(fmt.Sprintf("/act/dismiss?row=%d", held.ID)).Wants(http.StatusOK, other.RemoteID, link)
		b.Get("/rows?state=held").Wants(http.StatusOK, "comparada com "+row.other, other.RemoteID)
		for _, args := range [][]string{
			{"rows", "contracts", "--state", "held"},
			{"why", "contracts", row.key},
			{"why", "contracts", row.key},
		} {
			out, _ := d.run(0, args...)
			if !strings.Contains(out, row.other) || !strings.Contains(out, other.RemoteID) {
				t.Errorf("%v does not name %s:\n%s", args, row.other, out)
			}
		}
	}
	renumbered, old := d.entry("contracts", "01|000901"), d.entry("contracts", "01|000001")
	b.Get(fmt.Sprintf("/rows/%d", old.ID)).Wants(http.StatusOK, "Parece ser agora",
		fmt.Sprintf(`<a role="button" href="/doubts/%d">Decidir: é o mesmo documento?`, renumbered.ID))
	if strings.Contains(b.Body, "/act/acknowledge") {
		t.Error("a document can be marked as resolved while it is open whether it is the same")
	}
	decision(b, renumbered, "adopt", "id", old.RemoteID).Wants(http.StatusOK,
		"passa a constar como enviado, com o id "+old.RemoteID, "No ERP agora", "Já enviado")
}

// A key that occurs twice is corrected in the ERP: no button leads to a question about the platform
// or to an act that is refused.
func TestADoubleKeyOffersNoDeadEnd(t *testing.T) {
	t.Parallel()
	d := heldDesk(t)
	held := d.entry("contracts", "01|000004")
	at := fmt.Sprintf("/rows/%d", held.ID)
	b := d.as(trade.Accountant).Get(at).Wants(http.StatusOK, "a chave está 2 vezes no ERP", "/act/dismiss?row=")
	for _, wrong := range []string{
		"/act/retry", fmt.Sprintf("/doubts/%d", held.ID), "está na plataforma?",
		">Enviado<", // nothing was
	} {
		if strings.Contains(b.Body, wrong) {
			t.Errorf("it offers %s", wrong)
		}
	}
	b.Get(fmt.Sprintf("/doubts/%d", held.ID)).Wants(http.StatusOK, "Corrija o ERP para que a chave apareça uma só vez")
	if strings.Contains(b.Body, "Está lá") || strings.Contains(b.Body, "/retry") {
		t.Error("the desk asks for the platform")
	}
}

// The file of decisions says the same as the plan: it names the other record, and that sending may
// double.
func TestTheFileOfDecisionsNamesWhatAHeldRowWasComparedWith(t *testing.T) {
	t.Parallel()
	d := heldDesk(t)
	old := d.entry("contracts", "01|000001")
	b := d.as(trade.Accountant).Get("/rows?state=held")
	b.Submit("/decisions/export", url.Values{"query": {"state=held"}, "format": {"decisoes.csv"}}).Wants(http.StatusOK,
		"comparada com 01|000001", old.RemoteID, "pode duplicar")
}

// The old number of a renumbered contract leads to the new one, before and after the new one has taken
// the record over, and nobody is told to delete that record.
func TestTheOldNumberLeadsToTheNewOne(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, weighed, tickets)
	d.sql("erp.db", "UPDATE contrato SET num = '000901' WHERE num = '000001'; UPDATE romaneio SET contrato = '000901'")
	d.run(0, "sync", "--sweep")
	old, renumbered := d.entry("contracts", "01|000001"), d.entry("contracts", "01|000901")
	b := d.as(trade.Accountant)
	// A delivery of it is not to be corrected before that is decided.
	desk := fmt.Sprintf(`href="/doubts/%d">Decidir: é o mesmo documento?`, renumbered.ID)
	b.Get("/changed").Wants(http.StatusOK, desk, "Decida primeiro o documento 01|000901 (renumerado)")
	if got := d.changes("")["contrato"]; len(got) != 1 || !strings.Contains(got[0], "enviado 01|000001 → agora 01|000901") {
		t.Errorf("the contracts: %q", got)
	}
	b.Get(fmt.Sprintf("/rows/%d", d.entry("deliveries", "T1").ID)).Wants(http.StatusOK, desk, "não há o que corrigir")
	if strings.Contains(b.Body, "Corrija na plataforma") {
		t.Error("it is to be corrected on the platform")
	}
	page := func(row trade.Entry, want ...string) {
		t.Helper()
		b.Get(fmt.Sprintf("/rows/%d", row.ID)).Wants(http.StatusOK, want...)
		if strings.Contains(b.Body, "exclua na plataforma") {
			t.Error("it is told to delete what belongs to the new number")
		}
	}
	page(old, "Parece ser agora", fmt.Sprintf(`href="/rows/%d"`, renumbered.ID), "Não exclua nada")
	d.run(0, "adopt", "contracts", renumbered.Key, old.RemoteID, "--reason", "é o mesmo", "--yes")
	page(old, "O registro agora é de", fmt.Sprintf(`href="/rows/%d"`, renumbered.ID), "a linha nova responde por ele")
	page(renumbered, "O registro era de", fmt.Sprintf(`href="/rows/%d"`, old.ID))
}

// A row with two faults says both, and is not said to go after the first cure.
func TestARowWithTwoFaultsNamesBoth(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("erp.db", "UPDATE contrato SET carteira = '12' WHERE num = '000003'")
	d.run(0, "sync", "--sweep")
	row := d.entry("contracts", "01|000003")
	b := d.as(trade.Accountant).Get(fmt.Sprintf("/rows/%d", row.ID)).Wants(http.StatusOK,
		"Só isso não basta para a linha ir: carteira sem de-para: código 12")
	if _, advice, _ := strings.Cut(b.Body, "Preencha"); strings.Contains(advice[:strings.Index(advice, "</dd>")], "vai na próxima") {
		t.Error("it is said to go although the code is missing")
	}
}

// Held rows stand in one queue with those in doubt: what a person decides about one leads to the next,
// and none is sent as another document without the declaration that it is one.
func TestHeldRowsAreDecidedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	d := heldDesk(t)
	renumbered, old := d.entry("contracts", "01|000901"), d.entry("contracts", "01|000001")
	b := d.as(trade.Accountant).Get("/").Wants(http.StatusOK, `href="/doubts/next">Resolver 3<`)
	b.Get("/doubts").Wants(http.StatusOK, "01|000901", "01|000902", "01|000004", "a chave está 2 vezes no ERP")
	var listed []string // the desk has them in the order of the list, whatever their kinds are
	for _, found := range regexp.MustCompile(`href="/doubts/([0-9]+)"`).FindAllStringSubmatch(b.Body, -1) {
		listed = append(listed, found[1])
	}
	after := ""
	for i, id := range append(listed, listed[0]) {
		b.Get("/doubts/next?after="+after).Wants(http.StatusOK, fmt.Sprintf("<strong>%d de 3</strong>", i%3+1), "/rows/"+id)
		after = id
	}
	b.Get("/doubts/next").Wants(http.StatusOK, "1 de 3", `aria-keyshortcuts="j"`)
	seen := map[trade.State]int{}
	for range 3 {
		_, at, _ := strings.Cut(b.Body, `href="/rows/`)
		id, _, _ := strings.Cut(at, `"`)
		act := "dismiss"
		if strings.Contains(b.Body, `action="/act/retry"`) && !strings.Contains(b.Body, "Registrar como já enviado") {
			act = "retry"
		}
		if id == fmt.Sprint(renumbered.ID) {
			act = "adopt"
		}
		b.Get("/act/" + act + "?" + with(b.Form("/act/"+act), "id", old.RemoteID).Encode()).Wants(http.StatusOK)
		order := with(b.Form("/act/"+act), "reason", "conferido com a filial")
		if act == "retry" {
			b.Post("/act/"+act, order).Wants(http.StatusUnprocessableEntity, "Marque que conferiu")
			order.Set("checked", "1")
		}
		b.Post("/act/"+act, order).Wants(http.StatusOK)
	}
	b.Wants(http.StatusOK, "Nada para decidir")
	for _, key := range []string{"01|000901", "01|000902", "01|000004"} {
		seen[d.entry("contracts", key).State]++
	}
	if seen[trade.Accepted] != 1 || seen[trade.Pending] != 1 || seen[trade.Dismissed] != 1 {
		t.Errorf("the rows are %v", seen)
	}
}

// The first page leads to each kind of what waits for a person, whose queue has only that kind. What is
// decided leads to the next of the kind, and after the last one to what is left.
func TestEachKindOfWhatWaitsHasAQueueOfItsOwn(t *testing.T) {
	t.Parallel()
	d := heldDesk(t)
	renumbered, old := d.entry("contracts", "01|000901"), d.entry("contracts", "01|000001")
	b := d.as(trade.Accountant).Get("/").Wants(http.StatusOK, `href="/doubts/next">Resolver 3<`)
	for only, key := range map[string]string{
		"retyped": "01|000901", "twin": "01|000902", "duplicate_key": "01|000004",
	} {
		b.Get("/").Wants(http.StatusOK, fmt.Sprintf(`href="/doubts/next?only=%s"`, only))
		b.Get("/doubts/next?only="+only).Wants(http.StatusOK, "1 de 1", key)
		b.Get("/doubts?only="+only).Wants(http.StatusOK, key, "/doubts/next?only="+only)
		for _, other := range []string{"01|000901", "01|000902", "01|000004"} {
			if other != key && strings.Contains(b.Body, other) {
				t.Errorf("the list of %s has %s", only, other)
			}
		}
	}
	b.Get("/pending?cause=twin").Wants(http.StatusOK, `href="/doubts?only=twin"`)
	b.Get("/pending?cause=retyped").Wants(http.StatusOK, "Comparado com", `= <a href="/rows/`)
	d.as(trade.Reader).Get("/").Wants(http.StatusOK, `href="/doubts?only=twin"`)
	b.Get("/doubts/next?only=nothing").Wants(http.StatusBadRequest)
	b.Get("/act/adopt?" + b.Get("/doubts/next?only=retyped").Form("/act/adopt").Encode())
	b.Post("/act/adopt", with(b.Form("/act/adopt"), "reason", "é o mesmo")).Wants(http.StatusOK,
		"01|000902", "01|000004")
	if e := d.entry("contracts", renumbered.Key); e.RemoteID != old.RemoteID {
		t.Errorf("the row is %s with id %q", e.State, e.RemoteID)
	}
	b.Get("/doubts/next?only=retyped").Wants(http.StatusOK, "01|000902", "01|000004")
}

// Rows that were renumbered and are equal in all that goes are recorded together, each with the id that its
// former number had; one that differs is not among them, and the number of rows must be typed.
func TestEqualRenumberedRowsAreRecordedTogether(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i, num := range []string{"000011", "000012", "000013"} {
		d.sql("erp.db", fmt.Sprintf(`INSERT INTO contrato SELECT filial, '%s', '%d', produtor, loja, usuario, produto, local,
			safra, um, tipo, emissao, carteira, preco, inicio, fim, modalidade, pagto, forma, situacao
			FROM contrato WHERE num = '000002'`, num, 700+10*i))
	}
	d.run(0, "sync")
	d.sql("erp.db", `UPDATE contrato SET num = '0009' || substr(num, 5) WHERE num IN ('000011', '000012', '000013');
		UPDATE contrato SET preco = '1199,00' WHERE num = '000913'`)
	d.run(0, "sync", "--sweep")
	b := d.as(trade.Accountant).Get("/doubts").Wants(http.StatusOK, "Registrar como já enviado (2)",
		`renumerado <span class="count">3<`, `= <a href="/rows/`, "≠ preço")
	form := url.Values{"only": {"retyped"}}
	for _, num := range []string{"000911", "000912", "000913"} { // the last of which nobody can mark
		held := d.entry("contracts", "01|"+num)
		form.Add("row", fmt.Sprint(held.ID))
		if marked := strings.Contains(b.Body, fmt.Sprintf(`name="row" value="%d"`, held.ID)); marked != (num != "000913") {
			t.Errorf("%s can be marked: %v", num, marked)
		}
	}
	b.Get("/act/adopt?"+form.Encode()).Wants(http.StatusOK, "Aplica-se a 2 de 2 documentos",
		"Digite o número para confirmar", "Registrar como já enviado (2)")
	order := with(b.Form("/act/adopt"), "reason", "renumerados pela filial")
	order["row"] = form["row"]
	b.Post("/act/adopt", order).Wants(http.StatusUnprocessableEntity, "O número digitado não é o dos documentos")
	b.Post("/act/adopt", with(order, "count", "3")).Wants(http.StatusUnprocessableEntity)
	b.Post("/act/adopt", with(order, "count", "2")).Wants(http.StatusOK, "Registrado como já enviado",
		`renumerado <span class="count">1<`)
	for num, state := range map[string]trade.State{"11": trade.Accepted, "12": trade.Accepted, "13": trade.Held} {
		now, old := d.entry("contracts", "01|0009"+num), d.entry("contracts", "01|0000"+num)
		if now.State != state || state == trade.Accepted && (now.RemoteID == "" || now.RemoteID != old.MovedID) {
			t.Errorf("%s is %s with id %q, and the former number had %q", num, now.State, now.RemoteID, old.MovedID)
		}
	}
	reader := d.as(trade.Reader).Get("/doubts").Wants(http.StatusOK, "000913")
	if reader.Get("/act/adopt?" + form.Encode()); reader.Status != http.StatusForbidden {
		t.Errorf("a reader is answered %d", reader.Status)
	}
}

// copiedContract types a contract again, under another number.
const copiedContract = `INSERT INTO contrato SELECT filial, '%s', '700', %s, loja, usuario, produto, local,
	safra, um, tipo, emissao, carteira, preco, inicio, fim, modalidade, pagto, forma, situacao
	FROM contrato WHERE num = '000002';`

// Of two rows that may be one record only a person can choose: none of them is offered.
func TestRowsOfOneRecordAreNotRecordedTogether(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, step := range []string{
		fmt.Sprintf(copiedContract, "000011", "produtor"),
		`UPDATE contrato SET num = '000911' WHERE num = '000011'`,
		`UPDATE contrato SET preco = '1.130,00' WHERE num = '000911'`,
		fmt.Sprintf(copiedContract, "000912", "produtor"),
		`UPDATE contrato SET preco = '1.129,50' WHERE num = '000911'`,
	} {
		d.sql("erp.db", step)
		d.run(0, "sync", "--sweep")
	}
	b := d.as(trade.Accountant).Get("/doubts").Wants(http.StatusOK, "000911", "000912", `= <a href="/rows/`)
	if strings.Contains(b.Body, "Registrar como já enviado (") {
		t.Error("two rows are offered for one record")
	}
	both := url.Values{"only": {"retyped"}, "row": {
		fmt.Sprint(d.entry("contracts", "01|000911").ID), fmt.Sprint(d.entry("contracts", "01|000912").ID),
	}}
	b.Get("/act/adopt?"+both.Encode()).Wants(http.StatusOK, "Nenhum documento está mais nesta lista")
	b.Get("/act/adopt?only=retyped").Wants(http.StatusOK, "Marque ao menos um documento")
	// what was sent is not known any more: then nothing is said about what differs
	d.sql("state.db", `UPDATE body SET payload = NULL WHERE entry_id = (SELECT id FROM entry WHERE key = '01|000011')`)
	if b.Get("/doubts"); strings.Contains(b.Body, `= <a href="/rows/`) || strings.Contains(b.Body, "≠") {
		t.Error("two rows are compared of which one is not known")
	}
	// a rebuild holds rows for causes that are none of a decision
	d.sql("state.db", `UPDATE entry SET cause = '' WHERE key = '01|000912'`)
	b.Get("/doubts").Wants(http.StatusOK, "Decidir um a um", `renumerado <span class="count">1<`)
	b.Get("/doubts?only=retyped").Wants(http.StatusOK, "000911")
}

// A second person must agree to what is worth more than a value. What is ordered as one is worth its sum.
func TestTheValueOfAGroupIsThatOfAllItsRows(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.sql("erp.db", fmt.Sprintf(copiedContract, "000011", "produtor")+
		strings.Replace(fmt.Sprintf(copiedContract, "000012", "produtor"), "'700'", "'710'", 1))
	d.run(0, "sync")
	d.sql("erp.db", `UPDATE contrato SET num = '0009' || substr(num, 5) WHERE num IN ('000011', '000012')`)
	d.run(0, "sync", "--sweep")
	d.extend("\napprove: {adopt: 2, above: 1000000}\n") // each is worth less
	form := url.Values{"only": {"retyped"}}
	for _, num := range []string{"000911", "000912"} {
		form.Add("row", fmt.Sprint(d.entry("contracts", "01|"+num).ID))
	}
	b := d.as(trade.Accountant)
	b.Get("/act/adopt?"+form.Encode()).Wants(http.StatusOK, "Aplica-se a 2 de 2 documentos")
	order := with(b.Form("/act/adopt"), "reason", "renumerados pela filial", "count", "2")
	order["row"] = form["row"]
	b.Post("/act/adopt", order)
	for _, num := range []string{"000911", "000912"} {
		if e := d.entry("contracts", "01|"+num); e.State != trade.Held {
			t.Errorf("%s is %s, and nobody else has agreed", num, e.State)
		}
	}
}

// A code of the de-para may be the document of a person.
func TestACodeOfAPersonIsMaskedWhereItNamesAnID(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const document = "111.444.777-35"
	d.run(0, "refs", "set", "producers", document+"|01", "11111111-1111-4111-8111-111111111111",
		"--reason", "teste de código", "--as", "ana", "--yes")
	d.sql("erp.db", fmt.Sprintf(copiedContract, "000021", "'"+document+"'"))
	d.run(0, "sync")
	sent := d.entry("contracts", "01|000021").ID
	d.sql("erp.db", `UPDATE contrato SET num = '000921', preco = '1.130,00' WHERE num = '000021'`)
	d.run(0, "sync", "--sweep")
	held := d.entry("contracts", "01|000921").ID
	row, doubt := fmt.Sprintf("/rows/%d", sent), fmt.Sprintf("/doubts/%d", held)
	for _, path := range []string{row, doubt, "/doubts", "/changed"} {
		if strings.Contains(d.as(trade.Reader).Get(path).Wants(http.StatusOK).Body, document) {
			t.Errorf("%s shows a document", path)
		}
	}
}

// In the browser a held row is decided in three clicks from the first page, or by its letters, which do
// nothing but open the plan, and nothing while somebody types: the first page leads to each kind of what
// waits.
func TestChromiumAHeldRowIsDecidedInThreeClicks(t *testing.T) {
	t.Parallel()
	d := heldDesk(t)
	renumbered, old := d.entry("contracts", "01|000901"), d.entry("contracts", "01|000001")
	c := newChrome(t, d.server.URL, 1280, 900)
	complaints := c.complaints()
	c.logIn(trade.Accountant)
	c.open("/doubts")
	c.everywhere("doubts")
	c.do(chromedp.EmulateViewport(1280, 900))
	c.open("/doubts/next")
	for range 3 { // the letter J goes to the next one
		if strings.Contains(c.text(), "Registrar como já enviado") {
			break
		}
		c.accessible("held")
		c.key("j")
	}
	c.accessible("held beside")
	c.key("a")
	c.shows("Registrar como já enviado?")
	c.writes()
	c.do(chromedp.EmulateViewport(390, 844))
	c.open(fmt.Sprintf("/act/retry?row=%d", renumbered.ID))
	c.accessible("held, two records on a phone")
	c.do(chromedp.EmulateViewport(1280, 900))
	c.open("/")
	from := c.clicks
	c.click(`.causes a[href="/doubts/next?only=retyped"]`)
	c.shows("1 de 1")
	c.click(`button[aria-keyshortcuts="a"]`)
	c.accessible("held plan")
	c.fill("[name=reason]", "é o mesmo")
	c.click(`form[action="/act/adopt"] button`)
	c.shows("Registrado como já enviado.")
	if e := d.entry("contracts", renumbered.Key); e.State != trade.Accepted || e.RemoteID != old.RemoteID {
		t.Errorf("the row is %s with id %q", e.State, e.RemoteID)
	}
	if n := c.clicks - from; n > 3 {
		t.Errorf("it took %d clicks", n)
	}
	c.open(fmt.Sprintf("/doubts/%d", d.entry("contracts", "01|000902").ID))
	c.key("n") // the plan demands the declaration
	c.shows("Conferi: são dois documentos", "São dois: enviar")
	c.writes()
	if list := complaints(); len(list) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(list, "; "))
	}
}
