package apiclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
)

// pipeConn returns a connection, owned by a new exchange, and its other end.
func pipeConn(t *testing.T, gate func() error) (*trackedConn, *exchange, net.Conn) {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { _ = client.Close(); _ = server.Close() })
	w := newTrackedConn(client, idleTimeout)
	e := newExchange(t.Context(), time.Now(), call{gate: gate})
	e.conn = w
	w.attach(e)
	return w, e, server
}

func forbiddenGate(t *testing.T) func() error {
	return func() error { t.Error("the gate was asked"); return nil }
}

func TestAnEndedConnectionIsRefusedBeforeTheGate(t *testing.T) {
	t.Parallel()
	w, e, server := pipeConn(t, forbiddenGate(t))
	_ = server.Close()
	if _, err := w.Read(make([]byte, 1)); err == nil {
		t.Fatal("Read of a closed connection succeeded")
	}
	if n, err := w.Write([]byte("POST")); n != 0 || !errors.Is(err, errIdleConn) {
		t.Errorf("Write = %d, %v; want errIdleConn", n, err)
	}
	e.finish()
	if e.hasWritten() || !e.untouched() {
		t.Errorf("hasWritten = %v, untouched = %v; want proof that nothing left", e.hasWritten(), e.untouched())
	}
}

func TestAConnectionOnWhichTheServerSpokeOutOfTurnIsRefusedBeforeTheGate(t *testing.T) {
	t.Parallel()
	w, e, server := pipeConn(t, forbiddenGate(t))
	go func() { _, _ = io.WriteString(server, "HTTP/1.1 201 Created\r\n") }()
	if n, err := w.Read(make([]byte, 100)); n != 0 || !errors.Is(err, errUnrequested) {
		t.Errorf("Read = %d, %v; want nothing handed on", n, err)
	}
	if n, err := w.Write([]byte("POST")); n != 0 || !errors.Is(err, errIdleConn) {
		t.Errorf("Write = %d, %v; want errIdleConn", n, err)
	}
	if e.hasWritten() {
		t.Error("a write was begun")
	}
}

// As long as the transport does not read from the connection, its buffer may hold an answer of the
// request before.
func TestAWriteWaitsUntilTheBufferIsEmptyAndGivesUpWithTheCall(t *testing.T) {
	t.Parallel()
	w, e, _ := pipeConn(t, forbiddenGate(t))
	result := make(chan error)
	go func() {
		_, err := w.Write([]byte("POST"))
		result <- err
	}()
	e.finish()
	if err := <-result; !errors.Is(err, errOver) {
		t.Errorf("Write = %v, want errOver", err)
	}
	if e.hasWritten() {
		t.Error("a write was begun")
	}
}

func TestAConnectionWithoutAnOwnerLetsNothingOut(t *testing.T) {
	t.Parallel()
	w, e, _ := pipeConn(t, nil)
	w.release(e)
	if n, err := w.Write([]byte("POST")); n != 0 || !errors.Is(err, errOver) {
		t.Errorf("Write = %d, %v; want errOver", n, err)
	}
}

func TestThePhaseWroteAllNeedsTheWholeHeadAndBody(t *testing.T) {
	t.Parallel()
	const head, body = "POST / HTTP/1.1\r\nA: b\r\n\r\n", "0123456789"
	request := head + body
	for cut := range len(request) + 1 {
		e := newExchange(t.Context(), time.Now(), call{body: []byte(body)})
		w := newTrackedConn(nil, idleTimeout)
		for _, part := range []string{request[:cut/2], request[cut/2 : cut]} {
			must.Do(t, e.beginWrite(w))
			e.endWrite([]byte(part))
		}
		want := PhaseWroteSome
		if cut == len(request) {
			want = PhaseWroteAll
		}
		if ev := e.evidence(); ev.Phase != want || ev.BytesWritten != int64(cut) {
			t.Errorf("after %d of %d bytes: %v, %d bytes; want %v", cut, len(request), ev.Phase, ev.BytesWritten, want)
		}
	}
}

// The connection knows of its end before the transport has acted on it: the POST goes out once, on
// another connection.
func TestF095AnEndedConnectionOfThePoolIsReplacedBeforeTheGate(t *testing.T) {
	t.Parallel()
	var executed, asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		executed.Add(1)
		_, _ = io.WriteString(w, `{"id":"`+fuzzID+`"}`)
	}))
	t.Cleanup(server.Close)
	c := must.Get(New(Settings{BaseURL: server.URL, APIKey: "some-api-key"}))(t)
	t.Cleanup(c.Close)
	var mu sync.Mutex
	var conns []*trackedConn
	dial := c.transport.DialContext
	c.transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if w, ok := conn.(*trackedConn); ok {
			mu.Lock()
			conns = append(conns, w)
			mu.Unlock()
		}
		return conn, err
	}
	gate := func() error { asked.Add(1); return nil }
	for call := range 2 {
		a, err := c.SubmitOrderCommitment(t.Context(), []byte(`{}`), gate)
		if err != nil || a.Evidence.ReusedConn {
			t.Fatalf("call %d: %v, reused %v", call, err, a.Evidence.ReusedConn)
		}
		mu.Lock()
		w := conns[len(conns)-1]
		mu.Unlock()
		w.mu.Lock()
		w.ended = true
		w.mu.Unlock()
	}
	if executed.Load() != 2 || asked.Load() != 2 || len(conns) != 2 {
		t.Errorf("2 calls: %d executed, gate asked %d times, %d connections", executed.Load(), asked.Load(), len(conns))
	}
}

// http:// is for this host only, whatever the resolver makes of "localhost".
func TestAPlainConnectionThatIsNotLoopbackIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	ln := must.Get(net.Listen("unix", path))(t)
	t.Cleanup(func() { _ = ln.Close() })
	d := &dialer{loopbackOnly: true, closing: t.Context()}
	var refused *dialRefusedError
	if _, err := d.connect(t.Context(), "unix", path); !errors.As(err, &refused) {
		t.Errorf("connect = %v, want a refusal", err)
	}
}
