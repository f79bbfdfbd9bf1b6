package sync_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// long asks for the long form of a test.
var long = os.Getenv("SAFRASYNC_TEST_LONG") != ""

// wireCut is where the connection of one POST ends: after so many bytes of the request, or, the
// request being forwarded whole, of the answer.
type wireCut struct {
	none   bool // not at all
	answer bool
	at     int
	how    string // FIN, RST or stall: silence until the caller gives up
}

func (c wireCut) String() string {
	if c.none {
		return "no cut"
	}
	if c.answer {
		return fmt.Sprintf("%s after byte %d of the answer", c.how, c.at)
	}
	return fmt.Sprintf("%s after byte %d of the request", c.how, c.at)
}

// cutter stands between the engine and the platform, which it passes one POST at a time. It is told
// before each POST how its connection ends.
type cutter struct {
	target string // host:port of the platform
	listen net.Listener
	wg     gosync.WaitGroup

	mu       gosync.Mutex
	plan     []wireCut
	done     []wireCut // in the order of the POSTs
	current  wireCut
	giveUp   func()
	request  int // bytes of the last whole request
	response int // and of the last whole answer
	head     int // of its head
}

func newCutter(t *testing.T, b *bench) *cutter {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &cutter{target: strings.TrimPrefix(b.api.URL, "http://"), listen: ln, current: wireCut{none: true}}
	k.wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			k.wg.Go(func() { k.serve(c.(*net.TCPConn)) })
		}
	})
	t.Cleanup(func() { _ = ln.Close(); k.wg.Wait() })
	b.posting = k.post
	b.parts.URL = "http://" + ln.Addr().String()
	return k
}

// post makes one POST with the next cut.
func (k *cutter) post(ctx context.Context, submit submission) (apiclient.Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.mu.Lock()
	k.current, k.giveUp = wireCut{none: true}, cancel
	if len(k.plan) > 0 {
		k.current, k.plan = k.plan[0], k.plan[1:]
	}
	k.done = append(k.done, k.current)
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		k.current = wireCut{none: true}
		k.mu.Unlock()
	}()
	return submit(ctx)
}

// serve passes one request on, and its answer back, as far as its cut lets it. An answer says that
// the connection ends with it, so that every POST has its own.
func (k *cutter) serve(c *net.TCPConn) {
	defer func() { _ = c.Close() }()
	k.mu.Lock()
	cut, giveUp := k.current, k.giveUp
	k.mu.Unlock()
	api, err := net.Dial("tcp", k.target)
	if err != nil {
		return
	}
	defer func() { _ = api.Close() }()
	if !cut.none && !cut.answer {
		// a caller that gives up while it dials leaves the connection to the next one
		if cut.at == 0 && cut.how == "stall" {
			_, _ = io.CopyN(io.Discard, c, 1)
		}
		_, _ = io.CopyN(api, c, int64(cut.at))
		end(c, cut.how, giveUp)
		return
	}
	var seen bytes.Buffer
	r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(c, &seen)))
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	size := seen.Len()
	if _, err := seen.WriteTo(api); err != nil {
		return
	}
	answer, err := http.ReadResponse(bufio.NewReader(api), r)
	if err != nil {
		return
	}
	answer.Close = true
	var text bytes.Buffer
	if err := answer.Write(&text); err != nil {
		return
	}
	if r.Method == http.MethodPost {
		k.mu.Lock()
		k.request, k.response, k.head = size, text.Len(), bytes.Index(text.Bytes(), []byte("\r\n\r\n"))+4
		k.mu.Unlock()
	}
	if cut.none {
		_, _ = text.WriteTo(c)
		return
	}
	_, _ = c.Write(text.Bytes()[:min(cut.at, text.Len()-1)])
	end(c, cut.how, giveUp)
}

func end(c *net.TCPConn, how string, giveUp func()) {
	switch how {
	case "RST":
		_ = c.SetLinger(0)
		return
	case "FIN":
		_ = c.CloseWrite()
	case "stall":
		giveUp()
	}
	_, _ = io.Copy(io.Discard, c)
}

// plans gives a cut at every step-th byte of request and answer, each of every kind. Two answers in
// a row without a readable id stop a job, so that the cuts in the body of the answer stand between
// others.
func (k *cutter) plans(step int, hows ...string) []wireCut {
	k.mu.Lock()
	defer k.mu.Unlock()
	var early, late, out []wireCut
	for _, how := range hows {
		for at := 0; at < k.request; at += step {
			early = append(early, wireCut{at: at, how: how})
		}
		for at := 0; at < k.response; at += step {
			c := wireCut{answer: true, at: at, how: how}
			if at < k.head {
				early = append(early, c)
			} else {
				late = append(late, c)
			}
		}
	}
	for len(early)+len(late) > 0 {
		next := wireCut{none: true}
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
	delivery := func(b *bench, n int) { b.delivery(n, 1, n) }
	share := func(b *bench, n int) { b.share(fmt.Sprint(n), 1, n) }
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
			k := newCutter(t, b)
			b.contract(1)
			f.row(b, 1000)
			b.pass()
			cuts := k.plans(f.step, f.hows...)
			k.mu.Lock()
			k.plan, k.done = cuts, nil
			k.mu.Unlock()
			b.bulk(func() {
				for i := range cuts {
					f.row(b, 1001+i)
				}
			})
			b.sendAll(f.job, len(cuts)+10)
			b.judgeCuts(f.job, f.resource, f.quantity, cuts, k)
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

// sendAll makes passes until nothing is pending any more: an answer that ends in the middle of its
// head stops the job, each time.
func (b *bench) sendAll(job string, passes int) {
	b.t.Helper()
	var r trade.RunReport
	for range passes {
		r = b.pass(job)[job]
		if r.Stopped == nil && r.States[trade.Pending] == 0 {
			return
		}
		b.clock.advance(20 * time.Minute)
	}
	b.t.Fatalf("%s: rows are pending after %d passes; the last was stopped: %+v", job, passes, r.Stopped)
}

// judgeCuts looks from outside, then at every row: which attempt had which cut, and what became of
// it.
func (b *bench) judgeCuts(job, resource, quantity string, cuts []wireCut, k *cutter) {
	b.t.Helper()
	records := map[string]int{}
	for _, r := range b.createdOf(resource) {
		records[fmt.Sprint(r.Fields[quantity])]++
	}
	byID := map[string]int{}
	for _, r := range b.createdOf(resource) {
		byID[r.ID]++
		if n := records[fmt.Sprint(r.Fields[quantity])]; n != 1 {
			b.t.Errorf("%s %v is on the platform %d times", quantity, r.Fields[quantity], n)
		}
	}
	doubts, want, unsent, accepted := 0, 0, 0, 0
	for _, e := range b.entries(trade.RowFilter{Job: job}) {
		switch e.State {
		case trade.Accepted:
			accepted++
			if byID[e.RemoteID] != 1 {
				b.t.Errorf("%s is accepted with an id that the platform does not have", e.Key)
			}
		case trade.InDoubt:
			doubts++
		default:
			b.t.Errorf("%s is %s", e.Key, e.State)
		}
		attempts, err := b.ledger.Attempts(b.t.Context(), e.ID)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, a := range attempts {
			// no cut: the request before it made the job careful
			if a.Outcome == trade.OutcomeNotSent && !strings.Contains(a.Reason, "its turn") {
				unsent++
			}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	first := 0
	for _, c := range k.done {
		if c.none {
			continue
		}
		want++
		if !c.answer && c.at == 0 {
			first++
		}
	}
	if unsent > first || doubts != want-unsent || len(cuts) > len(k.done) {
		b.t.Errorf("%d doubts for %d cuts of which %d left no byte (%d could)", doubts, want, unsent, first)
	}
	b.t.Logf("%d cuts, %d doubts, %d proved unsent and sent later, %d accepted, %d records, 0 doubled", want, doubts,
		unsent, accepted, len(byID))
}
