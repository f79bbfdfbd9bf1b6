package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// afterQuarantine lets the quarantine of all that is in doubt be over.
const afterQuarantine = `UPDATE quarantine SET ticks = ticks - 3600000`

// inDoubt is a desk whose first row that goes is in doubt: the answer was lost, and the platform has the record.
func inDoubt(t *testing.T) (*desk, trade.Entry, string) {
	t.Helper()
	d := newDesk(t, "lost-after")
	rows := d.rows(trade.InDoubt)
	if len(rows) == 0 {
		t.Fatal("nothing is in doubt")
	}
	d.faults()
	return d, rows[0], fmt.Sprintf("/rows/%d", rows[0].ID)
}

// Of many people, tabs and clicks that order a second sending at once, one succeeds; the others read who was first.
func TestF157_OfManyClicksOnSendAgainOneSucceeds(t *testing.T) {
	t.Parallel()
	d, row, path := inDoubt(t)
	d.as(trade.Accountant).get(path+"/resend").submit(path+"/resend", url.Values{"checked": {"1"}})
	if err := runSQLText(d.dir+"/state.db", afterQuarantine); err != nil {
		t.Fatal(err)
	}
	var people []*browser
	for range 20 {
		b := d.as(trade.Accountant).get(path + "/resend")
		people = append(people, b.submit(path+"/resend", url.Values{"checked": {"1"}}).shows(http.StatusOK, "fica em dobro", "O que vai acontecer"))
	}
	var clicks sync.WaitGroup
	for _, b := range people {
		clicks.Go(func() {
			b.submit(path+"/resend", url.Values{"checked": {"1"}, "mark": {markOf(b)}, "reason": {"não está na plataforma"}})
		})
	}
	clicks.Wait()
	statuses := map[int]int{}
	for _, b := range people {
		statuses[b.status]++
		if b.status == http.StatusConflict && !strings.Contains(b.body, "carla já decidiu") {
			t.Errorf("who was first is not told:\n%s", b.body)
		}
	}
	if statuses[http.StatusOK] != 1 || statuses[http.StatusConflict] != 19 {
		t.Errorf("statuses %v", statuses)
	}
	if e := d.entry(row.Job, row.Key); e.Generation != 2 || e.State != trade.Pending {
		t.Errorf("generation %d, %s", e.Generation, e.State)
	}
}

func TestF158_TooEarlyIsToldWithTheTimeLeft(t *testing.T) {
	t.Parallel()
	d, row, path := inDoubt(t)
	b := d.as(trade.Accountant)
	b.get(path+"/resend").shows(http.StatusOK, "Procurei na plataforma")
	b.submit(path+"/resend", url.Values{"checked": {"1"}}).shows(http.StatusOK, "Ainda é cedo", "Faltam 1", "Procure na plataforma um registro com", "quantidade")
	if strings.Contains(b.body, `name="mark"`) {
		t.Error("it can be confirmed")
	}
	b.submit(path+"/resend", url.Values{"checked": {"1"}, "mark": {strings.Repeat("0", 64)}, "reason": {"não está lá"}}).shows(http.StatusConflict)
	if e := d.entry(row.Job, row.Key); e.State != trade.InDoubt {
		t.Errorf("it is %s", e.State)
	}
}

// An id is read back and compared; one that is another row's, or unknown, is refused.
func TestF159_AnIDIsComparedBeforeItIsTaken(t *testing.T) {
	t.Parallel()
	d, row, path := inDoubt(t)
	b := d.as(trade.Accountant)
	adopt := func(form url.Values) *browser { return b.get(path+"/adopt").submit(path+"/adopt", form) }
	adopt(url.Values{"remote_id": {"not an id"}}).shows(http.StatusOK, "não é uma identificação")
	adopt(url.Values{"remote_id": {"11111111-2222-4333-8444-555555555555"}}).shows(http.StatusOK, "não conhece esta identificação")
	adopt(url.Values{"no_id": {"1"}}).shows(http.StatusOK, "é preciso a identificação")
	var ids []string
	for _, created := range d.box.CreatedOf() {
		ids = append(ids, created.ID)
	}
	if len(ids) < 2 {
		t.Fatalf("ids %v", ids)
	}
	adopt(url.Values{"remote_id": {ids[1]}}).shows(http.StatusOK, "diferente")
	adopt(url.Values{"remote_id": {ids[0]}}).shows(http.StatusOK, "Comparação com a plataforma", "igual")
	b.submit(path+"/adopt", url.Values{"remote_id": {ids[0]}, "mark": {markOf(b)}, "reason": {"visto na plataforma"}}).shows(http.StatusOK, "Feito", ids[0])
	if e := d.entry(row.Job, row.Key); e.State != trade.Accepted || e.RemoteID != ids[0] {
		t.Errorf("%s %s", e.State, e.RemoteID)
	}
	other := d.rows(trade.InDoubt)[0]
	path = fmt.Sprintf("/rows/%d", other.ID)
	adopt(url.Values{"remote_id": {ids[0]}}).shows(http.StatusOK, "outra linha já tem", row.Job)
}

// What may double a record is ordered row by row, never by a filter.
func TestF160_SendAgainIsNotOfferedForMany(t *testing.T) {
	t.Parallel()
	d, row, _ := inDoubt(t)
	b := d.as(trade.Administrator)
	for _, act := range []string{"resend", "adopt", "nonsense"} {
		b.get("/rows").submit("/acts/"+act, url.Values{"job": {row.Job}, "state": {"in_doubt"}})
		if b.status != http.StatusBadRequest && b.status != http.StatusNotFound {
			t.Errorf("%s: %d", act, b.status)
		}
	}
	if e := d.entry(row.Job, row.Key); e.State != trade.InDoubt {
		t.Errorf("it is %s", e.State)
	}
}

// Who logged in more than ten minutes ago gives the password again before a second sending, and only then.
func TestC09_SendAgainTakesThePasswordAfterTenMinutes(t *testing.T) {
	t.Parallel()
	d, row, path := inDoubt(t)
	b := d.as(trade.Accountant)
	b.get(path+"/resend").submit(path+"/resend", url.Values{"checked": {"1"}})
	if err := runSQLText(d.dir+"/state.db", afterQuarantine+`; UPDATE login SET proved_at = proved_at - 660000`); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"checked": {"1"}}
	b.submit(path+"/resend", form).shows(http.StatusOK, "Sua senha, outra vez")
	form["mark"], form["reason"] = []string{markOf(b)}, []string{"não está na plataforma"}
	b.submit(path+"/resend", form).shows(http.StatusUnprocessableEntity, "Digite sua senha")
	form["password"] = []string{deskPassword}
	b.submit(path+"/resend", form).shows(http.StatusOK, "vai outra vez")
	if e := d.entry(row.Job, row.Key); e.Generation != 2 {
		t.Errorf("generation %d", e.Generation)
	}
	records, err := d.daemon.store.Audit(t.Context(), 0)
	if err != nil || !slices.ContainsFunc(records, func(r trade.AuditRecord) bool {
		return r.Act == "resend" && r.Who == "carla" && r.From == "console 127.0.0.1" && r.Reason == "não está na plataforma"
	}) {
		t.Errorf("the audit: %v, %v", records, err)
	}
}

// Retry and resend are never to be confused.
func TestTheWordsOfRetryAndResend(t *testing.T) {
	t.Parallel()
	d, _, path := inDoubt(t)
	b := d.as(trade.Accountant).get(path).shows(http.StatusOK, "Enviar outra vez (pode duplicar)", "Confirmar na plataforma")
	if strings.Contains(b.body, "Tentar de novo") {
		t.Error("a row in doubt offers to try again")
	}
}
