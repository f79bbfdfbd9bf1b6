package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// heard records what an event told of a record of the platform.
func (d *deskWorld) heard(seq int, kind, id, event, word string) {
	d.t.Helper()
	d.sql("state.db", fmt.Sprintf(`INSERT INTO heard (kind, id, seq, event, at, word) VALUES ('%s', '%s', %d, '%s', %d, '%s')`,
		kind, id, seq, event, time.Now().UnixMilli(), word))
}

// candidate records a record of the platform of which an event told, as it was read back.
func (d *deskWorld) candidate(id, state, fields string) {
	d.t.Helper()
	at := time.Now().UnixMilli()
	d.sql("state.db", fmt.Sprintf(`INSERT INTO candidate (id, seq, event, purpose, heard_at, last_at, tries, state, status, fields, unread, settled_by)
		VALUES ('%s', 1, 'CREATE_ORDER_COMMITMENT', 'doubt', %d, %d, 1, '%s', 200, '%s', '[]', 0)`, id, at, at, state, fields))
}

const (
	likeID   = "5ca0a710-0000-4000-8000-0000000000c1"
	unreadID = "5ca0a710-0000-4000-8000-0000000000c2"
)

// F144, F145: the desk shows the records that come near, field by field, and those that could not
// be read; the id of one is taken over, and the platform is still asked before it counts.
func TestF144TheDeskShowsWhatTheRowMayBe(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-after@1")
	doubt, _ := d.inDoubt()
	desk := "/doubts/" + strconv.FormatInt(doubt.ID, 10)
	d.as(trade.Reader).Get(desk).Wants(http.StatusOK, "Sem avisos da plataforma")
	amount := doubt.Quantity.Amount.String()
	fields := strings.NewReplacer(`"amount":`+amount, `"amount":"7"`, `"wallet_id":`,
		`"other":`).Replace(string(doubt.Payload))
	d.candidate(likeID, "read", fields)
	d.candidate(unreadID, "unreadable", "{}")
	b := d.as(trade.Reader).Get(desk).Wants(http.StatusOK, "Diferente em: quantidade", likeID, "contrato criado",
		"≠ quantidade</th>", "<details open", "não mostrado", unreadID, "não pôde ser lido")
	if strings.Contains(b.Body, `value="adopt"`) {
		t.Error("a reader is offered to decide")
	}
	b = d.as(trade.Accountant).Get(desk).Wants(http.StatusOK, "É este", `name="id" value="`+likeID+`"`)
	decision(b, doubt, "adopt", "id", `">x`).Wants(http.StatusUnprocessableEntity,
		"não é um id", "&#34;&gt;x</code>")

	// A request to send it again, when the platform turns out to have all of it.
	d.extend("\napprove: {resend: 2}\n")
	b = d.as(trade.Accountant).Get(desk) // from now on this host knows of the doubt
	d.sql("state.db", afterQuarantine)
	decision(b, doubt, "resend")
	b.Post("/act/resend", with(b.Form("/act/resend"), "reason", "não está lá", "checked", "1")).Wants(http.StatusOK,
		"falta a aprovação de outra pessoa")
	const doubles = "Há um registro igual na plataforma: aprovar pode duplicar."
	for _, path := range []string{desk, "/approvals/1"} {
		if strings.Contains(b.Get(path).Wants(http.StatusOK).Body, doubles) {
			t.Errorf("%s warns of a record that differs", path)
		}
	}
	equal := strings.Replace(string(doubt.Payload), `"amount":`+amount, `"amount":"`+amount+`"`, 1)
	d.sql("state.db", fmt.Sprintf(`UPDATE candidate SET fields = '%s' WHERE id = '%s'`, equal, likeID))
	b.Get("/approvals/1").Wants(http.StatusOK, doubles)
	b.Get(desk).Wants(http.StatusOK, doubles, "Tudo igual ao enviado", "11 de 11 campos iguais")
}

// F154: what events told of a record stands at its row, in the console and in `why`; at a row
// that hangs on a contract also what was told of that.
func TestF154TheRowShowsWhatEventsTold(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, state.SQLite, weighed, tickets, "lost-after@3")
	sent := d.entry("contracts", "01|000001")
	if sent.State != trade.Accepted {
		t.Fatalf("the contract is %s", sent.State)
	}
	row := fmt.Sprintf("/rows/%d", sent.ID)
	if b := d.as(trade.Reader).Get(row); strings.Contains(b.Body, "A plataforma avisou") {
		t.Error("nothing was told, and the page has a place for it")
	}
	d.heard(1, "order_commitments", sent.RemoteID, "UPDATE_WORKFLOW_ORDER_COMMITMENT", "APPROVED")
	d.heard(2, "order_commitments", sent.RemoteID, "UPDATE_ORDER_COMMITMENT", "")
	_, producer, _ := strings.Cut(string(sent.Payload), `"producer_id":"`)
	producer, _, _ = strings.Cut(producer, `"`)
	d.heard(3, "producers", producer, "CHANGE_PRODUCER_STATUS_ESG", "BLOCKED")
	d.as(trade.Reader).Get(row).Wants(http.StatusOK, "A plataforma avisou: workflow do contrato", "aprovado",
		"contrato alterado", "ESG do produtor", "bloqueado")
	out, _ := d.run(0, "why", "contracts", sent.Key)
	for _, want := range []string{"workflow do contrato: APPROVED", "ESG do produtor: BLOCKED"} {
		if !strings.Contains(out, want) {
			t.Errorf("`why` lacks %q: %s", want, out)
		}
	}
	delivery := d.entry("deliveries", "T1")
	if delivery.State != trade.InDoubt {
		t.Fatalf("the delivery is %s", delivery.State)
	}
	d.as(trade.Accountant).Get("/doubts/"+strconv.FormatInt(delivery.ID, 10)).Wants(http.StatusOK,
		"não têm aviso nem consulta na API", "workflow do contrato: aprovado")
}

// F144: where events told of more records than the desk compares, it says so, shows the first ones
// since the request, and does not claim that none is like the row.
func TestF144TheDeskSaysThatItComparesOnlySome(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-after@1")
	doubt, _ := d.inDoubt()
	page := "/doubts/" + strconv.FormatInt(doubt.ID, 10)
	amount := doubt.Quantity.Amount.String()
	d.candidate(likeID, "read", strings.NewReplacer(`"amount":`+amount, `"amount":"7"`).Replace(string(doubt.Payload)))
	others := func(n int) {
		d.sql("state.db", fmt.Sprintf(`INSERT INTO candidate (id, seq, event, purpose, heard_at, last_at, tries, state, status, fields, unread, settled_by)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d)
			SELECT %[1]d || '-' || i, 1, 'UPDATE_ORDER_COMMITMENT', 'doubt', %[2]d, %[2]d, 1, 'read', 200, '{"amount":"1"}', '[]', 0 FROM n`, n, time.Now().Add(time.Minute).UnixMilli()))
	}
	others(1999)
	if b := d.as(trade.Reader).Get(page).Wants(http.StatusOK, likeID); strings.Contains(b.Body, "mais registros") {
		t.Error("all records are compared, and the desk says that some are not")
	}
	others(1)
	d.as(trade.Reader).Get(page).Wants(http.StatusOK, likeID, "Há mais registros do que os comparados aqui", "2.000")
	if out, _ := d.run(0, "why", "contracts", doubt.Key); !strings.Contains(out,
		"Há mais registros do que os 2000 comparados aqui") {
		t.Errorf("why: %s", out)
	}
}
