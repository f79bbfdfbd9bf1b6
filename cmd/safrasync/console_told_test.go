package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
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
	b := d.as(trade.Reader).Get("/events").Wants(http.StatusOK, "nenhum aviso de evento está registrado")
	sent := d.rows(trade.Accepted)[0]
	long := office.Now().Add(-30 * 24 * time.Hour)
	d.sql("state.db", fmt.Sprintf(`INSERT INTO webhook (id, event, address, path_hash, login_hash, hmac_mark, remote_id, state, asked_at, settled_at)
		VALUES ('w', 'UPDATE_ORDER_COMMITMENT', 'https://coop.example', 'p', 'l', '', '', 'active', %d, %d)`, long.UnixMilli(), long.UnixMilli()))
	d.tells(1, "UPDATE_WORKFLOW_ORDER_COMMITMENT", long, false)
	d.heard(1, "order_commitments", sent.RemoteID, "UPDATE_WORKFLOW_ORDER_COMMITMENT", "APPROVED")
	b.Get("/events").Wants(http.StatusOK, fmt.Sprintf(`href="/rows/%d"`, sent.ID), "O último evento chegou em", "em uso")
	d.tells(2, "CREATE_ORDER_COMMITMENT", office.Now(), true)
	b.Get("/events").Wants(http.StatusOK, "1 evento ainda por ler")
	b.Get("/events?open=1").Wants(http.StatusOK, "por ler")
	b.Get("/events?q=word1&event=UPDATE_WORKFLOW_ORDER_COMMITMENT").Wants(http.StatusOK,
		fmt.Sprintf(`href="/rows/%d"`, sent.ID))
	b.Get("/events?q=nowhere").Wants(http.StatusOK, "Nenhum evento.")
	b.Get("/events?event=nothing").Wants(http.StatusBadRequest)
}

func TestAlertsAreShownWithWhomTheyWereToldTo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
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
	save(trade.Alert{
		Topic: "rejected", Subject: "deliveries", Detail: detail, Since: at, SeenAt: at, GoneAt: at, ClosedAt: at,
	})
	sent := must.Get(d.host.Store.LatestMessages(t.Context(), 10))(t)
	for _, m := range sent {
		if m.Target == "webhook:" {
			continue
		}
		m.Outcome, m.DoneAt = "delivered", at
		must.Do(t, d.host.Store.SettleMessage(t.Context(), m))
	}
	b.Get("/alerts").Wants(http.StatusOK, "65", "ana@coop.example", "entregue", "outro programa",
		"a caminho", "Encerrados")
}

// tellERP configures a program that is told, and opens the console anew.
func (d *deskWorld) tellERP() {
	d.t.Helper()
	d.env["EVENTS"] = eventsSecret
	d.extend("\nevents: [{name: erp, url: \"http://127.0.0.1:1/x\", secret: \"${env:EVENTS}\"}]\n")
}

// told stores an event for that program, and what became of its delivery.
func (d *deskWorld) told(outcome, fault string, at time.Time) {
	d.t.Helper()
	store, sent := d.host.Store, d.rows(trade.Accepted)[0]
	must.Do(d.t, store.Tell(d.t.Context(), []trade.EventTarget{{Name: "erp"}}))
	d.sql("state.db", fmt.Sprintf(`INSERT INTO outbox (target, kind, entry_id, job, key, sends, state, cause, remote_id, generation, version, at)
		VALUES ('erp', 'row.accepted', %d, '%s', '%s', '%s', 'accepted', '', '', 1, 1, %d)`, sent.ID, sent.Job, sent.Key, sent.Sends, at.UnixMilli()))
	e := must.Get(store.Outbox(d.t.Context(), trade.OutEventFilter{Limit: 1}))(d.t)[0]
	e.Tries, e.Outcome, e.Fault, e.NextAt = 7, outcome, fault, at
	if outcome != "" {
		e.DoneAt = at
	}
	must.Do(d.t, store.SettleEvents(d.t.Context(), "erp", []trade.OutEvent{e}, true, nil))
}

// Administrators see what other programs did not take, and let it go again: what the plan showed, and
// nothing that came since.
func TestWhatOtherProgramsDidNotTakeIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.as(trade.Reader).Get("/events/programs").Wants(http.StatusForbidden)
	d.as(trade.Administrator).Get("/events").Wants(http.StatusOK, `href="/events/programs"`)
	d.as(trade.Administrator).Get("/events/programs").Wants(http.StatusOK, "Nenhum outro programa é avisado")
	d.tellERP()
	b := d.as(trade.Administrator)
	b.Get("/events/programs").Wants(http.StatusOK, "ainda não avisa este programa", "Nenhum aviso até agora")
	store, sent := d.host.Store, d.rows(trade.Accepted)[0]
	at := office.Now().Add(-time.Hour)
	d.told(trade.EventDelivered, "", at)
	d.told(trade.EventGivenUp, "timeout", at)
	d.told("", "http_503", at)
	must.Do(t, store.SetJobStatus(t.Context(), trade.JobStatus{
		Job: sent.Job, State: trade.Stopped, Stop: &trade.Stop{Code: "api_key"}, Since: at,
	}))
	b.Get("/events/programs").Wants(http.StatusOK, fmt.Sprintf(`href="/rows/%d"`, sent.ID), "entregue", "Abandonados",
		"http_503: quem recebe está com", "timeout: o servidor não respondeu a tempo", "rotina parada", ">7<")
	path := "/events/programs/erp/again"
	b.Get("/events/programs/other/again").Wants(http.StatusNotFound)
	b.Get(path).Wants(http.StatusOK, "3 avisos que não chegaram", `value="4"`)
	d.told("", "dns", at) // after the plan
	b.Submit(path, url.Values{"until": {"4"}, "reason": {"x"}}).Wants(http.StatusUnprocessableEntity, "3 avisos")
	for _, until := range []string{"", "0", "-1", "4x"} {
		b.Get(path)
		b.Submit(path, url.Values{"until": {until}, "reason": {"consertado"}}).Wants(http.StatusBadRequest)
	}
	b.Get(path)
	form := url.Values{"until": {"4"}, "reason": {"consertado"}}
	b.Submit(path, form).Wants(http.StatusOK, "Feito: os avisos vão logo")
	var again []int64
	for _, e := range must.Get(store.Outbox(t.Context(), trade.OutEventFilter{Open: true}))(t) {
		if e.Outcome != "" || (e.Tries == 0) != (e.Seq < 5) {
			t.Errorf("it goes again, or not: %+v", e)
		}
		again = append(again, e.Seq)
	}
	if !slices.Equal(again, []int64{5, 4, 3, 2}) {
		t.Errorf("due are %v", again)
	}
	b.Get("/audit").Wants(http.StatusOK, "consertado")
	d.sql("state.db", fmt.Sprintf(`UPDATE outbox SET outcome = 'delivered', done_at = %d`, at.UnixMilli()))
	b.Get(path).Wants(http.StatusOK, "Não há o que entregar de novo")
	b.Get("/events/programs")
	b.Submit(path, form).Wants(http.StatusOK, "Nada mais a entregar de novo")
}
