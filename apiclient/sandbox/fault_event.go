package sandbox

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/internal/phrase"
)

// EventFault is a disturbance of events. [ParseEventFault] parses it from text; tests may also
// construct it.
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
	// Shape is the shape of the body: "" (as the record), id, nested, list or text.
	Shape string
	// FirstN and LastN are the first and last number on which it acts. Numbers start at 1 and count
	// the events on which it could act; 0 means no bound. Percent is the chance; 0 means always.
	FirstN, LastN int
	Percent       float64

	spec string
}

// String returns the text from which the fault was parsed; "event fault" for one constructed in Go.
func (f EventFault) String() string {
	if f.spec == "" {
		return "event fault"
	}
	return f.spec
}

// eventShapes are the bodies that a platform may send; none is documented (chapter 6).
var eventShapes = []string{"id", "nested", "list", "text"}

// ParseEventFaults parses several event faults, in order of precedence.
func ParseEventFaults(specs []string) ([]EventFault, error) {
	return parseAll(specs, ParseEventFault)
}

// ParseEventFault parses one event fault; the package comment has the grammar.
func ParseEventFault(spec string) (EventFault, error) {
	f := EventFault{spec: spec}
	if err := f.parse(spec); err != nil {
		return EventFault{}, phrase.Errorf("event fault %q: %w", spec, err)
	}
	return f, nil
}

func (f *EventFault) parse(spec string) error {
	rest := spec
	if event, behind, ok := strings.Cut(spec, ":"); ok {
		if !isEvent(event) {
			return phrase.Errorf("%q is no event; known are %s", event, strings.Join(eventNames, ", "))
		}
		f.Event, rest = event, behind
	}
	words, selectors, body := splitSpec(rest)
	if body != "" {
		return phrase.Errorf("an event has no body= ; the shapes are shape=%s", strings.Join(eventShapes, ", shape="))
	}
	chosen := Disturbance{} // parses the same selectors
	if err := chosen.setSelectors(selectors); err != nil {
		return err
	}
	f.FirstN, f.LastN, f.Percent = chosen.First, chosen.Last, chosen.Percent
	for _, word := range words {
		if err := f.setWord(word); err != nil {
			return err
		}
	}
	return nil
}

func (f *EventFault) setWord(word string) (err error) {
	name, value, given := strings.Cut(word, "=")
	flags := map[string]*bool{
		"lost": &f.Lost, "swapped": &f.Swapped, "first": &f.First, "forged": &f.Forged,
		"invented": &f.Invented,
	}
	flag := flags[name]
	switch {
	case flag != nil && given:
		return phrase.Errorf("%q takes no value", name)
	case flag != nil:
		*flag = true
	case name == "late":
		f.Late, err = parseDelay(value)
	case name == "again" && !given:
		f.Again = 1
	case name == "again":
		f.Again, err = strconv.Atoi(value)
		if err != nil || f.Again < 1 || f.Again > 1000 {
			return errors.New("again: want a number from 1 to 1000, as in again=100")
		}
	case name == "shape":
		f.Shape = value
		if !slices.Contains(eventShapes, value) {
			return phrase.Errorf("shape=%s: known are %s", value, strings.Join(eventShapes, ", "))
		}
	default:
		return phrase.Errorf(
			"%q is nothing that happens to an event; known are again, first, forged, invented, late, lost, shape, swapped", name)
	}
	return err
}

// acts reports whether the fault acts on the n-th event on which it could act.
func (f *EventFault) acts(event string, n int, seed int64, place int) bool {
	if f.Event != "" && f.Event != event || n < f.FirstN || f.LastN > 0 && n > f.LastN {
		return false
	}
	if f.Percent == 0 {
		return true
	}
	dice := rand.New(rand.NewPCG(mix(uint64(seed)+uint64(place)+1000), mix(uint64(n)))) // repeatable on purpose
	return dice.Float64()*100 < f.Percent
}

// eventFault returns the fault of an event. The caller holds mu.
func (s *Server) eventFault(event string) EventFault {
	s.eventNumbers[""]++
	s.eventNumbers[event]++
	for i, f := range s.eventFaults {
		if f.acts(event, s.eventNumbers[f.Event], s.seed, i) {
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
