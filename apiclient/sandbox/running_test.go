package sandbox_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
)

func TestStartRefusesAddressesThatOthersCanReach(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{
		"", "127.0.0.1", ":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0",
		"127.0.0.1:x",
	} {
		if r, err := sandbox.Start(sandbox.Options{}, addr); err == nil {
			t.Errorf("Start(%q) listens on %s", addr, r.URL)
			_ = r.Close()
		}
	}
}

func TestCloseMayBeCalledAgainAndFreesTheAddress(t *testing.T) {
	t.Parallel()
	r := must.Get(sandbox.Start(sandbox.Options{}, "127.0.0.1:0"))(t)
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if c, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://")); err == nil {
		_ = c.Close()
		t.Error("the sandbox still listens")
	}
}

func TestCloseEndsConnectionsThatSentNothing(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	c := must.Get(net.Dial("tcp", strings.TrimPrefix(b.URL, "http://")))(t)
	defer func() { _ = c.Close() }()
	if g := b.get(webhooks); g.status != 200 { // the accept loop has accepted the silent connection, which came first
		t.Fatal(g.status)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the silent connection is still open")
	}
}

func TestCloseLetsAHangingAnswerGoOut(t *testing.T) {
	t.Parallel()
	executed := make(chan struct{})
	b := start(t, sandbox.Options{OnExecuted: func(int, sandbox.Record) { close(executed) }}, "slow=1h")
	answered := make(chan got)
	go func() { answered <- b.post(body()) }()
	<-executed
	closed := make(chan error)
	go func() { closed <- b.Close() }()
	if g := <-answered; g.status != 201 {
		t.Errorf("POST = %d", g.status)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// raw is a creation as bytes.
func raw(sent string) string {
	return fmt.Sprintf(
		"POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		orders, key, len(sent), sent)
}

func TestF091ARequestThatDidNotArriveWholeIsNeverExecuted(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	whole := raw(body())
	headerEnd := strings.Index(whole, "\r\n\r\n") + 4
	for cut := range len(whole) {
		c := must.Get(net.Dial("tcp", strings.TrimPrefix(b.URL, "http://")))(t)
		must.Get(io.WriteString(c, whole[:cut]))(t)
		must.Do(t, c.(*net.TCPConn).CloseWrite())
		answer, _ := io.ReadAll(c) // until the sandbox has let go of it
		_ = c.Close()
		if cut >= headerEnd && len(answer) > 0 {
			t.Errorf("cut after %d bytes was answered: %s", cut, answer)
		}
	}
	b.wantCreated(0)
	for _, line := range b.lines() {
		if line.Executed || line.Status != 0 || line.N != 0 || line.Note == "" {
			t.Errorf("truth log = %+v", line)
		}
	}
	c := must.Get(net.Dial("tcp", strings.TrimPrefix(b.URL, "http://")))(t)
	defer func() { _ = c.Close() }()
	must.Get(io.WriteString(c, whole))(t)
	if text, err := bufio.NewReader(c).ReadString('\n'); err != nil || text != "HTTP/1.1 201 Created\r\n" {
		t.Errorf("the whole request = %q, %v", text, err)
	}
	if records := b.wantCreated(1); records[0].N != 1 {
		t.Errorf("number = %d: cut requests shifted it", records[0].N)
	}
}

func TestClosePutsAnEndToAHalfSentRequest(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	c := must.Get(net.Dial("tcp", strings.TrimPrefix(b.URL, "http://")))(t)
	defer func() { _ = c.Close() }()
	whole := strings.Replace(raw(body()), "Content-Type", "Expect: 100-continue\r\nContent-Type", 1)
	header, _, _ := strings.Cut(whole, "\r\n\r\n")
	must.Get(io.WriteString(c, header+"\r\n\r\n"))(t)
	r := bufio.NewReader(c)
	// The sandbox is reading the body now.
	if text, err := r.ReadString('\n'); err != nil || !strings.Contains(text, "100 Continue") {
		t.Fatalf("interim answer = %q, %v", text, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	rest, _ := io.ReadAll(r)
	if text := strings.TrimSpace(string(rest)); text != "" {
		t.Errorf("the half request was answered: %s", text)
	}
	b.wantCreated(0)
}

func TestManyClientsAtOnce(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{Seed: 7}, "lost-after%20", "status=500,commit%20", "lost-before%20")
	const clients, each = 8, 20
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for range each {
				_, _ = b.try(b.request("POST", orders, body()))
				_ = b.Created()
				_ = b.Requests()
			}
		})
	}
	all.Wait()
	if n := b.Requests(); n != clients*each {
		t.Errorf("%d requests, want %d: something was repeated or lost", n, clients*each)
	}
	executed := map[string]bool{}
	numbers := map[int]bool{}
	for _, line := range b.lines() {
		if line.Executed {
			executed[line.ID] = true
		}
		numbers[line.N] = true
	}
	records := b.Created()
	if len(records) != len(executed) || len(numbers) != clients*each {
		t.Errorf("%d records, %d in the truth log, %d numbers", len(records), len(executed), len(numbers))
	}
	for _, r := range records {
		if !executed[r.ID] {
			t.Errorf("%s is not in the truth log", r.ID)
		}
	}
}

type brokenWriter struct{}

var errBroken = errors.New("no space left")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestNothingIsAnsweredThatCouldNotBeLogged(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{Log: brokenWriter{}})
	if g, err := b.try(b.request("POST", orders, body())); !errors.Is(err, io.EOF) {
		t.Errorf("POST = %+v, %v", g, err)
	}
	if err := b.LogErr(); !errors.Is(err, errBroken) {
		t.Errorf("LogErr = %v", err)
	}
}

func TestTheHandlerWorksWithoutAListenerOfOurs(t *testing.T) {
	t.Parallel()
	s := sandbox.New(sandbox.Options{})
	defer s.Close()
	req := httptest.NewRequest("GET", webhooks, nil)
	req.Header.Set("Authorization", "any")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	if w.Code != 200 || w.Body.String() != "[]" || s.LogErr() != nil {
		t.Errorf("GET = %d %s", w.Code, w.Body)
	}
	fault := must.Get(sandbox.ParseFault("get:lost-before"))(t)
	s.SetFaults(fault)
	defer func() {
		if p, _ := recover().(error); !errors.Is(p, http.ErrAbortHandler) {
			t.Errorf("a connection that cannot be had: panic %v, want ErrAbortHandler", p)
		}
	}()
	s.ServeHTTP(httptest.NewRecorder(), req)
}
