package apiclient_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/must"
)

const (
	testKey   = "canary-key-7f3a91/with+signs="
	testID    = "0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a"
	namedID   = "e2c4a6d8-1b3f-4a5c-8d7e-9f0b1a2c3d4e" // that requests name
	otherID   = "5d1e7c7a-90c4-4e6c-8c51-0e2f4b6a8c9d"
	postPath  = "/api/v1/integration/order-commitments"
	hooksPath = "/api/v1/integration/webhooks"
)

var payload = []byte(`{"amount":1}`)

func TestMain(m *testing.M) {
	// Go's transport reports answers without a request to the standard logger; the tests provoke
	// them.
	log.SetOutput(io.Discard)
	goleak.VerifyTestMain(apidoc.Main(m, apidoc.Together, apidoc.Client))
}

// received is one complete request as a raw server saw it.
type received struct {
	*http.Request
	conn, nth int // number of the connection, and of the request on it, from 1
	body      []byte
}

// rawServer is a TCP server whose answers are written byte by byte, so that it can do everything a
// real server would not.
type rawServer struct {
	addr string
	mu   sync.Mutex
	seen []received
	// conns counts accepted connections.
	conns atomic.Int64
}

// answerFunc writes the answer to r. Returning false closes the connection.
type answerFunc func(c net.Conn, r received) bool

func startRaw(t *testing.T, answer answerFunc) *rawServer {
	t.Helper()
	s := &rawServer{}
	addr, end := accept(t, func(c *net.TCPConn) {
		defer context.AfterFunc(t.Context(), func() { _ = c.Close() })()
		s.serve(c, int(s.conns.Add(1)), answer)
	})
	t.Cleanup(end)
	s.addr = addr
	return s
}

// accept serves connections on an address, until end closes it and waits for them.
func accept(t *testing.T, serve func(c *net.TCPConn)) (addr string, end func()) {
	t.Helper()
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				serve(c.(*net.TCPConn))
			})
		}
	})
	return ln.Addr().String(), func() { _ = ln.Close(); wg.Wait() }
}

func (s *rawServer) serve(c net.Conn, n int, answer answerFunc) {
	br := bufio.NewReader(c)
	for nth := 1; ; nth++ {
		r, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.seen = append(s.seen, received{r, n, nth, body})
		s.mu.Unlock()
		if !answer(c, received{r, n, nth, body}) {
			return
		}
	}
}

func (s *rawServer) requests() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]received(nil), s.seen...)
}

func (s *rawServer) url() string { return "http://" + s.addr }

func (s *rawServer) client(t *testing.T) *apiclient.Client {
	t.Helper()
	return newClient(t, apiclient.Settings{BaseURL: s.url()})
}

// raw answers every request with text and closes.
func raw(text string) answerFunc {
	return func(c net.Conn, _ received) bool {
		_, _ = io.WriteString(c, text)
		return false
	}
}

// reply is an ordinary answer that keeps the connection.
func reply(status int, body string, headers ...string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d X\r\nContent-Length: %d\r\n", status, len(body))
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return b.String()
}

func always(status int, body string, headers ...string) answerFunc {
	return func(c net.Conn, _ received) bool { return writes(c, reply(status, body, headers...)) }
}

func writes(c net.Conn, text string) bool {
	_, err := io.WriteString(c, text)
	return err == nil
}

// overSoon is a time-out that a test waits for. It is long enough for a busy host to connect and
// send within it.
const overSoon = 2 * time.Second

func newClient(t *testing.T, o apiclient.Settings) *apiclient.Client {
	t.Helper()
	if o.APIKey == "" {
		o.APIKey = testKey
	}
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	c := must.Get(apiclient.New(o))(t)
	t.Cleanup(c.Close)
	return c
}

// submit POSTs to a raw server that answers with answer.
func submit(t *testing.T, answer answerFunc) (apiclient.Answer, *rawServer, error) {
	t.Helper()
	s := startRaw(t, answer)
	a, err := s.client(t).SubmitOrderCommitment(context.Background(), payload, nil)
	return a, s, err
}

// asError returns the *apiclient.CallError in err.
func asError(t *testing.T, err error) *apiclient.CallError {
	t.Helper()
	e, ok := errors.AsType[*apiclient.CallError](err)
	if !ok {
		t.Fatalf("error = %v (%T), want an *apiclient.CallError", err, err)
	}
	return e
}

func wantKnown(t *testing.T, a apiclient.Answer, err error, known apiclient.Known, fault apiclient.FaultCode) {
	t.Helper()
	if a.Known != known {
		t.Errorf("Known = %v, want %v (error: %v)", a.Known, known, err)
	}
	if known == apiclient.Created {
		if err != nil {
			t.Errorf("error = %v, want nil", err)
		}
		return
	}
	e := asError(t, err)
	if e.Fault != fault {
		t.Errorf("Fault = %v, want %v (error: %v)", e.Fault, fault, err)
	}
	if e.Known != a.Known || e.Status != a.Status {
		t.Errorf("the error carries %v/%d, the answer %v/%d: want the same", e.Known, e.Status, a.Known, a.Status)
	}
	if a.ID != "" {
		t.Errorf("ID = %q, want none", a.ID)
	}
}
