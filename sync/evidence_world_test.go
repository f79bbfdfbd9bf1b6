package sync_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/events"
	"github.com/safrasync/safrasync/trade"
)

// hears registers every event of the platform and puts what comes into the bench's inbox; the
// receiver itself has tests of its own.
func (b *bench) hears() {
	b.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = b.ledger.StoreEvents(b.t.Context(), []trade.InboxEvent{b.event(r.URL.Path[1:], body)})
		}
		if err != nil && b.t.Context().Err() == nil { // events of a test's last records may come when it is over
			b.t.Error(err)
		}
	}))
	b.t.Cleanup(server.Close)
	for _, event := range sandbox.Events() {
		must.Get(b.client().CreateWebhook(b.t.Context(),
			apiclient.WebhookRequest{
				WebhookEvent: apiclient.WebhookEvent(event),
				URL:          server.URL + "/" + event,
			}))(b.t)
	}
}

// event is an event as the receiver stores it.
func (b *bench) event(name string, body []byte) trade.InboxEvent {
	sum := sha256.Sum256([]byte(name + "\x00" + string(body)))
	at := b.clock.Now()
	return trade.InboxEvent{
		Event: name, Body: body, Hash: hex.EncodeToString(sum[:]), FirstAt: at, LastAt: at,
		NextAt: at, Times: 1,
	}
}

// tell puts an event into the inbox, as if the platform had sent it.
func (b *bench) tell(name, body string) {
	b.t.Helper()
	must.Do(b.t, b.ledger.StoreEvents(b.t.Context(), []trade.InboxEvent{b.event(name, []byte(body))}))
}

func (b *bench) hearing() *events.Processor {
	b.t.Helper()
	client := must.Get(apiclient.New(apiclient.Settings{
		BaseURL: b.api.URL, APIKey: "a-key-of-the-tests",
		Timeout: b.limits.Timeout, Once: true,
	}))(b.t)
	b.t.Cleanup(client.Close)
	return &events.Processor{
		Inbox: b.ledger, Candidates: b.ledger, Rows: b.ledger, Platform: client,
		Jobs: b.engine().Jobs, Now: b.clock.Now,
		Limits: b.limits, Zone: time.UTC, Log: zap.NewNop(), Pace: time.Millisecond,
		Program: trade.Person{Name: "safrasync", From: "pid 1@host"},
	}
}

// hear lets the events that are on their way arrive, lets the time pass that a reading waits, and
// looks at them.
func (b *bench) hear() {
	b.t.Helper()
	must.Do(b.t, b.api.WaitDeliveries(b.t.Context()))
	h := b.hearing()
	for range 3 {
		b.clock.advance(4 * time.Second)
		must.Get(h.Pass(b.t.Context()))(b.t)
	}
	b.once()
}

// gets is how often order commitments were read back.
func (b *bench) gets() int {
	return b.api.Counts()["GET /api/v1/integration/order-commitments/{order_commitment_id}"]
}

// suggestions are what a person is shown at a row in doubt.
func (b *bench) suggestions(num int) ([]events.Suggestion, []string) {
	b.t.Helper()
	attempts := must.Get(b.ledger.Attempts(b.t.Context(), b.entry(num).ID))(b.t)
	candidates := must.Get(b.ledger.Candidates(b.t.Context(), attempts[0].StartedAt.Add(-time.Hour), 100))(b.t)
	return events.Suggestions(attempts, candidates, b.limits, b.clock.Now())
}

// commitment is the body of row num as the platform takes it.
func commitment(num int) json.RawMessage {
	return json.RawMessage(`{"amount":` + strconv.Itoa(num) + `,"producer_id":"` + producerID + `","issuer_id":"` +
		issuerID + `","product":"SOJA","delivery_place_id":"` + placeID +
		`","haverst":"2025/2026","unit_of_measurement":"SC","order_type":"COMPRA","order_date":"` + contractDay(num) + `","wallet_id":"` + walletID + `","currency":"BRL","price":120.5,` +
		`"initial_delivery_date":"2026-05-01","end_delivery_date":"2026-06-01","modality":"BALCAO","payday":"2026-07-01","payment_type":"DINHEIRO"}`)
}

// acts are the names of the acts in the audit that concern a row.
func (b *bench) audited(num int) (acts []string) {
	b.t.Helper()
	records := must.Get(b.ledger.Audit(b.t.Context(), 0))(b.t)
	for _, r := range records {
		if r.Target == "contracts "+key(num) {
			acts = append(acts, r.Act+" by "+r.Who)
		}
	}
	slices.Reverse(acts)
	return acts
}

func hearBench(t *testing.T, db database, opts sandbox.Options) *bench {
	t.Helper()
	clock := &testClock{}
	opts.ShowTimes = true
	if opts.Now == nil {
		opts.Now = clock.Now
	}
	b := timelessBench(t, db, opts)
	b.clock = clock
	return b
}

// timelessBench is one with a platform that tells no times of its records.
func timelessBench(t *testing.T, db database, opts sandbox.Options) *bench {
	t.Helper()
	b := newBenchOn(t, db, opts)
	b.limits.MaxInFlight = 1
	b.hears()
	return b
}

// strange is an id that nobody has.
func strange() string { return uuid.NewString() }
