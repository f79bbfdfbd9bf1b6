package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// eventNames are the 25 values of chapter 6, in its order.
var eventNames = []string{
	"CREATE_PRODUCER", "UPDATE_PRODUCER", "DELETE_PRODUCER",
	"CREATE_WAREHOUSE", "UPDATE_WAREHOUSE", "DELETE_WAREHOUSE",
	"CREATE_FARM", "UPDATE_FARM", "DELETE_FARM",
	"CREATE_GUEST_USER", "UPDATE_GUEST_USER", "DELETE_GUEST_USER",
	"CREATE_DELIVERY_PLACE", "UPDATE_DELIVERY_PLACE", "DELETE_DELIVERY_PLACE",
	eventCreateCommitment, "UPDATE_ORDER_COMMITMENT", "DELETE_ORDER_COMMITMENT",
	"CREATE_WALLET", "UPDATE_WALLET", "DELETE_WALLET",
	"UPDATE_WORKFLOW_ORDER_COMMITMENT",
	"CHANGE_PRODUCER_STATUS_ESG",
	"CHANGE_FARM_STATUS_ESG",
	"PRODUCER_PRODUCTION",
}

const eventCreateCommitment = "CREATE_ORDER_COMMITMENT"

// Events lists the 25 events of chapter 6, in its order.
func Events() []string { return slices.Clone(eventNames) }

func isEvent(text string) bool { return slices.Contains(eventNames, text) }

// Delivery is one sending of an event to one webhook. There is one for each, never a second:
// whether the platform tries again is not stated.
type Delivery struct {
	N         int       `json:"n"` // from 1, in the order of the events
	At        time.Time `json:"at"`
	Event     string    `json:"webhook_event"`
	WebhookID string    `json:"webhook_id"`
	// URL is the receiver's, without user, query and fragment, which may be secrets.
	URL     string          `json:"url"`
	Payload json.RawMessage `json:"payload"`
	// Done is false while it is under way.
	Done bool `json:"done"`
	// OK: the receiver answered exactly 200 within 30 seconds (chapter 6).
	OK bool `json:"ok"`
	// Status is the receiver's answer, 0 if none came.
	Status int `json:"status"`
	// Error says why it is not OK; "" otherwise.
	Error string `json:"error,omitempty"`
}

// Send fires an event at every webhook registered for it and returns to how many; the deliveries go
// on in the background, see [Server.Deliveries]. payload is the JSON body; nil stands for {"id": …}
// with a new UUID. The shapes of the platform's own payloads are not shown (chapter 6), nor that
// they name their event, so the body does not: a receiver tells events apart by the url it
// registered.
func (s *Server) Send(event string, payload json.RawMessage) (int, error) {
	if !isEvent(event) {
		return 0, fmt.Errorf("%q is no event; known are %s", event, strings.Join(eventNames, ", "))
	}
	if payload == nil {
		payload = encode(map[string]string{"id": uuid.NewString()})
	}
	if !json.Valid(payload) {
		return 0, fmt.Errorf("the payload of %s is no JSON", event)
	}
	return s.emit(event, payload), nil
}

// Deliveries is every event sent to a webhook, in order; of more than 2,000 the newest. They are
// not kept in the state file.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Delivery, 0, len(s.deliveries.kept))
	for _, d := range s.deliveries.kept {
		out = append(out, *d)
	}
	return out
}

// emit begins the deliveries of an event and returns how many; faults may make more of them, or
// none.
func (s *Server) emit(event string, payload json.RawMessage) int {
	n, _ := s.emitFirst(event, payload)
	return n
}

// emitFirst is emit; wait returns when the deliveries that are to come first have ended.
func (s *Server) emitFirst(event string, payload json.RawMessage) (n int, wait func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first sync.WaitGroup
	before := s.nextEvent
	s.nextEvent = make(chan struct{})
	after := s.nextEvent
	defer close(before)
	for _, w := range s.webhooks {
		if w.Event != event || s.noEvents {
			continue
		}
		f := s.eventFault(event)
		send := func(payload json.RawMessage, w Webhook, hold chan struct{}) {
			n++
			d := &Delivery{
				N: s.deliveries.total + 1, At: s.opts.Now(), Event: event, WebhookID: w.ID, URL: shownURL(w.URL),
				Payload: payload,
			}
			s.deliveries.add(d)
			if f.First {
				first.Add(1)
			}
			s.sending.Go(func() {
				s.holdBack(f.Late, hold)
				s.deliver(d, w)
				if f.First {
					first.Done()
				}
			})
		}
		if f.Forged {
			wrong := w
			wrong.BasicAuthentication = "safrasync:guessed"
			send(inventedPayload(), wrong, nil)
		}
		if f.Invented {
			send(inventedPayload(), w, nil)
		}
		hold := after
		if !f.Swapped {
			hold = nil
		}
		for range f.Again + 1 {
			if !f.Lost {
				send(f.shaped(payload), w, hold)
			}
		}
	}
	return n, first.Wait
}

// swapTime is how long an event waits for a later one.
const swapTime = 2 * time.Second

// holdBack lets a delay pass, and waits for a later event.
func (s *Server) holdBack(late time.Duration, later <-chan struct{}) {
	wait := func(d time.Duration, event <-chan struct{}) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-event:
		case <-s.cutting.Done():
		}
	}
	if late > 0 {
		wait(late, nil)
	}
	if later != nil {
		wait(swapTime, later)
	}
}

// announce sends the events that creations cause: of the resources made here only order commitments
// have one. Whatever happens to the answer, the record exists, so the event goes out. What it
// returns waits for those that come before the answer.
func (s *Server) announce(rq *request) (wait func()) {
	var waits []func()
	for _, rec := range rq.records {
		if rec.Resource == ResourceOrderCommitments {
			if v, ok := s.find(rec.Resource, rec.ID); ok {
				_, wait := s.emitFirst(eventCreateCommitment, s.shownCommitment(rec.ID, v))
				waits = append(waits, wait)
			}
		}
	}
	return func() {
		for _, wait := range waits {
			wait()
		}
	}
}

// ring keeps the newest.
type ring[T any] struct {
	kept  []T
	total int
}

const maxKept = 2000

func (r *ring[T]) add(value T) {
	r.total++
	r.kept = append(r.kept, value)
	if len(r.kept) > maxKept {
		r.kept = slices.Delete(r.kept, 0, len(r.kept)-maxKept)
	}
}
