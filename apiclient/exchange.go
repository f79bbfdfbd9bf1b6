package apiclient

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

var (
	// errOver refuses bytes of a call that has already returned, because its caller has drawn
	// conclusions from what had left by then.
	errOver = phrase.New("the call is over; nothing more is sent")
	// errSecondConn prevents one request from being sent twice. Go's transport repeats some
	// requests on a new connection by itself; here the repetition ends before its first byte.
	errSecondConn = phrase.New("the request has already begun to leave on another connection")
	// errIdleConn refuses a pooled connection that is no longer usable, before the gate is called.
	errIdleConn = phrase.New("the kept connection ended before the request was written")
)

// exchange is one request in flight. It collects the evidence and decides, at the connection,
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
	// wroteOn is the connection on which a write was begun; once it is set, the result can no
	// longer be NotSent.
	wroteOn *trackedConn
	gateRan bool
	gateErr error
	// idleDeath is set when a connection was refused because it had ended or the server had sent
	// unrequested bytes.
	idleDeath bool
	over      bool
	// success is set when a complete 2xx answer arrived.
	success bool
	phase   Phase
	bytes   int64
	// head collects the bytes sent so far until the end of the request's head is seen; headLen is
	// then the length of the head.
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

// reach records that the request got as far as p.
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
		// unreachable: both dial functions return a *trackedConn. Without one, bytes are not
		// counted, so NotSent must not be claimed.
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

// beginWrite is called by w before each write. Before the first write it runs the gate. Once it has
// returned nil, the request counts as having left, whatever the write does.
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
		// The caller may have cancelled while the gate ran.
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

// mayWrite returns why w may not write, or nil. e.mu must be held.
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

// endWrite counts the bytes that the last write passed on.
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

// callGate turns a panic of the gate into a refusal. The gate runs on a goroutine of the transport,
// where a panic would end the process between an intent and its result.
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

// writeSettle is how long finish waits for a write that has not returned yet: the answer can arrive
// before the write that caused it has returned. Only the byte count depends on it.
const writeSettle = 50 * time.Millisecond

// finish ends the exchange: from now on none of its bytes leaves, and the result of hasWritten is
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
		select {
		case <-writing:
		case <-time.After(writeSettle):
		}
	}
}

// sinceWrite returns how long ago the first byte left, or 0 if none has.
func (e *exchange) sinceWrite() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.wroteAt.IsZero() {
		return 0
	}
	return passed(e.wroteAt)
}

// passed returns how long ago t was. It returns the larger value of the monotonic and the wall
// clock, because the monotonic clock stops while the machine is suspended.
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
