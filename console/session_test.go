package console_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// openLive opens the live stream of a browser, and gives its first line.
func (b *browser) openLive() (status int, closeIt func()) {
	b.w.t.Helper()
	ctx, cancel := context.WithCancel(b.w.t.Context())
	b.w.t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.w.server.URL+"/live", nil)
	if err != nil {
		b.w.t.Fatal(err)
	}
	answer, err := b.client.Do(request)
	if err != nil {
		b.w.t.Fatal(err)
	}
	if answer.StatusCode == http.StatusOK {
		_, err = bufio.NewReader(answer.Body).ReadString('\n')
	}
	if err != nil {
		b.w.t.Fatal(err)
	}
	return answer.StatusCode, func() {
		cancel()
		_ = answer.Body.Close()
	}
}

func TestD6ALiveStreamEndsWithTheIdleLimitOfItsLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	beats := make(chan time.Time)
	w.console.Beats(beats)
	b := w.as(trade.Reader)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+"/live", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := b.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	events := bufio.NewReader(answer.Body)
	beat := func() (open bool) {
		beats <- w.clock.now()
		for {
			if line, err := events.ReadString('\n'); errors.Is(err, io.EOF) {
				return false
			} else if err != nil {
				t.Fatal(err)
			} else if strings.HasPrefix(line, "event: progress") {
				return true
			}
		}
	}
	if line, err := events.ReadString('\n'); err != nil || !strings.HasPrefix(line, "event: progress") {
		t.Fatal(line, err)
	}
	for range 2 {
		w.clock.pass(14 * time.Minute)
		if !beat() {
			t.Fatal("the stream is closed before the idle limit")
		}
	}
	w.clock.pass(3 * time.Minute)
	if beat() {
		t.Error("the stream is open after the idle limit")
	}
	b.get("/account").wants(http.StatusSeeOther)
}

func TestD9ATryThatTheConsoleIsTooBusyForDoesNotCount(t *testing.T) {
	onBoth(t, func(t *testing.T, s *state.Store) {
		w := newWorld(t, s).withPeople()
		b := w.browser()
		free := w.console.FillHashes()
		for range 30 {
			b.logIn(people[trade.Reader], password).wants(http.StatusServiceUnavailable)
		}
		free()
		b.logIn(people[trade.Reader], password).wants(http.StatusSeeOther)
	})
}

func TestD9AClosingConsoleDoesNotWaitForASlowReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople() // a server without any limit of time
	deaf, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	for { // until the server does not read on, because nobody reads what it writes
		if err := deaf.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		_, err := io.WriteString(deaf,
			strings.Repeat("GET /static/x/vendor/pico-2.1.1.min.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 100))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	w.console.Close() // it ends
}

func TestD9TheConsoleTakesItsOwnDeviceIDsOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, s *state.Store) {
		w := newWorld(t, s).withPeople()
		at, err := url.Parse(w.server.URL)
		if err != nil {
			t.Fatal(err)
		}
		b := w.browser()
		device := func() string {
			for _, c := range b.client.Jar.Cookies(at) {
				if c.Name == w.console.CookieDevice() {
					return c.Value
				}
			}
			return ""
		}
		chosen := strings.Repeat("chosen", 9)
		b.client.Jar.SetCookies(at, []*http.Cookie{{Name: w.console.CookieDevice(), Value: chosen, Path: "/"}})
		b.logIn(people[trade.Reader], password).wants(http.StatusSeeOther)
		given := device()
		if given == chosen || len(given) < 40 {
			t.Errorf("the browser is known as %q", given)
		}
		b.logIn(people[trade.Accountant], password).wants(http.StatusSeeOther) // on the same browser
		if again := device(); again != given {
			t.Errorf("its id became %q", again)
		}
	})
}

func TestD6WhatTheBrowserAsksByItselfIsNoUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	b := w.as(trade.Reader)
	w.clock.pass(20 * time.Minute)
	_, end := b.openLive()
	end()
	b.header = http.Header{"Hx-Trigger": {"numbers"}} // the numbers of the first page, after a run
	b.get("/").wants(http.StatusOK)
	b.header = nil
	w.clock.pass(20 * time.Minute)
	b.get("/account").wants(http.StatusSeeOther)
}

func TestD6APageThatAPersonOpensIsUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	b := w.as(trade.Reader)
	for range 3 {
		w.clock.pass(20 * time.Minute)
		b.get("/account").wants(http.StatusOK)
	}
}

func TestD9OnePersonHasAFewLiveStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	b := w.as(trade.Reader)
	for range 4 {
		if status, _ := b.openLive(); status != http.StatusOK {
			t.Fatalf("a stream is answered with %d", status)
		}
	}
	if status, _ := b.openLive(); status != http.StatusServiceUnavailable {
		t.Errorf("the fifth is answered with %d", status)
	}
	if status, _ := w.as(trade.Accountant).openLive(); status != http.StatusOK {
		t.Errorf("that of somebody else is answered with %d", status)
	}
}

func TestD7SavedFiltersAreBounded(t *testing.T) {
	onBoth(t, func(t *testing.T, s *state.Store) {
		w := newWorld(t, s).withPeople()
		b := w.as(trade.Reader)
		token := b.get("/account").token()
		keep := func(name, query string, more ...string) *browser {
			form := url.Values{"token": {token}, "name": {name}, "query": {query}}
			if len(more) > 0 {
				form.Set(more[0], "1")
			}
			return b.do(http.MethodPost, "/filters", form)
		}
		keep("large", "q="+strings.Repeat("x", 3000)).wants(http.StatusBadRequest, "2.000")
		for i := range trade.SavedFiltersMost {
			keep(strconv.Itoa(i), "state=in_doubt").wants(http.StatusSeeOther)
		}
		keep("more", "state=in_doubt").wants(http.StatusBadRequest, "50")
		keep("7", "state=rejected").wants(http.StatusSeeOther) // another one in its place
		keep("7", "", "forget").wants(http.StatusSeeOther)
		keep("more", "state=in_doubt").wants(http.StatusSeeOther)
		found, err := s.AuditPage(t.Context(), trade.AuditQuery{Act: "filter forget", Limit: 9})
		if err != nil || len(found.Records) != 1 || found.Records[0].Target != "7" {
			t.Errorf("the audit has %+v (%v)", found.Records, err)
		}
		if found, err = s.AuditPage(t.Context(), trade.AuditQuery{Act: "filter save", Limit: 99}); err != nil ||
			len(found.Records) != trade.SavedFiltersMost+2 {
			t.Errorf("the audit has %d (%v)", len(found.Records), err)
		}
	})
}

func TestD9ANewUsersNameFitsAnAddress(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a/b", "a\nb", "a\u202eb", "a?b", "a%2fb", ""} {
		if got := console.NewUserName(name); got != "" {
			t.Errorf("%q is taken, as %q", name, got)
		}
	}
	if got := console.NewUserName(" Ana Lúcia "); got != "ana lúcia" {
		t.Errorf("it becomes %q", got)
	}
}
