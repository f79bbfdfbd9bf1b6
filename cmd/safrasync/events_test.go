package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

const eventsSecret = "canary-secret-of-the-events-8c1f5e02b7d94a63"

// told is an event as a program gets it.
type told struct {
	ID, Type, Job, State string
	Key, Cause, Sends    *string
	RemoteID             *string `json:"remote_id"`
	Seq                  int64
	Version, Generation  *int64
	At                   time.Time
	status               int
	raw                  json.RawMessage
}

// String is what happened to whom.
func (e told) String() string {
	key := ""
	if e.Key != nil {
		key = *e.Key
	}
	return strings.TrimSpace(e.Type + " " + e.Job + " " + key + " " + e.State)
}

// listener is a program of somebody else that takes events, and verifies each as docs/events.md says.
type listener struct {
	t       *testing.T
	address string
	got     chan told

	mu     sync.Mutex
	fails  int           // so many requests more are answered with 500
	blocks chan struct{} // if not nil, a request waits until it is closed, and is not answered
}

func newListener(t *testing.T) *listener {
	t.Helper()
	l := &listener{t: t, got: make(chan told, 1000)}
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	l.address = server.URL
	return l
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !verified(r.Header.Get("Safrasync-Signature"), eventsSecret, body, time.Now()) {
		l.t.Errorf("a request is not signed as it must be: %v %v", r.Header, err)
	}
	var e told
	if err := json.Unmarshal(body, &e); err != nil {
		l.t.Errorf("%s: %v", body, err)
	}
	l.mu.Lock()
	blocks, fails := l.blocks, l.fails > 0
	l.fails--
	l.mu.Unlock()
	e.raw, e.status = body, http.StatusNoContent
	if fails {
		e.status = http.StatusInternalServerError
	}
	l.got <- e
	if blocks != nil {
		<-blocks
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(e.status)
}

// verified is the example of docs/events.md.
func verified(header, secret string, body []byte, now time.Time) bool {
	parts := map[string]string{}
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		parts[name] = value
	}
	seconds, err := strconv.ParseInt(parts["t"], 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false // too old: somebody may have recorded it
	}
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = fmt.Fprintf(mac, "%d.%s", seconds, body)
	given, err := hex.DecodeString(parts["v1"])
	return err == nil && hmac.Equal(mac.Sum(nil), given)
}

// next waits for the next event.
func (l *listener) next() told {
	l.t.Helper()
	select {
	case e := <-l.got:
		return e
	case <-time.After(giveUp):
		l.t.Fatal("no event came")
		return told{}
	}
}

// tellTo configures who is told.
func (s *service) tellTo(l *listener, more string) {
	s.t.Helper()
	s.write("credentials/events", eventsSecret+"\n")
	s.edit("jobs:\n", `events: [{name: erp, url: "`+l.address+`/hook", secret: "${file:events}"`+more+`}]
jobs:
`)
}

// An accepted row, a refused one, a doubt that is raised and settled by a person, and a job that stops:
// each is told in order, signed, with an id of its own, and the ledger says what became of it.
func TestOtherProgramsAreToldWhatHappens(t *testing.T) {
	onBoth(t, func(t *testing.T, on string) {
		l := newListener(t)
		s := newService(t, on, false)
		s.tellTo(l, "")
		if out := s.must(0, "events", "test"); !strings.Contains(out, "erp: taken") {
			t.Errorf("events test: %s", out)
		}
		if e := l.next(); e.Type != "test" {
			t.Errorf("the test is %+v", e)
		}
		s.faults("order_commitments:lost-after@1",
			`order_commitments:status=400@2,body={"messages":["message.wallet.producer-not-linked"]}`)
		s.start()
		first, second := l.next(), l.next()
		if first.Type == "row.refused" { // rows do not wait for each other
			first, second = second, first
		}
		if first.Type != "doubt.raised" || first.Key == nil || first.Version == nil || first.Cause == nil {
			t.Errorf("first: %+v", first)
		}
		if second.Type != "row.refused" || second.Cause == nil ||
			*second.Cause != "message.wallet.producer-not-linked" ||
			second.ID == first.ID || second.RemoteID != nil {
			t.Errorf("second: %+v", second)
		}
		s.must(0, "adopt", "contracts", *first.Key, s.box.Created()[0].ID, "--reason", "conferido", "--yes")
		settled, accepted := l.next(), l.next()
		if settled.String() != "doubt.settled contracts "+*first.Key+" accepted" ||
			accepted.String() != "row.accepted contracts "+*first.Key+" accepted" ||
			accepted.RemoteID == nil || *accepted.RemoteID != s.box.Created()[0].ID {
			t.Errorf("then: %s, %s", settled, accepted)
		}
		s.faults("order_commitments:module@1-")
		s.must(0, "retry", "contracts", *second.Key, "--reason", "corrigido", "--yes")
		stopped := l.next()
		if stopped.Type != "job.stopped" || stopped.Key != nil || stopped.Cause == nil || stopped.Sends != nil {
			t.Errorf("then: %+v", stopped)
		}
		s.stop()
		open := 0
		for _, e := range jsonLines[struct{ Outcome string }](t, s.must(0, "events", "list", "--json")) {
			if e.Outcome != "delivered" {
				open++
			}
		}
		if open > 1 { // the last one may have been delivered as the service ended
			t.Errorf("%d events are not delivered:\n%s", open, s.must(0, "events", "list"))
		}
		for what, text := range map[string]string{
			"the log": s.rest(), "the list": s.must(0, "events", "list", "--json"),
			"config show": s.must(0, "config", "show"),
		} {
			if strings.Contains(text, eventsSecret) {
				t.Errorf("%s tells the secret", what)
			}
		}
		redeliver := func(code int, args ...string) string {
			args = slices.Concat([]string{"events", "redeliver"}, args, []string{"--reason", "x", "--yes"})
			return s.must(code, args...)
		}
		redeliver(2, "--limit", "-1")
		redeliver(2, "1", "999999")
		redeliver(2, "1", "--to", "nobody")
		if out := redeliver(0, "1", "--json"); !strings.Contains(out, `"redelivered":1`) {
			t.Errorf("delivered again: %s", out)
		}
		if on == state.SQLite { // at its start the service ends there who is told no more
			s.edit(`{name: erp, url`, `{name: other, url`)
			s.start()
			s.stop()
			if out := redeliver(0, "1", "--json"); strings.Contains(out, "redelivered") {
				t.Errorf("of a program that is gone: %s", out)
			}
		}
	})
}

// kill -9 between a change and its delivery loses no event, and what may have arrived comes again under
// the same id.
func TestAKillBetweenChangeAndDeliveryLosesNoEvent(t *testing.T) {
	onBoth(t, func(t *testing.T, on string) {
		l := newListener(t)
		l.blocks = make(chan struct{})
		s := newService(t, on, false)
		s.tellTo(l, ", kinds: [row.accepted]")
		s.start()
		first := l.next()
		s.posted()
		s.signal(syscall.SIGKILL)
		s.ended()
		close(l.blocks)
		l.mu.Lock()
		l.blocks = nil
		l.mu.Unlock()
		s.start()
		seen := map[string]int{first.ID: 1}
		for s.job("contracts").States[trade.Accepted] != 2 {
			s.ran()
		}
		for len(seen) < 2 || seen[first.ID] < 2 {
			seen[l.next().ID]++
		}
		s.stop()
		if len(s.box.Created()) != 2 {
			t.Errorf("%d records on the platform", len(s.box.Created()))
		}
	})
}

// A program that fails three times gets the event at last, and until then no later one of that row.
func TestAProgramThatFailsIsToldLater(t *testing.T) {
	onBoth(t, func(t *testing.T, on string) {
		l := newListener(t)
		l.fails = 3
		s := newService(t, on, false)
		s.tellTo(l, ", kinds: [doubt.raised, doubt.settled]")
		s.faults("order_commitments:lost-after@1")
		s.start()
		first := l.next()
		s.must(0, "adopt", "contracts", *first.Key, s.box.Created()[0].ID, "--reason", "conferido", "--yes")
		for tries := 2; tries <= 4; tries++ {
			// the pauses are those of minutes; somebody who has repaired the receiver waits for none
			s.must(0, "events", "redeliver", "--open", "--reason", "consertado", "--yes")
			if e := l.next(); e.ID != first.ID {
				t.Errorf("try %d is of %s", tries, e)
			}
		}
		if e := l.next(); e.Type != "doubt.settled" || e.status != http.StatusNoContent {
			t.Errorf("then came %s", e)
		}
		s.stop()
		lines := jsonLines[struct {
			Type, Outcome string
			Tries         int
		}](t, s.must(0, "events", "list", "--json"))
		slices.Reverse(lines)
		if len(lines) != 2 || lines[0].Outcome != "delivered" {
			t.Errorf("the ledger tells of %+v", lines)
		}
	})
}

// Of two machines on one ledger one delivers at a time, and the other takes over when it dies.
func TestTwoMachinesTellEachEventOnce(t *testing.T) {
	l := newListener(t)
	s := newService(t, state.Postgres, false)
	s.tellTo(l, ", kinds: [row.accepted], timeout: 1s")
	s.start()
	second := s.command("run")
	must.Do(t, second.Start())
	t.Cleanup(func() { _ = second.Process.Kill() })
	seen := map[string]int{}
	for range 2 {
		seen[l.next().ID]++
	}
	s.signal(syscall.SIGKILL)
	s.ended()
	s.sql("erp.db", `UPDATE contrato SET pagto = '2026-06-20' WHERE num = '000003'`)
	for len(seen) < 3 { // what the first machine had not written down yet may come again
		seen[l.next().ID]++
	}
	must.Do(t, second.Process.Signal(syscall.SIGTERM))
	must.Do(t, second.Wait())
	for _, e := range jsonLines[struct{ ID, Outcome string }](t, s.must(0, "events", "list", "--json")) {
		if e.Outcome == "delivered" && seen[e.ID] == 0 || len(seen) != 3 {
			t.Errorf("the ledger tells of %+v, and %v came", e, seen)
		}
	}
}
