package apiclient_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
)

func TestAClosedGateKeepsEveryByteBack(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(201, `{"id":"`+testID+`"}`))
	errWindow := errors.New("the send window is over")
	a, err := s.client(t).SubmitOrderCommitment(context.Background(), payload, func() error { return errWindow })
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultWindow)
	if !errors.Is(err, errWindow) {
		t.Errorf("errors.Is does not find the gate's error in %v", err)
	}
	if a.Evidence.Phase != apiclient.PhaseGotConn || a.Evidence.BytesWritten != 0 {
		t.Errorf("evidence = %+v", a.Evidence)
	}
	if n := len(s.requests()); n != 0 {
		t.Errorf("the server saw %d requests", n)
	}
}

func TestAClosedGateOnAKeptConnectionKeepsEveryByteBack(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(201, `{"id":"`+testID+`"}`))
	c := s.client(t)
	must.Get(c.SubmitOrderCommitment(context.Background(), payload, nil))(t)
	var asked atomic.Int64
	a, err := c.SubmitOrderCommitment(context.Background(), payload, func() error {
		asked.Add(1)
		return errors.New("closed")
	})
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultWindow)
	if !a.Evidence.ReusedConn {
		t.Error("the connection was not reused: the test proves nothing")
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the gate was asked %d times, want 1", n)
	}
	if n := len(s.requests()); n != 1 {
		t.Errorf("the server saw %d requests, want the first one only", n)
	}
}

func TestTheGateIsAskedOnceWithAConnectionReadyAndNothingWritten(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(201, `{"id":"`+testID+`"}`))
	var asked, conns, requests int
	a, err := s.client(t).SubmitOrderCommitment(context.Background(), make([]byte, 300<<10), func() error {
		asked++
		conns, requests = int(s.conns.Load()), len(s.requests())
		return nil
	})
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	if asked != 1 || requests != 0 {
		t.Errorf("asked %d times (want 1), with %d connections and %d requests (want 0)", asked, conns, requests)
	}
	if a.Evidence.BytesWritten < 300<<10 {
		t.Errorf("BytesWritten = %d, want the whole body", a.Evidence.BytesWritten)
	}
}

func TestCancellingWhileTheGateRunsSendsNothing(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(201, `{"id":"`+testID+`"}`))
	ctx, cancel := context.WithCancel(context.Background())
	a, err := s.client(t).SubmitOrderCommitment(ctx, payload, func() error { cancel(); return nil })
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultCanceled)
	if n := len(s.requests()); n != 0 {
		t.Errorf("the server saw %d requests", n)
	}
}

func TestAPanicOfTheGateIsARefusal(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(201, `{"id":"`+testID+`"}`))
	a, err := s.client(t).SubmitOrderCommitment(context.Background(), payload, func() error { panic("boom") })
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultWindow)
	if n := len(s.requests()); n != 0 {
		t.Errorf("the server saw %d requests", n)
	}
}

// The server executes the second POST on a kept connection and dies before it answers.
func TestF092APostOnAKeptConnectionThatDiesAfterExecutionIsNeverRepeated(t *testing.T) {
	t.Parallel()
	s := startRaw(t, func(c net.Conn, r received) bool {
		if r.nth == 1 {
			_, err := io.WriteString(c, reply(201, `{"id":"`+testID+`"}`))
			return err == nil
		}
		return false // executed, no answer
	})
	c := s.client(t)
	must.Get(c.SubmitOrderCommitment(context.Background(), payload, nil))(t)
	a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
	wantKnown(t, a, err, apiclient.Unknown, apiclient.FaultNetwork)
	if !a.Evidence.ReusedConn {
		t.Error("the connection was not reused: the test proves nothing")
	}
	if a.Evidence.Phase < apiclient.PhaseWroteSome {
		t.Errorf("evidence = %+v", a.Evidence)
	}
	if n := len(s.requests()); n != 2 {
		t.Errorf("the server executed %d requests for 2 calls", n)
	}
}

// The server answers the first request and closes the connection at once. The next POST must not be
// written to it: it goes out once, on a new connection.
func TestF095AConnectionTheServerHasClosedIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	for range 20 {
		closed := make(chan struct{}, 8)
		s := startRaw(t, func(c net.Conn, r received) bool {
			_, _ = io.WriteString(c, reply(201, `{"id":"`+testID+`"}`))
			if r.conn == 1 {
				_ = c.Close()
			}
			closed <- struct{}{}
			return r.conn != 1
		})
		c := s.client(t)
		must.Get(c.SubmitOrderCommitment(context.Background(), payload, nil))(t)
		<-closed
		var asked atomic.Int64
		a, err := c.SubmitOrderCommitment(context.Background(), payload, func() error { asked.Add(1); return nil })
		// The end of the connection may still be on its way to us; then the bytes left, and the
		// outcome is in doubt.
		if a.Known != apiclient.Created && a.Known != apiclient.Unknown {
			t.Errorf("Known = %v (%v)", a.Known, err)
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("the gate was asked %d times, want 1", n)
		}
		if n := len(s.requests()); n > 2 {
			t.Errorf("the server saw %d requests for 2 calls", n)
		}
	}
}

// A server that sends two answers to one request: the second must not become the answer to the next
// POST.
func TestALeftOverAnswerIsNeverTakenForTheNextOne(t *testing.T) {
	t.Parallel()
	for range 30 {
		s := startRaw(t, func(c net.Conn, r received) bool {
			text := reply(201, `{"id":"`+testID+`"}`)
			if r.conn == 1 {
				text += reply(201, `{"id":"`+otherID+`"}`)
			}
			_, err := io.WriteString(c, text)
			return err == nil
		})
		c := s.client(t)
		for call := range 2 {
			a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
			if a.ID == otherID {
				t.Fatalf("call %d got the id of an answer it did not cause", call)
			}
			if call == 0 {
				wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
			} else if a.Known != apiclient.Created && a.Known != apiclient.NotSent {
				t.Errorf("Known = %v (%v)", a.Known, err)
			}
		}
	}
}

// The same, with the race decided against us: the second POST takes the connection while the second
// answer is already in the transport's buffer. Without the check at the connection it would be
// taken for the answer to the second POST.
func TestALeftOverAnswerInTheBufferIsProofAgainstTheConnectionNotAnAnswer(t *testing.T) {
	t.Parallel()
	s := startRaw(t, func(c net.Conn, r received) bool {
		text := reply(201, `{"id":"`+testID+`"}`)
		if r.conn == 1 {
			text += reply(201, `{"id":"`+otherID+`"}`)
		}
		_, err := io.WriteString(c, text)
		return err == nil
	})
	c := s.client(t)
	var asked atomic.Int64
	type outcome struct {
		a   apiclient.Answer
		err error
	}
	second := make(chan outcome, 1)
	var once sync.Once
	// The read loop of the transport stands still in this hook, with the connection already back in
	// the pool, until the second request is about to be written.
	first := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{PutIdleConn: func(error) {
		once.Do(func() {
			written := make(chan struct{})
			var once sync.Once
			ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
				WroteHeaders: func() { once.Do(func() { close(written) }) },
			})
			go func() {
				a, err := c.SubmitOrderCommitment(ctx, payload, func() error { asked.Add(1); return nil })
				second <- outcome{a, err}
			}()
			<-written
		})
	}})
	must.Get(c.SubmitOrderCommitment(first, payload, nil))(t)
	o := <-second
	wantKnown(t, o.a, o.err, apiclient.Created, apiclient.FaultNone)
	if o.a.ID != testID {
		t.Errorf("the second POST got the id %s of an answer it did not cause", o.a.ID)
	}
	if seen := s.requests(); len(seen) != 2 || seen[1].conn != 2 {
		t.Errorf("%d requests; want the second one on a new connection", len(seen))
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the gate was asked %d times, want 1", n)
	}
}

func TestAServerThatSpeaksFirstGetsNoRequest(t *testing.T) {
	t.Parallel()
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	done := make(chan int64, 16)
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, reply(201, `{"id":"`+otherID+`"}`))
			n, _ := io.Copy(io.Discard, c)
			_ = c.Close()
			done <- n
		}
	}()
	a, err := newClient(t, apiclient.Settings{BaseURL: "http://" + ln.Addr().String()}).
		SubmitOrderCommitment(context.Background(), payload, nil)
	_ = ln.Close()
	var got int64
	for n := range done {
		got += n
	}
	// Whether the greeting or our request came first is a race; what may never happen is a claim
	// that contradicts it.
	if a.Known == apiclient.NotSent && got != 0 {
		t.Errorf("NotSent, but the server received %d bytes (%v)", got, err)
	}
	if got == 0 && a.Known == apiclient.Created {
		t.Error("Created, but the server received nothing")
	}
}
