package sandbox

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
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

// Events returns the 25 events of chapter 6, in its order.
func Events() []string { return slices.Clone(eventNames) }

func isEvent(text string) bool { return slices.Contains(eventNames, text) }

// Delivery is one sending of an event to one webhook. Each event is sent to each webhook once only,
// because the document does not state whether the platform repeats it.
type Delivery struct {
	N         int       `json:"n"` // from 1, in the order of the events
	At        time.Time `json:"at"`
	Event     string    `json:"webhook_event"`
	WebhookID string    `json:"webhook_id"`
	// URL is the receiver's address without user, query and fragment, which may be secret.
	URL     string          `json:"url"`
	Payload json.RawMessage `json:"payload"`
	// Done is false while the delivery is in flight.
	Done bool `json:"done"`
	// OK is set if the receiver answered exactly 200 within 30 seconds (chapter 6).
	OK bool `json:"ok"`
	// Status is the status of the receiver's answer, 0 if there was none.
	Status int `json:"status"`
	// Error is why the delivery is not OK; "" otherwise.
	Error string `json:"error,omitempty"`
}

// Send sends an event to every webhook registered for it and returns their number. The deliveries
// continue in the background, see [Server.Deliveries]. payload is the JSON body; nil means {"id":
// …} with a new UUID. The document does not show the platform's own payloads (chapter 6), nor
// whether they name their event. So the body does not name it, and a receiver distinguishes events
// by the url it registered.
func (s *Server) Send(event string, payload json.RawMessage) (int, error) {
	if !isEvent(event) {
		return 0, phrase.Errorf("%q is no event; known are %s", event, strings.Join(eventNames, ", "))
	}
	if payload == nil {
		payload = inventedPayload()
	}
	if !json.Valid(payload) {
		return 0, phrase.Errorf("the payload of %s is no JSON", event)
	}
	return s.emit(event, payload), nil
}

// Deliveries returns the deliveries in order, at most the newest 2,000.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Delivery, 0, len(s.deliveries.kept))
	for _, d := range s.deliveries.kept {
		out = append(out, *d)
	}
	return out
}

// emit starts the deliveries of an event and returns their number. Event faults may add deliveries
// or drop them.
func (s *Server) emit(event string, payload json.RawMessage) int {
	n, _ := s.emitFirst(event, payload)
	return n
}

// emitFirst is emit; wait returns when the deliveries that must precede the answer have ended.
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
				s.delay(f.Late, hold)
				status, err := s.push(d, w)
				if err == nil && status != http.StatusOK {
					err = phrase.Errorf("the receiver answered %d, wanted is 200", status)
				}
				s.mu.Lock()
				d.Done, d.OK, d.Status = true, err == nil, status
				if err != nil {
					d.Error = err.Error()
				}
				done := *d
				s.mu.Unlock()
				if s.opts.OnDelivered != nil {
					s.opts.OnDelivered(done)
				}
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

// delay waits for a delay, and for a later event.
func (s *Server) delay(late time.Duration, later <-chan struct{}) {
	wait := func(d time.Duration, event <-chan struct{}) {
		select {
		case <-time.After(d):
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

// ring keeps the newest maxRecords entries.
type ring[T any] struct {
	kept  []T
	total int
}

const maxRecords = 2000

func (r *ring[T]) add(value T) {
	r.total++
	r.kept = append(r.kept, value)
	if len(r.kept) > maxRecords {
		r.kept = slices.Delete(r.kept, 0, len(r.kept)-maxRecords)
	}
}
