package sync_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	gosync "sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// long asks for the long form of a test.
var long = os.Getenv("SAFRASYNC_TEST_LONG") != ""

// wireCut is where the connection of one POST ends: after so many bytes of the request, or, the
// request being forwarded whole, of the answer.
type wireCut struct {
	how    string // FIN, RST or stall: silence until the caller gives up; "" = it is not cut
	answer bool
	at     int
}

// wire is the platform's side of the network, which takes one POST at a time. It is told before
// each POST how its connection ends; each has its own.
type wire struct {
	net.Listener
	mu       gosync.Mutex
	plan     []wireCut
	done     []wireCut // in the order of the POSTs
	current  wireCut
	giveUp   func()
	request  int // bytes of the last whole request
	response int // and of its answer
	head     int // of the answer's head
}

func newWire(t *testing.T, b *bench) *wire {
	t.Helper()
	server := httptest.NewUnstartedServer(b.api.Server)
	w := &wire{Listener: server.Listener}
	server.Listener = w
	server.Config.SetKeepAlivesEnabled(false)
	server.Start()
	t.Cleanup(server.Close)
	b.posting = w.post
	b.parts.URL = server.URL
	return w
}

// post makes one POST with the next cut.
func (w *wire) post(ctx context.Context, submit submission) (apiclient.Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var next wireCut
	w.mu.Lock()
	if len(w.plan) > 0 {
		next, w.plan = w.plan[0], w.plan[1:]
	}
	w.current, w.giveUp, w.done = next, cancel, append(w.done, next)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.current = wireCut{}
		w.mu.Unlock()
	}()
	return submit(ctx)
}

func (w *wire) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	w.mu.Lock()
	defer w.mu.Unlock()
	return &cutConn{Conn: c, wire: w, cut: w.current, giveUp: w.giveUp}, err
}

// cutConn is a connection that ends as its cut says.
type cutConn struct {
	net.Conn
	wire    *wire
	cut     wireCut
	giveUp  func()
	in, out atomic.Int64
}

func (c *cutConn) Read(p []byte) (int, error) {
	if c.cut.how != "" && !c.cut.answer {
		p = p[:min(len(p), c.cut.at-int(c.in.Load()))]
		if len(p) == 0 {
			return 0, c.end()
		}
	}
	n, err := c.Conn.Read(p)
	c.in.Add(int64(n))
	return n, err
}

func (c *cutConn) Write(p []byte) (int, error) {
	if c.cut.how == "" {
		c.wire.mu.Lock()
		c.wire.request, c.wire.response = int(c.in.Load()), len(p)
		c.wire.head = bytes.Index(p, []byte("\r\n\r\n")) + 4
		c.wire.mu.Unlock()
		return c.Conn.Write(p)
	}
	if !c.cut.answer {
		return 0, net.ErrClosed
	}
	left := c.cut.at - int(c.out.Add(int64(len(p)))) + len(p)
	if left >= len(p) {
		return c.Conn.Write(p)
	}
	_, _ = c.Conn.Write(p[:max(left, 0)])
	return 0, c.end()
}

func (c *cutConn) end() error {
	tcp := c.Conn.(*net.TCPConn)
	switch c.cut.how {
	case "RST":
		_ = tcp.SetLinger(0)
		return errors.Join(net.ErrClosed, tcp.Close())
	case "FIN":
		_ = tcp.CloseWrite()
	case "stall":
		// a caller that gives up while it dials leaves the connection to the next one
		if c.cut.at == 0 && !c.cut.answer {
			_, _ = tcp.Read(make([]byte, 1))
		}
		c.giveUp()
	}
	_, _ = io.Copy(io.Discard, tcp)
	return net.ErrClosed
}

// plans returns a cut at every step-th byte of request and answer, each of every kind. Two answers
// in a row without a readable id stop a job, so that the cuts in the body of the answer stand
// between others.
func (w *wire) plans(step int, hows ...string) []wireCut {
	w.mu.Lock()
	defer w.mu.Unlock()
	var early, late, out []wireCut
	for _, how := range hows {
		for at := 0; at < w.request; at += step {
			early = append(early, wireCut{at: at, how: how})
		}
		for at := 0; at < w.response; at += step {
			c := wireCut{answer: true, at: at, how: how}
			if at < w.head {
				early = append(early, c)
			} else {
				late = append(late, c)
			}
		}
	}
	for len(early)+len(late) > 0 {
		var next wireCut
		if len(early) > 0 {
			next, early = early[0], early[1:]
		}
		out = append(out, next)
		if len(late) > 0 {
			out, late = append(out, late[0]), late[1:]
		}
	}
	return out
}

// F090, F091, F092, F108, through the engine: whatever byte of request or answer is the last,
// nothing is on the platform twice, and exactly the rows are in doubt of which bytes had left. The
// short form cuts the deliveries at every byte in one way each, and the others at every 29th.
func TestF091TheEngineWithTheConnectionCutAtEveryByte(t *testing.T) {
	t.Parallel()
	all := []string{"FIN", "RST", "stall"}
	type form struct {
		job, resource, quantity string
		step                    int
		hows                    []string
		row                     func(b *bench, n int)
	}
	contract := func(b *bench, n int) { b.contract(n) }
	// Of many contracts: each row is compared with all others of its own before it goes.
	const many = 30
	delivery := func(b *bench, n int) { b.delivery(n, 1+n%many, n) }
	share := func(b *bench, n int) { b.share(fmt.Sprint(n), 1+n%many, n) }
	forms := []form{
		{"contracts", sandbox.ResourceOrderCommitments, "amount", 29, all, contract},
		{"traceability", sandbox.ResourceTraceability, "allocated_volume", 29, all, share},
	}
	for _, how := range all {
		forms = append(forms, form{
			"deliveries", sandbox.ResourceDeliveries, "delivered_volume", 3,
			[]string{how},
			delivery,
		})
	}
	if long {
		for i := range forms {
			forms[i].step = 1
		}
	} else {
		forms[2].step = 1 // every byte, with FIN
	}
	for _, f := range forms {
		t.Run(f.job+" "+strings.Join(f.hows, " "), func(t *testing.T) {
			t.Parallel()
			b := withChildren(newBench(t, sandbox.Options{}))
			b.limits.MaxInFlight, b.limits.StopAfterUnknown, b.limits.Timeout = 1, 0, time.Minute
			b.brakes = run.Brakes{}
			w := newWire(t, b)
			b.contracts(many)
			f.row(b, 1000)
			b.pass()
			cuts := w.plans(f.step, f.hows...)
			w.mu.Lock()
			w.plan, w.done = cuts, nil
			w.mu.Unlock()
			b.bulk(func() {
				for i := range cuts {
					f.row(b, 1001+i)
				}
			})
			// An answer that ends in the middle of its head stops the job, each time.
			for r, n := b.pass(f.job)[f.job], 0; r.Stopped != nil || r.States[trade.Pending] > 0; n++ {
				if b.clock.advance(20 * time.Minute); n > len(cuts)+10 {
					t.Fatalf("rows are pending after %d passes; the last was stopped: %+v", n, r.Stopped)
				}
				r = b.pass(f.job)[f.job]
			}
			// From outside, then at every row: which attempt had which cut, and what became of it.
			ids, records := map[string]bool{}, map[string]int{}
			for _, r := range b.createdOf(f.resource) {
				ids[r.ID] = true
				records[fmt.Sprint(r.Fields[f.quantity])]++
				if records[fmt.Sprint(r.Fields[f.quantity])] > 1 {
					t.Errorf("%s %v is on the platform twice", f.quantity, r.Fields[f.quantity])
				}
			}
			doubts, unsent := 0, 0
			for _, e := range b.entries(trade.RowQuery{Jobs: []string{f.job}}) {
				if e.State == trade.InDoubt {
					doubts++
				} else if e.State != trade.Accepted || !ids[e.RemoteID] {
					t.Errorf("%s is %s with the id %q", e.Key, e.State, e.RemoteID)
				}
				attempts := must.Get(b.ledger.Attempts(t.Context(), e.ID))(t)
				for _, a := range attempts {
					// no cut: the request before it made the job careful
					if a.Outcome == trade.OutcomeNotSent && !strings.Contains(a.Reason.String(), "its turn") {
						unsent++
					}
				}
			}
			done := slices.DeleteFunc(w.done, func(c wireCut) bool { return c.how == "" })
			first := len(slices.DeleteFunc(slices.Clone(done), func(c wireCut) bool { return c.answer || c.at > 0 }))
			if unsent > first || doubts != len(done)-unsent || len(done) < len(slices.DeleteFunc(cuts,
				func(c wireCut) bool { return c.how == "" })) {
				t.Errorf("%d doubts for %d cuts of which %d left no byte (%d could)", doubts, len(done), unsent, first)
			}
			t.Logf("%d cuts, %d doubts, %d proved unsent and sent later, %d records, 0 doubled", len(done), doubts,
				unsent, len(ids))
		})
	}
}

// bulk writes rows of the ERP in one transaction.
func (b *bench) bulk(write func()) {
	b.t.Helper()
	b.erp.SetMaxOpenConns(1)
	b.exec("BEGIN")
	write()
	b.exec("COMMIT")
	b.erp.SetMaxOpenConns(0)
}
