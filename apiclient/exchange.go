package apiclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptrace"
	"sync"
	"time"
)

var (
	// errOver refuses bytes of a call that has already returned: its caller has drawn conclusions
	// from what left so far.
	errOver = errors.New("the call is over; nothing more is sent")
	// errSecondConn refuses what would be a second sending of one request. Go's transport repeats
	// some requests on a new connection by itself; here the repetition ends before its first byte.
	errSecondConn = errors.New("the request has already begun to leave on another connection")
	// errIdleConn refuses a pooled connection that is no longer usable, before the gate is asked.
	errIdleConn = errors.New("the kept connection ended before the request was written")
)

// exchange is one request on its way: it collects the evidence and decides, at the connection,
// whether a byte may leave. The transport's goroutines and the caller share it.
type exchange struct {
	ctx     context.Context
	gate    func() error // nil: always open
	started time.Time

	// mu guards all fields below. It is never held while the gate runs or bytes are written. A
	// connection's lock is taken before it, never after.
	mu sync.Mutex
	// conn is the connection that was assigned last.
	conn *trackedConn
	// wroteOn is the connection on which a write was begun; once set, NotSent can no longer be
	// claimed.
	wroteOn *trackedConn
	gateRan bool
	gateErr error
	// idleDeath is set when a connection was refused because it had ended or had spoken out of
	// turn.
	idleDeath bool
	over      bool
	// success is set when a complete answer of success came.
	success bool
	phase   Phase
	bytes   int64
	// head collects what has left of the request's head until its end is seen; headLen is then its
	// length.
	head    []byte
	headLen int64
	bodyLen int64
	reused  bool
	remote  string
	wroteAt time.Time
	firstAt time.Time
	// writing is open while a write is in progress, nil otherwise.
	writing chan struct{}
}

func newExchange(ctx context.Context, started time.Time, call call) *exchange {
	return &exchange{ctx: ctx, gate: call.gate, started: started, bodyLen: int64(len(call.body))}
}

type exchangeKey struct{}

// withTrace returns the context for the request: it leads the dialer and the connection back to
// this exchange.
func (e *exchange) withTrace(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, exchangeKey{}, e)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart:             func(httptrace.DNSStartInfo) { e.reach(PhaseDNS) },
		ConnectStart:         func(string, string) { e.reach(PhaseConnect) },
		GotConn:              e.gotConn,
		GotFirstResponseByte: e.firstByte,
		// No WroteRequest: Go calls it when the request is in its buffer, before the last of it is
		// written. No Got1xxResponse: with it Go would no longer bound the interim answers by the
		// header limit.
	})
}

// exchangeFrom returns the exchange a dial was begun for; nil when there is none. The connection
// may end up with another request, so only the phase of the dial is noted through it.
func exchangeFrom(ctx context.Context) *exchange {
	e, _ := ctx.Value(exchangeKey{}).(*exchange)
	return e
}

// reach notes that the request got as far as p.
func (e *exchange) reach(p Phase) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.over && p > e.phase {
		e.phase = p
	}
}

func (e *exchange) gotConn(info httptrace.GotConnInfo) {
	w, ok := info.Conn.(*trackedConn)
	if !ok {
		// unreachable: both dial functions return a *trackedConn. Without one nothing is counted, so
		// claim nothing.
		e.mu.Lock()
		e.wroteOn = &trackedConn{}
		e.mu.Unlock()
		return
	}
	e.mu.Lock()
	old := e.conn
	e.conn = w
	e.reused = info.Reused
	if a := w.RemoteAddr(); a != nil {
		e.remote = a.String()
	}
	e.mu.Unlock()
	if old != nil && old != w {
		old.release(e)
	}
	w.attach(e)
	e.reach(PhaseGotConn)
}

func (e *exchange) firstByte() {
	e.mu.Lock()
	if e.firstAt.IsZero() {
		e.firstAt = time.Now()
	}
	e.mu.Unlock()
	e.reach(PhaseFirstByte)
}

// beginWrite is asked by w before each write. On the first one it runs the gate. After it has
// returned nil the request counts as having left, whatever the write does.
func (e *exchange) beginWrite(w *trackedConn) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.mayWrite(w); err != nil {
		return err
	}
	if e.wroteOn == nil {
		if e.gateRan {
			return errOver // unreachable: a refused gate ends mayWrite, an open one sets wroteOn below
		}
		e.gateRan = true
		e.mu.Unlock()
		err := callGate(e.gate)
		e.mu.Lock()
		if err != nil {
			e.gateErr = err
			return err
		}
		// The caller may have given up while the gate ran.
		if err := e.mayWrite(w); err != nil {
			return err
		}
		if err := e.ctx.Err(); err != nil {
			return err
		}
		e.wroteOn = w
		e.wroteAt = time.Now()
		if e.phase < PhaseWroteSome {
			e.phase = PhaseWroteSome
		}
	}
	e.writing = make(chan struct{})
	return nil
}

// mayWrite is called with mu held.
func (e *exchange) mayWrite(w *trackedConn) error {
	switch {
	case e.over:
		return errOver
	case e.gateErr != nil:
		return e.gateErr
	case e.wroteOn != nil && e.wroteOn != w:
		return errSecondConn
	default:
		return nil
	}
}

var endOfHead = []byte("\r\n\r\n")

// endWrite notes the bytes that the write begun last has delivered.
func (e *exchange) endWrite(p []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bytes += int64(len(p))
	if e.headLen == 0 {
		e.head = append(e.head, p...)
		if i := bytes.Index(e.head, endOfHead); i >= 0 {
			e.head, e.headLen = nil, int64(i+len(endOfHead))
		}
	}
	if e.headLen > 0 && e.bytes >= e.headLen+e.bodyLen && e.phase < PhaseWroteAll {
		e.phase = PhaseWroteAll
	}
	close(e.writing)
	e.writing = nil
}

// callGate turns a panic of the gate into a refusal: it runs on a goroutine of the transport, where
// a panic would end the process between an intent and its result.
func callGate(gate func() error) (err error) {
	if gate == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the gate panicked: %v", p)
		}
	}()
	return gate()
}

func (e *exchange) refuseIdle() {
	e.mu.Lock()
	e.idleDeath = true
	e.mu.Unlock()
}

// succeed notes that a complete answer of success came: the connection may carry another request.
func (e *exchange) succeed() {
	e.mu.Lock()
	e.success = true
	e.mu.Unlock()
}

func (e *exchange) succeeded() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.success
}

func (e *exchange) isOver() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.over
}

// hasWritten reports whether a write was begun.
func (e *exchange) hasWritten() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.wroteOn != nil
}

// writeSettle is how long finish waits for a write that is still on its way back: the answer can be
// here before the write that caused it has returned. Only the count of bytes depends on it.
const writeSettle = 50 * time.Millisecond

// finish ends the exchange: from now on no byte of it leaves. What hasWritten says afterwards is
// final.
func (e *exchange) finish() {
	e.mu.Lock()
	e.over = true
	w, writing := e.conn, e.writing
	e.mu.Unlock()
	if w != nil {
		w.release(e)
	}
	if writing != nil {
		t := time.NewTimer(writeSettle)
		defer t.Stop()
		select {
		case <-writing:
		case <-t.C:
		}
	}
}

// sinceWrite returns how long ago the first byte left, 0 if none did.
func (e *exchange) sinceWrite() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.wroteAt.IsZero() {
		return 0
	}
	return passed(e.wroteAt)
}

// passed returns how long ago t was. It takes the larger of the steady and the wall clock: the
// steady one stands still while the machine is suspended.
func passed(t time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(t), now.Round(0).Sub(t.Round(0)))
}

func (e *exchange) evidence() Evidence {
	e.mu.Lock()
	defer e.mu.Unlock()
	ev := Evidence{
		Phase: e.phase, BytesWritten: e.bytes, ReusedConn: e.reused, RemoteAddr: e.remote,
		StartedAt: e.started.UTC().Round(0), Duration: time.Since(e.started),
	}
	if !e.wroteAt.IsZero() && e.firstAt.After(e.wroteAt) {
		ev.FirstByteAfter = e.firstAt.Sub(e.wroteAt)
	}
	return ev
}
