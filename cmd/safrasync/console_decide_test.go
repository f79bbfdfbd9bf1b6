package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/trade"
)

// afterQuarantine lets the quarantine of all that is in doubt be over.
const afterQuarantine = `UPDATE quarantine SET ticks = ticks - 3600000`

// inDoubt is a desk whose first row that goes is in doubt: the answer was lost, and the platform
// has the record.
func inDoubt(t *testing.T) (*deskWorld, trade.Entry, string) {
	t.Helper()
	d := newDesk(t, "lost-after")
	rows := d.rows(trade.InDoubt)
	if len(rows) == 0 {
		t.Fatal("nothing is in doubt")
	}
	d.faults()
	return d, rows[0], fmt.Sprintf("/rows/%d", rows[0].ID)
}

// Of many people, tabs and clicks that order a second sending at once, one succeeds; the others
// read who was first.
func TestF157OfManyClicksOnSendAgainOneSucceeds(t *testing.T) {
	t.Parallel()
	d, row, _ := inDoubt(t)
	path := fmt.Sprintf("/doubts/%d", row.ID)
	d.as(trade.Accountant).Get(path) // from now on this host knows of the doubt
	d.sql("state.db", afterQuarantine)
	var people []*consoletest.Browser
	for range 20 {
		people = append(people, decision(d.as(trade.Accountant), row, "resend").Wants(http.StatusOK,
			"se já existir lá, ficará duplicado"))
	}
	var clicks sync.WaitGroup
	for _, b := range people {
		clicks.Go(func() {
			b.Post("/act/resend", with(b.Form("/act/resend"), "reason", "não está na plataforma", "checked", "1"))
		})
	}
	clicks.Wait()
	statuses := map[int]int{}
	for _, b := range people {
		statuses[b.Status]++
		if b.Status == http.StatusConflict && !strings.Contains(b.Body, "Já decidido por carla") {
			// the first click was still being done: who clicks again is told
			b.Wants(http.StatusConflict, "e nada foi feito")
			b.Post("/act/resend", with(b.Form("/act/resend"), "reason", "não está na plataforma", "checked", "1"))
			b.Wants(http.StatusConflict, "Já decidido por carla")
		}
	}
	if statuses[http.StatusOK] != 1 || statuses[http.StatusConflict] != 19 {
		t.Errorf("statuses %v", statuses)
	}
	if e := d.entry(row.Job, row.Key); e.Generation != 2 || e.State != trade.Pending {
		t.Errorf("generation %d, %s", e.Generation, e.State)
	}
}

// What may double a record is ordered row by row, never by a filter.
func TestF160SendAgainIsNotOfferedForMany(t *testing.T) {
	t.Parallel()
	d, row, _ := inDoubt(t)
	b := d.as(trade.Administrator)
	for _, act := range []string{"resend", "adopt", "nonsense"} {
		b.Get("/rows").Submit("/act/"+act, url.Values{"job": {row.Job}, "state": {"in_doubt"}})
		if b.Status != http.StatusBadRequest && b.Status != http.StatusNotFound {
			t.Errorf("%s: %d", act, b.Status)
		}
	}
	if e := d.entry(row.Job, row.Key); e.State != trade.InDoubt {
		t.Errorf("it is %s", e.State)
	}
}

// Who was shown a second sending cannot order it by the form of an act that needs no check and no password.
func TestAPlanIsDoneByTheFormOfItsActAlone(t *testing.T) {
	t.Parallel()
	d, row, _ := inDoubt(t)
	b := d.as(trade.Accountant).Get(fmt.Sprintf("/doubts/%d", row.ID))
	d.sql("state.db", afterQuarantine)
	form := with(decision(b, row, "resend").Wants(http.StatusOK).Form("/act/resend"), "reason", "não está lá")
	b.Post("/act/dismiss", form).Wants(http.StatusConflict, "nada foi feito")
	decision(b, row, "resend").Wants(http.StatusOK)
	other := d.rows(trade.Accepted, trade.Invalid)[0]
	b.Post("/act/retry", with(form, "row", fmt.Sprint(other.ID))).Wants(http.StatusConflict)
	if e := d.entry(row.Job, row.Key); e.State != trade.InDoubt {
		t.Errorf("the row is %s", e.State)
	}
}

// Retry and resend are never to be confused.
func TestTheWordsOfRetryAndResend(t *testing.T) {
	t.Parallel()
	d, _, path := inDoubt(t)
	b := d.as(trade.Accountant).Get(path).Wants(http.StatusOK, "Decidir: está na plataforma?")
	if strings.Contains(b.Body, "Tentar de novo") || strings.Contains(b.Body, "Dispensar") {
		t.Error("a row in doubt offers an act that is not of the desk")
	}
	for _, act := range []string{"resend", "adopt"} {
		b.Get("/act/" + act + "?row=" + strings.TrimPrefix(path, "/rows/")).Wants(http.StatusNotFound)
	}
}
