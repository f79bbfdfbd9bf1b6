package sandbox

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// EventFault is a disturbance of events, which tests construct.
type EventFault struct {
	// Event is the event on which it acts; "" means all.
	Event string
	// Late is a delay before the event is sent.
	Late time.Duration
	// Again is the number of additional sendings.
	Again int
	// Lost events are never sent. Swapped events wait for a later event, two seconds at most. First
	// events are sent, and answered, before the answer to the request that caused them.
	Lost, Swapped, First bool
	// Forged sends an additional event with a wrong password. Invented sends an additional event
	// with the right password, about a record that does not exist.
	Forged, Invented bool
	// Shape is the shape of the body: "" (as the record), id, nested, list or text; the platform's
	// own shapes are not documented (chapter 6).
	Shape string
	// FirstN and LastN are the first and last number on which it acts. Numbers start at 1 and count
	// the events on which it could act; 0 means no bound. Percent is the chance; 0 means always.
	FirstN, LastN int
	Percent       float64
}

// eventFault returns the fault of an event. The caller holds mu.
func (s *Server) eventFault(event string) EventFault {
	s.eventNumbers[""]++
	s.eventNumbers[event]++
	for i, f := range s.eventFaults {
		concerned := f.Event == "" || f.Event == event
		if concerned && strikes(s.eventNumbers[f.Event], f.FirstN, f.LastN, f.Percent, s.seed+int64(i)+1000) {
			return f
		}
	}
	return EventFault{}
}

// shaped returns the body in the shape of the fault.
func (f *EventFault) shaped(payload json.RawMessage) json.RawMessage {
	var record struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(payload, &record) // of another form: without an id
	switch f.Shape {
	case "id":
		return encode(map[string]string{"id": record.ID})
	case "nested":
		return encode(map[string]any{"data": map[string]any{"order_commitment": payload}, "version": 1})
	case "list":
		return encode([]json.RawMessage{payload})
	case "text":
		return encode("record " + record.ID + " has changed")
	}
	return payload
}

func inventedPayload() json.RawMessage { return encode(map[string]string{"id": uuid.NewString()}) }
