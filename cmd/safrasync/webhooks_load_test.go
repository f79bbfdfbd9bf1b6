package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

const (
	// events a second that the senders try to send: half as much again as the 10,000 a minute that
	// are asked for
	loadPace    = 250
	loadSenders = 8
	loadBatch   = 100 // new rows of the ERP for each run
	loadFirst   = 100_000
)

// F152: events come as fast as 10,000 a minute and faster, over TLS with Basic, one in ten of them
// twice, while the service sends rows all the time. Each event that was answered with 200 is in the
// inbox, once, and nothing else is; each row went once, and the ledger says of each what the
// platform has. The long form sends 20,000 events beside thousands of rows; docs/reliability.md has
// the figures.
func TestF152NoEventIsLostWhileTheServiceSendsRows(t *testing.T) {
	events := 300
	if long {
		events = 20_000
	}
	onEither(t, func(t *testing.T, on string) {
		answers := &eventAnswers{taken: map[string]int{}}
		s, _, _ := hearingService(t, on, func(o *sandbox.Options) {
			o.OnDelivered, o.Events = answers.add, []sandbox.EventFault{{Again: 1, Percent: 10}}
			begin := o.OnPost
			o.OnPost = func(n int) {
				if n <= len(sandbox.Events()) { // the registrations, which hearingService waits for
					begin(n)
				}
			}
		})
		s.edit("max_in_flight: 1", "max_in_flight: 8")
		// on a busy host two batches of new rows come between two runs
		s.edit("jobs:\n", "brakes: {new_rows: 0}\njobs:\n")
		listed := s.moreRows(loadFirst)
		s.start()

		var sent atomic.Int64
		var sending sync.WaitGroup
		pace := rate.NewLimiter(loadPace, loadSenders)
		began := time.Now()
		for range loadSenders {
			sending.Go(func() {
				for n := sent.Add(1); n <= int64(events); n = sent.Add(1) {
					if err := pace.Wait(t.Context()); err != nil {
						t.Error(err)
						return
					}
					names := sandbox.Events()
					event := names[int(n)%len(names)]
					if got, err := s.box.Send(event, answers.payload(event, n)); got == 0 || err != nil {
						t.Errorf("%s went to %d receivers: %v", event, got, err)
						return
					}
				}
			})
		}
		all := make(chan struct{})
		go func() { sending.Wait(); close(all) }()
		runs := 0
		for going := true; going; runs++ { // each run finds new rows, until the last event was sent
			select {
			case <-all:
				going = false
			default:
			}
			s.ran()
			listed += s.moreRows(loadFirst + listed)
		}
		must.Do(t, s.box.WaitDeliveries(t.Context()))
		during, took := answers.count(), time.Since(began)
		// What waits in the ERP goes; runs that find nothing leave no line. Two rows of the sample go too.
		for late := time.Now().Add(giveUp); s.job("contracts").States[trade.Accepted] != listed+2 ||
			len(s.inbox()) < answers.different(); {
			if time.Now().After(late) {
				t.Logf("the service stands still; its log:\n%s", s.rest())
				break // what is missing is told below
			}
		}
		must.Do(t, s.box.WaitDeliveries(t.Context()))
		s.stop()

		// what the platform has of the rows that moreRows made, and what the ledger says of them
		records := map[string][]string{} // ids by amount
		for _, r := range s.box.Created() {
			amount := string(r.Fields["amount"].(json.Number))
			records[amount] = append(records[amount], r.ID)
		}
		if len(records) != listed+2 {
			t.Errorf("the platform has records of %d rows, want %d", len(records), listed+2)
		}
		ledger := map[string]office.RowAnswer{}
		for _, row := range jsonLines[office.RowAnswer](t, s.must(0, "rows", "contracts", "--json")) {
			ledger[row.Key] = row
		}
		for n := loadFirst; n < loadFirst+listed; n++ {
			there, row := records[fmt.Sprint(n)], ledger[fmt.Sprintf("01|%d", n)]
			if len(there) != 1 || row.State != trade.Accepted || row.RemoteID == nil || *row.RemoteID != there[0] {
				t.Errorf("row %d: the platform has %v, the ledger says %s %v", n, there, row.State, row.RemoteID)
			}
		}
		kept, times := 0, 0
		for _, e := range s.inbox() {
			kept++
			times += e.Times
			of := answers.taken[e.Event+string(e.Body)]
			if of == 0 {
				t.Errorf("event %d (%s) is in the inbox, and was never answered with 200", e.Seq, e.Event)
			} else if e.Times < of {
				t.Errorf("event %d (%s) was answered with 200 %d times, and the inbox knows of %d", e.Seq, e.Event,
					of, e.Times)
			}
		}
		if kept != answers.different() {
			t.Errorf("%d events are in the inbox, and %d different ones were answered with 200", kept,
				answers.different())
		}
		if answers.refused > 0 {
			t.Errorf("%d events were not taken: %s", answers.refused, answers.why)
		}
		t.Logf("%s: %d events in %s, %.0f a minute, beside %d runs; in all %d events, %d of them again, and %d rows",
			on, during, took.Round(time.Millisecond), float64(during)/took.Minutes(), runs, times, times-kept, listed+2)
	})
}

// eventAnswers is what the receiver answered to the sandbox's events, its own and those of the
// test.
type eventAnswers struct {
	mu      sync.Mutex
	taken   map[string]int // by event and body: how often the answer was 200
	refused int
	why     string   // of the first that was not taken
	records []string // ids of commitments of which an event was taken
}

func (a *eventAnswers) add(d sandbox.Delivery) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !d.OK {
		if a.refused++; a.why == "" {
			a.why = fmt.Sprintf("%d %s", d.Status, d.Error)
		}
		return
	}
	a.taken[d.Event+string(d.Payload)]++
	var made struct{ ID string }
	if d.Event == "CREATE_ORDER_COMMITMENT" && json.Unmarshal(d.Payload, &made) == nil && made.ID != "" {
		a.records = append(a.records, made.ID)
	}
}

// payload is the n-th event's body, of a record of ours where it is about a change of one.
func (a *eventAnswers) payload(event string, n int64) json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := uuid.NewString()
	if strings.HasPrefix(event, "UPDATE_") && strings.HasSuffix(event, "ORDER_COMMITMENT") && len(a.records) > 0 {
		id = a.records[int(n)%len(a.records)]
	}
	return json.RawMessage(fmt.Sprintf(`{"id":%q,"status":"STEP %d"}`, id, n))
}

// count is how many answers were 200.
func (a *eventAnswers) count() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, times := range a.taken {
		n += times
	}
	return n
}

// different is how many different events were answered with 200.
func (a *eventAnswers) different() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.taken)
}

// moreRows puts loadBatch good contracts into the ERP, whose amounts are their numbers, from this
// one on. It gives how many.
func (s *service) moreRows(from int) int {
	s.t.Helper()
	must.Do(s.t, runSQLText(s.path("erp.db"), fmt.Sprintf(`WITH RECURSIVE n(i) AS (VALUES (%d) UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO contrato SELECT '01', i, i, 'P1', '01', 'U1', '001', 'L1', '2025/2026', 'SC', 'A_FIXAR', '20260310', '10', NULL, NULL, NULL, NULL, NULL, NULL, 'aprovado' FROM n`,
		from, from+loadBatch-1)))
	return loadBatch
}

// inbox is what the ledger has of events.
func (s *service) inbox() []trade.InboxEvent {
	s.t.Helper()
	return must.Get(s.store().Inbox(s.t.Context(), trade.InboxFilter{}))(s.t)
}
