package main

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// tells stores an event of the platform.
func (d *deskWorld) tells(seq int, event string, at time.Time, open bool) {
	d.t.Helper()
	next := "NULL"
	if open {
		next = fmt.Sprint(at.UnixMilli())
	}
	d.sql("state.db", fmt.Sprintf(`INSERT INTO inbox (seq, hash, event, webhook_id, body, coded, content_type, origin, first_at, last_at, times, next_at, outcome)
		VALUES (%d, 'h%d', '%s', 'w', '{"a": "word%d"}', 0, 'application/json', '127.0.0.1', %d, %d, 2, %s, '')`, seq, seq, event, seq,
		at.UnixMilli(), at.UnixMilli(), next))
}

func TestEventsOfThePlatformAreShownWithTheRowsThatTheyAreAbout(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.as(trade.Reader).Get("/events").Wants(http.StatusOK, "nenhum evento está assinado")
	sent := d.rows(trade.Accepted)[0]
	long := office.Now().Add(-30 * 24 * time.Hour)
	d.sql("state.db", fmt.Sprintf(`INSERT INTO webhook (id, event, address, path_hash, login_hash, hmac_mark, remote_id, state, asked_at, settled_at)
		VALUES ('w', 'UPDATE_ORDER_COMMITMENT', 'https://coop.example', 'p', 'l', '', '', 'active', %d, %d)`, long.UnixMilli(), long.UnixMilli()))
	d.tells(1, "UPDATE_WORKFLOW_ORDER_COMMITMENT", long, false)
	d.heard(1, "order_commitments", sent.RemoteID, "UPDATE_WORKFLOW_ORDER_COMMITMENT", "APPROVED")
	b.Get("/events").Wants(http.StatusOK, fmt.Sprintf(`href="/rows/%d"`, sent.ID), "1 evento. O último chegou em", "em uso")
	d.tells(2, "CREATE_ORDER_COMMITMENT", office.Now(), true)
	b.Get("/events").Wants(http.StatusOK, "1 evento ainda por ler")
	b.Get("/events?open=1").Wants(http.StatusOK, "por ler")
	b.Get("/events?q=word1&event=UPDATE_WORKFLOW_ORDER_COMMITMENT").Wants(http.StatusOK,
		fmt.Sprintf(`href="/rows/%d"`, sent.ID))
	b.Get("/events?q=nowhere").Wants(http.StatusOK, "Nenhum evento.")
	b.Get("/events?event=nothing").Wants(http.StatusBadRequest)
}

// Equal events of a minute are one line with their number, and the page leads to older ones.
func TestEqualEventsAreOneLine(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	at := office.Now().Truncate(time.Minute)
	for i := range 150 {
		event := "CREATE_ORDER_COMMITMENT"
		if i == 0 { // the oldest
			event = "CREATE_FARM"
		}
		d.tells(i+1, event, at, false)
	}
	page := func(path string, lines int, more string, wants ...string) {
		t.Helper()
		b := d.as(trade.Reader).Get(path).Wants(http.StatusOK, wants...)
		next := html.UnescapeString(regexp.MustCompile(`/events\?before=[^"]*`).FindString(b.Body))
		if n := strings.Count(b.Body, `class="lead"`); n != lines || next != more {
			t.Errorf("%s has %d lines, and leads to %q", path, n, next)
		}
	}
	page("/events?q=word", 2, "", `<span class="count">298</span>`, "propriedade criada")
	for i := range 60 { // each has a line of its own
		d.tells(i+151, []string{"CREATE_FARM", "CREATE_WALLET"}[i%2], at, false)
	}
	page("/events?q=word", 50, "/events?before=161&q=word")
	page("/events?before=161&q=word", 12, "", `<span class="count">298</span>`)
}

func TestAlertsAreShownWithWhomTheyWereToldTo(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-after@1")
	d.sql("erp.db", `CREATE TEMP TABLE one AS SELECT * FROM contrato WHERE num = '000001'; UPDATE one SET num = '000913';
		INSERT INTO contrato SELECT * FROM one`)
	d.run(0, "sync", "--record-only")
	b := d.as(trade.Reader).Get("/alerts").Wants(http.StatusOK, "Ninguém é avisado", "Nada em aberto.")
	at := office.Now().Add(-time.Hour)
	detail := json.RawMessage(`{"jobs":[{"name":"contracts","sends":"order_commitments"}],"rows":65,"limit":20}`)
	message := func(target, kind string) trade.AlertMessage {
		return trade.AlertMessage{
			Kind: kind, Target: target, CreatedAt: at, Content: json.RawMessage(`{"subject":"muitas recusas"}`),
		}
	}
	save := func(a trade.Alert, messages ...trade.AlertMessage) {
		t.Helper()
		if saved := must.Get(d.host.Store.SaveAlert(t.Context(), a, messages))(t); !saved {
			t.Fatal("the alert was not stored")
		}
	}
	save(trade.Alert{Topic: "rejected", Subject: "contracts", Detail: detail, Since: at, SeenAt: at, RaisedAt: at},
		message("email:ana@coop.example", "raised"), message("webhook:", "raised"))
	for range 2 {
		save(trade.Alert{
			Topic: "rejected", Subject: "deliveries", Detail: detail, Since: at.Add(-21 * time.Minute), SeenAt: at,
			GoneAt: at, ClosedAt: at,
		})
	}
	save(trade.Alert{ // with the same title, which is that of the detail
		Topic: "rejected", Subject: "traces", Detail: detail, Since: at, SeenAt: at, GoneAt: at, ClosedAt: at,
	})
	save(trade.Alert{Topic: "in_doubt", Subject: "contracts", Detail: detail, Since: at, SeenAt: at})
	save(trade.Alert{
		Topic: "accounts_changed", Subject: "accounts", Detail: json.RawMessage(`{"record":7,"accounts":1,"rows":1}`),
		Since: at, SeenAt: at,
	})
	save(trade.Alert{Topic: "long_waiting", Subject: "contracts", Detail: detail, Since: at, SeenAt: at})
	sent := must.Get(d.host.Store.LatestMessages(t.Context(), 10))(t)
	for _, m := range sent {
		if m.Target == "webhook:" {
			continue
		}
		m.Outcome, m.DoneAt = "delivered", at
		must.Do(t, d.host.Store.SettleMessage(t.Context(), m))
	}
	b.Get("/alerts").Wants(http.StatusOK, "65", `outro programa <span class="state waiting">a caminho</span><br>ana@coop.example</td>`,
		"encerrado", "2 vezes", `href="/rows?job=contracts&amp;state=in_doubt">Ver 1 documento</a>`,
		`href="/rows?job=contracts&amp;state=waits">Ver 2 documentos</a>`, "durou 21 min</small>",
		`<a href="/audit?before=8">Ver na auditoria</a>`, `<span>Avisos</span><span class="count">4</span>`)
	if strings.Contains(b.Body, "“Está lá”") {
		t.Error("who may only read is told what to do")
	}
	d.as(trade.Accountant).Get("/alerts").Wants(http.StatusOK, "“Está lá”")
	if n := strings.Count(b.Body, `<tr><td data-label="Situação">`); n != 6 {
		t.Errorf("seven alerts, two of them equal, are %d lines", n)
	}
}

// Whom an alert was told through another channel than e-mail is named by that channel, without its address.
func TestAnAlertNamesItsChannel(t *testing.T) {
	t.Parallel()
	d := &deskWorld{bench: newCoop(t, state.SQLite, sandbox.Options{})}
	d.write("hook", "https://hooks.example/services/secret")
	d.extend("\nalerts: {webhook: {url: \"${file:hook}\", form: slack}}\n")
	d.people()
	d.run(0, "sync", "--record-only")
	d.open()
	at := office.Now().Add(-time.Hour)
	a := trade.Alert{
		Topic: "rejected", Subject: "contracts", Since: at, SeenAt: at, RaisedAt: at,
		Detail: json.RawMessage(`{"jobs":[{"name":"contracts","sends":"order_commitments"}],"rows":65,"limit":20}`),
	}
	_ = must.Get(d.host.Store.SaveAlert(t.Context(), a, []trade.AlertMessage{{
		Kind: "raised", Target: "webhook:", CreatedAt: at, Content: json.RawMessage(`{"subject":"muitas recusas"}`),
	}}))(t)
	b := d.as(trade.Reader).Get("/alerts").Wants(http.StatusOK, `data-label="Avisados">Slack <span`)
	if strings.Contains(b.Body, "secret") || strings.Contains(b.Body, "outro programa") {
		t.Error("the channel has no name, or shows its address")
	}
}

// The audit names an event of the platform in words, an act that ended once, and its details in Portuguese. What
// one person did of one kind within minutes is one line with its number.
func TestTheAuditNamesEventsInWords(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	add := func(ago time.Duration, who, detail string) {
		t.Helper()
		must.Do(t, d.host.Store.AppendAudit(t.Context(), trade.AuditRecord{
			At: office.Now().Add(-ago), Who: who, Act: "webhooks apply", Target: "UPDATE_FARM", Detail: detail,
		}))
	}
	const after = `{"event":"UPDATE_FARM","of":{"phase":null},"phase":"after","status":201}`
	add(time.Hour, "ana", after)
	b := d.as(trade.Administrator).Get("/audit?act=webhooks+apply").Wants(http.StatusOK, "“propriedade alterada”")
	stored := func(texts ...string) {
		t.Helper()
		_, table, _ := strings.Cut(b.Body, "<tbody>")
		table, _, _ = strings.Cut(table, "</tbody>")
		for _, text := range append(texts, "{", "&#34;", "null", "<details") {
			if strings.Contains(table, text) {
				t.Errorf("the audit shows %q of what is stored, not what people read:\n%s", text, table)
			}
		}
	}
	stored("phase", "UPDATE_FARM", "201")
	add(3*time.Minute, "bia", "")
	for range 3 {
		add(time.Minute, "ana", after)
	}
	b.Get("/audit?act=webhooks+apply").Wants(http.StatusOK, `assinaturas de eventos <span class="count">3</span>`)
	if lines := strings.Count(b.Body, `<td class="number">`); lines != 3 {
		t.Errorf("five acts, three of them the same, are %d lines", lines)
	}
	must.Do(t, d.host.Store.AppendAudit(t.Context(), trade.AuditRecord{
		At: office.Now(), Who: "ana", Act: "pause", Target: "contracts",
		Detail: `{"before":{"state":"idle","stop":null},"after":{"state":"paused","stop":{"text":"ana paused the job"}}}`,
	}))
	b.Get("/audit?act=pause").Wants(http.StatusOK, "<strong>ana</strong> suspendeu", ">a rotina Contratos<")
	stored("idle", "stop", "paused the job")
}

// Of the details of an act the audit shows what people decided: a role, and the codes of a de-para.
func TestTheAuditShowsRolesAndCodes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const id = "0b98fbe4-6680-4a11-9ba1-192ec42b7170"
	d.run(0, "refs", "set", "wallets", "12", id, "--reason", "carteira nova", "--as", "ana", "--yes")
	d.run(0, "refs", "remove", "wallets", "12", "--reason", "engano", "--as", "ana", "--yes")
	must.Do(t, d.host.Store.AppendAudit(t.Context(), trade.AuditRecord{
		At: office.Now(), Who: "ana", Act: "user role", Target: "lia",
		Detail: `{"after":{"disabled":false,"role":"accountant"},"before":{"disabled":false,"role":"reader"}}`,
	}))
	b := d.as(trade.Administrator)
	for act, fact := range map[string]string{
		"refs+set": "<dt>12</dt><dd>– → " + id + "</dd>", "refs+remove": "<dt>12</dt><dd>" + id + " → –</dd>",
		"user+role": "<dt>Perfil</dt><dd>leitura → contabilidade</dd>",
	} {
		b.Get("/audit?act="+act).Wants(http.StatusOK, fact)
		if strings.Contains(b.Body, "disabled") || strings.Contains(b.Body, "&#34;to&#34;") {
			t.Errorf("%s: the audit shows what is stored", act)
		}
	}
}

// Who only reads is called to nothing: no request stands on a page, and the menu does not lead to them. An address
// that is none keeps the menu of who is logged in; a stranger gets none.
func TestWhoOnlyReadsIsCalledToNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	carla := d.as(trade.Accountant).Get("/references/wallets")
	planned(carla, "/references/wallets/propose", url.Values{
		"code": {"12"}, "id": {"33333333-3333-4333-8333-333333333312"}, "reason": {"carteira nova"},
	}).Wants(http.StatusOK)
	d.run(0, "pause", "contracts", "--reason", "inventário", "--yes")
	b := d.as(trade.Reader)
	for _, path := range []string{"/", "/references/wallets"} {
		b.Get(path).Wants(http.StatusOK)
		if strings.Contains(b.Body, "/approvals") || strings.Contains(b.Body, "Retome") {
			t.Errorf("%s calls a reader", path)
		}
	}
	b.Get("/nowhere").Wants(http.StatusNotFound, "Esta página não existe.", `href="/audit"`, ">lia<")
	if stranger := d.browser().Get("/nowhere").Wants(http.StatusNotFound); strings.Contains(stranger.Body, `href="/audit"`) {
		t.Error("a stranger gets the menu")
	}
}

// The form of a person is a row of its own below, and that of a new one is folded until it is needed.
func TestOnePersonIsChangedInARowOfTheirOwn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.as(trade.Accountant)
	b := d.as(trade.Administrator).Get("/users").Wants(http.StatusOK, `href="/users?open=carla#open"`, `<details class="add">`)
	if strings.Contains(b.Body, `action="/users/carla"`) && strings.Contains(b.Body, "Definir outra senha") {
		t.Error("a form is open before it is asked for")
	}
	b.Get("/users?open=carla").Wants(http.StatusOK, `<tr id="open"><td colspan="7"`, "Definir outra senha", `action="/users/carla"`)
	b.Submit("/users", url.Values{"name": {"!"}, "role": {"reader"}, "password": {"x"}}).Wants(
		http.StatusUnprocessableEntity, `<details class="add" open>`)
	login := d.browser().Get("/login").Wants(http.StatusOK, "Esqueceu a senha?")
	if strings.Contains(login.Body, "safrasync users") {
		t.Error("who logs in reads a command")
	}
}
